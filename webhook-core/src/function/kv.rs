//! What functions keep between their calls: values by keys.

use bytes::Bytes;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, FunctionId},
};

/// The greatest number that a value can be, and its negation the least: what every
/// language of functions counts to without rounding, 2^53 − 1.
pub const KV_MAX_NUMBER: i64 = 9_007_199_254_740_991;

/// A key of a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KvKey {
    /// Whose function.
    pub account_id: AccountId,
    /// Which function: each has keys of its own.
    pub function_id: FunctionId,
    /// The key.
    pub key: String,
}

/// A value. What reads as a number is one, however it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KvValue {
    /// Any bytes but the decimal text of a whole number.
    Bytes(Bytes),
    /// A whole number of at most [`KV_MAX_NUMBER`], which can be counted on.
    Number(i64),
}

impl KvValue {
    /// The value that these bytes are.
    ///
    /// ```
    /// use webhook_core::store::KvValue;
    ///
    /// assert_eq!(KvValue::of("41".into()), KvValue::Number(41));
    /// assert_eq!(KvValue::of("041".into()), KvValue::Bytes("041".into()));
    /// ```
    #[must_use]
    pub fn of(bytes: Bytes) -> Self {
        let number = str::from_utf8(&bytes).ok().and_then(|text| text.parse::<i64>().ok());
        match number.filter(|number| is_counted(*number)) {
            Some(number) if number.to_string().as_bytes() == bytes => Self::Number(number),
            _ => Self::Bytes(bytes),
        }
    }

    /// The value as it was set.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(number) => number.to_string().into(),
        }
    }
}

fn is_counted(number: i64) -> bool {
    number.unsigned_abs() <= KV_MAX_NUMBER.unsigned_abs()
}

/// A value and when it is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvEntry {
    /// The value.
    pub value: KvValue,
    /// From when on it is not there any more; none when it stays.
    pub expires_at: Option<Timestamp>,
}

impl KvEntry {
    /// Whether it is still there.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expires_at| expires_at > now)
    }
}

/// A change of one key.
#[derive(Clone, Debug)]
pub struct KvWrite {
    /// The key.
    pub key: KvKey,
    /// What changes.
    pub change: KvChange,
    /// The current moment, against which expiry is judged.
    pub now: Timestamp,
    /// How many keys the function may have. With so many of them a new one is a
    /// [`Conflict`](crate::ErrorKind::Conflict).
    pub max_keys: usize,
}

/// What becomes of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KvChange {
    /// It has this value from now on.
    Set(KvEntry),
    /// Its number grows by so much; one that is not there was 0 and expires then.
    /// What is not a number, and what would be too large a one, is a
    /// [`Conflict`](crate::ErrorKind::Conflict).
    Increment {
        /// By how much; negative to count down.
        by: i64,
        /// When a key that is new is forgotten.
        expires_at: Option<Timestamp>,
    },
    /// It is not there any more.
    Remove,
}

impl KvChange {
    /// What stands for the key after the change, when `current` stood for it.
    ///
    /// # Errors
    /// As the changes say.
    pub fn apply(
        &self,
        current: Option<KvEntry>,
        now: Timestamp,
    ) -> Result<Option<KvEntry>, Error> {
        let (by, expires_at) = match self {
            Self::Set(entry) => return Ok(Some(entry.clone())),
            Self::Remove => return Ok(None),
            Self::Increment { by, expires_at } => (*by, *expires_at),
        };
        let (number, expires_at) = match current.filter(|entry| entry.is_live(now)) {
            None => (0, expires_at),
            Some(KvEntry { value: KvValue::Number(number), expires_at }) => (number, expires_at),
            Some(_) => return Err(Error::conflict("the value of the key is not a whole number")),
        };
        let number = number.checked_add(by).filter(|number| is_counted(*number));
        let number = number.ok_or_else(|| Error::conflict("the number is beyond 2^53 - 1"))?;
        Ok(Some(KvEntry { value: KvValue::Number(number), expires_at }))
    }
}

/// What is said of a key for which there is no room.
#[must_use]
pub fn too_many_keys(max_keys: usize) -> Error {
    Error::conflict(format!("the function has {max_keys} keys already"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_canonical_numbers_are_numbers() {
        for text in ["0", "-1", "9007199254740991", "-9007199254740991"] {
            let number = text.parse().expect("a number");
            assert_eq!(KvValue::of(text.into()), KvValue::Number(number));
        }
        for text in ["", "+1", "01", "-0", "1.0", " 1", "9007199254740992", "ten"] {
            assert_eq!(KvValue::of(text.into()), KvValue::Bytes(text.into()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn values_are_read_as_they_were_set(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let bytes = Bytes::from(bytes);
            prop_assert_eq!(KvValue::of(bytes.clone()).into_bytes(), bytes);
        }
    }
}
