//! One match: a parameter of the request and what it is held against.

use memchr::memmem::Finder;
use webhook_wire::{Base64, constant_time_eq};

use super::{
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
    Contains(Finder<'static>),
    Lacks(Finder<'static>),
    Regex(Regex),
    Signature(Signature),
}

impl Match {
    pub(super) fn matches(&self, view: &View<'_>) -> bool {
        match &self.test {
            Test::Equals(expected) => {
                self.any(view, |value| constant_time_eq(expected, value)) == Some(true)
            }
            Test::Contains(text) => {
                self.any(view, |value| text.find(value).is_some()) == Some(true)
            }
            Test::Lacks(text) => self.any(view, |value| text.find(value).is_some()) == Some(false),
            Test::Regex(regex) => {
                let mut search = regex.search();
                self.any(view, |value| search.finds_in(value)) == Some(true)
            }
            Test::Signature(signature) => {
                let mut check = signature.of(view.body(), self.base64);
                self.any(view, |value| check.is_satisfied_by(value)) == Some(true)
            }
        }
    }

    /// Whether any value of the parameter passes `test`; none when it is missing.
    fn any(&self, view: &View<'_>, mut test: impl FnMut(&[u8]) -> bool) -> Option<bool> {
        let mut present = false;
        let mut passed = false;
        view.each_value(&self.source, &mut |value| {
            if self.base64 {
                if let Some(value) = decode(value) {
                    present = true;
                    passed = test(&value);
                }
            } else {
                present = true;
                passed = test(value);
            }
            passed
        });
        present.then_some(passed)
    }
}

/// Decodes either alphabet of base64, with or without padding or line breaks.
pub(super) fn decode(value: &[u8]) -> Option<Vec<u8>> {
    Base64::Standard.decode_spaced(value).or_else(|_| Base64::UrlSafe.decode_spaced(value)).ok()
}
