//! From source to a prototype: parse, rewrite, compile.
//!
//! piccolo's compiler recurses over the syntax tree and asserts what it takes
//! for granted, so the tree is measured first, and all of this belongs on a
//! thread with a stack of [`STACK_BYTES`].

mod assign;
mod ast;
mod expr;
mod function;
mod globals;
mod helper;
mod loops;
mod mentions;
mod operators;
mod precedence;
mod refusal;
mod rewrite;
mod scope;
mod sites;

use std::panic::{AssertUnwindSafe, catch_unwind};

use piccolo::compiler::{
    CompiledPrototype, FunctionRef, LineNumber, compile_chunk, parse_chunk,
    parser::{self as p},
};

use self::{
    ast::{Block, Interner, Name},
    mentions::Mentions,
    refusal::Refusal,
    rewrite::Rewriter,
};
pub(super) use self::{
    globals::GlobalUse,
    globals::Globals,
    helper::Helper,
    sites::{Sites, Use},
};
use crate::function::FunctionError;

/// What a thread that compiles must have.
pub(super) const STACK_BYTES: usize = 64 << 20;

/// Levels of blocks, functions, expressions and calls together.
const MAX_DEPTH: usize = 1_000;
/// Operators in one expression without parentheses.
const MAX_OPERATORS: usize = 250;
/// Fields and calls behind one name.
const MAX_SUFFIXES: usize = 100;
/// Registers of a function, one more than it may use.
const MAX_REGISTERS: usize = 256;

/// A compiled function, for any thread and any number of VMs.
#[derive(Debug)]
pub(super) struct Program {
    /// The outer function, which only declares the helpers; the script is its first inner one.
    pub(super) prototype: CompiledPrototype<Name>,
    /// The helpers in the order of the outer function's registers.
    pub(super) helpers: Vec<Helper>,
    pub(super) globals: Globals,
    pub(super) sites: Sites,
}

/// Compiles `source`, or says in which line it is wrong.
pub(super) fn compile(source: &str, max_bytes: usize) -> Result<Program, FunctionError> {
    if source.len() > max_bytes {
        let reason = format!("source of {} bytes, at most {max_bytes}", source.len());
        return Err(FunctionError::Limit(reason));
    }
    catch_unwind(AssertUnwindSafe(|| compile_checked(source)))
        .unwrap_or_else(|_| {
            // Its registers are a byte, and it counts one too many.
            let reason = "a function has too many variables or values at once".to_owned();
            Err(Refusal { line: 1, reason })
        })
        .map_err(FunctionError::from)
}

fn compile_checked(source: &str) -> Result<Program, Refusal> {
    let mut interner = Interner::default();
    let chunk = parse_chunk(source.as_bytes(), &mut interner)?;
    let last_line = chunk.block.closed_on;
    let mut rewriter = Rewriter::new(Mentions::of_block(&chunk.block));
    let body =
        p::FunctionDefinition { parameters: Vec::new(), has_varargs: true, body: chunk.block };
    let body = rewriter.function(body, false)?;
    let Rewriter { used, globals, mut sites, .. } = rewriter;
    sites.finish();
    let (helpers, names) = used.into_parts();
    let chunk = p::Chunk { block: outer(names, body, last_line) };
    let prototype = compile_chunk(&chunk, &mut interner)?;
    check_registers(&prototype)?;
    Ok(Program { prototype, helpers, globals, sites })
}

/// Refuses functions that use the last register: the compiler may have given it away twice.
fn check_registers(prototype: &CompiledPrototype<Name>) -> Result<(), Refusal> {
    if usize::from(prototype.stack_size) >= MAX_REGISTERS {
        let line = match &prototype.reference {
            FunctionRef::Named(_, line) | FunctionRef::Expression(line) => *line,
            FunctionRef::Chunk => LineNumber(0),
        };
        let reason = "the function has too many variables or values at once".to_owned();
        return Err(Refusal { line: rewrite::line_number(line), reason });
    }
    prototype.prototypes.iter().try_for_each(|inner| check_registers(inner))
}

/// `local helper, helper, … return function(...) body end`
fn outer(names: Vec<Name>, body: p::FunctionDefinition<Name>, closed_on: LineNumber) -> Block {
    let mut statements = Vec::new();
    if !names.is_empty() {
        let inner = ast::local(names, Vec::new());
        statements.push(p::LineAnnotated { inner, line_number: LineNumber(0) });
    }
    let function = ast::simple(p::SimpleExpression::Function(body));
    let inner = p::ReturnStatement { returns: vec![function] };
    let return_statement = Some(p::LineAnnotated { inner, line_number: LineNumber(0) });
    Block { statements, return_statement, closed_on }
}
