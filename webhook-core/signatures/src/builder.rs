//! What a verifier is made of.

use std::{collections::BTreeMap, time::Duration};

use crate::{Now, Scheme, Secret, Verifier, compile::compile};

/// What a [`Verifier`] is made of: a scheme, secrets, and what else a provider needs.
#[derive(Clone, Debug)]
#[must_use]
pub struct VerifierBuilder {
    pub(crate) provider: Provider,
    pub(crate) secrets: Vec<(Secret, Option<Now>)>,
    pub(crate) parameters: BTreeMap<String, Secret>,
    pub(crate) tolerance: Duration,
    pub(crate) url: String,
    pub(crate) challenges: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Provider {
    Preset(String),
    Custom(Box<Scheme>),
}

/// The part of a [`VerifierBuilder`] that is wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Invalid {
    /// The part: `provider`, `secrets[0].secret`, `parameters.verify_token`, `tolerance`, `url`,
    /// or a field of a scheme such as `scheme.key.hosts`.
    pub field: String,
    /// The reason, and what to write instead.
    pub reason: String,
}

impl Invalid {
    pub(crate) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

impl VerifierBuilder {
    pub(crate) fn preset(name: String) -> Self {
        Self::new(Provider::Preset(name))
    }

    pub(crate) fn custom(scheme: Scheme) -> Self {
        Self::new(Provider::Custom(Box::new(scheme)))
    }

    fn new(provider: Provider) -> Self {
        Self {
            provider,
            secrets: Vec::new(),
            parameters: BTreeMap::new(),
            tolerance: Duration::ZERO,
            url: String::new(),
            challenges: true,
        }
    }

    /// Adds a secret as the provider shows it. Each of several may verify.
    pub fn secret(self, secret: impl Into<Secret>) -> Self {
        self.secret_until(secret, None)
    }

    /// Adds a secret that verifies nothing from `end` on.
    pub fn secret_until(mut self, secret: impl Into<Secret>, end: Option<Now>) -> Self {
        self.secrets.push((secret.into(), end));
        self
    }

    /// Sets a value that the provider needs next to a secret; [`Preset::fields`] names them.
    ///
    /// [`Preset::fields`]: crate::Preset::fields
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets the greatest difference between the timestamp of a webhook and now, before and after.
    /// Zero stands for the advice of the provider, mostly five minutes.
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the URL as the sender has it, where that is part of what is signed. Empty stands for
    /// the URL of each request.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Sets whether [`Verifier::challenge`] answers handshakes; it does unless this says no.
    pub fn challenges(mut self, answered: bool) -> Self {
        self.challenges = answered;
        self
    }

    /// Compiles all of it. A secret that has ended is no error.
    ///
    /// # Errors
    /// [`Invalid`] names the part that is wrong: a provider that is not known, a secret that the
    /// scheme cannot decode, a scheme that signs nothing, a tolerance without a timestamp.
    pub fn build(&self) -> Result<Verifier, Invalid> {
        Ok(Verifier { compiled: compile(self)? })
    }
}
