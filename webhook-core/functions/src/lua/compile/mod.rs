//! From source to a prototype: parse, rewrite, compile.
//!
//! piccolo's compiler recurses over the syntax tree and asserts what it takes
//! for granted, so the tree is measured first, and all of this belongs on a
//! thread with a stack of [`STACK_BYTES`].

mod assign;
mod ast;
mod escapes;
mod expr;
mod function;
mod globals;
mod helper;
mod loops;
mod mentions;
mod named;
mod operators;
mod precedence;
mod refusal;
mod rewrite;
mod scope;
mod sites;
mod uncalled;

use std::panic::{AssertUnwindSafe, catch_unwind};

use piccolo::compiler::{
    CompiledPrototype, FunctionRef, LineNumber, compile_chunk, parse_chunk,
    parser::{self as p},
};
use webhook_core::function::FunctionError;

use self::{
    ast::{Block, Interner, Name},
    mentions::Mentions,
    refusal::Refusal,
    rewrite::Rewriter,
    sites::Ambiguous,
};
pub(super) use self::{
    globals::GlobalUse,
    globals::Globals,
    helper::Helper,
    sites::{Sites, Use},
    uncalled::taken_by_nobody,
};

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
            Err(Refusal { line: 1, reason, is_of_signs: false })
        })
        .map_err(|refusal| refusal.on_line_of(source))
        .map_err(FunctionError::from)
}

fn compile_checked(source: &str) -> Result<Program, Refusal> {
    let mut interner = Interner::default();
    let source = escapes::expand(source.as_bytes())?;
    let chunk = parse_chunk(&*source, &mut interner)?;
    let last_line = chunk.block.closed_on;
    let unused = uncalled::refusal(&chunk.block);
    let (mut body, mut rewriter) = rewritten(chunk.block.clone(), Ambiguous::default())?;
    let ambiguous = rewriter.sites.ambiguous();
    if !ambiguous.is_empty() {
        (body, rewriter) = rewritten(chunk.block, ambiguous)?;
    }
    let Rewriter { used, globals, mut sites, .. } = rewriter;
    sites.finish();
    let (helpers, names) = used.into_parts();
    let chunk = p::Chunk { block: outer(names, body, last_line) };
    let prototype = compile_chunk(&chunk, &mut interner)?;
    check_registers(&prototype)?;
    if let Some(refusal) = unused {
        return Err(refusal);
    }
    Ok(Program { prototype, helpers, globals, sites })
}

fn rewritten(
    block: Block,
    ambiguous: Ambiguous,
) -> Result<(p::FunctionDefinition<Name>, Rewriter), Refusal> {
    let mut rewriter = Rewriter::new(Mentions::of_block(&block), ambiguous);
    let body = p::FunctionDefinition { parameters: Vec::new(), has_varargs: true, body: block };
    let body = rewriter.function(body, false)?;
    Ok((body, rewriter))
}

/// Refuses functions that use the last register: the compiler may have given it away twice.
fn check_registers(prototype: &CompiledPrototype<Name>) -> Result<(), Refusal> {
    if usize::from(prototype.stack_size) >= MAX_REGISTERS {
        let line = match &prototype.reference {
            FunctionRef::Named(_, line) | FunctionRef::Expression(line) => *line,
            FunctionRef::Chunk => LineNumber(0),
        };
        let reason = "the function has too many variables or values at once".to_owned();
        return Err(Refusal { line: rewrite::line_number(line), reason, is_of_signs: false });
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of Lua, so that more than the lexer is reached.
    const PIECES: &[&str] = &[
        "local",
        "function",
        "end",
        "if",
        "then",
        "else",
        "elseif",
        "while",
        "do",
        "for",
        "in",
        "repeat",
        "until",
        "return",
        "break",
        "goto",
        "and",
        "or",
        "not",
        "nil",
        "true",
        "x",
        "y",
        "f",
        "1",
        "2.5",
        "0x10",
        "'s'",
        "[[l]]",
        "...",
        "..",
        ".",
        ",",
        ";",
        ":",
        "::",
        "=",
        "==",
        "~=",
        "<",
        "<=",
        ">",
        ">=",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "^",
        "#",
        "&",
        "|",
        "~",
        "<<",
        ">>",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\n",
        "--c\n",
        "local x = 1",
        "f(x)",
        "x.y = nil",
        "x, y = y, x",
        "for i = 1, 2 do",
        "::l::",
        "goto l",
    ];

    fn on_a_large_stack(source: String) {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let compiling = thread.spawn(move || compile(&source, 1 << 16).map(drop));
        let compiled = compiling.expect("a thread").join();
        assert!(compiled.is_ok(), "the compiler panicked");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn any_pieces_compile_or_are_refused(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60),
        ) {
            on_a_large_stack(pieces.join(" "));
        }

        #[test]
        fn any_text_compiles_or_is_refused(source in ".{0,200}") {
            on_a_large_stack(source);
        }
    }

    #[test]
    fn refusals_name_the_line_and_the_reason() {
        for (source, line, reason) in [
            ("local x =", 1, "unexpected end of source"),
            ("\n\nif x the", 3, "unexpected 'the', expected 'then'"),
            ("x = 'abc", 1, "short string not finished, expected matching '"),
            ("\nbreak", 2, "break outside a loop"),
            ("\ngoto nowhere", 2, "no visible label 'nowhere' for goto"),
            ("function f() return ... end", 1, "cannot use '...' outside a vararg function"),
            ("f() = 1", 1, "cannot assign to expression"),
            ("::a::\ndo ::b:: ::a:: end", 2, "label 'a' already defined on line 1"),
            ("x = '\\u{80000000}'", 1, "UTF-8 value too large"),
        ] {
            match compile(source, 1 << 16) {
                Err(FunctionError::Compile { line: found, reason: text }) => {
                    assert_eq!(
                        (found, &text[..reason.len().min(text.len())]),
                        (line, reason),
                        "{source}"
                    );
                }
                other => panic!("{source}: {:?}", other.map(drop)),
            }
        }
    }
}
