//! Loops: a numeric `for` that checks its numbers, conditions with their own line.

use piccolo::compiler::parser as p;

use super::{
    ast::{self, Expr, Line, Name},
    helper::Helper,
    rewrite::{Result, Rewriter},
    scope::Kind,
};

/// Bounds of a `for` between which adding the step cannot overflow before the fuel is gone.
const SAFE_BOUND: i64 = 1 << 53;

impl Rewriter {
    pub(super) fn while_statement(
        &mut self,
        statement: p::WhileStatement<Name>,
        out: &mut Vec<Line>,
    ) -> Result<()> {
        let line = self.line;
        let risky = self.is_risky(&statement.condition);
        let condition = self.expr(statement.condition, false)?;
        self.scopes.open_loop();
        let body = self.block(statement.block)?;
        self.scopes.close_loop();
        self.line = line;
        if !risky {
            let statement = p::WhileStatement { condition, block: body };
            self.push(p::Statement::While(statement), out);
            return Ok(());
        }
        // while true do line = N; if condition then else break end; do body end end
        let closed_on = body.closed_on;
        let mut inner = Vec::new();
        self.mark(&mut inner);
        let stop = Line { inner: p::Statement::Break, line_number: line };
        let (go_on, stop) = (ast::block(Vec::new(), line), ast::block(vec![stop], line));
        self.push(ast::if_else(condition, go_on, Some(stop)), &mut inner);
        self.push(p::Statement::Do(body), &mut inner);
        self.push(ast::forever(ast::block(inner, closed_on)), out);
        Ok(())
    }

    pub(super) fn repeat_statement(
        &mut self,
        statement: p::RepeatStatement<Name>,
        out: &mut Vec<Line>,
    ) -> Result<()> {
        let line = self.line;
        let closed_on = statement.body.closed_on;
        self.enter(1)?;
        self.scopes.open_block(&statement.body);
        self.scopes.open_loop();
        let mut body = self.statements(statement.body)?;
        self.scopes.close_loop();
        // while true do body; if until then break end end: piccolo's own loop
        // does not know the lines of its statements.
        self.line = closed_on;
        if body.return_statement.is_none() {
            let risky = self.is_risky(&statement.until);
            self.mark_if(risky, &mut body.statements);
            let until = self.expr(statement.until, false)?;
            let stop = Line { inner: p::Statement::Break, line_number: closed_on };
            let test = ast::if_else(until, ast::block(vec![stop], closed_on), None);
            self.push(test, &mut body.statements);
        }
        self.scopes.close_block();
        self.leave(1);
        self.line = line;
        self.push(ast::forever(body), out);
        Ok(())
    }

    pub(super) fn for_statement(
        &mut self,
        statement: p::ForStatement<Name>,
        out: &mut Vec<Line>,
    ) -> Result<()> {
        let mut inner = Vec::new();
        let statement = match statement {
            p::ForStatement::Numeric { name, initial, limit, step, body } => {
                let safe = is_literal(&initial)
                    && (is_literal(&limit) || self.is_plain_length(&limit))
                    && step.as_ref().is_none_or(|step| is_literal(step) && !is_zero(step));
                let risky = self.is_risky(&initial)
                    || self.is_risky(&limit)
                    || step.as_ref().is_some_and(|step| self.is_risky(step));
                self.mark_if(risky, &mut inner);
                let mut bounds = vec![self.expr(initial, false)?, self.expr(limit, false)?];
                bounds.push(match step {
                    Some(step) => self.expr(step, false)?,
                    None => ast::simple(p::SimpleExpression::Integer(1)),
                });
                if !safe {
                    let names = ["@start", "@limit", "@step"].map(|n| Name::from(n.as_bytes()));
                    let helper = self.helper(Helper::For);
                    let prepared = ast::suffixed(ast::call(&helper, bounds));
                    let values = vec![prepared];
                    self.push(ast::local(names.to_vec(), values), &mut inner);
                    bounds = names.iter().map(ast::variable).collect();
                }
                let kind = self.fixed(&name, Kind::Number);
                let body = self.loop_body(std::slice::from_ref(&name), kind, body)?;
                let mut bounds = bounds.into_iter();
                let nil = || ast::simple(p::SimpleExpression::Nil);
                p::ForStatement::Numeric {
                    name,
                    initial: bounds.next().unwrap_or_else(nil),
                    limit: bounds.next().unwrap_or_else(nil),
                    step: bounds.next(),
                    body,
                }
            }
            p::ForStatement::Generic { names, arguments, body } => {
                self.mark(&mut inner);
                let arguments = self.exprs(arguments)?;
                let body = self.loop_body(&names, Kind::Any, body)?;
                p::ForStatement::Generic { names, arguments, body }
            }
        };
        self.push(p::Statement::For(statement), &mut inner);
        if self.mentions.has_goto || inner.len() > 2 {
            // A block of its own: a `goto` out of a bare `for` trips the compiler.
            self.push(p::Statement::Do(ast::block(inner, self.line)), out);
        } else {
            out.append(&mut inner);
        }
        Ok(())
    }

    fn loop_body(&mut self, names: &[Name], kind: Kind, body: ast::Block) -> Result<ast::Block> {
        let line = self.line;
        self.scopes.open_block(&ast::block(Vec::new(), line));
        for name in names {
            self.scopes.declare(name, kind);
        }
        self.scopes.open_loop();
        let body = self.block(body)?;
        self.scopes.close_loop();
        self.scopes.close_block();
        self.line = line;
        Ok(body)
    }

    /// `#name`, which is a small number.
    fn is_plain_length(&self, expr: &Expr) -> bool {
        matches!(
            &*expr.head,
            p::HeadExpression::UnaryOperator(p::UnaryOperator::Len, operand)
                if expr.tail.is_empty()
                    && ast::as_suffixed(operand).is_some_and(|operand| operand.suffixes.is_empty())
        )
    }
}

/// An integer with or without a sign.
fn literal(expr: &Expr) -> Option<i64> {
    if !expr.tail.is_empty() {
        return None;
    }
    match &*expr.head {
        p::HeadExpression::Simple(p::SimpleExpression::Integer(value)) => Some(*value),
        p::HeadExpression::UnaryOperator(p::UnaryOperator::Minus, operand) => {
            literal(operand).map(i64::wrapping_neg)
        }
        _ => None,
    }
}

fn is_literal(expr: &Expr) -> bool {
    literal(expr).is_some_and(|value| (-SAFE_BOUND..=SAFE_BOUND).contains(&value))
}

fn is_zero(expr: &Expr) -> bool {
    literal(expr) == Some(0)
}
