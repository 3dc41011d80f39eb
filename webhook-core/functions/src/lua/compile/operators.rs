//! Operators: the VM's own where both sides are numbers, helpers otherwise.

use piccolo::compiler::parser::{self as p, BinaryOperator as Op, UnaryOperator};

use super::{
    ast::{self, Expr, Name, Suffixed},
    helper::Helper,
    precedence::Tree,
    rewrite::{Result, Rewriter, line_number},
    scope::Kind,
    sites::Use,
};
use crate::list::list_of;

impl Rewriter {
    pub(super) fn tree(&mut self, tree: Tree) -> Result<Expr> {
        let (left, op, right) = match tree {
            Tree::Leaf(expr) => return self.operand(expr, false),
            Tree::Binary(left, op, right) => (*left, op, *right),
        };
        if op == Op::Concat {
            return self.concat(left, right);
        }
        let numbers = self.is_number_tree(&left) && self.is_number_tree(&right);
        let helper = match op {
            Op::And | Op::Or | Op::Equal | Op::NotEqual => None,
            Op::Add => (!numbers).then_some(Helper::Add),
            Op::Sub => (!numbers).then_some(Helper::Sub),
            Op::Mul => (!numbers).then_some(Helper::Mul),
            Op::Div => (!numbers).then_some(Helper::Div),
            Op::Pow => (!numbers).then_some(Helper::Pow),
            Op::LessThan => (!numbers).then_some(Helper::Lt),
            Op::LessEqual => (!numbers).then_some(Helper::Le),
            Op::GreaterThan => (!numbers).then_some(Helper::Gt),
            Op::GreaterEqual => (!numbers).then_some(Helper::Ge),
            Op::Mod => Some(Helper::Mod),
            Op::IDiv => Some(Helper::IDiv),
            Op::BitAnd => Some(Helper::BAnd),
            Op::BitOr => Some(Helper::BOr),
            Op::BitXor => Some(Helper::BXor),
            Op::ShiftLeft => Some(Helper::Shl),
            Op::ShiftRight => Some(Helper::Shr),
            Op::Concat => Some(Helper::Concat),
        };
        if let Some(helper) = helper {
            self.operand_site(&left, 0);
            self.operand_site(&right, 1);
            let arguments = vec![self.tree(left)?, self.tree(right)?];
            let helper = self.helper(helper);
            return Ok(ast::suffixed(ast::call(&helper, arguments)));
        }
        let (left, right) = (self.tree(left)?, self.tree(right)?);
        Ok(match op {
            // piccolo's own `>` says yes to NaN.
            Op::GreaterThan => ast::binary(right, Op::LessThan, left),
            Op::GreaterEqual => ast::binary(right, Op::LessEqual, left),
            op => ast::binary(left, op, right),
        })
    }

    fn concat(&mut self, left: Tree, right: Tree) -> Result<Expr> {
        let mut operands = vec![left];
        let mut rest = right;
        loop {
            match rest {
                Tree::Binary(left, Op::Concat, right) => {
                    operands.push(*left);
                    rest = *right;
                }
                last => {
                    operands.push(last);
                    break;
                }
            }
        }
        let mut arguments = Vec::with_capacity(operands.len());
        for (index, operand) in operands.into_iter().enumerate() {
            self.operand_site(&operand, index);
            arguments.push(self.tree(operand)?);
        }
        // The helper drops it: a call before it gives one value.
        arguments.push(ast::simple(p::SimpleExpression::Nil));
        let helper = self.helper(Helper::Concat);
        Ok(ast::suffixed(ast::call(&helper, arguments)))
    }

    fn operand_site(&mut self, tree: &Tree, index: usize) {
        let name = match tree {
            Tree::Leaf(expr) if is_constant(expr) => return,
            Tree::Leaf(expr) => ast::as_suffixed(expr).and_then(|s| self.name_of(s)),
            Tree::Binary(..) => return,
        };
        let index = u8::try_from(index).unwrap_or(u8::MAX);
        self.sites.add(line_number(self.line), Use::Operand(index), name);
    }

    pub(super) fn unary(&mut self, op: UnaryOperator, operand: Expr) -> Result<Expr> {
        let name = ast::as_suffixed(&operand).and_then(|s| self.name_of(s));
        let number = self.is_number(&operand);
        let helper = match op {
            UnaryOperator::Not => None,
            UnaryOperator::Len => {
                self.sites.add(line_number(self.line), Use::Length, name.clone());
                None
            }
            UnaryOperator::Minus if number => None,
            UnaryOperator::Minus => Some(Helper::Unm),
            UnaryOperator::BitNot => Some(Helper::BNot),
        };
        match helper {
            None => Ok(ast::unary(op, self.expr(operand, false)?)),
            Some(helper) => {
                if !is_constant(&operand) {
                    self.sites.add(line_number(self.line), Use::Operand(0), name);
                }
                let operand = self.expr(operand, false)?;
                let helper = self.helper(helper);
                Ok(ast::suffixed(ast::call(&helper, vec![operand])))
            }
        }
    }

    /// Whether the value is a number whatever happens.
    pub(super) fn is_number(&self, expr: &Expr) -> bool {
        let head = match &*expr.head {
            p::HeadExpression::Simple(simple) => match simple {
                p::SimpleExpression::Integer(_) | p::SimpleExpression::Float(_) => true,
                p::SimpleExpression::Suffixed(suffixed) if suffixed.suffixes.is_empty() => {
                    match &suffixed.primary {
                        p::PrimaryExpression::Name(name) => self.scopes.kind(name) == Kind::Number,
                        p::PrimaryExpression::GroupedExpression(expr) => self.is_number(expr),
                    }
                }
                _ => false,
            },
            p::HeadExpression::UnaryOperator(UnaryOperator::Minus, operand) => {
                self.is_number(operand)
            }
            p::HeadExpression::UnaryOperator(UnaryOperator::Len, operand) => {
                ast::as_suffixed(operand).is_some_and(|operand| {
                    !operand.suffixes.iter().any(|suffix| matches!(suffix, p::SuffixPart::Call(_)))
                })
            }
            p::HeadExpression::UnaryOperator(..) => false,
        };
        head && expr.tail.iter().all(|(op, right)| is_arithmetic(*op) && self.is_number(right))
    }

    fn is_number_tree(&self, tree: &Tree) -> bool {
        match tree {
            Tree::Leaf(expr) => self.is_number(expr),
            Tree::Binary(left, op, right) => {
                is_arithmetic(*op) && self.is_number_tree(left) && self.is_number_tree(right)
            }
        }
    }

    /// Whether the VM itself may raise an error in the expression; the helpers
    /// find out their line without help.
    pub(super) fn is_risky(&self, expr: &Expr) -> bool {
        let head = match &*expr.head {
            p::HeadExpression::Simple(simple) => match simple {
                p::SimpleExpression::TableConstructor(table) => {
                    table.fields.iter().any(|field| match field {
                        p::ConstructorField::Array(value)
                        | p::ConstructorField::Record(p::RecordKey::Named(_), value) => {
                            self.is_risky(value)
                        }
                        p::ConstructorField::Record(p::RecordKey::Indexed(_), _) => true,
                    })
                }
                p::SimpleExpression::Suffixed(suffixed) => self.is_suffixed_risky(suffixed),
                _ => false,
            },
            p::HeadExpression::UnaryOperator(UnaryOperator::Len, _) => true,
            p::HeadExpression::UnaryOperator(_, operand) => self.is_risky(operand),
        };
        head || expr.tail.iter().any(|(_, right)| self.is_risky(right))
    }

    pub(super) fn is_suffixed_risky(&self, suffixed: &Suffixed) -> bool {
        if let p::PrimaryExpression::GroupedExpression(expr) = &suffixed.primary
            && self.is_risky(expr)
        {
            return true;
        }
        let safe = self.host_prefix(suffixed);
        suffixed.suffixes.iter().enumerate().any(|(index, suffix)| match suffix {
            p::SuffixPart::Field(p::FieldSuffix::Indexed(_)) => true,
            p::SuffixPart::Field(p::FieldSuffix::Named(_)) => index >= safe,
            p::SuffixPart::Call(p::CallSuffix::Method(_, arguments)) => {
                arguments.iter().any(|argument| self.is_risky(argument))
            }
            p::SuffixPart::Call(p::CallSuffix::Function(arguments)) => {
                index >= safe || arguments.iter().any(|argument| self.is_risky(argument))
            }
        })
    }

    /// Whether the expression is a call that surely ends up in the host.
    pub(super) fn is_host_call(&self, expr: &Expr) -> bool {
        let Some(suffixed) = ast::as_suffixed(expr) else { return false };
        match suffixed.suffixes.last() {
            Some(p::SuffixPart::Call(p::CallSuffix::Method(..))) => true,
            Some(p::SuffixPart::Call(p::CallSuffix::Function(_))) => {
                suffixed.suffixes.len() <= self.host_prefix(suffixed)
            }
            _ => false,
        }
    }

    /// How many suffixes lead from a global name of the standard library to its call.
    pub(super) fn host_prefix(&self, suffixed: &Suffixed) -> usize {
        const FUNCTIONS: [&str; 21] = list_of(
            "assert error ipairs pairs next pcall xpcall print log select tonumber tostring type \
            require setmetatable getmetatable rawget rawset rawlen rawequal unpack",
        );
        const OF_STRING: [&str; 15] = list_of(
            "byte char find format gmatch gsub len lower match rep reverse sub upper pack unpack",
        );
        const LIBRARIES: [(&str, &[&str]); 4] = [
            ("string", &OF_STRING),
            ("table", &["concat", "insert", "remove", "sort", "unpack", "pack"]),
            ("math", &["floor", "ceil", "max", "min", "abs", "random"]),
            ("os", &["time", "date", "clock", "difftime"]),
        ];
        fn is(name: &Name) -> impl Fn(&&str) -> bool {
            move |known| known.as_bytes() == &**name
        }
        let p::PrimaryExpression::Name(name) = &suffixed.primary else { return 0 };
        let own = self.scopes.binding(name) != super::scope::Binding::Global
            || self.mentions.assigned.contains(name)
            || self.mentions.read.iter().any(|name| matches!(&**name, b"_G" | b"_ENV"));
        if own {
            return 0;
        }
        match suffixed.suffixes.first() {
            Some(p::SuffixPart::Call(p::CallSuffix::Function(_)))
                if FUNCTIONS.iter().any(is(name)) =>
            {
                1
            }
            Some(p::SuffixPart::Field(p::FieldSuffix::Named(field))) => {
                let library = LIBRARIES.iter().find(|(library, _)| is(name)(library));
                match library {
                    Some((_, functions)) if functions.iter().any(is(field)) => 2,
                    Some(_) => 1,
                    None => 0,
                }
            }
            _ => 0,
        }
    }
}

const fn is_arithmetic(op: Op) -> bool {
    matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow)
}

fn is_constant(expr: &Expr) -> bool {
    matches!(
        ast::as_simple(expr),
        Some(
            p::SimpleExpression::String(_)
                | p::SimpleExpression::Integer(_)
                | p::SimpleExpression::Float(_)
        )
    )
}
