//! The body of a request as data: lookups by path.

pub(super) mod elements;
pub(super) mod form;
mod inside;
mod json;
pub(super) mod text;

use std::cell::OnceCell;

use self::text::Texts;
use crate::{
    content::{Content, Document, Format, Unreadable},
    wire::Request,
};

/// The field of a form that is read as its document, where the form has no other.
const PAYLOAD: &str = "payload";

/// A body that is parsed when something in it is asked for.
pub(super) struct Payload<'a> {
    request: &'a Request,
    /// The paths that will be asked for, sorted.
    paths: &'a [Box<str>],
    document: OnceCell<Result<Option<Document<'a>>, Unreadable>>,
    found: OnceCell<Texts>,
    fields: OnceCell<Vec<Vec<String>>>,
    /// The value at each path, where a text on the way is JSON.
    inside: OnceCell<Box<[OnceCell<Option<String>>]>>,
    entire: OnceCell<Option<String>>,
}

impl<'a> Payload<'a> {
    pub(super) fn new(request: &'a Request, paths: &'a [Box<str>]) -> Self {
        Self {
            request,
            paths,
            document: OnceCell::new(),
            found: OnceCell::new(),
            fields: OnceCell::new(),
            inside: OnceCell::new(),
            entire: OnceCell::new(),
        }
    }

    /// Hands what is at `path` to `test`; several fields of a form until it says true.
    pub(super) fn each_value(&self, path: &str, test: &mut dyn FnMut(&[u8]) -> bool) {
        let Some(document) = self.document() else { return };
        let Some(index) = self.paths.binary_search_by(|known| (**known).cmp(path)).ok() else {
            return;
        };
        let is_there = match document {
            Document::Form(_) => {
                let values = self.fields().get(index).map(Vec::as_slice).unwrap_or_default();
                values.iter().any(|value| test(value.as_bytes()));
                !values.is_empty()
            }
            Document::Payload(text) if path == PAYLOAD => {
                test(text.as_bytes());
                true
            }
            Document::Json(_) | Document::Payload(_) | Document::Xml(_) => {
                let value = self.texts().and_then(|(document, texts)| texts.get(document, index));
                value.is_some_and(|value| {
                    test(value.as_bytes());
                    true
                })
            }
        };
        if !is_there && let Some(value) = self.inside(index, path) {
            test(value.as_bytes());
        }
    }

    /// Hands the values at a path with `*` in it to `test`, each with the way to it, until that
    /// says true.
    pub(super) fn each_element(
        &self,
        path: &str,
        test: &mut dyn FnMut(&str, &[elements::Step<'_>]) -> bool,
    ) {
        let Some(document) = self.document() else { return };
        if let Document::Form(form) = document {
            let fields = form::fields(form.as_bytes(), &[path.into()]);
            let way = [elements::Step::Key(path)];
            let mut values = fields.iter().flatten().peekable();
            if values.peek().is_some() {
                values.any(|value| test(value, &way));
                return;
            }
        }
        let Some(text) = document.to_json() else { return };
        let is_xml = matches!(document, Document::Xml(_));
        elements::each(&text, path, is_xml, test);
    }

    /// All of it as compact JSON text; none when it does not parse.
    pub(super) fn entire(&self) -> Option<&str> {
        let text = || match self.document()? {
            Document::Json(text) => Some(text::compact(text)),
            Document::Payload(text) => Some(text::compact(text)),
            document => document.to_json().map(String::from),
        };
        self.entire.get_or_init(text).as_deref()
    }

    /// Why the body cannot be read, when it cannot.
    #[cfg(feature = "admin")]
    pub(super) fn unreadable(&self) -> Option<&Unreadable> {
        self.read().as_ref().err()
    }

    fn read(&self) -> &Result<Option<Document<'a>>, Unreadable> {
        self.document.get_or_init(|| Document::read(&self.request.headers, &self.request.body))
    }

    fn document(&self) -> Option<&Document<'a>> {
        self.read().as_ref().ok()?.as_ref()
    }

    /// The text of the document, and what is at the paths in it.
    fn texts(&self) -> Option<(&str, &Texts)> {
        let (text, is_xml): (&str, bool) = match self.document()? {
            Document::Json(text) => (text, false),
            Document::Payload(text) => (text, false),
            Document::Xml(text) => (text, true),
            Document::Form(_) => return None,
        };
        Some((text, self.found.get_or_init(|| Texts::of(text, self.paths, is_xml))))
    }

    /// The values of the fields of a form that the paths name.
    fn fields(&self) -> &[Vec<String>] {
        let read = || match self.document() {
            Some(Document::Form(form)) => {
                let fields = form::fields(form.as_bytes(), self.paths).into_iter();
                fields.map(|values| values.into_iter().map(String::from).collect()).collect()
            }
            _ => Vec::new(),
        };
        self.fields.get_or_init(read)
    }

    /// The value at `path`, where a text on the way is JSON.
    fn inside(&self, index: usize, path: &str) -> Option<&str> {
        let each = self.inside.get_or_init(|| self.paths.iter().map(|_| OnceCell::new()).collect());
        let find = || {
            let document = self.document()?;
            let text = document.to_json()?;
            let is_xml = matches!(document, Document::Xml(_));
            // In such a form, the document is a text of its own.
            let behind = path.strip_prefix(PAYLOAD).and_then(|rest| rest.strip_prefix('.'));
            match (document, behind) {
                (Document::Payload(text), Some(rest)) => inside::value(text, rest),
                _ => inside::behind_text(&text, path, is_xml),
            }
        };
        each.get(index)?.get_or_init(find).as_deref()
    }
}

/// The first value at `path` in the body of a request, as rules find it.
pub(crate) fn value_at(request: &Request, path: &str) -> Option<String> {
    let mut first = None;
    Payload::new(request, &[path.into()]).each_value(path, &mut |value| {
        first = Some(String::from_utf8_lossy(value).into_owned());
        true
    });
    first
}

/// Whether the body is in a format that this build reads.
pub(super) fn is_readable(request: &Request, with_xml: bool) -> bool {
    let is_xml = || {
        let content = Content::of(&request.headers, &request.body);
        content.is_ok_and(|content| content.format() == Some(Format::Xml))
    };
    with_xml || !is_xml()
}
