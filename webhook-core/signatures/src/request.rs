//! What is verified, and when.

use http::HeaderMap;

/// A webhook as it arrived, before anything changed it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The HTTP method, in capitals.
    pub method: &'a str,
    /// The public URL as the sender called it, with its query: `https://…`.
    /// [`VerifierBuilder::url`](crate::VerifierBuilder::url), if set, is used instead.
    pub url: &'a str,
    /// The query without `?`, not decoded.
    pub raw_query: &'a str,
    /// All headers.
    pub headers: &'a HeaderMap,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// The time at which a request is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now {
    nanos: i128,
}

impl Now {
    /// This many nanoseconds after the start of 1970 (UTC).
    #[must_use]
    pub const fn from_unix_nanos(nanos: i128) -> Self {
        Self { nanos }
    }

    /// This many seconds after the start of 1970 (UTC).
    #[must_use]
    pub const fn from_unix_seconds(seconds: i64) -> Self {
        Self { nanos: seconds as i128 * 1_000_000_000 }
    }

    pub(crate) const fn unix_nanos(self) -> i128 {
        self.nanos
    }
}
