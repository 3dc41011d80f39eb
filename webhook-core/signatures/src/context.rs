//! Where the values of a request are.

use std::{borrow::Cow, cell::OnceCell, collections::BTreeMap};

use http::{HeaderMap, header::CONTENT_TYPE};
use url::form_urlencoded;

use crate::{
    Field, Reason, Request, Secret, SignatureField, Source, Split, TimestampField,
    json::{self, Found},
};

/// A query or form of more parameters than this is malformed.
const MAX_PARAMETERS: usize = 1000;
/// A field of more values than this is malformed; DocuSign numbers its headers to 100.
const MAX_VALUES: usize = 100;
/// A value of more bytes than this is malformed, where it is not the whole body.
const MAX_VALUE_BYTES: usize = 16 * 1024;

/// A request, and what the account says about it.
pub(crate) struct Context<'a> {
    pub(crate) request: Request<'a>,
    /// The URL as the sender signed it.
    pub(crate) url: Cow<'a, str>,
    pub(crate) parameters: &'a BTreeMap<String, Secret>,
    /// The claims of the token, in JSON, once they are known.
    pub(crate) claims: OnceCell<Vec<u8>>,
}

impl Field {
    pub(crate) fn describe(&self) -> String {
        describe(self.source, &self.name)
    }
}

impl From<&SignatureField> for Field {
    fn from(field: &SignatureField) -> Self {
        let SignatureField { source, name, prefix, split, key, encoding: _ } = field.clone();
        Self { source, name, prefix, split, key }
    }
}

impl From<&TimestampField> for Field {
    fn from(field: &TimestampField) -> Self {
        let TimestampField { source, name, prefix, split, key, unit: _, tolerance: _ } =
            field.clone();
        Self { source, name, prefix, split, key }
    }
}

/// What people call a place in a request.
pub(crate) fn describe(source: Source, name: &str) -> String {
    match source {
        Source::Header => format!("header {name}"),
        Source::Query => format!("query parameter {name}"),
        Source::Payload => format!("payload field {name}"),
        Source::Claim => format!("claim {name}"),
        Source::Method => "method".to_owned(),
    }
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        request: &Request<'a>,
        url: &'a str,
        parameters: &'a BTreeMap<String, Secret>,
    ) -> Self {
        let url = match url {
            "" => Cow::Borrowed(request.url),
            // The address that was told to the sender, with the query that it added.
            url if request.raw_query.is_empty() || url.contains('?') => Cow::Borrowed(url),
            url => Cow::Owned(format!("{url}?{}", request.raw_query)),
        };
        Self { request: *request, url, parameters, claims: OnceCell::new() }
    }

    /// The text at a place, if it is there.
    pub(crate) fn text(&self, source: Source, name: &str) -> Result<Option<Cow<'a, str>>, Reason> {
        match self.found(source, name)? {
            None => Ok(None),
            Some(Found::Text(text)) => Ok(Some(Cow::Owned(text))),
            Some(Found::Other) => Err(Reason::Malformed(describe(source, name))),
        }
    }

    /// Whether there is anything at a place.
    pub(crate) fn has(&self, source: Source, name: &str) -> Result<bool, Reason> {
        Ok(self.found(source, name)?.is_some())
    }

    fn found(&self, source: Source, name: &str) -> Result<Option<Found>, Reason> {
        let malformed = |why: &str| Reason::Malformed(format!("{}: {why}", describe(source, name)));
        let document = match source {
            Source::Header => {
                let mut values = self.request.headers.get_all(name).iter();
                let Some(value) = values.next() else { return Ok(None) };
                if values.next().is_some() {
                    return Err(malformed("it is there twice"));
                }
                let text = str::from_utf8(value.as_bytes());
                let text = text.map_err(|_| malformed("it is not text"))?;
                return Ok(Some(Found::Text(text.to_owned())));
            }
            Source::Query => {
                let mut values = form_urlencoded::parse(self.request.raw_query.as_bytes())
                    .take(MAX_PARAMETERS)
                    .filter(|(key, _)| key == name);
                let Some((_, value)) = values.next() else { return Ok(None) };
                return match values.next() {
                    Some(_) => Err(malformed("it is there twice")),
                    None => Ok(Some(Found::Text(value.into_owned()))),
                };
            }
            Source::Method => return Ok(Some(Found::Text(self.request.method.to_owned()))),
            Source::Payload => self.request.body,
            Source::Claim => self.claims.get().map_or(&b"{}"[..], Vec::as_slice),
        };
        json::find(document, name)
            .map_err(|_| malformed("it cannot be read as JSON without a doubt"))
    }

    /// The values of a field, of which there is at least one.
    pub(crate) fn values(&self, field: &Field) -> Result<Vec<String>, Reason> {
        let Field { source, name, prefix, split, key } = field;
        let missing = || Reason::Missing(field.describe());
        let malformed = |why: &str| Reason::Malformed(format!("{}: {why}", field.describe()));
        let texts: Vec<Cow<'_, str>> = match name.strip_suffix('*') {
            Some(stem) if *source == Source::Header => {
                numbered(self.request.headers, stem).ok_or_else(|| malformed("it is not text"))?
            }
            _ => vec![self.text(*source, name)?.ok_or_else(missing)?],
        };
        if texts.is_empty() {
            return Err(missing());
        }
        let mut values = Vec::new();
        for text in &texts {
            if text.len() > MAX_VALUE_BYTES {
                return Err(malformed("it is too long"));
            }
            let rest = text.strip_prefix(prefix.as_str());
            let rest =
                rest.ok_or_else(|| malformed(&format!("it does not begin with {prefix}")))?;
            let items: Box<dyn Iterator<Item = &str>> = match split {
                Split::None => Box::new(std::iter::once(rest)),
                Split::Comma => Box::new(rest.split(',').map(trim)),
                Split::Semicolon => Box::new(rest.split(';').map(trim)),
                Split::Space => Box::new(rest.split(' ').map(trim)),
            };
            for item in items {
                if let Some(value) = item.strip_prefix(key.as_str()) {
                    values.push(value.to_owned());
                }
                if values.len() > MAX_VALUES {
                    return Err(malformed("it has too many values"));
                }
            }
        }
        match values.iter().all(String::is_empty) {
            true if key.is_empty() => Err(malformed("it is empty")),
            true => Err(malformed(&format!("it has no {key}"))),
            false => Ok(values),
        }
    }

    /// The value of a field that has one.
    pub(crate) fn value(&self, field: &Field) -> Result<String, Reason> {
        let mut values = self.values(field)?;
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => Ok(value),
            _ => Err(Reason::Malformed(format!("{}: it is there twice", field.describe()))),
        }
    }

    /// The body as the parameters of a form, if that is what it is.
    pub(crate) fn form(&self) -> Result<Option<Vec<(String, String)>>, Reason> {
        let kind =
            self.request.headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
        let kind = kind.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        if !kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded") {
            return Ok(None);
        }
        let parameters: Vec<_> = form_urlencoded::parse(self.request.body)
            .take(MAX_PARAMETERS + 1)
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        if parameters.len() > MAX_PARAMETERS {
            return Err(Reason::Malformed("form: it has too many parameters".to_owned()));
        }
        Ok(Some(parameters))
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// The values of the header that is called `stem`, and of those with a number after it.
fn numbered<'h>(headers: &'h HeaderMap, stem: &str) -> Option<Vec<Cow<'h, str>>> {
    let stem = stem.to_ascii_lowercase();
    let named = headers.iter().filter(|(name, _)| {
        name.as_str().strip_prefix(&stem).is_some_and(|rest| {
            let number = rest.strip_prefix('-').unwrap_or(rest);
            rest.is_empty() || number.parse::<u16>().is_ok()
        })
    });
    named.map(|(_, value)| str::from_utf8(value.as_bytes()).ok().map(Cow::Borrowed)).collect()
}
