//! From a source text to what the engine gets, and back to its lines.

use std::collections::HashSet;

use webhook_core::function::FunctionError;

use crate::list::list_of;

/// What positions in error messages begin with: `function:3: …`.
pub(super) const CHUNK: &str = "function";

/// What stands before the first line of a source.
pub(super) const PROLOGUE: &str = "(async function () {";

/// The source as a function that answers what a script of any style returns.
/// It is given the function to call with what the script declares. That is the
/// script's own, `return` and `await` may stand anywhere, and no line moves.
pub(super) fn wrapped(source: &str) -> String {
    // Most scripts declare neither, and to read a shorter text takes the engine less.
    let may_declare = source.contains("\\u")
        || words(source).any(|(_, word)| matches!(word, "transform" | "handler"));
    if !may_declare {
        return format!("{PROLOGUE}{source}\nreturn arguments[0]();}})");
    }
    format!(
        "{PROLOGUE}{source}\n\
        return arguments[0](typeof transform === \"function\" ? transform : undefined, \
        typeof handler === \"function\" ? handler : undefined);}})"
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
    words(source).find(|(_, word)| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.len() > 1 && word.ends_with('n')
    })
}

/// Names, keywords and numbers, with where they stand; letters beyond ASCII are between them.
pub(super) fn words(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + source[from..].find(part)?;
        let word = &source[start..];
        let word = &word[..word.find(|c| !part(c)).unwrap_or(word.len())];
        from = start + word.len();
        Some((start, word))
    })
}

/// Those of the names in the global object to which a source may come: those that are words in
/// it, and all when it may reach the object itself or writes a name in another way.
pub(super) fn mentioned<'n>(source: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let all = source.contains("\\u")
        || words(source).any(|(_, word)| matches!(word, "globalThis" | "this"));
    let known: HashSet<_> =
        if all { HashSet::new() } else { words(source).map(|(_, word)| word).collect() };
    names.filter(|name| all || known.contains(name)).collect()
}

/// Whether there are functions in a source.
pub(super) fn declares(source: &str) -> bool {
    source.contains("=>") || words(source).any(|(_, word)| matches!(word, "function" | "class"))
}

/// Refuses a source that declares functions and names nothing through which
/// they could be called or the webhook reached. What is only found out when it
/// runs fails then.
pub(super) fn uses_webhook(source: &str) -> Result<(), FunctionError> {
    /// Names in texts and comments count as well.
    const WAYS: [&str; 10] =
        list_of("r transform handler addHandler http fetch throw globalThis this arguments");
    if !declares(source) || words(source).any(|(_, word)| WAYS.contains(&word)) {
        return Ok(());
    }
    let reason = "the script declares functions and does nothing with the webhook: use r, or \
        declare transform(r), transform(payload), handler(webhook) or addHandler(\"transform\", …)";
    Err(FunctionError::Compile { line: 1, reason: reason.to_owned() })
}

/// Whether the parameter of a function says that it takes the payload and not `r`.
pub(super) fn takes_payload(function: &str) -> bool {
    let parameter = parameter(function);
    parameter.is_some_and(|name| matches!(name, "payload" | "data" | "event" | "body" | "json"))
}

/// The first parameter of a function by its text, unless it is a pattern.
fn parameter(function: &str) -> Option<&str> {
    let bare = function.strip_prefix("async").unwrap_or(function);
    let named = function.find('(');
    let arrow = bare.find("=>").filter(|arrow| bare.find('(').is_none_or(|open| *arrow < open));
    let mut rest = match (arrow, named) {
        (Some(_), _) => bare,
        (None, Some(open)) => function.get(open + 1..)?,
        (None, None) => return None,
    };
    loop {
        rest = rest.trim_start();
        rest = match (rest.strip_prefix("/*"), rest.strip_prefix("//")) {
            (Some(comment), _) => comment.split_once("*/")?.1,
            (_, Some(comment)) => comment.split_once('\n')?.1,
            _ => break,
        };
    }
    words(rest).next().filter(|(at, _)| *at == 0).map(|(_, word)| word)
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
    fn parameters_are_found_in_the_text_of_a_function() {
        for function in [
            "function transform(payload) {}",
            "async function transform ( payload, other) {}",
            "payload => payload.a",
            "async payload => f(payload)",
            "(payload) => ({})",
            "async (payload = {}) => 1",
            "function (/* what came */ payload) {}",
            "function transform(// what came\n  payload) {}",
            "function* transform(payload) {}",
        ] {
            assert_eq!(parameter(function), Some("payload"), "{function}");
            assert!(takes_payload(function), "{function}");
        }
        for function in ["r => r", "function transform(r) {}", "() => payload", "({payload}) => 1"]
        {
            assert!(!takes_payload(function), "{function}");
        }
        assert_eq!(parameter("class Transform {}"), None);
    }

    #[test]
    fn names_are_those_that_a_source_has_or_could_reach() {
        let names = ["Map", "Set", "kv"];
        for (source, expected) in [
            ("r.body = [...new Set([1])]", vec!["Set"]),
            ("/* Map */ const maps = kv.get('Set')", names.to_vec()),
            ("r.mapping = Mapped", vec![]),
            ("", vec![]),
            ("globalThis['M' + 'ap']", names.to_vec()),
            ("(function () { return this })()", names.to_vec()),
            (r"new M\u0061p()", names.to_vec()),
        ] {
            assert_eq!(mentioned(source, names.into_iter()), expected, "{source}");
        }
    }

    #[test]
    fn sources_that_only_declare_are_refused() {
        for source in [
            "function process(payload) { delete payload.email; return payload }",
            "const redact = (p) => ({ ...p, email: undefined });",
            "class Redact { run(p) { return p } }",
            "async function main(event) {}",
        ] {
            let refused = uses_webhook(source).expect_err(source).to_string();
            assert!(refused.contains("does nothing with the webhook"), "{refused}");
        }
        for source in [
            "",
            "// nothing",
            "const a = 1",
            "const f = () => r; f()",
            "function transform() {}",
            "const f = () => http.get('x'); f()",
            "const handler = (w) => w",
            "addHandler('transform', (q) => q)",
        ] {
            assert_eq!(uses_webhook(source), Ok(()), "{source}");
        }
    }

    proptest! {
        #[test]
        fn inspecting_never_fails_otherwise(source in "\\PC{0,200}") {
            let _ = inspect(&source, 100);
            let _ = (takes_payload(&source), uses_webhook(&source));
        }
    }
}
