//! What can be wrong.

/// Why a request has not got its credentials. It says what happened and never has a secret
/// in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CredentialError(pub(crate) String);

impl CredentialError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}
