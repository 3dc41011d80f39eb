//! Statements, rewritten into what piccolo runs as Lua would.

use piccolo::compiler::{LineNumber, parser as p};

use super::{
    Refusal,
    ast::{self, Block, Expr, Line, Name, Statement},
    globals::Globals,
    helper::{Helper, Used},
    mentions::Mentions,
    scope::{Binding, Kind, Scopes},
    sites::{Ambiguous, Sites},
};

/// The walk over a syntax tree.
pub(super) struct Rewriter {
    pub(super) used: Used,
    pub(super) scopes: Scopes,
    pub(super) globals: Globals,
    pub(super) sites: Sites,
    pub(super) ambiguous: Ambiguous,
    pub(super) mentions: Mentions,
    /// The line of the statement at hand, from 0.
    pub(super) line: LineNumber,
    pub(super) depth: usize,
}

pub(super) type Result<T> = std::result::Result<T, Refusal>;

impl Rewriter {
    pub(super) fn new(mentions: Mentions, ambiguous: Ambiguous) -> Self {
        Self {
            used: Used::default(),
            scopes: Scopes::default(),
            globals: Globals::default(),
            sites: Sites::default(),
            ambiguous,
            mentions,
            line: LineNumber(0),
            depth: 0,
        }
    }

    pub(super) fn refuse<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Refusal { line: line_number(self.line), reason: reason.into(), is_of_signs: false })
    }

    /// A helper as a variable.
    pub(super) fn helper(&mut self, helper: Helper) -> Name {
        self.used.name(helper)
    }

    pub(super) fn block(&mut self, block: Block) -> Result<Block> {
        self.enter(1)?;
        self.scopes.open_block(&block);
        let block = self.statements(block)?;
        self.scopes.close_block();
        self.leave(1);
        Ok(block)
    }

    /// The statements of a block whose scope the caller opened.
    pub(super) fn statements(&mut self, block: Block) -> Result<Block> {
        let mut out = Vec::with_capacity(block.statements.len() * 2);
        for statement in block.statements {
            self.line = statement.line_number;
            self.statement(statement.inner, &mut out)?;
        }
        let return_statement = match block.return_statement {
            Some(statement) => Some(self.return_statement(statement, &mut out)?),
            None => None,
        };
        Ok(Block { statements: out, return_statement, closed_on: block.closed_on })
    }

    pub(super) fn push(&self, statement: Statement, out: &mut Vec<Line>) {
        out.push(Line { inner: statement, line_number: self.line });
    }

    /// Remembers the line, for an error that the VM itself raises.
    pub(super) fn mark(&mut self, out: &mut Vec<Line>) {
        let target = p::AssignmentTarget::Name(self.helper(Helper::Line));
        let line = i64::from(line_number(self.line));
        let line = ast::simple(p::SimpleExpression::Integer(line));
        self.push(ast::assign(target, line), out);
    }

    pub(super) fn mark_if(&mut self, risky: bool, out: &mut Vec<Line>) {
        if risky {
            self.mark(out);
        }
    }

    /// The kind of a variable whose first value is of `kind`.
    pub(super) fn fixed(&self, name: &Name, kind: Kind) -> Kind {
        if self.mentions.assigned.contains(name) { Kind::Any } else { kind }
    }

    fn statement(&mut self, statement: Statement, out: &mut Vec<Line>) -> Result<()> {
        match statement {
            p::Statement::If(statement) => return self.if_statement(statement, out),
            p::Statement::While(statement) => return self.while_statement(statement, out),
            p::Statement::For(statement) => return self.for_statement(statement, out),
            p::Statement::Repeat(statement) => return self.repeat_statement(statement, out),
            p::Statement::LocalStatement(statement) => return self.local(statement, out),
            p::Statement::Assignment(statement) => return self.assignment(statement, out),
            p::Statement::FunctionCall(statement) => return self.call_statement(statement, out),
            p::Statement::Function(statement) => return self.function_statement(statement, out),
            p::Statement::Do(block) => {
                let block = self.block(block)?;
                self.push(p::Statement::Do(block), out);
            }
            p::Statement::LocalFunction(statement) => {
                let kind = self.fixed(&statement.name, Kind::Function);
                self.scopes.declare(&statement.name, kind);
                let definition = self.function(statement.definition, false)?;
                let statement = p::LocalFunctionStatement { name: statement.name, definition };
                self.push(p::Statement::LocalFunction(statement), out);
            }
            p::Statement::Break => {
                if !self.scopes.in_loop() {
                    return self.refuse("break outside a loop");
                }
                self.push(p::Statement::Break, out);
            }
            p::Statement::Goto(statement) => {
                if !self.scopes.has_label(&statement.name) {
                    let name = String::from_utf8_lossy(&statement.name);
                    return self.refuse(format!("no visible label '{name}' for goto"));
                }
                self.push(p::Statement::Goto(statement), out);
            }
            p::Statement::Label(label) => {
                let line = line_number(self.line);
                if let Some(first) = self.scopes.declare_label(&label.name, line) {
                    let name = String::from_utf8_lossy(&label.name);
                    return self.refuse(format!("label '{name}' already defined on line {first}"));
                }
                self.push(p::Statement::Label(label), out);
            }
        }
        Ok(())
    }

    fn if_statement(&mut self, statement: p::IfStatement<Name>, out: &mut Vec<Line>) -> Result<()> {
        let risky = self.is_risky(&statement.if_part.0)
            || statement.else_if_parts.iter().any(|(condition, _)| self.is_risky(condition));
        self.mark_if(risky, out);
        let line = self.line;
        let part = |this: &mut Self, (condition, block)| -> Result<(Expr, Block)> {
            this.line = line;
            Ok((this.expr(condition, false)?, this.block(block)?))
        };
        let if_part = part(self, statement.if_part)?;
        let else_if_parts = statement.else_if_parts.into_iter().map(|pair| part(self, pair));
        let else_if_parts = else_if_parts.collect::<Result<Vec<_>>>()?;
        let else_part = statement.else_part.map(|block| self.block(block)).transpose()?;
        self.line = line;
        let statement = p::IfStatement { if_part, else_if_parts, else_part };
        self.push(p::Statement::If(statement), out);
        Ok(())
    }

    fn call_statement(
        &mut self,
        statement: p::FunctionCallStatement<Name>,
        out: &mut Vec<Line>,
    ) -> Result<()> {
        let mut whole = statement.head;
        whole.suffixes.push(p::SuffixPart::Call(statement.call));
        let risky = self.is_suffixed_risky(&whole);
        self.mark_if(risky, out);
        let mut head = self.suffixed(whole)?;
        // The rewritten expression ends in a call as the original did.
        if let Some(p::SuffixPart::Call(call)) = head.suffixes.pop() {
            self.push(p::Statement::FunctionCall(p::FunctionCallStatement { head, call }), out);
        }
        Ok(())
    }

    fn function_statement(
        &mut self,
        statement: p::FunctionStatement<Name>,
        out: &mut Vec<Line>,
    ) -> Result<()> {
        let p::FunctionStatement { name, fields, method, definition } = statement;
        if self.scopes.binding(&name) == Binding::Global {
            // Storing into a library's table makes it the script's own.
            self.globals.bare(&name);
        }
        self.mark_if(!fields.is_empty() || method.is_some(), out);
        let definition = self.function(definition, method.is_some())?;
        // `self` is a parameter like any other.
        let fields = fields.into_iter().chain(method).collect();
        let statement = p::FunctionStatement { name, fields, method: None, definition };
        self.push(p::Statement::Function(statement), out);
        Ok(())
    }

    fn return_statement(
        &mut self,
        statement: p::LineAnnotated<p::ReturnStatement<Name>>,
        out: &mut Vec<Line>,
    ) -> Result<p::LineAnnotated<p::ReturnStatement<Name>>> {
        self.line = statement.line_number;
        let values = statement.inner.returns;
        let risky = values.iter().any(|value| self.is_risky(value));
        self.mark_if(risky, out);
        let host_call = matches!(values.as_slice(), [only] if self.is_host_call(only));
        let single = values.len() == 1;
        let mut returns = if single && !host_call {
            values.into_iter().map(|value| self.returned(value)).collect::<Result<_>>()?
        } else {
            self.exprs(values)?
        };
        let operator = single && !host_call && returns.first().is_some_and(is_helper_call);
        if operator {
            // The same for an operator, which has one value.
            let held = Name::from(&b"@result"[..]);
            self.push(ast::local(vec![Name::clone(&held)], returns), out);
            returns = vec![ast::variable(&held)];
        }
        if host_call {
            // A tail call would take the frame away that knows the line.
            let all = self.helper(Helper::All);
            returns = vec![ast::suffixed(ast::call(&all, returns))];
        }
        Ok(p::LineAnnotated {
            inner: p::ReturnStatement { returns },
            line_number: statement.line_number,
        })
    }
}

/// Whether an expression has become a call of a helper that gives one value.
fn is_helper_call(expr: &Expr) -> bool {
    let many = [Helper::All, Helper::Method, Helper::Rest, Helper::Call, Helper::Tail]
        .map(|helper| helper.text().as_bytes());
    ast::as_suffixed(expr).is_some_and(|suffixed| match &suffixed.primary {
        p::PrimaryExpression::Name(name) => {
            suffixed.suffixes.len() == 1 && name.starts_with(b"@") && !many.contains(&&**name)
        }
        p::PrimaryExpression::GroupedExpression(_) => false,
    })
}

/// A line as people count, from 1.
pub(super) fn line_number(line: LineNumber) -> u32 {
    u32::try_from(line.0).unwrap_or(u32::MAX).saturating_add(1)
}
