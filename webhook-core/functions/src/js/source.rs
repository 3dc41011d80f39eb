//! From a source text to what the engine gets, and back to its lines.

use webhook_core::function::FunctionError;

/// What positions in error messages begin with: `function:3: …`.
pub(super) const CHUNK: &str = "function";

/// The source as a function that answers what a script of either style
/// returns. What the script declares is its own, `return` and `await` may
/// stand anywhere, and no line moves.
pub(super) fn wrapped(source: &str) -> String {
    format!(
        "(async function () {{{source}\n\
        return typeof transform === \"function\" ? transform(r) : undefined;}})"
    )
}

/// The source in other brackets: no text fits both without being whole in itself.
pub(super) fn enclosed(source: &str) -> String {
    format!("({{async method() {{{source}\n}}}})")
}

/// Refuses what is not even given to the engine.
pub(super) fn inspect(source: &str, max_bytes: usize) -> Result<(), FunctionError> {
    if source.len() > max_bytes {
        return Err(FunctionError::Limit(format!("source of {max_bytes} bytes")));
    }
    let line_of = |at: usize| {
        let lines = source.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
        u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
    };
    let refused = |at, reason: String| Err(FunctionError::Compile { line: line_of(at), reason });
    if let Some(at) = memchr::memchr(0, source.as_bytes()) {
        return refused(at, "a NUL character".to_owned());
    }
    if let Some((at, literal)) = big_integer(source) {
        let reason = format!(
            "{literal} reads as a BigInt, which is not available (in a text, write it in two parts)"
        );
        return refused(at, reason);
    }
    Ok(())
}

/// Where a literal like `10n` stands. One step of arithmetic with such numbers
/// can take a quarter of a second and nothing could interrupt it. Comments and
/// texts are not told apart, because what is a text depends on what is a
/// pattern, and a mistake there would let one pass.
fn big_integer(source: &str) -> Option<(usize, &str)> {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let mut rest = source;
    while let Some(start) = rest.find(|c: char| c.is_ascii() && part(c as u8)) {
        let word = &rest[start..];
        let end = word.find(|c: char| !c.is_ascii() || !part(c as u8)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        if word.starts_with(|c: char| c.is_ascii_digit()) && word.len() > 1 && word.ends_with('n') {
            return Some((source.len() - after.len() - word.len(), word));
        }
        rest = after;
    }
    None
}

/// The line of the script in the stack of an error: where the innermost
/// function of the script was.
pub(super) fn line(stack: &str) -> Option<u32> {
    stack.lines().find_map(|frame| {
        let place = frame.rsplit(['(', ' ']).next()?.strip_prefix(CHUNK)?.strip_prefix(':')?;
        place.split([':', ')']).next()?.parse().ok()
    })
}

/// A syntax error as the interface reports it.
pub(super) fn compile_error(source: &str, line: Option<u32>, message: &str) -> FunctionError {
    let lines = u32::try_from(source.lines().count().max(1)).unwrap_or(u32::MAX);
    match line.unwrap_or(1) {
        line if line > lines => {
            FunctionError::Compile { line: lines, reason: "the script ends too early".to_owned() }
        }
        line => FunctionError::Compile { line, reason: message.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn big_integers_are_found_wherever_the_engine_would_read_one() {
        for source in ["1n", "a=[...0x1Fn]", "1_000n", "x?1n:2", "f(\u{a0}7n)", "-3n", "0b1n"] {
            assert!(big_integer(source).is_some(), "{source}");
        }
        for source in ["n", "in", "a1n", "_1n", "x$1n", "1", "0xn1", "é1", "sha256n1", "10 n"] {
            assert!(big_integer(source).is_none(), "{source}");
        }
        let error = inspect("let a = 1;\nlet b = 'x';\nlet c = 12n;", 100).expect_err("BigInt");
        assert!(matches!(error, FunctionError::Compile { line: 3, .. }), "{error}");
    }

    #[test]
    fn lines_come_from_the_innermost_frame_of_the_script() {
        assert_eq!(line("    at f (function:12:3)\n    at <anonymous> (function:1:2)\n"), Some(12));
        assert_eq!(line("    at map (native)\n    at function:7:1\n"), Some(7));
        assert_eq!(line("    at f (host:12:3)\n"), None);
    }

    proptest! {
        #[test]
        fn inspecting_never_fails_otherwise(source in "\\PC{0,200}") {
            let _ = inspect(&source, 100);
            let _ = line(&source);
        }
    }
}
