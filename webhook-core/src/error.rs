//! The error of the library, and how it says what is wrong with a request.

use std::fmt::Display;

pub(crate) use crate::wire::{Error, ErrorKind};

/// Refuses a request as [`Invalid`](ErrorKind::Invalid), with its field and the reason, when
/// `is_invalid`. The reason is written out only then.
pub(crate) fn invalid_if(is_invalid: bool, field: &str, reason: impl Display) -> Result<(), Error> {
    match is_invalid {
        true => Err(Error::invalid(field, reason)),
        false => Ok(()),
    }
}
