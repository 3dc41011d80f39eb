//! A request as rules see it: each part looked at once, when a rule asks for it.

use std::{cell::OnceCell, net::IpAddr};

use http::{HeaderName, StatusCode};

use super::{
    Subject,
    payload::{Payload, form},
    tree::Names,
    vocabulary::Part,
};
use crate::wire::Headers;

/// Where a parameter comes from.
pub(super) enum Source {
    Header(HeaderName),
    Query(Box<str>),
    Payload(Box<str>),
    /// A path into the body with `*` in it.
    Elements(Box<str>),
    Body,
    Part(Part),
    Text(Box<str>),
    EntirePayload,
    EntireQuery,
    EntireHeaders,
}

pub(super) struct View<'a> {
    subject: &'a Subject<'a>,
    names: &'a Names,
    payload: Payload<'a>,
    query: OnceCell<form::Fields<'a>>,
    entire_query: OnceCell<Option<String>>,
    entire_headers: OnceCell<Option<String>>,
}

impl<'a> View<'a> {
    pub(super) fn new(subject: &'a Subject<'a>, names: &'a Names) -> Self {
        Self {
            subject,
            names,
            payload: Payload::new(subject.request, &names.payload),
            query: OnceCell::new(),
            entire_query: OnceCell::new(),
            entire_headers: OnceCell::new(),
        }
    }

    pub(super) fn body(&self) -> &'a [u8] {
        &self.subject.request.body
    }

    /// The sender's address; an IPv4 address as such, in whichever form it came.
    pub(super) fn remote_addr(&self) -> Option<IpAddr> {
        self.subject.remote_addr.map(|address| address.to_canonical())
    }

    /// Hands the values of `source` to `test` until it says true. Nothing is
    /// handed over when the parameter is missing.
    pub(super) fn each_value(&self, source: &Source, test: &mut dyn FnMut(&[u8]) -> bool) {
        let request = self.subject.request;
        let mut one = |value: Option<&str>| {
            if let Some(value) = value {
                test(value.as_bytes());
            }
        };
        match source {
            Source::Header(name) => {
                request.headers.get_all(name).iter().any(|value| test(value.as_bytes()));
            }
            Source::Query(key) => {
                let collect = || form::fields(request.raw_query.as_bytes(), &self.names.query);
                let fields = self.query.get_or_init(collect);
                form::values(fields, &self.names.query, key).any(|value| test(value.as_bytes()));
            }
            Source::Payload(path) => self.payload.each_value(path, test),
            Source::Elements(path) => {
                self.payload.each_element(path, &mut |value, _| test(value.as_bytes()));
            }
            Source::Body => {
                test(&request.body);
            }
            Source::Part(part) => self.part(*part, &mut one),
            Source::Text(text) => one(Some(text)),
            Source::EntirePayload => one(self.payload.entire()),
            Source::EntireQuery => {
                let text = || form::to_json(request.raw_query.as_bytes());
                one(self.entire_query.get_or_init(text).as_deref());
            }
            Source::EntireHeaders => {
                let text = || serde_json::to_string(&Headers(request.headers.clone())).ok();
                one(self.entire_headers.get_or_init(text).as_deref());
            }
        }
    }

    fn part(&self, part: Part, one: &mut dyn FnMut(Option<&str>)) {
        let Subject { request, verified, event, duplicate_of, status, .. } = *self.subject;
        match part {
            Part::Method => one(Some(request.method.as_str())),
            Part::Path => one(Some(&request.extra_path)),
            Part::RemoteAddr => {
                one(self.remote_addr().map(|address| address.to_string()).as_deref());
            }
            Part::Verified => one(verified.map(|it| if it { "true" } else { "false" })),
            Part::Event => one(event),
            Part::Status => one(status.as_ref().map(StatusCode::as_str)),
            Part::DuplicateOf => one(duplicate_of.map(|log| log.to_string()).as_deref()),
        }
    }

    /// Why the body cannot be read, for a source that is in it.
    #[cfg(feature = "admin")]
    pub(super) fn unreadable(&self, source: &Source) -> Option<String> {
        match source {
            Source::Payload(_) | Source::Elements(_) | Source::EntirePayload => {
                self.payload.unreadable().map(ToString::to_string)
            }
            _ => None,
        }
    }

    #[cfg(feature = "admin")]
    /// The path of the value at `index` of a source with `*` in its path.
    pub(super) fn element(&self, source: &Source, index: usize) -> Option<String> {
        let Source::Elements(path) = source else { return None };
        let (mut seen, mut found) = (0, None);
        self.payload.each_element(path, &mut |_, way| {
            if seen == index {
                let steps: Vec<_> = way.iter().map(ToString::to_string).collect();
                found = Some(steps.join("."));
            }
            seen += 1;
            found.is_some()
        });
        found
    }
}
