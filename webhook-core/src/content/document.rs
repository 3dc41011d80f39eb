//! A body as data.

use std::borrow::Cow;

use http::HeaderMap;
use serde_json::value::RawValue;

#[cfg(feature = "xml")]
use super::xml::to_json as xml;
use super::{Content, Format, Unreadable, form, multipart};

/// The data in a body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Document<'a> {
    /// Valid JSON text without white space around it.
    Json(Cow<'a, str>),
    /// A form with the one field `payload`: its text, which is JSON.
    Payload(String),
    /// XML, as JSON text: see the module `xml`.
    Xml(String),
    /// The fields of a form, percent-encoded in UTF-8.
    Form(Cow<'a, str>),
}

impl<'a> Document<'a> {
    /// Reads the body of a request or an answer. None when it is in no format that is data.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] when the body is not what its headers or its first byte say.
    pub fn read(headers: &'a HeaderMap, body: &'a [u8]) -> Result<Option<Self>, Unreadable> {
        let content = Content::of(headers, body)?;
        content.format().map(|format| Self::of(content, format)).transpose()
    }

    fn of(content: Content<'a>, format: Format) -> Result<Self, Unreadable> {
        Ok(match format {
            Format::Json => Self::Json(json(content.text())?),
            Format::JsonLines => Self::Json(Cow::Owned(lines(&content.text())?)),
            Format::Xml => Self::Xml(xml(&content.text())?),
            Format::Multipart => {
                Self::Json(Cow::Owned(multipart::to_json(content.headers, &content.bytes)?))
            }
            Format::Form => {
                let text = content.text();
                match payload(&text) {
                    Some(payload) => Self::Payload(payload),
                    None => Self::Form(text),
                }
            }
        })
    }

    /// All of it as JSON text. A form is an object of texts, and of lists where a name repeats.
    #[must_use]
    pub fn to_json(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Json(text) => Some(Cow::Borrowed(text)),
            Self::Payload(text) | Self::Xml(text) => Some(Cow::Borrowed(text)),
            Self::Form(text) => form::to_json(text.as_bytes()).map(Cow::Owned),
        }
    }
}

/// The body as JSON text, for a reader that knows nothing else. None when the bytes are that text,
/// and when the body is no JSON, nor a form or parts with JSON in it.
#[must_use]
pub fn json_in(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    let content = Content::of(headers, body).ok()?;
    match content.format()? {
        Format::Xml => None,
        // Most bodies are this one, and are not parsed.
        Format::Json => match content.text() {
            Cow::Borrowed(text) if text.len() == body.len() => None,
            text => Some(json(text).ok()?.into_owned()),
        },
        format => match Document::of(content, format).ok()? {
            Document::Json(text) => Some(text.into_owned()),
            Document::Payload(text) => Some(text),
            Document::Xml(_) | Document::Form(_) => None,
        },
    }
}

/// The JSON in the field `payload`, when the form has no other.
fn payload(form: &str) -> Option<String> {
    let mut fields = url::form_urlencoded::parse(form.as_bytes());
    let (name, value) = fields.next()?;
    let is_json =
        || value.trim_start().starts_with(['{', '[']) && json(Cow::Borrowed(&value)).is_ok();
    (name == "payload" && fields.next().is_none() && is_json()).then(|| value.into_owned())
}

/// `text` without the white space around it, when it is JSON.
fn json(text: Cow<'_, str>) -> Result<Cow<'_, str>, Unreadable> {
    let value =
        serde_json::from_str::<&RawValue>(&text).map_err(|error| not_json(&error, error.line()))?;
    if value.get().len() == text.len() {
        return Ok(text);
    }
    Ok(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
        Cow::Owned(text) => Cow::Owned(text.trim_ascii().to_owned()),
    })
}

fn not_json(error: &serde_json::Error, line: usize) -> Unreadable {
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    Unreadable::new(format!(
        "the body is not JSON: line {line}, column {}: {reason}",
        error.column()
    ))
}

/// A list of the values in the lines.
fn lines(text: &str) -> Result<String, Unreadable> {
    let mut list = String::with_capacity(text.len() + 2);
    list.push('[');
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_ascii().is_empty())
    {
        let value = serde_json::from_str::<&RawValue>(line)
            .map_err(|error| not_json(&error, number + 1))?;
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(value.get());
    }
    list.push(']');
    Ok(list)
}

#[cfg(not(feature = "xml"))]
fn xml(_: &str) -> Result<String, Unreadable> {
    Err(Unreadable::new("the body is XML, and this program was built without the feature xml"))
}
