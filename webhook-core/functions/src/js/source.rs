//! From a source text to what the engine gets, and back to its lines.

use std::{borrow::Cow, collections::HashSet};

use webhook_core::function::FunctionError;

use super::styles::{self, Style};
use super::tokens::{Kind, Token, closings, tokens};
use crate::{foreign, list::list_of};

/// What positions in error messages begin with: `function:3: …`.
pub(super) const CHUNK: &str = "function";

/// What stands before the first line of a source.
pub(super) const PROLOGUE: &str = "(async function (ended$, watched$, exported$) {";

/// The source as a function that answers what a script of any style returns.
/// It is given the function to call with what the script declares, and the one that
/// is shown what the script deletes from. `return` and `await` may stand anywhere, and
/// no line moves.
pub(super) fn wrapped(source: &str, style: Option<&Style>) -> String {
    let source = &*rewritten(source);
    if let Some(style) = style {
        let known = style
            .variables
            .iter()
            .map(|name| format!("typeof {name} === \"undefined\" ? undefined : {name}, "));
        let known: String = known.collect();
        return format!("{PROLOGUE}{source}\nreturn ended$({known});}})");
    }
    if exports(source) {
        return format!(
            "{PROLOGUE}{source}\n\
            return ended$(typeof transform === \"function\" ? transform : exported$.default, \
            typeof handler === \"function\" ? handler : undefined);}})"
        );
    }
    // Most scripts declare neither, and to read a shorter text takes the engine less.
    let may_declare = source.contains("\\u")
        || words(source).any(|(_, word)| matches!(word, "transform" | "handler"));
    if !may_declare {
        return format!("{PROLOGUE}{source}\nreturn ended$();}})");
    }
    format!(
        "{PROLOGUE}{source}\n\
        return ended$(typeof transform === \"function\" ? transform : undefined, \
        typeof handler === \"function\" ? handler : undefined);}})"
    )
}

/// Whether fields may be deleted in a source.
pub(super) fn deletes(source: &str) -> bool {
    memchr::memmem::find(source.as_bytes(), b"delete").is_some()
}

/// Whether a source exports something, or did before it was rewritten.
pub(super) fn exports(source: &str) -> bool {
    memchr::memmem::find(source.as_bytes(), b"export").is_some()
}

/// The source with calls of `watched$`, and without `export`. Each call gets an object that loses a field: the engine
/// deletes from a text without a word.
fn rewritten(source: &str) -> Cow<'_, str> {
    if !deletes(source) && !exports(source) {
        return Cow::Borrowed(source);
    }
    let tokens = tokens(source).unwrap_or_default();
    let closings = closings(&tokens);
    // From where to where there is another text.
    let mut edits: Vec<(usize, usize, &str)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let is_name = index > 0 && [".", "?."].iter().any(|sign| tokens[index - 1].is(sign));
        if token.is("delete")
            && !is_name
            && let Some(Deleted { from, to, sign }) = deleted(&tokens, &closings, index + 1)
        {
            edits.extend([(from, from, "watched$("), (to, to, sign)]);
        }
        if token.is("export") && !is_name {
            edits.extend(exported(&tokens, &closings, index));
        }
    }
    edits.sort_by_key(|(at, ..)| *at);
    let (mut made, mut done) = (String::with_capacity(source.len()), 0);
    for (from, to, text) in edits {
        made.push_str(&source[done..from]);
        made.push_str(text);
        done = to;
    }
    made.push_str(&source[done..]);
    Cow::Owned(made)
}

/// The changes that take an `export` away. A declaration is left; a value without a name is assigned
/// to `exported$`.
fn exported(
    tokens: &[Token<'_>],
    closings: &[Option<usize>],
    index: usize,
) -> Vec<(usize, usize, &'static str)> {
    let edit = |token: &Token<'_>, text| (token.at, token.at + token.text.len(), text);
    let Some(next) = tokens.get(index + 1) else { return Vec::new() };
    let is = |place: usize, text: &str| tokens.get(place).is_some_and(|token| token.is(text));
    match next.text {
        "default" => {
            let function = index + 2 + usize::from(is(index + 2, "async"));
            let declares = is(function, "function") || is(function, "class");
            let named = tokens.get(function + 1).is_some_and(Token::is_word);
            let texts = if declares && named { ["", ""] } else { ["exported$.", "default ="] };
            vec![edit(&tokens[index], texts[0]), edit(next, texts[1])]
        }
        "{" => match closings[index + 1] {
            Some(end) => vec![(tokens[index].at, tokens[end].at + 1, "")],
            None => Vec::new(),
        },
        _ if next.is_word() => vec![edit(&tokens[index], "")],
        _ => Vec::new(),
    }
}

/// What a field is deleted from.
struct Deleted {
    from: usize,
    to: usize,
    /// What ends it.
    sign: &'static str,
}

/// The object of the field that ends what follows a `delete`.
fn deleted(tokens: &[Token<'_>], closings: &[Option<usize>], from: usize) -> Option<Deleted> {
    const NOT_FIRST: [&str; 11] =
        list_of("super new await function class async typeof void delete yield import");
    let closing = |open: usize| *closings.get(open)?;
    let first = tokens.get(from)?;
    let mut next = match first {
        first if first.is("(") => closing(from)? + 1,
        first if first.is_word() && !NOT_FIRST.contains(&first.text) => from + 1,
        _ => return None,
    };
    let (mut field, mut optional) = (None, false);
    while let Some(token) = tokens.get(next) {
        let last = field;
        match token.text {
            _ if token.kind != Kind::Sign => break,
            "." | "?." => {
                let behind = tokens.get(next + 1)?;
                field = Some((next, optional && token.is(".")));
                optional |= token.is("?.");
                next = match behind.text {
                    "[" => closing(next + 1)? + 1,
                    "(" => {
                        field = None;
                        closing(next + 1)? + 1
                    }
                    _ => next + 2,
                };
            }
            "[" => {
                field = Some((next, optional));
                next = closing(next)? + 1;
            }
            "(" => {
                field = None;
                next = closing(next)? + 1;
            }
            _ => {
                field = last;
                break;
            }
        }
    }
    let is_template = tokens.get(next).is_some_and(|token| token.text.starts_with('`'));
    let (at, continues) = field.filter(|_| !is_template)?;
    // Where the object may be missing, the field may be, too.
    let sign = match (continues, tokens[at].text) {
        (true, "[") => ")?.",
        (true, _) => ")?",
        (false, _) => ")",
    };
    Some(Deleted { from: first.at, to: tokens[at].at, sign })
}

/// The source in other brackets: no text fits both without being whole in itself.
pub(super) fn enclosed(source: &str) -> String {
    format!("({{async method() {{{}\n}}}})", rewritten(source))
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
    if let Some((at, package)) = imported(source) {
        return refused(at, foreign::package(package));
    }
    Ok(())
}

/// Where a package is imported, and which.
fn imported(source: &str) -> Option<(usize, &str)> {
    memchr::memmem::find(source.as_bytes(), b"import")?;
    let tokens = tokens(source)?;
    let at = tokens.windows(2).position(|pair| {
        pair[0].is("import") && (pair[1].is_word() || pair[1].is("{") || pair[1].kind == Kind::Text)
    })?;
    let package = tokens[at..].iter().find(|token| token.kind == Kind::Text)?;
    Some((tokens[at].at, package.text.trim_matches(['"', '\''])))
}

/// The first package that a source requires.
pub(super) fn required(source: &str) -> Option<&str> {
    let tokens = tokens(source)?;
    let at = tokens.windows(2).position(|pair| pair[0].is("require") && pair[1].is("("))?;
    let package = tokens.get(at + 2).filter(|token| token.kind == Kind::Text)?;
    Some(package.text.trim_matches(['"', '\'']))
}

/// Whether a source throws null, or rejects a promise with it.
pub(super) fn throws_null(source: &str) -> bool {
    let tokens = tokens(source).unwrap_or_default();
    tokens.windows(3).any(|all| {
        let rejects = all[0].is("reject") && all[1].is("(") && all[2].is("null");
        rejects || (all[0].is("throw") && all[1].is("null"))
    }) || source.trim_end().trim_end_matches(';').ends_with("throw null")
}

/// Whether a source that is no JavaScript has types in it, as TypeScript does.
fn has_types(source: &str) -> bool {
    let Some(tokens) = tokens(source) else { return false };
    tokens.windows(4).any(|all| {
        let typed = all[0].is_word() && (all[1].is(":") || all[2].is(":"));
        let kind = if all[1].is(":") { &all[2] } else { &all[3] };
        let declares = ["interface", "type", "enum"].iter().any(|word| all[0].is(word));
        (typed && foreign::TYPES.contains(&kind.text) && kind.is_word())
            || (all[0].is("(") && all[1].is_word() && all[2].is(":"))
            || (declares && all[1].is_word() && (all[2].is("{") || all[2].is("=")))
    })
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
/// it and are meant, and all when it may reach the object itself or writes a name in another way.
pub(super) fn mentioned<'n>(
    source: &str,
    names: impl Iterator<Item = &'n str>,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<&'n str> {
    let all = source.contains("\\u")
        || words(source).any(|(_, word)| matches!(word, "globalThis" | "this"));
    let known: HashSet<_> =
        if all { HashSet::new() } else { words(source).map(|(_, word)| word).collect() };
    names.filter(|name| all || (known.contains(name) && is_meant(name))).collect()
}

/// Whether there is a function in a source that has a name and that nothing in it calls.
pub(super) fn leaves_functions(source: &str) -> bool {
    let Some(tokens) = tokens(source) else {
        return source.contains("=>") || words(source).any(|(_, word)| word == "function");
    };
    let calls = |name: &str| tokens.iter().filter(|token| token.is(name)).count() > 1;
    let makes_function = |value: &[Token<'_>]| {
        let open = value.iter().take(2).any(|token| token.is("function") || token.is("class"));
        open || value
            .iter()
            .take_while(|token| !token.is(";") && !token.is("{"))
            .any(|token| token.is("=>"))
    };
    tokens.windows(2).enumerate().any(|(index, pair)| {
        let declares = match pair[0].text {
            "function" | "class" => pair[0].is_word(),
            "const" | "let" | "var" => {
                let value = tokens.get(index + 3..).unwrap_or_default();
                tokens.get(index + 2).is_some_and(|token| token.is("=")) && makes_function(value)
            }
            _ => false,
        };
        declares && pair[1].is_word() && !calls(pair[1].text)
    })
}

/// Refuses a source that declares functions and names nothing through which
/// they could be called or the webhook reached. What is only found out when it
/// runs fails then.
pub(super) fn uses_webhook(source: &str) -> Result<(), FunctionError> {
    /// Names in texts and comments count as well.
    const WAYS: [&str; 12] = list_of(
        "r transform handler addHandler http fetch kv throw globalThis this arguments default",
    );
    let uses =
        || words(source).any(|(_, word)| WAYS.contains(&word)) || styles::of(source).is_some();
    if !leaves_functions(source) || uses() {
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
        line if has_types(source) => {
            let reason = format!("{} ({message})", foreign::TYPESCRIPT);
            FunctionError::Compile { line, reason }
        }
        line => {
            let text = source.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default();
            let code = text.split("//").next().unwrap_or_default();
            let reason = match foreign::sign_in_js(code) {
                Some(here) => format!("{message}; in JavaScript, {here}"),
                None => message.to_owned(),
            };
            FunctionError::Compile { line, reason }
        }
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
            assert_eq!(mentioned(source, names.into_iter(), |_| true), expected, "{source}");
        }
    }

    #[test]
    fn what_a_field_is_deleted_from_is_shown() {
        for (source, expected) in [
            ("delete r.body.email", "delete watched$(r.body).email"),
            ("delete a.b[c.d]; e", "delete watched$(a.b)[c.d]; e"),
            ("delete a?.b", "delete watched$(a)?.b"),
            ("delete a?.b.c", "delete watched$(a?.b)?.c"),
            ("delete a?.b[c]", "delete watched$(a?.b)?.[c]"),
            ("delete f(a).b, c", "delete watched$(f(a)).b, c"),
            ("delete (a || b).c", "delete watched$((a || b)).c"),
            ("delete a[delete b.c].d", "delete watched$(a[delete watched$(b).c]).d"),
            ("`${delete a.b}`", "`${delete watched$(a).b}`"),
            ("export function f() {}", " function f() {}"),
            ("export default async function f() {}", "  async function f() {}"),
            (
                "export default (a) => delete a.b",
                "exported$. default = (a) => delete watched$(a).b",
            ),
            ("const a = 1; export { a as b };", "const a = 1; ;"),
            ("a.export = 1", "a.export = 1"),
        ] {
            assert_eq!(rewritten(source), expected, "{source}");
        }
        for source in [
            "delete a",
            "a.delete(b.c)",
            "'delete a.b'",
            "// delete a.b",
            "delete a.b()",
            "delete super.a",
        ] {
            assert_eq!(rewritten(source), source, "{source}");
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
