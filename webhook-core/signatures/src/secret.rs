//! Text that must not be logged.

use std::fmt;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// A password, token or key: shown to its owner on the wire, never in `Debug`
/// output, compared in constant time.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is no secret.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `candidate` is the secret, in time that depends on neither.
    #[must_use]
    pub fn matches(&self, candidate: &[u8]) -> bool {
        same(self.0.as_bytes(), candidate)
    }
}

/// Whether two texts are the same. Digests are compared, so that the time tells neither where
/// they differ nor how long ours is.
pub(crate) fn same(ours: &[u8], theirs: &[u8]) -> bool {
    constant_time_eq(digest(&SHA256, ours).as_ref(), digest(&SHA256, theirs).as_ref())
}

/// Whether two texts are the same, in time that depends on their lengths only.
#[must_use]
pub fn constant_time_eq(ours: &[u8], theirs: &[u8]) -> bool {
    ours.ct_eq(theirs).into()
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.matches(other.0.as_bytes())
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "Secret(empty)" } else { "Secret(…)" })
    }
}
