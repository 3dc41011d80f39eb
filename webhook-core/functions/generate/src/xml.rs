//! XML documents as value trees, in the shape that a script's `xml.decode` gives.
//!
//! The shape, which the `xml` module of the scripts must share:
//!
//! * The document is a table with one key, the root element's name.
//! * An element that has only text is that text, a string; an empty element (`<a/>`, `<a></a>`) is `""`.
//! * Any other element is a table: each attribute under `-name`; each child under its name; text beside attributes or
//!   children under `#text`, present only when it is not empty.
//! * Children of one name that occur once are a value, those that repeat a list, in document order.
//! * Names are kept as written, with their prefix (`soap:Body`, `-xmlns:soap`).
//! * Every value is a string: numbers and booleans are not guessed.
//! * Text has its white space trimmed at both ends, after its pieces around children are joined. CDATA is text.
//!   The five predefined entities and character references are resolved; any other entity is an error.
//! * Comments, processing instructions and the declaration are left out; a document type is an error.

use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::value::Value;

struct Element {
    name: Arc<str>,
    fields: Vec<(Arc<str>, Vec<Value>)>,
    text: String,
}

impl Element {
    fn push(&mut self, name: Arc<str>, value: Value) {
        match self.fields.iter_mut().find(|(field, _)| *field == name) {
            Some((_, values)) => values.push(value),
            None => self.fields.push((name, vec![value])),
        }
    }

    fn finish(self) -> (Arc<str>, Value) {
        let text = self.text.trim();
        if self.fields.is_empty() {
            return (self.name, Value::text(text));
        }
        let mut fields: Vec<(Arc<str>, Value)> = Vec::with_capacity(self.fields.len() + 1);
        for (name, mut values) in self.fields {
            let value = match values.len() {
                1 => values.pop().unwrap_or(Value::Null),
                _ => Value::list(values),
            };
            fields.push((name, value));
        }
        if !text.is_empty() {
            fields.push(("#text".into(), Value::text(text)));
        }
        (self.name, Value::object(fields))
    }
}

/// Reads one document whose elements nest at most `max_depth` deep; an error says what is wrong with it.
pub(crate) fn decode(document: &str, max_depth: usize) -> Result<Value, String> {
    let mut reader = Reader::from_str(document);
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<(Arc<str>, Value)> = None;
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        let closed = match event {
            Event::Start(start) => {
                if open.len() >= max_depth {
                    return Err(format!("elements nest deeper than {max_depth}"));
                }
                if open.is_empty() && root.is_some() {
                    return Err("more than one root element".to_owned());
                }
                open.push(element(&start)?);
                None
            }
            Event::Empty(start) => {
                if open.is_empty() && root.is_some() {
                    return Err("more than one root element".to_owned());
                }
                Some(element(&start)?)
            }
            Event::End(_) => open.pop(),
            Event::Text(text) => {
                append(&mut open, &text.xml10_content())?;
                None
            }
            Event::CData(text) => {
                append(&mut open, &text.xml10_content())?;
                None
            }
            Event::GeneralRef(reference) => {
                let resolved =
                    match reference.resolve_char_ref().map_err(|error| error.to_string())? {
                        Some(character) => character.to_string(),
                        None => {
                            let name = reference.xml10_content();
                            quick_xml::escape::resolve_predefined_entity(&name)
                                .ok_or_else(|| format!("unknown entity {name:?}"))?
                                .to_owned()
                        }
                    };
                append(&mut open, &resolved)?;
                None
            }
            Event::DocType(_) => return Err("a document type is not accepted".to_owned()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => None,
            Event::Eof => break,
        };
        if let Some(element) = closed {
            let (name, value) = element.finish();
            match open.last_mut() {
                Some(parent) => parent.push(name, value),
                None => root = Some((name, value)),
            }
        }
    }
    match (open.last(), root) {
        (Some(element), _) => Err(format!("element {:?} is not closed", element.name)),
        (None, Some(root)) => Ok(Value::object([root])),
        (None, None) => Err("no element".to_owned()),
    }
}

fn element(start: &BytesStart<'_>) -> Result<Element, String> {
    let name = start.name().into_inner().into();
    let mut element = Element { name, fields: Vec::new(), text: String::new() };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name = attribute.key.into_inner();
        let value =
            quick_xml::escape::unescape(&attribute.value).map_err(|error| error.to_string())?;
        element.push(format!("-{name}").into(), Value::text(value));
    }
    Ok(element)
}

fn append(open: &mut [Element], text: &str) -> Result<(), String> {
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        None if text.trim().is_empty() => {}
        None => return Err("text outside the root element".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sample::from_json_text;
    use super::*;

    #[test]
    fn the_documented_shape() {
        let cases = [
            ("<a>x</a>", r#"{"a":"x"}"#),
            ("<?xml version='1.0'?><!-- c --><a/>", r#"{"a":""}"#),
            ("<a id='7'>x</a>", r##"{"a":{"-id":"7","#text":"x"}}"##),
            ("<a id='7'/>", r#"{"a":{"-id":"7"}}"#),
            ("<a><b>1</b><c>2</c><b>3</b></a>", r#"{"a":{"b":["1","3"],"c":"2"}}"#),
            ("<a> x <b>1</b> y </a>", r##"{"a":{"b":"1","#text":"x  y"}}"##),
            (
                "<s:a xmlns:s='u'><s:b>&lt;&#65;&amp;</s:b></s:a>",
                r#"{"s:a":{"-xmlns:s":"u","s:b":"<A&"}}"#,
            ),
            ("<a><![CDATA[<raw>]]></a>", r#"{"a":"<raw>"}"#),
        ];
        for (document, wanted) in cases {
            let got = decode(document, 32).expect("a document");
            let wanted = from_json_text(wanted).expect("valid JSON");
            assert!(got.same(&wanted), "{document}: {got:?}");
        }
    }

    #[test]
    fn broken_documents_are_errors() {
        for document in [
            "",
            "<a>",
            "<a></b>",
            "x<a/>",
            "<a/><b/>",
            "<a>&nope;</a>",
            "<!DOCTYPE a><a/>",
            "<a b='1' b='2'/>",
        ] {
            assert!(decode(document, 32).is_err(), "{document}");
        }
        let deep = format!("{}{}", "<a>".repeat(40), "</a>".repeat(40));
        assert!(decode(&deep, 32).is_err_and(|error| error.contains("deeper than 32")));
    }
}
