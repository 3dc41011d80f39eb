//! Why a module fails, and what its results may weigh.

/// Why a function of a module has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ModuleError {
    /// The input is wrong; the message says how.
    #[error("{0}")]
    Invalid(String),
    /// The result would hold more values than the call's memory.
    #[error("too many values")]
    TooLarge,
}

impl ModuleError {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}

/// What a decoded value may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    values: usize,
}

/// What a value in a tree weighs at most, its text not counted.
const VALUE_BYTES: usize = 128;

/// Levels of lists and objects inside one another.
pub(crate) const MAX_DEPTH: usize = 100;

impl Bounds {
    /// As many values as fit into so many bytes.
    pub(crate) const fn of_memory(bytes: usize) -> Self {
        Self { values: bytes / VALUE_BYTES }
    }

    /// How many values are left.
    pub(crate) const fn values(self) -> usize {
        self.values
    }

    /// Takes one value.
    pub(crate) fn take(&mut self) -> Result<(), ModuleError> {
        self.values = self.values.checked_sub(1).ok_or(ModuleError::TooLarge)?;
        Ok(())
    }
}
