//! Building pieces of piccolo's syntax tree.

use std::sync::Arc;

use piccolo::compiler::{LineNumber, StringInterner, parser as p};

pub(super) type Name = Arc<[u8]>;
pub(super) type Expr = p::Expression<Name>;
pub(super) type Suffixed = p::SuffixedExpression<Name>;
pub(super) type Statement = p::Statement<Name>;
pub(super) type Block = p::Block<Name>;
pub(super) type Line = p::LineAnnotated<Statement>;

/// Makes each text of a source once.
#[derive(Default)]
pub(super) struct Interner {
    names: std::collections::HashSet<Name>,
}

impl StringInterner for Interner {
    type String = Name;

    fn intern(&mut self, text: &[u8]) -> Name {
        if let Some(name) = self.names.get(text) {
            return Name::clone(name);
        }
        let name = Name::from(text);
        self.names.insert(Name::clone(&name));
        name
    }
}

pub(super) fn simple(simple: p::SimpleExpression<Name>) -> Expr {
    Expr { head: Box::new(p::HeadExpression::Simple(simple)), tail: Vec::new() }
}

pub(super) fn variable(name: &Name) -> Expr {
    suffixed(named(name))
}

fn named(name: &Name) -> Suffixed {
    let primary = p::PrimaryExpression::Name(Name::clone(name));
    Suffixed { primary, suffixes: Vec::new() }
}

pub(super) fn suffixed(suffixed: Suffixed) -> Expr {
    simple(p::SimpleExpression::Suffixed(suffixed))
}

pub(super) fn string(text: &Name) -> Expr {
    simple(p::SimpleExpression::String(Name::clone(text)))
}

/// `(e)`
pub(super) fn grouped(expr: Expr) -> Suffixed {
    Suffixed { primary: p::PrimaryExpression::GroupedExpression(expr), suffixes: Vec::new() }
}

/// `function(arguments)`, where `function` is a name.
pub(super) fn call(function: &Name, arguments: Vec<Expr>) -> Suffixed {
    let call = p::SuffixPart::Call(p::CallSuffix::Function(arguments));
    Suffixed { suffixes: vec![call], ..named(function) }
}

/// `left op right`, grouped from the left.
pub(super) fn binary(mut left: Expr, op: p::BinaryOperator, right: Expr) -> Expr {
    left.tail.push((op, right));
    left
}

pub(super) fn unary(op: p::UnaryOperator, operand: Expr) -> Expr {
    Expr { head: Box::new(p::HeadExpression::UnaryOperator(op, operand)), tail: Vec::new() }
}

pub(super) fn block(statements: Vec<Line>, closed_on: LineNumber) -> Block {
    Block { statements, return_statement: None, closed_on }
}

pub(super) fn local(names: Vec<Name>, values: Vec<Expr>) -> Statement {
    Statement::LocalStatement(p::LocalStatement { names, values })
}

pub(super) fn assign(target: p::AssignmentTarget<Name>, value: Expr) -> Statement {
    Statement::Assignment(p::AssignmentStatement { targets: vec![target], values: vec![value] })
}

/// `if condition then … else … end`
pub(super) fn if_else(condition: Expr, then: Block, otherwise: Option<Block>) -> Statement {
    let if_part = (condition, then);
    let else_if_parts = Vec::new();
    Statement::If(p::IfStatement { if_part, else_if_parts, else_part: otherwise })
}

/// `while true do … end`
pub(super) fn forever(block: Block) -> Statement {
    Statement::While(p::WhileStatement { condition: simple(p::SimpleExpression::True), block })
}

/// A call whose results are dropped.
pub(super) fn call_statement(function: &Name, arguments: Vec<Expr>) -> Statement {
    let call = p::CallSuffix::Function(arguments);
    Statement::FunctionCall(p::FunctionCallStatement { head: named(function), call })
}

/// The expression when it is nothing but a suffixed one.
pub(super) fn as_suffixed(expr: &Expr) -> Option<&Suffixed> {
    match (&*expr.head, expr.tail.is_empty()) {
        (p::HeadExpression::Simple(p::SimpleExpression::Suffixed(suffixed)), true) => {
            Some(suffixed)
        }
        _ => None,
    }
}

/// The literal when the expression is nothing but one.
pub(super) fn as_simple(expr: &Expr) -> Option<&p::SimpleExpression<Name>> {
    match (&*expr.head, expr.tail.is_empty()) {
        (p::HeadExpression::Simple(simple), true) => Some(simple),
        _ => None,
    }
}

/// Whether the expression may give any number of values: a call or `...`.
pub(super) fn is_multiple(expr: &Expr) -> bool {
    match as_simple(expr) {
        Some(p::SimpleExpression::VarArgs) => true,
        Some(p::SimpleExpression::Suffixed(suffixed)) => {
            matches!(suffixed.suffixes.last(), Some(p::SuffixPart::Call(_)))
        }
        _ => false,
    }
}
