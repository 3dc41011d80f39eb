//! XML documents as JSON values.
//!
//! * The document is an object with one key, the root element's name.
//! * An element that has only text is that text; an empty element is `""`.
//! * Any other element is an object: each attribute under `-name`, each child under its name, and text beside them under
//!   `#text` when there is any. Fields come in the order of the document.
//! * What occurs once is a value, what repeats a list in the order of the document.
//! * Every value is a text: numbers and booleans are not guessed.
//! * Text has its white space trimmed at both ends, after its pieces around children are joined. CDATA is text.
//! * The five predefined entities and character references are resolved. Any other entity is an error, so nothing expands.
//! * Comments, processing instructions and the declaration are left out.
//!
//! Time and memory are linear in the length of the document.

use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_xml_entity,
    events::{BytesStart, Event},
};
use serde_json::{Map, Value};

const TEXT: &str = "#text";

/// Text that is not one XML document: what is wrong, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotXml(String);

/// Something that is about to be added to the value of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An element.
    Value,
    /// A text of so many bytes.
    Text(usize),
    /// A field of an object.
    Field {
        /// Whether the object has no other yet.
        first: bool,
        /// The length of its name in bytes.
        name: usize,
    },
    /// A list, for a name that occurs a second time.
    List,
}

/// Reads XML documents as JSON values.
///
/// ```
/// use serde_json::json;
/// use webhook_core::xml::Decoder;
///
/// let order = Decoder::new(100).decode(r#"<s:order id="7"><item>A</item><item>B</item></s:order>"#)?;
/// assert_eq!(order, json!({"s:order": {"-id": "7", "item": ["A", "B"]}}));
/// # Ok::<_, webhook_core::xml::NotXml>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    max_depth: usize,
    local_names: bool,
    ascii_white_space: bool,
}

impl Decoder {
    /// Accepts up to `max_depth` elements inside each other. Names keep their prefixes, an attribute must not repeat, and
    /// a document type is left out.
    #[must_use]
    pub const fn new(max_depth: usize) -> Self {
        Self { max_depth, local_names: false, ascii_white_space: false }
    }

    /// Leaves the prefixes of names out. Attributes that then have the same name are a list.
    #[must_use]
    pub const fn local_names(self) -> Self {
        Self { local_names: true, ..self }
    }

    /// Trims the white space of ASCII only, so that a text may begin with a no-break space.
    #[must_use]
    pub const fn ascii_white_space(self) -> Self {
        Self { ascii_white_space: true, ..self }
    }

    /// Reads one document.
    ///
    /// # Errors
    /// When `text` is not one well-formed document, nests too deeply or refers to entities of its own.
    pub fn decode(self, text: &str) -> Result<Value, NotXml> {
        self.decode_within(text, |_| Ok(()))
    }

    /// Reads one document; `take` is told of each [`Part`] before it is added, and ends the reading with its error.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode) and of `take`.
    pub fn decode_within<E: From<NotXml>>(
        self,
        text: &str,
        take: impl FnMut(Part) -> Result<(), E>,
    ) -> Result<Value, E> {
        let mut document = Document { decoder: self, take, open: Vec::new(), root: None };
        let mut reader = Reader::from_str(text);
        loop {
            let event = reader.read_event().map_err(|error| error.to_string());
            let added = match event {
                Ok(Event::Eof) => return document.finish(),
                Ok(event) => document.add(event),
                Err(what) => Err(Failure::Malformed(what)),
            };
            added.map_err(|failure| match failure {
                Failure::Malformed(what) => {
                    NotXml(format!("{what} at byte {}", reader.buffer_position())).into()
                }
                Failure::Refused(error) => error,
            })?;
        }
    }

    fn trim(self, text: &str) -> &str {
        if self.ascii_white_space { text.trim_ascii() } else { text.trim() }
    }
}

/// What the document is wrong in, or what `take` says.
enum Failure<E> {
    Malformed(String),
    Refused(E),
}

fn malformed<E>(what: impl ToString) -> Failure<E> {
    Failure::Malformed(what.to_string())
}

/// An element that has not ended yet.
struct Element {
    name: String,
    fields: Map<String, Value>,
    text: String,
}

/// What of a document has been read.
struct Document<F> {
    decoder: Decoder,
    take: F,
    open: Vec<Element>,
    root: Option<(String, Value)>,
}

impl<E: From<NotXml>, F: FnMut(Part) -> Result<(), E>> Document<F> {
    fn add(&mut self, event: Event<'_>) -> Result<(), Failure<E>> {
        match event {
            Event::Start(start) => {
                if self.open.len() >= self.decoder.max_depth {
                    let most = self.decoder.max_depth;
                    return Err(malformed(format!("elements that nest deeper than {most}")));
                }
                let element = self.begin(&start)?;
                self.open.push(element);
                Ok(())
            }
            Event::Empty(start) => {
                let element = self.begin(&start)?;
                self.end(element)
            }
            // The reader has checked that the names match.
            Event::End(_) => self.open.pop().map_or(Ok(()), |element| self.end(element)),
            Event::Text(text) => self.text(&text.xml10_content()),
            Event::CData(text) => self.text(&text.xml10_content()),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => self.text(character.encode_utf8(&mut [0; 4])),
                Ok(None) => match resolve_xml_entity(&reference) {
                    Some(text) => self.text(text),
                    None => Err(malformed("an entity that is not predefined")),
                },
                Err(error) => Err(malformed(error)),
            },
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::DocType(_) | Event::Eof => {
                Ok(())
            }
        }
    }

    fn take(&mut self, part: Part) -> Result<(), Failure<E>> {
        (self.take)(part).map_err(Failure::Refused)
    }

    fn begin(&mut self, start: &BytesStart<'_>) -> Result<Element, Failure<E>> {
        if self.root.is_some() {
            return Err(malformed("a second root element"));
        }
        self.take(Part::Value)?;
        let local = self.decoder.local_names;
        let mut fields = Map::new();
        // The reader's own check for repeated names compares each with all before it.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(malformed)?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(malformed)?;
            let name = attribute.key;
            let name = if local { name.local_name().into_inner() } else { name.into_inner() };
            let name = format!("-{name}");
            if !local && fields.contains_key(&name) {
                return Err(malformed("an attribute that is there twice"));
            }
            self.take(Part::Text(value.len()))?;
            self.put(&mut fields, name, Value::String(value.into_owned()))?;
        }
        let name = start.name();
        let name = if local { name.local_name().into_inner() } else { name.into_inner() };
        Ok(Element { name: name.to_owned(), fields, text: String::new() })
    }

    fn text(&mut self, text: &str) -> Result<(), Failure<E>> {
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            None if self.decoder.trim(text).is_empty() => {}
            None => return Err(malformed("text outside the root element")),
        }
        Ok(())
    }

    fn end(&mut self, element: Element) -> Result<(), Failure<E>> {
        let Element { name, mut fields, text } = element;
        let text = self.decoder.trim(&text);
        self.take(Part::Text(text.len()))?;
        let value = if fields.is_empty() {
            Value::String(text.to_owned())
        } else {
            if !text.is_empty() {
                self.take(Part::Field { first: false, name: TEXT.len() })?;
                fields.insert(TEXT.to_owned(), Value::String(text.to_owned()));
            }
            Value::Object(fields)
        };
        let Some(mut parent) = self.open.pop() else {
            self.root = Some((name, value));
            return Ok(());
        };
        self.put(&mut parent.fields, name, value)?;
        self.open.push(parent);
        Ok(())
    }

    /// Adds a value to those of its name.
    fn put(
        &mut self,
        fields: &mut Map<String, Value>,
        name: String,
        value: Value,
    ) -> Result<(), Failure<E>> {
        match fields.get_mut(&name) {
            // The value of one element or attribute is never a list by itself.
            Some(Value::Array(list)) => list.push(value),
            Some(first) => {
                self.take(Part::List)?;
                let earlier = first.take();
                *first = Value::Array(vec![earlier, value]);
            }
            None => {
                self.take(Part::Field { first: fields.is_empty(), name: name.len() })?;
                fields.insert(name, value);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Value, E> {
        match self.root {
            Some(root) if self.open.is_empty() => Ok(Value::Object(Map::from_iter([root]))),
            _ => Err(NotXml("the root element is missing or not closed".to_owned()).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PLAIN: Decoder = Decoder::new(2);

    #[test]
    fn each_option_changes_what_it_says() {
        let twice = "<a:e x:k='1' y:k='2'>\u{a0}t </a:e>";
        for (decoder, expected) in [
            (PLAIN, json!({"a:e": {"-x:k": "1", "-y:k": "2", "#text": "t"}})),
            (PLAIN.local_names(), json!({"e": {"-k": ["1", "2"], "#text": "t"}})),
            (
                PLAIN.ascii_white_space(),
                json!({"a:e": {"-x:k": "1", "-y:k": "2", "#text": "\u{a0}t"}}),
            ),
        ] {
            assert_eq!(decoder.decode(twice), Ok(expected));
        }
        assert_eq!(PLAIN.decode("<!DOCTYPE a><a/>"), Ok(json!({"a": ""})));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_byte() {
        assert_eq!(PLAIN.decode("<a><b>c</b></a>"), Ok(json!({"a": {"b": "c"}})));
        for (text, expected) in [
            ("<a><b><c></c></b></a>", "elements that nest deeper than 2 at byte 9"),
            ("<a k='1' k='2'/>", "an attribute that is there twice at byte 16"),
            ("<a/><b/>", "a second root element at byte 8"),
            ("<a>&b;</a>", "an entity that is not predefined at byte 6"),
            ("<a>", "the root element is missing or not closed"),
        ] {
            let error = PLAIN.decode(text).map_err(|error| error.to_string());
            assert_eq!(error, Err(expected.to_owned()), "{text}");
        }
    }
}
