//! Where in a source something failed, and what stands there.

use super::source::{CHUNK, PROLOGUE, words};

/// A place in a source, counted from 1; a column of 0 is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
    /// Whether it failed there, and not in a function of the engine that was called there.
    pub(super) is_own: bool,
}

impl Place {
    pub(super) const fn of_line(line: u32) -> Self {
        Self { line, column: 0, is_own: true }
    }

    pub(super) fn is_within(self, source: &str) -> bool {
        self.line > 0 && source.lines().nth(self.line as usize - 1).is_some()
    }

    /// The byte of the source at which it is. Columns are bytes; on the first
    /// line the engine counts from 1 for names and from 0 for what follows them.
    fn offset(self, source: &str) -> Option<usize> {
        let before = source.split_inclusive('\n').take((self.line as usize).checked_sub(1)?);
        let start: usize = before.map(str::len).sum();
        let column = (self.column as usize).checked_sub(1)?;
        if self.line > 1 {
            return Some(start + column).filter(|at| source.is_char_boundary(*at));
        }
        let at = column.checked_sub(PROLOGUE.len())?;
        let begins = source.get(at..)?.starts_with(is_part);
        Some(if begins { at } else { at + 1 }).filter(|at| source.is_char_boundary(*at))
    }
}

/// Where the innermost function of the script was, by the stack of an error.
pub(super) fn innermost(stack: &str) -> Option<Place> {
    stack.lines().enumerate().find_map(|(depth, frame)| {
        let place = frame.rsplit(['(', ' ']).next()?.strip_prefix(CHUNK)?.strip_prefix(':')?;
        let mut numbers = place.trim_end_matches(')').split(':');
        let line = numbers.next()?.parse().ok()?;
        let column = numbers.next().and_then(|column| column.parse().ok()).unwrap_or(0);
        Some(Place { line, column, is_own: depth == 0 })
    })
}

/// The name of what was called at a place: `f`, `o.items.map`. The engine keeps
/// the place of the last name before the call is made, which may be that of an
/// argument; so there is a name only where one call can be meant.
pub(super) fn called(source: &str, place: Place) -> Option<&str> {
    let at = place.is_own.then(|| place.offset(source)).flatten()?;
    let rest = &source[at..];
    let name = rest.len() - rest.trim_start_matches(is_part).len();
    let itself = rest[name..].trim_start().starts_with('(').then(|| name_before(source, at + name));
    let mut names = itself.flatten().into_iter().chain(around(source, at));
    names.next().filter(|_| names.next().is_none())
}

/// Names that are shown in messages.
const MAX_NAME_BYTES: usize = 100;

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The name that ends at `end`, with those before it.
fn name_before(source: &str, end: usize) -> Option<&str> {
    let before = source[..end].trim_end();
    let name = &before[before.trim_end_matches(|c| is_part(c) || c == '.').len()..];
    let is_name = name.starts_with(|c: char| is_part(c) && !c.is_ascii_digit());
    let is_word =
        matches!(name, "if" | "for" | "while" | "switch" | "catch" | "return" | "function");
    (is_name && !is_word && name.len() <= MAX_NAME_BYTES).then_some(name)
}

/// What is called with arguments among which `at` is, in the same statement.
/// Texts are not told apart.
fn around(source: &str, at: usize) -> Vec<&str> {
    let (bytes, mut depth, mut names) = (source.as_bytes(), 0_usize, Vec::new());
    for index in (0..at).rev() {
        match (bytes[index], depth) {
            (b')' | b'}' | b']', _) => depth += 1,
            (b'(' | b'{' | b'[', 1..) => depth -= 1,
            (b'(', 0) => names.extend(name_before(source, index)),
            // A block, where it is no object among the arguments.
            (b'{', 0)
                if !source[..index].trim_end().ends_with(['(', ',', ':', '=', '[', '?', '$']) =>
            {
                break;
            }
            (b';', 0) => break,
            (b'>', 0) if index > 0 && bytes[index - 1] == b'=' => break,
            _ => {}
        }
    }
    names
}

/// The line of the `throw` of something that is no error, of which the engine
/// keeps no place: when there is one `throw`, or one on a line with this text.
pub(super) fn thrown(source: &str, message: &str) -> Option<u32> {
    let text = message.strip_prefix("threw ").unwrap_or(message);
    let lines = lines_with(source, |_, word, after| {
        word == "reject" || (word == "throw" && !after.trim_start().starts_with("new "))
    });
    let line = |number: u32| source.lines().nth(number as usize - 1).unwrap_or_default();
    only(lines.iter().copied())
        .or_else(|| only(lines.iter().copied().filter(|number| line(*number).contains(text))))
}

/// The line on which a constant is assigned to, of which the engine keeps no
/// place; `known` is the one that it names.
pub(super) fn assigned(source: &str, constant: &str, known: Option<u32>) -> Option<u32> {
    let lines = lines_with(source, |before, word, after| {
        let (before, after) = (before.trim_end(), after.trim_start());
        let declared = before.ends_with("const") || before.ends_with('.');
        let operator =
            after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>', '?']);
        let assigns = operator.starts_with('=')
            && !operator.starts_with("==")
            && !operator.starts_with("=>")
            && !matches!(&after[..after.len() - operator.len()], "<" | ">");
        let steps = |text: &str, end: bool| {
            let has = |s: &str| if end { text.ends_with(s) } else { text.starts_with(s) };
            has("++") || has("--")
        };
        word == constant && !declared && (assigns || steps(after, false) || steps(before, true))
    });
    let known = known.unwrap_or(u32::MAX);
    if lines.contains(&known) {
        return Some(known);
    }
    only(lines.iter().copied()).or_else(|| lines.into_iter().rfind(|line| *line < known))
}

/// The lines on which there is such a word: given are the text before it on
/// its line, the word, and the text behind it on its line.
fn lines_with(source: &str, is_wanted: impl Fn(&str, &str, &str) -> bool) -> Vec<u32> {
    let found = (1..).zip(source.lines()).filter(|(_, line)| {
        words(line).any(|(at, word)| is_wanted(&line[..at], word, &line[at + word.len()..]))
    });
    found.map(|(number, _)| number).collect()
}

fn only(mut lines: impl Iterator<Item = u32>) -> Option<u32> {
    lines.next().filter(|_| lines.next().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_come_from_the_innermost_frame_of_the_script() {
        let own = innermost("    at f (function:12:3)\n    at <anonymous> (function:1:2)\n");
        assert_eq!(own, Some(Place { line: 12, column: 3, is_own: true }));
        let called = innermost("    at map (native)\n    at function:7:1\n");
        assert_eq!(called, Some(Place { line: 7, column: 1, is_own: false }));
        assert_eq!(innermost("    at f (host:12:3)\n"), None);
    }

    #[test]
    fn what_is_called_has_its_name() {
        for (source, column, expected) in [
            ("\n  o.foo(1)", 5, Some("o.foo")),
            ("\nf(1, 2)", 3, Some("f")),
            ("\nf(x)", 3, Some("f")),
            ("\nf()", 3, Some("f")),
            ("\nnew q()", 5, Some("q")),
            ("\nlist.map((x) => x.run(1))", 19, Some("x.run")),
            ("\nif (a) { b.c() }", 12, Some("b.c")),
            ("\nf(o.g(1))", 5, None),
            ("\nf({ a: g() })", 8, None),
            ("\n(o['a'])(1)", 10, None),
            ("\n3(1)", 3, None),
            ("\ngrüßen()", 1, Some("grüßen")),
        ] {
            let place = Place { line: 2, column, is_own: true };
            assert_eq!(called(source, place), expected, "{source}");
        }
        assert_eq!(called("\no.f()", Place { line: 2, column: 3, is_own: false }), None);
    }

    #[test]
    fn lines_without_a_place_are_found_where_there_is_no_doubt() {
        assert_eq!(thrown("a\nif (b) throw 'x'", "threw x"), Some(2));
        assert_eq!(thrown("throw 'x'\nthrow 'y'", "threw y"), Some(2));
        assert_eq!(thrown("throw a\nthrow b", "threw y"), None);
        assert_eq!(thrown("throw new Error('x')", "threw x"), None);
        let source = "const a = 1;\nif (a === 2 || a >= 1) o.a = 2;\na += 1";
        assert_eq!(assigned(source, "a", None), Some(3));
        assert_eq!(assigned("const a = 1\na = 2\nb\n++a\n", "a", Some(5)), Some(4));
        assert_eq!(assigned("const a = 1\na = 2\nb\na--\n", "a", Some(2)), Some(2));
    }

    proptest! {
        #[test]
        fn looking_never_fails_otherwise(source in "[\\PC\n()]{0,200}", line in 0..9_u32, column in 0..50_u32) {
            let place = Place { line, column, is_own: true };
            let _ = (called(&source, place), thrown(&source, "x"), assigned(&source, "a", Some(line)));
            let _ = (innermost(&source), place.is_within(&source));
        }
    }
}
