//! Operators bound as Lua binds them: piccolo's parser gives `~=` the priority of `+`.

use piccolo::compiler::parser::{BinaryOperator as Op, Expression};

use super::ast::Name;

type Expr = Expression<Name>;

/// An expression as a tree of two-sided operators; unary ones are inside the leaves.
pub(super) enum Tree {
    Leaf(Expr),
    Binary(Box<Tree>, Op, Box<Tree>),
}

/// The operators of an expression in the order of the source.
///
/// Nothing in parentheses is opened, and what a unary operator holds is not
/// affected, because only `^` binds tighter than it.
pub(super) fn tree(expr: Expr) -> Tree {
    let mut operands = Vec::new();
    let mut operators = Vec::new();
    flatten(expr, &mut operands, &mut operators);
    let mut operands = operands.into_iter();
    let mut operators = operators.into_iter().peekable();
    climb(&mut operands, &mut operators, 0)
}

fn flatten(expr: Expr, operands: &mut Vec<Expr>, operators: &mut Vec<Op>) {
    operands.push(Expr { head: expr.head, tail: Vec::new() });
    for (op, right) in expr.tail {
        operators.push(op);
        flatten(right, operands, operators);
    }
}

/// How many operators an expression has, those in parentheses not counted.
pub(super) fn operator_count(expr: &Expr) -> usize {
    expr.tail.iter().map(|(_, right)| 1 + operator_count(right)).sum()
}

fn climb(
    operands: &mut std::vec::IntoIter<Expr>,
    operators: &mut std::iter::Peekable<std::vec::IntoIter<Op>>,
    lowest: u8,
) -> Tree {
    // There is one operand more than operators.
    let mut left =
        Tree::Leaf(operands.next().unwrap_or_else(|| {
            super::ast::simple(piccolo::compiler::parser::SimpleExpression::Nil)
        }));
    while let Some(op) = operators.peek().copied() {
        let (left_priority, right_priority) = priority(op);
        if left_priority <= lowest {
            break;
        }
        operators.next();
        let right = climb(operands, operators, right_priority);
        left = Tree::Binary(Box::new(left), op, Box::new(right));
    }
    left
}

const fn priority(op: Op) -> (u8, u8) {
    match op {
        Op::Or => (1, 1),
        Op::And => (2, 2),
        Op::LessThan
        | Op::LessEqual
        | Op::GreaterThan
        | Op::GreaterEqual
        | Op::Equal
        | Op::NotEqual => (3, 3),
        Op::BitOr => (4, 4),
        Op::BitXor => (5, 5),
        Op::BitAnd => (6, 6),
        Op::ShiftLeft | Op::ShiftRight => (7, 7),
        Op::Concat => (9, 8),
        Op::Add | Op::Sub => (10, 10),
        Op::Mul | Op::Div | Op::IDiv | Op::Mod => (11, 11),
        Op::Pow => (14, 13),
    }
}
