//! The tokens of a source, for what has to be known of it without texts, comments and patterns.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    Number,
    /// A text in quotes, or a piece of a template.
    Text,
    Pattern,
    Sign,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) at: usize,
    pub(super) text: &'s str,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, Kind::Word | Kind::Sign)
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// Words behind which a slash begins a pattern.
const BEFORE_PATTERN: [&str; 14] = crate::list::list_of(
    "return typeof case in of delete void throw new else do await yield instanceof",
);

/// Signs of more than one character that matter here.
const SIGNS: [&str; 9] = ["...", "===", "!==", "=>", "?.", "==", "!=", "++", "--"];

/// The tokens of a source that is whole, or none where a text or a pattern has no end. Whether a
/// slash divides or begins a pattern follows from the token before it.
pub(super) fn tokens(source: &str) -> Option<Vec<Token<'_>>> {
    Lexer { source, at: 0, templates: Vec::new(), tokens: Vec::new() }.all()
}

/// The place of the bracket that closes the one in each place, if there is one.
pub(super) fn closings(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let (mut closings, mut open) = (vec![None; tokens.len()], Vec::new());
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Sign) {
        match token.text {
            "(" | "[" | "{" => open.push(index),
            ")" | "]" | "}" => {
                if let Some(place) = open.pop() {
                    closings[place] = Some(index);
                }
            }
            _ => {}
        }
    }
    closings
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// The depth of braces in each template that is open.
    templates: Vec<usize>,
    tokens: Vec<Token<'s>>,
}

impl<'s> Lexer<'s> {
    fn all(mut self) -> Option<Vec<Token<'s>>> {
        while let Some(first) = self.rest().chars().next() {
            self.next(first)?;
        }
        self.templates.is_empty().then_some(self.tokens)
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn next(&mut self, first: char) -> Option<()> {
        let rest = self.rest();
        match first {
            _ if first.is_whitespace() || first == '\u{feff}' => self.at += first.len_utf8(),
            '/' if rest.starts_with("//") => {
                self.at += rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len());
            }
            '/' if rest.starts_with("/*") => self.at += rest[2..].find("*/")? + 4,
            '"' | '\'' => self.push(Kind::Text, quoted(rest, first)?),
            '`' => self.template(1)?,
            '}' if self.templates.last() == Some(&0) => {
                self.templates.pop();
                self.template(1)?;
            }
            '/' if self.may_begin_pattern() => self.push(Kind::Pattern, pattern(rest)?),
            _ if is_part(first) => {
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                let number = first.is_ascii_digit();
                self.push(if number { Kind::Number } else { Kind::Word }, length);
            }
            _ => {
                let long = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                match (first, self.templates.last_mut()) {
                    ('{', Some(depth)) => *depth += 1,
                    ('}', Some(depth)) => *depth -= 1,
                    _ => {}
                }
                self.push(Kind::Sign, long.map_or(first.len_utf8(), |sign| sign.len()));
            }
        }
        Some(())
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let text = &self.rest()[..length];
        self.tokens.push(Token { kind, at: self.at, text });
        self.at += length;
    }

    /// A piece of a template, from the sign that begins it to the one that ends it.
    fn template(&mut self, from: usize) -> Option<()> {
        let bytes = self.rest().as_bytes();
        let mut at = from;
        let length = loop {
            match bytes.get(at)? {
                b'\\' => at += 2,
                b'`' => break at + 1,
                b'$' if bytes.get(at + 1) == Some(&b'{') => {
                    self.templates.push(0);
                    break at + 2;
                }
                _ => at += 1,
            }
        };
        self.push(Kind::Text, length);
        Some(())
    }

    fn may_begin_pattern(&self) -> bool {
        let Some(last) = self.tokens.last() else { return true };
        match last.kind {
            Kind::Word => BEFORE_PATTERN.contains(&last.text),
            Kind::Number | Kind::Pattern => false,
            Kind::Text => last.text.ends_with("${"),
            Kind::Sign => !matches!(last.text, ")" | "]" | "++" | "--"),
        }
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '\\' | '#')
}

/// The length of a text in quotes.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()?),
            '\n' | '\r' => return None,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a pattern with its flags.
fn pattern(rest: &str) -> Option<usize> {
    let (mut in_class, mut characters) = (false, rest.char_indices().skip(1));
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()?),
            '\n' | '\r' => return None,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => {
                let flags = &rest[at + 1..];
                return Some(at + 1 + flags.find(|c| !is_part(c)).unwrap_or(flags.len()));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        let tokens = tokens(source).unwrap_or_default();
        tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn texts_comments_templates_and_patterns_are_told_apart() {
        for (source, expected) in [
            ("delete r.body // delete x", vec!["delete", "r", ".", "body"]),
            ("a /* b */ ?. c", vec!["a", "?.", "c"]),
            ("'a\\'b' + \"c\"", vec!["'a\\'b'", "+", "\"c\""]),
            ("`a ${ {b: `c`} } d`", vec!["`a ${", "{", "b", ":", "`c`", "}", "} d`"]),
            (
                "x = /[/'\"]/g.test(y) / 2",
                vec!["x", "=", "/[/'\"]/g", ".", "test", "(", "y", ")", "/", "2"],
            ),
            ("a = b / c / d", vec!["a", "=", "b", "/", "c", "/", "d"]),
            ("return /a/", vec!["return", "/a/"]),
            ("(é) => é", vec!["(", "é", ")", "=>", "é"]),
        ] {
            assert_eq!(texts(source), expected, "{source}");
        }
        for cut in ["'a", "`a", "`${a", "/* a", "x = /a"] {
            assert!(tokens(cut).is_none(), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn tokens_are_pieces_of_the_source(source in "[\\PC\n]{0,100}", signs in r#"[/*`${}'"\\a \n]{0,40}"#) {
            for source in [source, signs] {
                for token in tokens(&source).unwrap_or_default() {
                    prop_assert_eq!(&source[token.at..token.at + token.text.len()], token.text);
                }
            }
        }
    }
}
