//! What verifying came to.

use crate::KeyRequest;

/// What [`Verifier::verify`](crate::Verifier::verify) came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The request is from whoever has the secret.
    Verified {
        /// The place of the secret among the secrets that were given; 0 where a scheme has none.
        secret_index: usize,
        /// What is the same for a request that is sent again byte for byte, and for no
        /// other: a hash of what was signed. Only where a timestamp is signed: elsewhere
        /// two requests may be alike and meant.
        guard: Option<[u8; 32]>,
    },
    /// The request is not, as far as can be told.
    Failed(Reason),
    /// A key is needed that [`Keys`](crate::Keys) does not have. The caller fetches it
    /// and asks again.
    NeedsKey(KeyRequest),
}

impl Verdict {
    /// Whether the request is from whoever has the secret.
    #[must_use]
    pub const fn is_verified(&self) -> bool {
        matches!(self, Self::Verified { .. })
    }
}

/// Why a request is not verified. The text is what its sender is told: it names
/// what is wrong with what was sent, never what would have been right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The header, query parameter or field that has the signature, or what is signed
    /// with it, is not there.
    #[error("missing {0}")]
    Missing(String),
    /// What is there cannot be read: what and why.
    #[error("malformed {0}")]
    Malformed(String),
    /// No secret that is valid now makes this signature.
    #[error("no match")]
    NoMatch,
    /// The signature is right, and too old, or of a time to come.
    #[error("timestamp outside of tolerance")]
    Timestamp,
    /// The request is for somebody else, who may have the same provider: the field that
    /// says for whom.
    #[error("{0} is not the expected one")]
    Unexpected(String),
    /// The key could not be fetched, or is not of the kind that the scheme needs.
    #[error("key unavailable")]
    KeyUnavailable,
    /// The fetched keys do not have the one that the request names. Keys that were
    /// fetched a while ago may be fetched once more.
    #[error("unknown key")]
    UnknownKey,
    /// The provider has not handed over its secret yet.
    #[error("no secret yet")]
    NoSecret,
}
