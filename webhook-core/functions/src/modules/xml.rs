//! XML as a tree, in the shape of [`webhook_core::xml`].

use std::borrow::Cow;

use quick_xml::escape::{escape, partial_escape};
use serde_json::{Map, Value};
use webhook_core::xml::{Decoder, NotXml, Part};

use super::{Bounds, MAX_DEPTH, ModuleError, Output, tree::plain_text};

const TEXT: &str = "#text";

pub(crate) fn decode(text: &str, mut bounds: Bounds) -> Result<Value, ModuleError> {
    Decoder::new(MAX_DEPTH).decode_within(text, |part| match part {
        Part::Value => bounds.value(),
        Part::Text(bytes) => bounds.text(bytes),
        Part::Field { first, name } => bounds.field(first, name),
        Part::List => bounds.list(),
    })
}

impl From<NotXml> for ModuleError {
    fn from(error: NotXml) -> Self {
        Self::invalid(format!("xml: {error}"))
    }
}

/// Writes a tree of the shape that [`decode`] makes, in at most `longest`
/// bytes; numbers and booleans are text.
pub(crate) fn encode(value: &Value, longest: usize) -> Result<Vec<u8>, ModuleError> {
    let root = match value {
        Value::Object(fields) => fields.iter().next().filter(|_| fields.len() == 1),
        _ => None,
    };
    let Some((name, value)) = root else {
        return Err(ModuleError::invalid("xml: expected one key, the root element"));
    };
    if value.is_array() {
        return Err(ModuleError::invalid("xml: the root element cannot be a list"));
    }
    let mut out = Output::of_at_most(longest);
    write(name, value, 0, &mut out)?;
    out.finish()
}

fn write(name: &str, value: &Value, depth: usize, out: &mut Output) -> Result<(), ModuleError> {
    if depth >= MAX_DEPTH {
        return Err(ModuleError::invalid(format!("xml: more than {MAX_DEPTH} levels")));
    }
    check_name(name)?;
    if let Value::Array(items) = value {
        for item in items {
            if item.is_array() {
                return Err(ModuleError::invalid("xml: a list inside a list has no form"));
            }
            write(name, item, depth, out)?;
        }
        return Ok(());
    }
    out.push(b"<")?;
    out.push(name.as_bytes())?;
    let empty = Map::new();
    let fields = value.as_object().unwrap_or(&empty);
    for (field, value) in fields {
        if let Some(attribute) = field.strip_prefix('-') {
            check_name(attribute)?;
            out.push(b" ")?;
            out.push(attribute.as_bytes())?;
            out.push(b"=\"")?;
            push_escaped(&plain(value)?, escape, out)?;
            out.push(b"\"")?;
        }
    }
    let text = match value {
        Value::Object(fields) => fields.get(TEXT).map(plain).transpose()?.unwrap_or_default(),
        value => plain(value)?,
    };
    let children = fields.iter().filter(|(field, _)| !field.starts_with('-') && *field != TEXT);
    let mut children = children.peekable();
    if text.is_empty() && children.peek().is_none() {
        return out.push(b"/>");
    }
    out.push(b">")?;
    push_escaped(&text, partial_escape, out)?;
    for (field, value) in children {
        write(field, value, depth + 1, out)?;
    }
    out.push(b"</")?;
    out.push(name.as_bytes())?;
    out.push(b">")
}

/// Escapes a text piece by piece: escaped it may be six times as long.
fn push_escaped<'t>(
    text: &'t str,
    escape: impl Fn(&'t str) -> Cow<'t, str>,
    out: &mut Output,
) -> Result<(), ModuleError> {
    const PIECE_BYTES: usize = 16 << 10;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        out.push(escape(piece).as_bytes())?;
        rest = behind;
    }
    Ok(())
}

fn plain(value: &Value) -> Result<Cow<'_, str>, ModuleError> {
    let control = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r');
    match plain_text(value) {
        Some(text) if text.chars().any(control) => {
            Err(ModuleError::invalid("xml: control characters have no form"))
        }
        Some(text) => Ok(text),
        None => Err(ModuleError::invalid("xml: an attribute or text must be a plain value")),
    }
}

fn check_name(name: &str) -> Result<(), ModuleError> {
    let start = |c: char| c.is_alphabetic() || matches!(c, '_' | ':');
    let inner = |c: char| start(c) || c.is_alphanumeric() || matches!(c, '-' | '.');
    let good = name.chars().next().is_some_and(start) && name.chars().all(inner);
    if good {
        return Ok(());
    }
    let shown: String = name.chars().take(64).collect();
    Err(ModuleError::invalid(format!("xml: {shown:?} is not a name")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BOUNDS: Bounds = Bounds::of_memory(1 << 20);

    fn decoded(text: &str) -> Value {
        decode(text, BOUNDS).expect("good xml")
    }

    #[test]
    fn elements_attributes_text_and_lists() {
        assert_eq!(
            decoded(
                "<?xml version=\"1.0\"?><!-- c --><order id=\"7\" x='a&amp;b'>\n  <item>a &lt; b</item>\
                 <item n=\"2\">b</item><empty/><note><![CDATA[<raw>]]>&#65;&quot;</note>\n</order>"
            ),
            json!({"order": {
                "-id": "7",
                "-x": "a&b",
                "item": ["a < b", {"-n": "2", "#text": "b"}],
                "empty": "",
                "note": "<raw>A\"",
            }}),
        );
        assert_eq!(decoded("<a>text</a>"), json!({"a": "text"}));
    }

    #[test]
    fn what_is_encoded_decodes_to_the_same() {
        for value in [
            json!({"a": "x < y & z"}),
            json!({"a": {"-k": "\"v\"", "b": ["1", "2", {"c": ""}], "#text": "t"}}),
        ] {
            let text = encode(&value, 1 << 20).expect("a tree of that shape");
            let text = std::str::from_utf8(&text).expect("UTF-8");
            assert_eq!(decoded(text), value, "{text}");
        }
        assert_eq!(
            encode(&json!({"a": {"b": 5, "c": true, "d": null}}), 1 << 20).as_deref(),
            Ok(&b"<a><b>5</b><c>true</c><d/></a>"[..])
        );
    }

    #[test]
    fn malformed_and_hostile_input_is_refused() {
        for text in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "<a>&nope;</a>",
            "<a b=c/>",
            "<a",
            "</a>",
            "<a b='1' c='2' b='3'/>",
            "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
        ] {
            assert!(matches!(decode(text, BOUNDS), Err(ModuleError::Invalid(_))), "{text}");
        }
        let deep = "<a>".repeat(101);
        assert!(decode(&deep, BOUNDS).is_err());
        let wide = format!("<a>{}</a>", "<b/>".repeat(10_000));
        assert_eq!(decode(&wide, BOUNDS), Err(ModuleError::TooLarge));
        for value in [
            json!([]),
            json!({}),
            json!({"a": 1, "b": 2}),
            json!({"a b": 1}),
            json!({"a": [[1]]}),
            json!({"a": {"-x": {}}}),
            json!({"a": "\u{1}"}),
        ] {
            assert!(encode(&value, 1 << 20).is_err(), "{value}");
        }
    }

    #[test]
    fn many_attributes_are_read_once_each() {
        let attributes: Vec<_> = (0..100_000).map(|n| format!("k{n}=''")).collect();
        let text = format!("<a {}/>", attributes.join(" "));
        let started = std::time::Instant::now();
        let value = decode(&text, Bounds::of_memory(1 << 28)).expect("good xml");
        assert_eq!(value["a"].as_object().map(Map::len), Some(100_000));
        // Each compared with all before it takes a minute.
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    #[test]
    fn a_text_that_grows_too_long_is_refused() {
        for value in [json!({"a": "&".repeat(2_000)}), json!({"a": {"-b": "\"".repeat(2_000)}})] {
            assert_eq!(encode(&value, 8_000), Err(ModuleError::TooLong));
            assert!(encode(&value, 16_000).is_ok());
        }
    }
}
