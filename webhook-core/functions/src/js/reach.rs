//! What of the language's library a source can come to, by its text.
//!
//! A function that bounds one of the engine's own takes some 10 000 instructions to make, so
//! only those are made that a source can name. The others are not there: who is mistaken here
//! takes a function away from a script, and never gives it one that nothing bounds.

use std::collections::HashSet;

use super::source::words;
use crate::list::list_of;

/// What a source can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach<'s> {
    /// Anything: it may make names when it runs.
    All,
    /// These words.
    Words(HashSet<&'s str>),
}

/// Words with which a script may come to a function without its name.
const WAYS: [&str; 16] = list_of(
    "globalThis this super prototype constructor __proto__ __lookupGetter__ __lookupSetter__ \
    getPrototypeOf setPrototypeOf getOwnPropertyDescriptor getOwnPropertyDescriptors \
    getOwnPropertyNames getOwnPropertySymbols Reflect import",
);

/// The words of a source that names all that it uses, except what `list[key]` leads to.
pub(super) fn plain_words(source: &str) -> Option<HashSet<&str>> {
    let known: HashSet<_> = words(source).map(|(_, word)| word).collect();
    let has_ways = source.contains("\\u") || WAYS.iter().any(|way| known.contains(way));
    (!has_ways).then_some(known)
}

impl<'s> Reach<'s> {
    pub(super) fn of(source: &'s str) -> Self {
        if computes_names(source) {
            return Self::All;
        }
        plain_words(source).map_or(Self::All, Self::Words)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Words(known) => known.contains(name),
        }
    }
}

/// Whether a field may be named by a value: `list[key]`, `{ [key]: value }`. Those that are named
/// by a number or a plain text are not. Texts and comments are not told apart, so that there are
/// more of them than there are.
pub(super) fn computes_names(source: &str) -> bool {
    let bytes = source.as_bytes();
    memchr::memchr_iter(b'[', bytes).any(|at| !is_literal(&bytes[at + 1..]) && !is_list(bytes, at))
}

/// Whether what is behind a bracket is a number or a plain text, and the other bracket.
pub(super) fn is_literal(rest: &[u8]) -> bool {
    let inner = match rest.first() {
        Some(quote @ (b'"' | b'\'')) => {
            let text = &rest[1..];
            let length =
                text.iter().position(|byte| byte == quote || matches!(byte, b'\\' | b'\n'));
            let length = length.filter(|length| text[*length] == *quote);
            length.map(|length| &text[length + 1..])
        }
        Some(b'0'..=b'9') => {
            let length = rest.iter().position(|byte| !byte.is_ascii_digit());
            length.map(|length| &rest[length..])
        }
        _ => None,
    };
    inner.is_some_and(|inner| inner.first() == Some(&b']'))
}

/// How far from a bracket is looked at: all brackets of a source together take no longer than
/// its length times this.
const NEAR: usize = 256;

/// Whether a bracket begins a list or a pattern of one, and no name.
fn is_list(bytes: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(NEAR);
    let before = &bytes[from..at];
    let blanks = before.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (before, blank) = before.split_at(before.len() - blanks);
    if from > 0 && before.is_empty() {
        return false;
    }
    // The end of a comment is not what is before the bracket.
    let line = before.rsplit(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let whole = from == 0 || line.len() < before.len();
    let ends_line = blank.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    if ends_line && !whole {
        return false;
    }
    if ends_line && [&b"//"[..], b"<!--", b"-->"].iter().any(|sign| has(line, sign)) {
        return false;
    }
    match before.last() {
        None
        | Some(
            b'(' | b'=' | b':' | b'?' | b'&' | b'|' | b'!' | b'+' | b'-' | b'%' | b'<' | b'>'
            | b';' | b'^' | b'~' | b'[',
        ) => true,
        Some(b'.') => before.ends_with(b"..."),
        Some(b'*') => true,
        // The first slash of a pattern, or a division: no comment ends here, and no pattern.
        Some(b'/') => {
            let slashes = memchr::memchr_iter(b'/', line).count();
            whole && !ends_line && !has(line, b"*/") && slashes % 2 == 1
        }
        Some(b',' | b'{') => ends_as_list(&bytes[at..]),
        Some(_) => KEYWORDS.iter().any(|word| {
            let rest = before.strip_suffix(word.as_bytes());
            rest.is_some_and(|rest| rest.last().is_none_or(|last| b" \t\n(;{".contains(last)))
        }),
    }
}

/// Words before a list that can be no names.
const KEYWORDS: [&str; 6] = ["return", "const", "let", "var", "case", "throw"];

/// Whether the bracket at the beginning ends without being a computed name, which a colon or
/// parameters follow. It is not looked for behind texts, patterns and comments.
fn ends_as_list(bytes: &[u8]) -> bool {
    let mut depth = 0_usize;
    for (index, byte) in bytes.iter().enumerate().take(NEAR) {
        match byte {
            b'[' => depth += 1,
            b']' if depth > 1 => depth -= 1,
            b']' => {
                let mut rest = bytes[index + 1..].iter().filter(|byte| !byte.is_ascii_whitespace());
                return !matches!(rest.next(), Some(b':' | b'(' | b'/'));
            }
            b'"' | b'\'' | b'`' | b'/' => return false,
            _ => {}
        }
    }
    false
}

fn has(line: &[u8], sign: &[u8]) -> bool {
    memchr::memmem::find(line, sign).is_some()
}

/// Whether a pattern like `/a/` may be in a source: two slashes in a line of which the first
/// begins no comment.
pub(super) fn has_patterns(source: &str) -> bool {
    source.split(['\n', '\r', '\u{2028}', '\u{2029}']).any(|line| {
        let (mut rest, mut slashes) = (line.as_bytes(), 0);
        while let Some(at) = memchr::memchr(b'/', rest) {
            rest = &rest[at + 1..];
            match rest.first() {
                Some(b'/' | b'*') if slashes == 0 => rest = &rest[1..],
                _ => slashes += 1,
            }
        }
        slashes > 1
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_are_made_are_seen() {
        for source in [
            "a[b]",
            "a?.[b]",
            "a [ 'so' + 'rt' ]",
            r#"a["s\x6frt"]"#,
            "a[`sort`]",
            "f()[b]",
            "a[0][b]",
            "({}[b])",
            "'x'[b]",
            "const {[b]: c} = []",
            "const {a, [b]: c} = []",
            "const {[ [']'][0] ]: c} = []",
            "const {[b]/**/: c} = []",
            "a // =\n[b]",
            "a /* = */ [b]",
            "a <!-- =\n[b]",
            "a.return[b]",
            "of[b]",
            "a\n[b]",
            "[].constructor",
            "class A extends Array { f(k) { return super.x } }",
            "s\\u006frt",
            "a['b'\n+ c]",
            "this.a",
            "é[b]",
            "/a/[b]",
        ] {
            assert_eq!(Reach::of(source), Reach::All, "{source}");
        }
    }

    #[test]
    fn lists_and_plain_names_are_no_names_that_are_made() {
        for source in [
            "r.body = [1, 2]",
            "f([a], [b, c])",
            "const [a, b] = f()",
            "const {a: [b]} = f()",
            "return [a]",
            "return[a]",
            "a.items[0].sku",
            "a['x-y']",
            r#"r.headers["X-Token"]"#,
            "x = { a: [1], b: [\n2] }",
            "f(...[a])",
            "a ? [b] : [c]",
            "() => [a]",
            "// text\nf(\n  [a],\n  [b])",
            "s.replace(/[a-z]/g, '')",
            "s.replace(/a/, '').replace(/[a-z]/g, '')",
            "",
        ] {
            let reach = Reach::of(source);
            assert_ne!(reach, Reach::All, "{source}");
            assert!(!reach.has("sort"), "{source}");
        }
        assert!(Reach::of("a['sort']()").has("sort"));
    }

    #[test]
    fn patterns_are_seen() {
        for source in ["/a/", r"/\//", "/a*/", "/[/]/.test(a)", "a / b / c", "x = 1\n/a//2"] {
            assert!(has_patterns(source), "{source}");
        }
        for source in ["", "// a/b", "/* a */", "'https://a'", "a / b\nb / c", "'text/plain'"] {
            assert!(!has_patterns(source), "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(source in "\\PC{0,200}", brackets in r#"[\[\]{}a,:/"'` \n0.]{0,40}"#) {
            let _ = (Reach::of(&source), has_patterns(&source));
            let _ = (Reach::of(&brackets), has_patterns(&brackets));
        }
    }
}
