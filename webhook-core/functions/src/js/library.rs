//! How much of the language's library the engine of a source has.
//!
//! Most of what an engine takes to be made is its library. A source that cannot come to maps,
//! dates, bytes and patterns gets one without them. It could only tell by naming one of them,
//! so a source gets the whole library wherever there is doubt.

use std::collections::HashSet;

use super::{
    names::{MODULES, OF_STREAMS, OF_WEB, PLAIN_WORDS, means_module},
    reach::{Reach, has_patterns, is_literal},
    source::words,
    styles,
};
use crate::list::list_of;

/// What an engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// All that scripts find.
    Whole,
    /// All but maps, dates, bytes and patterns.
    Small,
    /// As much as a small one, bounded in JSON and in what the language itself does with lists
    /// and texts, because the source comes to nothing else of it.
    Plain,
    /// As much as a small one, and nothing of it is bounded, because the source comes to none
    /// of it. It is bounded where a field of `r` needs that.
    Bare,
}

/// The fields of `r` that give bytes.
pub(super) const GIVE_BYTES: [&str; 6] =
    list_of("bodyBytes responseBodyBytes formData formParts RequestFormData RequestFormParts");

/// Whether a word needs the whole library.
pub(super) fn needs_whole(word: &str) -> bool {
    const OBJECTS: [&str; 10] = list_of(
        "Date RegExp Map Set WeakMap WeakSet ArrayBuffer SharedArrayBuffer DataView Atomics",
    );
    let is_object =
        OBJECTS.contains(&word) || word.ends_with("Array") && word != "Array" && word != "isArray";
    let makes_patterns = matches!(word, "match" | "matchAll" | "search");
    let knows_languages =
        matches!(word, "normalize" | "Intl" | "localeCompare") || word.starts_with("toLocale");
    // Ways to what a function is called with, and styles that give it something else than `r`.
    let waits = matches!(word, "setTimeout" | "clearTimeout");
    let hides_names = matches!(word, "arguments" | "handler" | "addHandler" | "eval" | "with");
    is_object
        || makes_patterns
        || knows_languages
        || GIVE_BYTES.contains(&word)
        || hides_names
        || waits
        || MODULES.contains(&word)
        || OF_WEB.contains(&word)
        || OF_STREAMS.contains(&word)
}

impl Library {
    /// What a source needs. `names` has all names of the library, and is `None` where there is
    /// none.
    pub(super) fn of(source: &str, names: Option<&HashSet<String>>) -> Self {
        if styles::of(source).is_some() {
            return Self::Whole;
        }
        let known = match Reach::of(source) {
            Reach::All => return Self::Whole,
            Reach::Words(known) => known,
        };
        // A comment that ends before a pattern is taken for one that begins.
        let has_patterns = has_patterns(source) || source.contains("*//");
        let calls = |(name, _): &(&str, _)| known.contains(name) && means_module(source, name);
        let needs_whole = has_patterns
            || known.iter().any(|word| needs_whole(word))
            || PLAIN_WORDS.iter().any(calls);
        match names {
            Some(names) if !needs_whole => match fields(source) {
                Some(fields) if fields.iter().all(|field| is_ready(field)) => {
                    Self::bounded_for(source, &known, names)
                }
                Some(_) => Self::Small,
                None => Self::Whole,
            },
            _ => Self::Whole,
        }
    }
}

/// Whether a field of `r` is there without another part of the prelude.
fn is_ready(field: &str) -> bool {
    const READY: [&str; 14] = list_of(
        "body RequestBody method RequestMethod path RequestPath rawQuery RequestRawQuery setBody \
        SetRequestBody setHeader SetRequestHeader stopForwarding StopForwarding",
    );
    READY.contains(&field)
}

/// The fields of `r` that a source names. There are none where it names `r` for something else,
/// because it may come to fields then that it does not name.
fn fields(source: &str) -> Option<Vec<&str>> {
    let bare = without_first_comments(source);
    let transforms = words(source).filter(|(_, word)| *word == "transform").count();
    let declares = ["function transform(r) {", "async function transform(r) {"]
        .into_iter()
        .find_map(|declaration| bare.strip_prefix(declaration));
    // What it is called with has no other name, and nothing else can call it.
    let (inner, is_transform) = match declares {
        Some(inner) if transforms == 1 => (inner, true),
        _ if transforms == 0 => (bare, false),
        _ => return None,
    };
    let inner = if is_transform && is_only_function(inner) { without_return(inner) } else { inner };
    let mut named = words(inner).peekable();
    let mut fields = Vec::new();
    while let Some((at, word)) = named.next() {
        let rest = &inner[at + word.len()..];
        match word {
            // What a script returns may have the names of any fields.
            "return" if !ends_statement(rest) => return None,
            "r" => {
                let is_name = inner[..at].chars().next_back().is_none_or(|c| c.is_ascii());
                let field = rest.trim_start().strip_prefix('.').map(str::trim_start);
                let (next, name) = named.peek()?;
                if !is_name || field.map(str::len) != Some(inner.len() - next) {
                    return None;
                }
                fields.push(*name);
            }
            // No field of `r` is taken away in a bare engine.
            "delete" => {
                let is_word = rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
                if !is_word || named.peek().is_none_or(|(_, word)| *word == "r") {
                    fields.push("delete");
                }
            }
            _ => {}
        }
    }
    Some(fields)
}

/// Whether a statement ends where this text begins.
fn ends_statement(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with([';', '}', '\n', '\r'])
}

/// The source without the lines of comments before it.
fn without_first_comments(source: &str) -> &str {
    let mut rest = source.trim_start();
    while rest.starts_with("//") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    rest
}

/// Whether there is no function inside of this one.
fn is_only_function(inner: &str) -> bool {
    let no_words = !words(inner).any(|(_, word)| matches!(word, "function" | "class"));
    no_words && !inner.contains("=>")
}

/// The text of a function without `return r` at its end.
fn without_return(inner: &str) -> &str {
    let end = inner.trim_end().strip_suffix('}').map(str::trim_end);
    let end = end.map(|end| end.strip_suffix(';').unwrap_or(end));
    end.and_then(|end| end.strip_suffix("return r")).unwrap_or(inner)
}

impl Library {
    /// What has to be bounded of a small library for a source that comes to nothing more of `r`
    /// than a bare engine has.
    fn bounded_for(source: &str, known: &HashSet<&str>, names: &HashSet<String>) -> Self {
        /// Words of the language among the names of the library, and what takes no time.
        const FREE: [&str; 9] =
            list_of("return throw catch finally delete length name undefined message");
        /// Names of what is bounded in a plain engine.
        const PLAIN: [&str; 3] = ["JSON", "parse", "stringify"];
        let bytes = source.as_bytes();
        let named = |word: &&&str| names.contains(**word) && !FREE.contains(word);
        if known.iter().filter(named).any(|word| !PLAIN.contains(word))
            || memchr::memchr_iter(b'[', bytes).any(|at| !is_literal(&bytes[at + 1..]))
        {
            return Self::Small;
        }
        let walks = known.iter().any(|word| matches!(*word, "of" | "yield"));
        let is_named = known.iter().any(|word| PLAIN.contains(word));
        // A list as text is joined, however long it was made.
        let makes_lists = source.contains('[') || source.contains("...");
        if walks || is_named || makes_lists || source.contains('`') {
            return Self::Plain;
        }
        Self::Bare
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(source: &str) -> Library {
        let names = ["JSON", "parse", "stringify", "map", "toString", "Error", "Object"];
        let names = names.iter().chain(&["console", "log", "includes", "return", "length"]);
        Library::of(source, Some(&names.map(|name| (*name).to_owned()).collect()))
    }

    #[test]
    fn what_may_come_to_more_gets_the_whole_library() {
        for source in [
            // Names of what a small library has not, wherever they stand.
            "r.body = new Map()",
            "r.body = [...new Set([1])].join()",
            "r.body = Date.now()",
            "// Date",
            "const a = 'Uint8Array'",
            "r.setHeader('x', typeof WeakMap)",
            "new Float16Array(1)",
            "RegExp('a')",
            // Patterns.
            "if (/a/.test(r.body)) r.stopForwarding()",
            "r.body.split(/,/)",
            "/**//a/.b",
            "r.body.match('a')",
            "r.body.search('a')",
            "r.body.normalize()",
            "a.localeCompare(b)",
            "a.toLocaleString()",
            // Ways that have no names.
            "globalThis.a",
            "this.a",
            "a[b]",
            "new M\\u0061p()",
            "[].constructor",
            "({}).__proto__",
            "import('a')",
            "eval('a')",
            "with (a) { b }",
            "arguments[0]()",
            // Bytes, and what gives some.
            "r.bodyBytes",
            "r.formData.a",
            "const { formParts } = b",
            "crypto.sha256('a')",
            "new URL('a')",
            "http.get('a')",
            "r.setHeader('a', id.uuid())",
            "r.body = template.render('{{a}}', { a: 1 })",
            // The request itself, whose fields may all be read.
            "const a = { ...r }",
            "JSON.stringify(r)",
            "r.body = r",
            "f(r)",
            "for (const a in r) {}",
            "r['bodyBytes']",
            "r?.body",
            "const { body } = r",
            "x = r\n.body, r",
            "(r).body",
            "x = [\u{a0}r]",
            "r/**/.body",
            "r",
            "`${r}`",
            // What is returned may have its names.
            "return JSON.parse(r.body)",
            "return { body: 'a' }",
            "return r.query",
            "function transform(r) { return r.query }",
            // Other styles, and a request under another name.
            "function transform(payload) { payload.a = 1; return payload }",
            "function transform(request) { request.body = 'a' }",
            "function transform(r) { return r } transform(1)",
            "const transform = (r) => r",
            "function transform(r) { const f = () => { return r }; f(); return r }",
            "function transform(r) { function f() { return r } return r }",
            "function transform(r) { if (r.a) { return r } r.b = 1; return r }",
            "function transform(r) { return r; } function g() { return r; }",
            "function handler(webhook) { return webhook }",
            "addHandler('transform', (a) => a)",
        ] {
            assert_eq!(of(source), Library::Whole, "{source}");
        }
        assert_eq!(Library::of("", None), Library::Whole);
    }

    #[test]
    fn what_comes_to_functions_of_the_library_gets_a_bounded_one() {
        for source in [
            "const a = JSON.parse(r.body).map(() => 1); r.body = JSON.stringify(a)",
            "r.body = [1, 2].map((a) => a)",
            "throw new Error('a')",
            "r.headers.a",
            "r.headers['x-a'] = 'b'",
            "r.setPath('/a')",
            "delete r.body",
            "delete (a, r.b)",
            "console.log('a')",
            "const [a] = r.body",
            "r.body.includes('a')",
            "r.body = 'a' + ({}).toString()",
        ] {
            assert_eq!(of(source), Library::Small, "{source}");
        }
    }

    #[test]
    fn what_comes_to_json_lists_and_texts_alone_gets_a_plain_one() {
        for source in [
            "const a = JSON.parse(r.body); delete a.b; r.body = JSON.stringify(a)",
            "const a = JSON['parse'](r.body); r.setHeader('x-a', a.items[0].id)",
            "r.body = `${1}`",
            "for (const a of r.body) {}",
            "f(...a)",
            "const a = { b: 1 }; r.setHeader('a', '' + a['b'])",
            "const a = [1]; a.length = 4e9; r.body = '' + a",
            "r.body = { ...a, b: 1 }",
            "function transform(r) { r.body = JSON.stringify({ a: 1 }); return r; }",
        ] {
            assert_eq!(of(source), Library::Plain, "{source}");
        }
    }

    #[test]
    fn what_comes_to_none_of_them_gets_a_bare_one() {
        for source in [
            "",
            "// nothing",
            "if (r.method !== 'POST') r.stopForwarding()",
            "if (r.method === 'GET') { r.stopForwarding(); return; }\nr.setHeader('x-a', 'b')",
            "r.body = r.body + 'a'",
            "r . body = 'a'",
            "r.setBody({ a: { b: 1 } })",
            "r.RequestBody = r.body.length",
            "const a = { b: 1 }; r.setHeader('a', '' + a.b)",
            "try { throw 'a' } catch (a) { r.body = a }",
            "const f = (a) => a + 1; r.body = f(1) / 2",
            "const id = 'a'; r.body = id",
            "async function f() { await 1; r.body = 'a' } await f()",
            "// What it does.\nfunction transform(r) {\n  r.body = 'a';\n  return r;\n}\n",
            "async function transform(r) { if (r.method === 'GET') return; r.body = 'a'; return r }",
        ] {
            assert_eq!(of(source), Library::Bare, "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(source in "\\PC{0,200}", parts in r"(r|\.|return|transform|[ \n;{}(é])*") {
            let _ = (of(&source), of(&parts));
            let transform = format!("function transform(r) {{{parts}");
            let _ = (of(&transform), fields(&transform));
        }
    }
}
