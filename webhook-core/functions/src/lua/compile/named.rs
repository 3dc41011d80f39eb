//! Fields and calls that the host looks up, because it can say what is missing.
//!
//! An error of the VM has a line and no more. Where a line has one value that
//! can be wrong, its name is known from that; on any other line the names are
//! arguments of a helper that does what the VM would do.

use piccolo::compiler::parser as p;

use super::{
    ast::{self, Expr, Name, Suffixed},
    helper::Helper,
    rewrite::{Result, Rewriter},
};

type Field = p::FieldSuffix<Name>;

impl Rewriter {
    /// `@path(name, value, key)`; further keys join the call, so that a row of fields is one.
    pub(super) fn path(
        &mut self,
        value: Suffixed,
        field: Field,
        name: Option<String>,
    ) -> Result<Suffixed> {
        let helper = self.helper(Helper::Path);
        let (key, constant) = match field {
            p::FieldSuffix::Named(key) => (ast::string(&key), true),
            p::FieldSuffix::Indexed(key) => {
                let constant = ast::as_simple(&key).is_some_and(super::assign::is_constant);
                let multiple = ast::is_multiple(&key);
                let key = self.expr(key, true)?;
                // It becomes the last argument, which would give all its values.
                (if multiple { self.first(key) } else { key }, constant)
            }
        };
        let Suffixed { primary, mut suffixes } = value;
        let own = matches!(&primary, p::PrimaryExpression::Name(name) if *name == helper);
        if let (true, true, [p::SuffixPart::Call(p::CallSuffix::Function(arguments))]) =
            (own, constant, suffixes.as_mut_slice())
        {
            // Its key is a constant, so that nothing is evaluated out of turn.
            arguments.push(key);
            return Ok(Suffixed { primary, suffixes });
        }
        let value = ast::suffixed(Suffixed { primary, suffixes });
        Ok(ast::call(&helper, vec![spelled(name), value, key]))
    }

    /// `@call(name, function, …)`
    pub(super) fn named_call(
        &mut self,
        helper: Helper,
        function: Suffixed,
        name: Option<String>,
        arguments: Vec<Expr>,
    ) -> Result<Suffixed> {
        let mut all = vec![spelled(name), ast::suffixed(function)];
        all.extend(self.exprs(arguments)?);
        let helper = self.helper(helper);
        Ok(ast::call(&helper, all))
    }

    /// The only value of a `return`: a call of a function takes the place of the
    /// one that returns, and the host is told, because the line is gone with it.
    pub(super) fn returned(&mut self, value: Expr) -> Result<Expr> {
        let tail = ast::as_suffixed(&value).is_some_and(|suffixed| {
            matches!(
                suffixed.suffixes.last(),
                Some(p::SuffixPart::Call(p::CallSuffix::Function(_)))
            )
        });
        let mut value = self.expr(value, true)?;
        if !tail {
            return Ok(value);
        }
        let call = Name::from(Helper::Call.text().as_bytes());
        let tail = self.helper(Helper::Tail);
        if let p::HeadExpression::Simple(p::SimpleExpression::Suffixed(suffixed)) = &mut *value.head
        {
            let named = matches!(&suffixed.primary, p::PrimaryExpression::Name(n) if *n == call)
                && suffixed.suffixes.len() == 1;
            if named {
                suffixed.primary = p::PrimaryExpression::Name(tail);
            } else if let Some(p::SuffixPart::Call(p::CallSuffix::Function(arguments))) =
                suffixed.suffixes.pop()
            {
                let name = self.name_of(suffixed);
                let mut all = vec![spelled(name), ast::suffixed(suffixed.clone())];
                all.extend(arguments);
                *suffixed = ast::call(&tail, all);
            }
        }
        Ok(value)
    }
}

fn spelled(name: Option<String>) -> Expr {
    ast::string(&Name::from(name.unwrap_or_default().as_bytes()))
}

/// What messages call the value of a field that has a name.
pub(super) fn known_field(field: &Field) -> Option<String> {
    known_key(field).map(|key| format!("field '{}'", String::from_utf8_lossy(key)))
}

/// The key of a field, where it is a plain text.
pub(super) fn known_key(field: &Field) -> Option<&Name> {
    match field {
        p::FieldSuffix::Named(key) => Some(key),
        p::FieldSuffix::Indexed(key) => match ast::as_simple(key) {
            Some(p::SimpleExpression::String(key)) => Some(key),
            _ => None,
        },
    }
}

/// What messages call the value of any field.
pub(super) fn field_name(field: &Field) -> String {
    if let p::FieldSuffix::Indexed(key) = field
        && let Some(p::SimpleExpression::Integer(key)) = ast::as_simple(key)
    {
        return format!("field '{key}'");
    }
    // As Lua calls what is not found by a name.
    known_field(field).unwrap_or_else(|| "field '?'".to_owned())
}
