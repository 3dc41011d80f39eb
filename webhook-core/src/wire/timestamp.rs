//! Moments.

use std::{ops::Add, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment: milliseconds since 1970-01-01T00:00:00Z.
///
/// On the wire a moment is an integer of unix *seconds*,
/// which is what `Serialize` and `Deserialize` speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    millis: i64,
}

impl Timestamp {
    /// The moment this many milliseconds after 1970.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self { millis }
    }

    /// The moment this many seconds after 1970.
    #[must_use]
    pub const fn from_secs(secs: i64) -> Self {
        Self { millis: secs.saturating_mul(1000) }
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.millis
    }

    /// Whole seconds since 1970.
    #[must_use]
    pub const fn as_secs(self) -> i64 {
        self.millis.div_euclid(1000)
    }

    /// How long after `earlier` this is; zero when it is before.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.millis.saturating_sub(earlier.millis).max(0).unsigned_abs())
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self { millis: self.millis.saturating_add(millis) }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.as_secs())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self::from_secs)
    }
}
