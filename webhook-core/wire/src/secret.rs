//! Text that must not be logged.

use std::fmt;

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
        // Comparing digests keeps the length of the secret out of the timing as well.
        let digest = |bytes| ring::digest::digest(&ring::digest::SHA256, bytes);
        constant_time_eq(digest(self.0.as_bytes()).as_ref(), digest(candidate).as_ref())
    }
}

/// Whether two texts are the same, in time that depends on their lengths only.
#[must_use]
pub fn constant_time_eq(ours: &[u8], theirs: &[u8]) -> bool {
    ours.ct_eq(theirs).into()
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
