//! One match: a parameter of the request and what it is held against.

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use memchr::memmem::Finder;

use super::{
    regex::Regex,
    signature::Signature,
    view::{Source, View},
};
use crate::model::constant_time_eq;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

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
fn decode(value: &[u8]) -> Option<Vec<u8>> {
    let text: Vec<u8> = value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(&text).or_else(|_| BASE64_URL.decode(&text)).ok()
}
