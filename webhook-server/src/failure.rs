//! Why the program ends with an error.

use std::{error::Error as StdError, fmt};

use crate::config::ConfigError;

/// What the operator is told on standard error, causes included.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), cause: None }
    }

    pub(crate) fn caused_by(
        what: impl Into<String>,
        cause: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self { what: what.into(), cause: Some(cause.into()) }
    }

    pub(crate) fn io(what: impl Into<String>, error: std::io::Error) -> Self {
        Self::caused_by(what, error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let mut cause = self.cause.as_deref().map(|cause| cause as &dyn StdError);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<webhook_core::Error> for Failure {
    fn from(error: webhook_core::Error) -> Self {
        let what = error.to_string();
        match error.source() {
            Some(_) => Self { what, cause: Some(Box::new(Cause(error))) },
            None => Self::new(what),
        }
    }
}

/// An error whose own text has been said already: shows its cause.
#[derive(Debug)]
struct Cause(webhook_core::Error);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.source() {
            Some(cause) => fmt::Display::fmt(cause, f),
            None => f.write_str("unknown cause"),
        }
    }
}

impl StdError for Cause {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source().and_then(StdError::source)
    }
}
