//! The tokens of an expression.

use std::borrow::Cow;

use super::invalid;
use crate::modules::{Bounds, ModuleError, node::Node};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'e> {
    Name(Cow<'e, str>),
    /// A name in double quotes, which cannot be a function's.
    Quoted(Cow<'e, str>),
    Literal(Node<'e>),
    Number(i64),
    /// A sign of one or two characters.
    Sign(&'static str),
    End,
}

/// The signs. The longer ones come first.
const SIGNS: [&str; 23] = [
    "[?", "[]", "||", "&&", "==", "!=", "<=", ">=", ".", "*", "[", "]", "(", ")", "{", "}", ",",
    ":", "@", "&", "|", "<", ">",
];

/// The tokens, each with where it stands.
pub(super) fn tokens<'e>(
    expression: &'e str,
    bounds: &mut Bounds,
) -> Result<Vec<(usize, Token<'e>)>, ModuleError> {
    let mut all = Vec::new();
    let mut at = 0;
    loop {
        let rest = &expression[at..];
        at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let rest = &expression[at..];
        let Some(first) = rest.chars().next() else {
            all.push((at, Token::End));
            return Ok(all);
        };
        bounds.take(size_of::<(usize, Token<'_>)>())?;
        let (token, length) = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let end = end.unwrap_or(rest.len());
                (Token::Name(Cow::Borrowed(&rest[..end])), end)
            }
            '0'..='9' | '-' => number(rest, at)?,
            '"' => {
                let length = quoted(rest, '"', at)?;
                (Token::Quoted(text(&rest[..length], at)?), length)
            }
            '\'' => {
                let length = quoted(rest, '\'', at)?;
                let raw = rest[1..length - 1].replace("\\'", "'");
                (Token::Literal(Node::Text(Cow::Owned(raw))), length)
            }
            '`' => {
                let length = quoted(rest, '`', at)?;
                (Token::Literal(literal(&rest[1..length - 1], at, bounds)?), length)
            }
            '!' if !rest.starts_with("!=") => (Token::Sign("!"), 1),
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), sign.len()),
                None if first == '=' => {
                    return Err(invalid(format!("'=' at {}: equal is ==", at + 1)));
                }
                None => return Err(invalid(format!("{first:?} at {} is no sign", at + 1))),
            },
        };
        all.push((at, token));
        at += length;
    }
}

fn number<'e>(rest: &str, at: usize) -> Result<(Token<'e>, usize), ModuleError> {
    let end = rest.char_indices().skip(1).find(|(_, c)| !c.is_ascii_digit());
    let end = end.map_or(rest.len(), |(end, _)| end);
    let number = rest[..end].parse().map_err(|_| {
        invalid(format!("{:?} at {} is no index (a number is `5`)", &rest[..end], at + 1))
    })?;
    Ok((Token::Number(number), end))
}

/// The length of what is in quotes, both included.
fn quoted(rest: &str, quote: char, at: usize) -> Result<usize, ModuleError> {
    let mut escaped = false;
    for (index, character) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character == quote {
            return Ok(index + 1);
        }
    }
    Err(invalid(format!("the {quote} at {} does not end", at + 1)))
}

/// A text in double quotes, as JSON has it.
fn text<'e>(json: &str, at: usize) -> Result<Cow<'e, str>, ModuleError> {
    serde_json::from_str::<String>(json)
        .map(Cow::Owned)
        .map_err(|_| invalid(format!("the text at {} is not JSON", at + 1)))
}

/// A value in backquotes: JSON, or a text without quotes as older expressions have it.
fn literal<'e>(inner: &str, at: usize, bounds: &mut Bounds) -> Result<Node<'e>, ModuleError> {
    let json = inner.replace("\\`", "`");
    let json = json.trim();
    if serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok() {
        return Ok(Node::from_json(json, bounds)?.into_owned());
    }
    let is_plain = !json.is_empty() && !json.contains(['"', '[', '{']);
    match is_plain {
        true => Ok(Node::Text(Cow::Owned(json.to_owned()))),
        false => Err(invalid(format!("the value at {} is not JSON", at + 1))),
    }
}
