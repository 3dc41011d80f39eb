//! Why the program ends with an error.

use std::{error::Error as StdError, fmt};

use crate::config::ConfigError;

/// What the operator is told on standard error, causes included.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    cause: Option<Box<dyn StdError + Send + Sync>>,
    code: u8,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), cause: None, code: 1 }
    }

    /// The same, and the program ends with another code than 1.
    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// The code that the program ends with.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }

    pub(crate) fn caused_by(
        what: impl Into<String>,
        cause: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self { cause: Some(cause.into()), ..Self::new(what) }
    }

    pub(crate) fn io(what: impl Into<String>, error: std::io::Error) -> Self {
        Self::caused_by(what, error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = self.cause.as_deref().map(|cause| cause as &dyn StdError);
        f.write_str(&with_causes(&self.what, cause))
    }
}

/// A message and what caused it, in one line. Many libraries repeat a cause in their own
/// message: what was just said is not said again.
pub(crate) fn with_causes(what: &str, mut cause: Option<&dyn StdError>) -> String {
    let mut line = what.to_owned();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.ends_with(&text) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&text);
        }
        cause = error.source();
    }
    line
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
            Some(_) => Self::caused_by(what, Cause(error)),
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

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct Layer {
        message: String,
        #[source]
        cause: io::Error,
    }

    #[test]
    fn the_number_of_an_error_is_said_once() {
        let refused = || io::Error::from_raw_os_error(111);
        let once = "cannot read x: Connection refused (os error 111)";
        let io = Failure::io("cannot read x", refused());
        assert_eq!(io.to_string(), once);
        let message = format!("talking failed: {}", refused());
        let layer = Layer { message, cause: refused() };
        let of_library = Failure::caused_by("cannot read x", layer);
        let text = "cannot read x: talking failed: Connection refused (os error 111)";
        assert_eq!(of_library.to_string(), text);
        let of_store = webhook_core::Error::invalid("key", format!("cannot read x: {}", refused()))
            .caused_by(refused());
        assert_eq!(Failure::from(of_store).to_string(), format!("key: {once}"));
    }
}
