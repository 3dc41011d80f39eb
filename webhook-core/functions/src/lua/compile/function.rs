//! Function definitions.
//!
//! When a call has fewer arguments than the function has parameters, piccolo
//! 0.3.3 leaves what the caller had in those registers, and a tail call panics.
//! So every function takes `...` and its parameters are locals.

use piccolo::compiler::parser as p;

use super::{
    ast::{self, Expr, Line, Name},
    helper::Helper,
    mentions::Mentions,
    rewrite::{Result, Rewriter},
    scope::Kind,
};

impl Rewriter {
    pub(super) fn function(
        &mut self,
        definition: p::FunctionDefinition<Name>,
        method: bool,
    ) -> Result<p::FunctionDefinition<Name>> {
        let line = self.line;
        let p::FunctionDefinition { parameters, has_varargs, body } = definition;
        let this = method.then(|| Name::from(&b"self"[..]));
        let names: Vec<_> = this.into_iter().chain(parameters).collect();
        let arg = Name::from(&b"arg"[..]);
        let needs_arg = has_varargs && self.depth > 0 && !names.contains(&arg) && {
            let mentions = Mentions::of_block(&body);
            !mentions.has_varargs && mentions.read.contains(&arg)
        };
        self.enter(1)?;
        self.scopes.open_function(has_varargs.then_some(names.len()));
        for name in &names {
            let kind = Kind::Any;
            self.scopes.declare(name, kind);
        }
        let mut first = Vec::new();
        if needs_arg {
            // As in 5.1, whose functions have it unless they use `...` themselves.
            let pack = self.helper(Helper::Pack);
            let rest = self.varargs()?;
            let table = ast::suffixed(ast::call(&pack, vec![rest]));
            self.push(ast::local(vec![Name::clone(&arg)], vec![table]), &mut first);
            self.scopes.declare(&arg, Kind::Any);
        }
        let mut body = self.block(body)?;
        body.statements.splice(..0, first);
        self.scopes.close_function();
        self.leave(1);
        self.line = line;
        if !names.is_empty() {
            let all = ast::simple(p::SimpleExpression::VarArgs);
            let inner = ast::local(names, vec![all]);
            body.statements.insert(0, Line { inner, line_number: line });
        }
        Ok(p::FunctionDefinition { parameters: Vec::new(), has_varargs: true, body })
    }

    /// `...`, without the values that are parameters.
    pub(super) fn varargs(&mut self) -> Result<Expr> {
        let all = ast::simple(p::SimpleExpression::VarArgs);
        match self.scopes.parameters_before_varargs() {
            None => self.refuse("cannot use '...' outside a vararg function"),
            Some(0) => Ok(all),
            Some(count) => {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                let count = ast::simple(p::SimpleExpression::Integer(count));
                let rest = self.helper(Helper::Rest);
                Ok(ast::suffixed(ast::call(&rest, vec![count, all])))
            }
        }
    }
}
