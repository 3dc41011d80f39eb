//! Expressions: calls of methods, values cut to one, names for messages.

use piccolo::compiler::parser as p;

use super::{
    MAX_DEPTH, MAX_OPERATORS, MAX_SUFFIXES,
    ast::{self, Expr, Name, Suffixed},
    helper::Helper,
    named::{field_name, known_field},
    precedence,
    rewrite::{Result, Rewriter, line_number},
    scope::{Binding, Kind},
    sites::Use,
};

impl Rewriter {
    /// Counts how deep the walk is, which is how deep the compiler will recurse.
    pub(super) fn enter(&mut self, levels: usize) -> Result<()> {
        self.depth += levels;
        if self.depth > MAX_DEPTH {
            return self.refuse(format!("nested too deeply, at most {MAX_DEPTH} levels"));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self, levels: usize) {
        self.depth -= levels;
    }

    /// A list at whose end a call gives all its values.
    pub(super) fn exprs(&mut self, exprs: Vec<Expr>) -> Result<Vec<Expr>> {
        let last = exprs.len().saturating_sub(1);
        let exprs = exprs.into_iter().enumerate();
        exprs.map(|(index, expr)| self.expr(expr, index == last)).collect()
    }

    /// Values for `wanted` variables.
    pub(super) fn value_list(&mut self, values: Vec<Expr>, wanted: usize) -> Result<Vec<Expr>> {
        let last = values.len().saturating_sub(1);
        let open = values.len() < wanted;
        let values = values.into_iter().enumerate();
        values.map(|(index, value)| self.expr(value, open && index == last)).collect()
    }

    /// An expression; `multiple` when all its values count where it stands.
    pub(super) fn expr(&mut self, expr: Expr, multiple: bool) -> Result<Expr> {
        let operators = precedence::operator_count(&expr);
        if operators > MAX_OPERATORS {
            let reason = format!("too many operators in one expression, at most {MAX_OPERATORS}");
            return self.refuse(reason);
        }
        self.enter(operators + 1)?;
        let expr = if operators == 0 {
            self.operand(expr, multiple)?
        } else {
            self.tree(precedence::tree(expr))?
        };
        self.leave(operators + 1);
        Ok(expr)
    }

    /// An expression without two-sided operators.
    pub(super) fn operand(&mut self, expr: Expr, multiple: bool) -> Result<Expr> {
        let simple = match *expr.head {
            p::HeadExpression::UnaryOperator(op, operand) => return self.unary(op, operand),
            p::HeadExpression::Simple(simple) => simple,
        };
        Ok(ast::simple(match simple {
            p::SimpleExpression::VarArgs => return self.varargs(),
            p::SimpleExpression::TableConstructor(table) => {
                p::SimpleExpression::TableConstructor(self.table(table)?)
            }
            p::SimpleExpression::Function(function) => {
                p::SimpleExpression::Function(self.function(function, false)?)
            }
            p::SimpleExpression::Suffixed(suffixed) => {
                return self.suffixed_expr(suffixed, multiple);
            }
            constant => constant,
        }))
    }

    fn table(&mut self, table: p::TableConstructor<Name>) -> Result<p::TableConstructor<Name>> {
        let last = table.fields.len().saturating_sub(1);
        let mut fields = Vec::with_capacity(table.fields.len());
        for (index, field) in table.fields.into_iter().enumerate() {
            fields.push(match field {
                p::ConstructorField::Array(value) => {
                    let cut = index != last && ast::is_multiple(&value);
                    let mut value = self.expr(value, index == last)?;
                    if cut {
                        // piccolo takes the last item for the last field.
                        value = self.first(value);
                    }
                    p::ConstructorField::Array(value)
                }
                p::ConstructorField::Record(key, value) => {
                    let key = match key {
                        p::RecordKey::Indexed(key) => p::RecordKey::Indexed(self.expr(key, false)?),
                        named @ p::RecordKey::Named(_) => named,
                    };
                    p::ConstructorField::Record(key, self.expr(value, false)?)
                }
            });
        }
        Ok(p::TableConstructor { fields })
    }

    pub(super) fn first(&mut self, value: Expr) -> Expr {
        let first = self.helper(Helper::First);
        ast::suffixed(ast::call(&first, vec![value]))
    }

    fn suffixed_expr(&mut self, suffixed: Suffixed, multiple: bool) -> Result<Expr> {
        if !suffixed.suffixes.is_empty() {
            return Ok(ast::suffixed(self.suffixed(suffixed)?));
        }
        match suffixed.primary {
            p::PrimaryExpression::GroupedExpression(expr) => {
                let cut = multiple && ast::is_multiple(&expr);
                let expr = self.expr(expr, false)?;
                Ok(if cut { self.first(expr) } else { expr })
            }
            p::PrimaryExpression::Name(name) => {
                if self.scopes.binding(&name) == Binding::Global {
                    self.globals.bare(&name);
                }
                Ok(ast::variable(&name))
            }
        }
    }

    /// A name or group with its suffixes, for reading.
    pub(super) fn suffixed(&mut self, suffixed: Suffixed) -> Result<Suffixed> {
        if let p::PrimaryExpression::Name(name) = &suffixed.primary
            && self.scopes.binding(name) == Binding::Global
        {
            match suffixed.suffixes.first() {
                Some(
                    p::SuffixPart::Field(p::FieldSuffix::Named(_))
                    | p::SuffixPart::Call(p::CallSuffix::Function(_)),
                ) => self.globals.read(name),
                _ => self.globals.bare(name),
            }
        }
        self.suffixes(suffixed)
    }

    /// A table that is stored into.
    pub(super) fn stored_into(&mut self, suffixed: Suffixed) -> Result<Suffixed> {
        if let p::PrimaryExpression::Name(name) = &suffixed.primary
            && self.scopes.binding(name) == Binding::Global
        {
            self.globals.bare(name);
        }
        let name = self.name_of(&suffixed);
        let known = match &suffixed.primary {
            p::PrimaryExpression::Name(name) => {
                suffixed.suffixes.is_empty() && self.scopes.kind(name) == Kind::Table
            }
            p::PrimaryExpression::GroupedExpression(_) => false,
        };
        if !known {
            self.sites.add(line_number(self.line), Use::Index, name);
        }
        self.suffixes(suffixed)
    }

    fn suffixes(&mut self, suffixed: Suffixed) -> Result<Suffixed> {
        let levels = suffixed.suffixes.len();
        if levels > MAX_SUFFIXES {
            let reason = format!("too many calls and fields in a row, at most {MAX_SUFFIXES}");
            return self.refuse(reason);
        }
        self.enter(levels + 1)?;
        let line = line_number(self.line);
        // What surely is a function of the host is never what is wrong.
        let safe = self.host_prefix(&suffixed);
        let first = match &suffixed.primary {
            p::PrimaryExpression::Name(name) => self.scopes.kind(name),
            p::PrimaryExpression::GroupedExpression(_) => Kind::Any,
        };
        let mut done = match suffixed.primary {
            p::PrimaryExpression::GroupedExpression(expr) => ast::grouped(self.expr(expr, false)?),
            name @ p::PrimaryExpression::Name(_) => {
                Suffixed { primary: name, suffixes: Vec::new() }
            }
        };
        // What the value so far is called; the rewritten form does not show it.
        let mut name = self.name_of(&done);
        let spelled = self.ambiguous.contains(line, Use::Index);
        let called = self.ambiguous.contains(line, Use::Call);
        for (index, suffix) in suffixed.suffixes.into_iter().enumerate() {
            match suffix {
                p::SuffixPart::Field(field) => {
                    let held = name.take();
                    if index >= safe && !(index == 0 && first == Kind::Table) {
                        if spelled {
                            name = Some(field_name(&field));
                            done = self.path(done, field, held)?;
                            continue;
                        }
                        self.sites.add(line, Use::Index, held);
                    }
                    name = known_field(&field);
                    let field = match field {
                        p::FieldSuffix::Indexed(key) => {
                            p::FieldSuffix::Indexed(self.expr(key, false)?)
                        }
                        named @ p::FieldSuffix::Named(_) => named,
                    };
                    done.suffixes.push(p::SuffixPart::Field(field));
                }
                p::SuffixPart::Call(p::CallSuffix::Function(arguments)) => {
                    let held = name.take();
                    if index >= safe && !(index == 0 && first == Kind::Function) {
                        if called {
                            done = self.named_call(Helper::Call, done, held, arguments)?;
                            continue;
                        }
                        self.sites.add(line, Use::Call, held);
                    }
                    let arguments = self.exprs(arguments)?;
                    done.suffixes.push(p::SuffixPart::Call(p::CallSuffix::Function(arguments)));
                }
                p::SuffixPart::Call(p::CallSuffix::Method(method, arguments)) => {
                    let held = name.take();
                    if !(index == 0 && first == Kind::Table) {
                        self.sites.add(line, Use::Receiver, held);
                    }
                    let mut all = vec![ast::suffixed(done), ast::string(&method)];
                    all.extend(self.exprs(arguments)?);
                    let helper = self.helper(Helper::Method);
                    done = ast::call(&helper, all);
                }
            }
        }
        self.leave(levels + 1);
        Ok(done)
    }

    /// `local 'x'`, as messages call a value.
    pub(super) fn name_of(&self, suffixed: &Suffixed) -> Option<String> {
        match suffixed.suffixes.last() {
            Some(p::SuffixPart::Field(field)) => known_field(field),
            Some(p::SuffixPart::Call(_)) => None,
            None => match &suffixed.primary {
                p::PrimaryExpression::Name(name) => {
                    let kind = match self.scopes.binding(name) {
                        Binding::Local => "local",
                        Binding::Upvalue => "upvalue",
                        Binding::Global => "global",
                    };
                    Some(format!("{kind} '{}'", String::from_utf8_lossy(name)))
                }
                p::PrimaryExpression::GroupedExpression(_) => None,
            },
        }
    }
}
