//! The body of a request as data: which format it is in, and lookups by path.

pub(super) mod elements;
pub(super) mod form;
mod json;
pub(super) mod text;
#[cfg(feature = "xml")]
mod xml;

use std::cell::OnceCell;

use http::header::CONTENT_TYPE;

use self::text::Texts;
use crate::wire::Request;

/// A body that is parsed when something in it is asked for.
pub(super) struct Payload<'a> {
    request: &'a Request,
    /// The paths that will be asked for, sorted.
    paths: &'a [Box<str>],
    document: OnceCell<Option<Document<'a>>>,
    found: OnceCell<Found<'a>>,
    entire: OnceCell<Option<String>>,
}

enum Document<'a> {
    /// Valid JSON text.
    Json(&'a str),
    /// XML, as JSON text.
    #[cfg(feature = "xml")]
    Xml(String),
    Form(&'a [u8]),
}

/// What was found under each path.
enum Found<'a> {
    Nothing,
    Json(Texts),
    Form(form::Fields<'a>),
}

#[derive(Clone, Copy)]
enum Format {
    Json,
    Xml,
    Form,
}

impl<'a> Payload<'a> {
    pub(super) fn new(request: &'a Request, paths: &'a [Box<str>]) -> Self {
        Self {
            request,
            paths,
            document: OnceCell::new(),
            found: OnceCell::new(),
            entire: OnceCell::new(),
        }
    }

    /// Hands what is at `path` to `test`; several fields of a form until it says true.
    pub(super) fn each_value(&self, path: &str, test: &mut dyn FnMut(&[u8]) -> bool) {
        let found = self.found.get_or_init(|| match self.document() {
            None => Found::Nothing,
            Some(Document::Json(text)) => Found::Json(Texts::of(text, self.paths, false)),
            #[cfg(feature = "xml")]
            Some(Document::Xml(text)) => Found::Json(Texts::of(text, self.paths, true)),
            Some(Document::Form(body)) => Found::Form(form::fields(body, self.paths)),
        });
        match (found, self.document()) {
            (Found::Json(texts), Some(document)) => {
                let index = self.paths.binary_search_by(|known| (**known).cmp(path)).ok();
                let value = index.and_then(|index| texts.get(document.as_json()?, index));
                if let Some(value) = value {
                    test(value.as_bytes());
                }
            }
            (Found::Form(fields), _) => {
                form::values(fields, self.paths, path).any(|value| test(value.as_bytes()));
            }
            _ => {}
        }
    }

    /// Hands the values at a path with `*` in it to `test`, each with the way to it, until that
    /// says true. In a form the path is the name of a field.
    pub(super) fn each_element(
        &self,
        path: &str,
        test: &mut dyn FnMut(&str, &[elements::Step<'_>]) -> bool,
    ) {
        match self.document() {
            None => {}
            Some(Document::Json(text)) => elements::each(text, path, false, test),
            #[cfg(feature = "xml")]
            Some(Document::Xml(text)) => elements::each(text, path, true, test),
            Some(Document::Form(body)) => {
                let fields = form::fields(body, &[path.into()]);
                let way = [elements::Step::Key(path)];
                fields.iter().flatten().any(|value| test(value, &way));
            }
        }
    }

    /// All of it as compact JSON text; none when it does not parse.
    pub(super) fn entire(&self) -> Option<&str> {
        let text = || match self.document()? {
            Document::Json(text) => Some(text::compact(text)),
            #[cfg(feature = "xml")]
            Document::Xml(text) => Some(text.clone()),
            Document::Form(body) => form::to_json(body),
        };
        self.entire.get_or_init(text).as_deref()
    }

    fn document(&self) -> Option<&Document<'a>> {
        let parse = || {
            let body = without_mark(self.request);
            match format(self.request, body)? {
                Format::Json => json::check(body).map(Document::Json),
                #[cfg(feature = "xml")]
                Format::Xml => xml::to_json(body).map(Document::Xml),
                #[cfg(not(feature = "xml"))]
                Format::Xml => None,
                Format::Form => Some(Document::Form(body)),
            }
        };
        self.document.get_or_init(parse).as_ref()
    }
}

impl Document<'_> {
    fn as_json(&self) -> Option<&str> {
        match self {
            Self::Json(text) => Some(text),
            #[cfg(feature = "xml")]
            Self::Xml(text) => Some(text),
            Self::Form(_) => None,
        }
    }
}

/// Whether the body is in a format that this build reads.
pub(super) fn is_readable(request: &Request, with_xml: bool) -> bool {
    with_xml || !matches!(format(request, without_mark(request)), Some(Format::Xml))
}

/// The body behind the mark that says UTF-8.
fn without_mark(request: &Request) -> &[u8] {
    request.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&request.body)
}

/// What the body claims to be, or else looks like.
fn format(request: &Request, body: &[u8]) -> Option<Format> {
    let first = body.trim_ascii_start().first().copied()?;
    let content_type = request.headers.get(CONTENT_TYPE).map(|value| {
        let kind = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
        kind.trim_ascii().to_ascii_lowercase()
    });
    match content_type.as_deref() {
        // A form never starts with a brace, which it would have to escape.
        Some(b"application/x-www-form-urlencoded") if first != b'{' => return Some(Format::Form),
        Some(b"application/json" | b"text/json") => return Some(Format::Json),
        Some(b"application/xml" | b"text/xml") => return Some(Format::Xml),
        Some(kind) if kind.ends_with(b"+json") => return Some(Format::Json),
        Some(kind) if kind.ends_with(b"+xml") => return Some(Format::Xml),
        Some(kind) if kind.starts_with(b"multipart/") => return None,
        _ => {}
    }
    match first {
        b'{' | b'[' | b'"' => Some(Format::Json),
        b'<' => Some(Format::Xml),
        _ => content_type.is_none().then_some(Format::Form),
    }
}
