//! XML as JSON: elements are keys, attributes `-name`, text beside them `#text`.

use std::collections::BTreeMap;

use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_xml_entity,
    events::{BytesStart, Event},
};

use crate::rule::MAX_XML_DEPTH;

/// An element that has not ended yet.
#[derive(Default)]
struct Element {
    name: String,
    text: String,
    /// Attributes and ended elements by name, each as JSON text.
    fields: BTreeMap<String, Vec<String>>,
}

/// `body` as one JSON object with the root element in it. None when it is not
/// well-formed XML in UTF-8, refers to entities of its own, or is too deep.
pub(super) fn to_json(body: &[u8]) -> Option<String> {
    let mut reader = Reader::from_str(std::str::from_utf8(body).ok()?);
    // The bottom stands for the document, the rest are the open elements.
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                if open.len() > MAX_XML_DEPTH {
                    return None;
                }
                open.push(Element::start(&start)?);
            }
            Event::Empty(start) => open.last_mut()?.add(Element::start(&start)?)?,
            Event::End(_) => {
                let ended = open.pop()?;
                open.last_mut()?.add(ended)?;
            }
            Event::Text(text) => open.last_mut()?.text.push_str(&text.xml10_content()),
            Event::CData(text) => open.last_mut()?.text.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let text = &mut open.last_mut()?.text;
                match reference.resolve_char_ref().ok()? {
                    Some(character) => text.push(character),
                    None => text.push_str(resolve_xml_entity(&reference)?),
                }
            }
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    let document = open.pop()?;
    let has_one_root = document.fields.len() == 1
        && document.fields.values().all(|elements| elements.len() == 1)
        && document.text.trim_ascii().is_empty();
    (open.is_empty() && has_one_root).then(|| document.into_json())?
}

impl Element {
    fn start(start: &BytesStart<'_>) -> Option<Self> {
        let name = start.local_name().as_ref().to_owned();
        let mut element = Self { name, ..Self::default() };
        // The reader's own check for repeated names compares each with each.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.ok()?;
            let value = attribute.normalized_value(XmlVersion::Explicit1_0).ok()?;
            let name = format!("-{}", attribute.key.local_name().as_ref());
            element.fields.entry(name).or_default().push(serde_json::to_string(&value).ok()?);
        }
        Some(element)
    }

    fn add(&mut self, mut ended: Self) -> Option<()> {
        let name = std::mem::take(&mut ended.name);
        let json = ended.into_json()?;
        self.fields.entry(name).or_default().push(json);
        Some(())
    }

    fn into_json(mut self) -> Option<String> {
        let text = self.text.trim_ascii();
        if self.fields.is_empty() {
            return serde_json::to_string(text).ok();
        }
        if !text.is_empty() {
            let text = serde_json::to_string(text).ok()?;
            self.fields.insert("#text".to_owned(), vec![text]);
        }
        let mut json = String::from("{");
        for (index, (name, values)) in self.fields.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            json.push_str(&serde_json::to_string(name).ok()?);
            json.push(':');
            match values.as_slice() {
                [value] => json.push_str(value),
                values => {
                    json.push('[');
                    json.push_str(&values.join(","));
                    json.push(']');
                }
            }
        }
        json.push('}');
        Some(json)
    }
}
