//! One match: a parameter of the request and what it is compared with.

use crate::wire::{Base64, constant_time_eq};
use memchr::memmem::Finder;

use super::{
    number::{Comparison, Decimal},
    regex::Regex,
    signature::Signature,
    view::{Source, View},
};

pub(super) struct Match {
    pub(super) source: Source,
    pub(super) base64: bool,
    pub(super) test: Test,
}

pub(super) enum Test {
    Equals(Box<[u8]>),
    Differs(Box<[u8]>),
    Contains(Finder<'static>),
    Lacks(Finder<'static>),
    StartsWith(Box<[u8]>),
    EndsWith(Box<[u8]>),
    Exists,
    Compares(Comparison, Decimal),
    Regex(Regex),
    Signature(Signature),
}

/// What a match said about a request.
pub(super) struct Outcome {
    pub(super) passes: bool,
    /// Which value of the parameter settled it, counted from 0; none when no single value did.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "an explanation reads it"))]
    pub(super) settled_by: Option<usize>,
}

impl Match {
    pub(super) fn matches(&self, view: &View<'_>) -> bool {
        self.outcome(view).passes
    }

    pub(super) fn outcome(&self, view: &View<'_>) -> Outcome {
        match &self.test {
            Test::Equals(expected) => self.any(view, |value| constant_time_eq(expected, value)),
            Test::Differs(other) => self.none(view, |value| constant_time_eq(other, value)),
            Test::Contains(text) => self.any(view, |value| text.find(value).is_some()),
            Test::Lacks(text) => self.none(view, |value| text.find(value).is_some()),
            Test::StartsWith(start) => self.any(view, |value| value.starts_with(start)),
            Test::EndsWith(end) => self.any(view, |value| value.ends_with(end)),
            Test::Exists => self.any(view, |_| true),
            Test::Compares(comparison, wanted) => self.any(view, |value| {
                Decimal::parse(value).is_some_and(|it| comparison.holds(it.compare(wanted)))
            }),
            Test::Regex(regex) => {
                let mut search = regex.search();
                self.any(view, |value| search.finds_in(value))
            }
            Test::Signature(signature) => {
                let mut check = signature.of(view.body(), self.base64);
                self.any(view, |value| check.is_satisfied_by(value))
            }
        }
    }

    /// Passes when any value of the parameter passes `test`.
    fn any(&self, view: &View<'_>, test: impl FnMut(&[u8]) -> bool) -> Outcome {
        let (_, settled_by) = self.first(view, test);
        Outcome { passes: settled_by.is_some(), settled_by }
    }

    /// Passes when the parameter exists and none of its values passes `test`.
    fn none(&self, view: &View<'_>, test: impl FnMut(&[u8]) -> bool) -> Outcome {
        let (is_there, settled_by) = self.first(view, test);
        Outcome { passes: is_there && settled_by.is_none(), settled_by }
    }

    /// Whether the parameter exists, and its first value that passes `test`.
    fn first(&self, view: &View<'_>, mut test: impl FnMut(&[u8]) -> bool) -> (bool, Option<usize>) {
        let (mut is_there, mut seen, mut found) = (false, 0, None);
        view.each_value(&self.source, &mut |value| {
            let passes = match self.base64.then(|| decode(value)) {
                Some(None) => false,
                Some(Some(decoded)) => {
                    is_there = true;
                    test(&decoded)
                }
                None => {
                    is_there = true;
                    test(value)
                }
            };
            found = passes.then_some(seen);
            seen += 1;
            passes
        });
        (is_there, found)
    }
}

/// Decodes either alphabet of base64, with or without padding or line breaks.
pub(super) fn decode(value: &[u8]) -> Option<Vec<u8>> {
    Base64::Standard.decode_spaced(value).or_else(|_| Base64::UrlSafe.decode_spaced(value)).ok()
}
