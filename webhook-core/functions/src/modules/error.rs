//! Why a module fails.

/// Why a function of a module has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ModuleError {
    /// The input is wrong; the message says how.
    #[error("{0}")]
    Invalid(String),
    /// The result, or what it is made of, would not fit into the call's memory.
    #[error("too many values")]
    TooLarge,
    /// The result would be longer than a text may be.
    #[error("the text is too long")]
    TooLong,
    /// The script's time was over before the result was there.
    #[error("out of time")]
    TooSlow,
}

impl ModuleError {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// The same, with the name of the module before its message.
    pub(crate) fn of(self, module: &str) -> Self {
        match self {
            Self::Invalid(message) => Self::Invalid(format!("{module}: {message}")),
            other => other,
        }
    }
}
