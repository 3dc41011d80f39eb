//! What a source does anywhere: known before any of it is rewritten.

use std::collections::HashSet;

use piccolo::compiler::parser as p;

use super::ast::{Block, Expr, Name, Statement, Suffixed};

/// Facts about a whole syntax tree.
#[derive(Default)]
pub(super) struct Mentions {
    /// Names that are assigned to or declared as functions.
    pub(super) assigned: HashSet<Name>,
    /// Names of variables that are read.
    pub(super) read: HashSet<Name>,
    /// Whether there is a `goto`.
    pub(super) has_goto: bool,
    /// Whether there is a `...`, those in functions inside not counted.
    pub(super) has_varargs: bool,
    functions: usize,
}

impl Mentions {
    pub(super) fn of_block(block: &Block) -> Self {
        let mut mentions = Self::default();
        mentions.block(block);
        mentions
    }

    /// The names that an expression reads, functions inside it included.
    pub(super) fn of_expr(expr: &Expr) -> Self {
        let mut mentions = Self::default();
        mentions.expr(expr);
        mentions
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(&statement.inner);
        }
        if let Some(statement) = &block.return_statement {
            self.exprs(&statement.returns);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            p::Statement::If(statement) => {
                let first = std::iter::once(&statement.if_part);
                for (condition, block) in first.chain(&statement.else_if_parts) {
                    self.expr(condition);
                    self.block(block);
                }
                if let Some(block) = &statement.else_part {
                    self.block(block);
                }
            }
            p::Statement::While(statement) => {
                self.expr(&statement.condition);
                self.block(&statement.block);
            }
            p::Statement::Do(block) => self.block(block),
            p::Statement::For(p::ForStatement::Numeric { initial, limit, step, body, .. }) => {
                self.expr(initial);
                self.expr(limit);
                self.exprs(step.as_slice());
                self.block(body);
            }
            p::Statement::For(p::ForStatement::Generic { arguments, body, .. }) => {
                self.exprs(arguments);
                self.block(body);
            }
            p::Statement::Repeat(statement) => {
                self.block(&statement.body);
                self.expr(&statement.until);
            }
            p::Statement::Function(statement) => {
                if statement.fields.is_empty() && statement.method.is_none() {
                    self.assigned.insert(Name::clone(&statement.name));
                } else {
                    self.read.insert(Name::clone(&statement.name));
                }
                self.function(&statement.definition);
            }
            p::Statement::LocalFunction(statement) => self.function(&statement.definition),
            p::Statement::LocalStatement(statement) => self.exprs(&statement.values),
            p::Statement::Goto(_) => self.has_goto = true,
            p::Statement::Label(_) | p::Statement::Break => {}
            p::Statement::FunctionCall(statement) => {
                self.suffixed(&statement.head);
                self.call(&statement.call);
            }
            p::Statement::Assignment(statement) => {
                for target in &statement.targets {
                    match target {
                        p::AssignmentTarget::Name(name) => {
                            self.assigned.insert(Name::clone(name));
                        }
                        p::AssignmentTarget::Field(table, field) => {
                            self.suffixed(table);
                            self.field(field);
                        }
                    }
                }
                self.exprs(&statement.values);
            }
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &*expr.head {
            p::HeadExpression::Simple(simple) => match simple {
                p::SimpleExpression::TableConstructor(table) => {
                    for field in &table.fields {
                        match field {
                            p::ConstructorField::Array(value)
                            | p::ConstructorField::Record(p::RecordKey::Named(_), value) => {
                                self.expr(value);
                            }
                            p::ConstructorField::Record(p::RecordKey::Indexed(key), value) => {
                                self.expr(key);
                                self.expr(value);
                            }
                        }
                    }
                }
                p::SimpleExpression::Function(function) => self.function(function),
                p::SimpleExpression::VarArgs => self.has_varargs |= self.functions == 0,
                p::SimpleExpression::Suffixed(suffixed) => self.suffixed(suffixed),
                _ => {}
            },
            p::HeadExpression::UnaryOperator(_, operand) => self.expr(operand),
        }
        for (_, right) in &expr.tail {
            self.expr(right);
        }
    }

    fn function(&mut self, definition: &p::FunctionDefinition<Name>) {
        self.functions += 1;
        self.block(&definition.body);
        self.functions -= 1;
    }

    fn suffixed(&mut self, suffixed: &Suffixed) {
        match &suffixed.primary {
            p::PrimaryExpression::Name(name) => {
                self.read.insert(Name::clone(name));
            }
            p::PrimaryExpression::GroupedExpression(expr) => self.expr(expr),
        }
        for suffix in &suffixed.suffixes {
            match suffix {
                p::SuffixPart::Field(field) => self.field(field),
                p::SuffixPart::Call(call) => self.call(call),
            }
        }
    }

    fn field(&mut self, field: &p::FieldSuffix<Name>) {
        if let p::FieldSuffix::Indexed(key) = field {
            self.expr(key);
        }
    }

    fn call(&mut self, call: &p::CallSuffix<Name>) {
        match call {
            p::CallSuffix::Function(arguments) | p::CallSuffix::Method(_, arguments) => {
                self.exprs(arguments);
            }
        }
    }
}
