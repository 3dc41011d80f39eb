//! Places in the order of logs.

use std::{fmt, str::FromStr};

use crate::{
    clock::Timestamp,
    id::{DeliveryId, InvalidId},
    model::Log,
};

/// A place between two logs, in text `MILLISECONDS.ID`. It stays where it is
/// when logs come and go, the one it was made of included.
///
/// ```
/// use webhook_core::{DeliveryId, Timestamp, store::LogCursor};
///
/// let cursor = LogCursor { created_at: Timestamp::from_secs(1), id: DeliveryId::generate() };
/// assert_eq!(cursor.to_string().parse::<LogCursor>()?, cursor);
/// assert!("yesterday".parse::<LogCursor>().is_err());
/// # Ok::<(), webhook_core::store::InvalidCursor>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogCursor {
    /// When the log was stored.
    pub created_at: Timestamp,
    /// The log.
    pub id: DeliveryId,
}

/// Text that is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor: take next_cursor of the page before as it is")]
pub struct InvalidCursor;

impl LogCursor {
    /// The place of this log.
    #[must_use]
    pub const fn of(log: &Log) -> Self {
        Self { created_at: log.delivery.created_at, id: log.delivery.id }
    }
}

impl fmt::Display for LogCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.created_at.as_millis(), self.id)
    }
}

impl FromStr for LogCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (millis, id) = text.split_once('.').ok_or(InvalidCursor)?;
        let created_at = Timestamp::from_millis(millis.parse().map_err(|_| InvalidCursor)?);
        Ok(Self { created_at, id: id.parse().map_err(|InvalidId| InvalidCursor)? })
    }
}
