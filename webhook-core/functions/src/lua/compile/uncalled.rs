//! Refuses a function that nothing calls, and a returned value that nothing takes: the webhook
//! would pass as it came.

use piccolo::compiler::parser as p;

use super::{
    ast::{Block, Expr, Name, Statement},
    mentions::Mentions,
    refusal::Refusal,
    rewrite::line_number,
};

/// Names of functions that other services call.
const CALLED_ELSEWHERE: [&[u8]; 2] = [b"transform", b"handler"];

/// Why a script that compiles cannot be meant so.
pub(super) fn refusal(block: &Block) -> Option<Refusal> {
    function(block).or_else(|| value(block))
}

fn function(block: &Block) -> Option<Refusal> {
    let mentions = Mentions::of_block(block);
    let dynamic = [&b"_G"[..], b"_ENV"].iter().any(|name| mentions.read.contains(*name));
    let is_uncalled = |name: &Name| {
        CALLED_ELSEWHERE.contains(&&**name) && !dynamic && !mentions.read.contains(name)
    };
    block.statements.iter().find_map(|line| {
        let name = declared(&line.inner).filter(|name| is_uncalled(name))?;
        let name = String::from_utf8_lossy(name);
        let reason = format!(
            "nothing calls the function {name}: a script in Lua runs from its first line to its \
            last and works on r; end it with {name}(r), or move the lines of {name} out of it"
        );
        Some(Refusal { line: line_number(line.line_number), reason, is_of_signs: false })
    })
}

/// The name of the function that a statement declares.
fn declared(statement: &Statement) -> Option<&Name> {
    match statement {
        p::Statement::Function(function) => {
            (function.fields.is_empty() && function.method.is_none()).then_some(&function.name)
        }
        p::Statement::LocalFunction(function) => Some(&function.name),
        p::Statement::Assignment(assignment) => match &*assignment.targets {
            [p::AssignmentTarget::Name(name)] if makes_function(&assignment.values) => Some(name),
            _ => None,
        },
        p::Statement::LocalStatement(local) => {
            local.names.first().filter(|_| makes_function(&local.values))
        }
        _ => None,
    }
}

fn makes_function(values: &[Expr]) -> bool {
    values.first().is_some_and(|value| {
        matches!(&*value.head, p::HeadExpression::Simple(p::SimpleExpression::Function(_)))
    })
}

/// A `return` of a table or a text, outside of all functions.
fn value(block: &Block) -> Option<Refusal> {
    let returned = block.return_statement.as_ref().and_then(|statement| {
        let first = statement.inner.returns.first().filter(|value| value.tail.is_empty())?;
        let kind = match &*first.head {
            p::HeadExpression::Simple(p::SimpleExpression::TableConstructor(_)) => "table",
            p::HeadExpression::Simple(p::SimpleExpression::String(_)) => "text",
            _ => return None,
        };
        let line = line_number(statement.line_number);
        Some(Refusal { line, reason: taken_by_nobody(kind), is_of_signs: false })
    });
    returned.or_else(|| block.statements.iter().find_map(|line| inner(&line.inner)))
}

fn inner(statement: &Statement) -> Option<Refusal> {
    match statement {
        p::Statement::If(choice) => {
            let parts = std::iter::once(&choice.if_part).chain(&choice.else_if_parts);
            let blocks = parts.map(|(_, block)| block).chain(&choice.else_part);
            blocks.into_iter().find_map(value)
        }
        p::Statement::While(looped) => value(&looped.block),
        p::Statement::Do(block) => value(block),
        p::Statement::For(
            p::ForStatement::Numeric { body, .. } | p::ForStatement::Generic { body, .. },
        ) => value(body),
        p::Statement::Repeat(repeat) => value(&repeat.body),
        _ => None,
    }
}

/// What a script that returns such a value is told.
pub(crate) fn taken_by_nobody(kind: &str) -> String {
    format!(
        "the script returns a {kind}, which nothing takes: set the new body with \
        r:SetRequestBody(text), and write return alone"
    )
}
