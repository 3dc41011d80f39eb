//! What a call can fail with.

use std::borrow::Cow;

use super::budget::BudgetExceeded;

/// Why a call failed; the text is Lua's own, without the position that Lua puts before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is not what the function takes.
    #[error("bad argument #{index} to '{function}' ({message})")]
    Argument {
        /// Which argument, from 1; a caller subtracts one for a method call.
        index: usize,
        /// The function's name in Lua, such as `format`.
        function: &'static str,
        /// What is wrong with it.
        message: Cow<'static, str>,
    },
    /// The call fails for another reason, such as a malformed pattern.
    #[error("{0}")]
    Message(Cow<'static, str>),
    /// A limit was reached.
    #[error(transparent)]
    Budget(#[from] BudgetExceeded),
}

impl Error {
    /// A bad argument.
    pub(super) fn argument(
        function: &'static str,
        index: usize,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Argument { index, function, message: message.into() }
    }

    /// Any other failure.
    pub(super) fn message(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Message(message.into())
    }
}
