//! Browsers that are signed in.

use std::time::Duration;

use crate::{clock::Timestamp, id::AccountId};

/// A browser that is signed in to the pages of an account.
///
/// The browser alone has the secret identifier of the session; a store has its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// The SHA-256 of the secret identifier.
    pub id_hash: [u8; 32],
    /// The account that the pages show.
    pub account_id: AccountId,
    /// The credential that the browser signed in with, for people: `API key`, or `token` and the
    /// token's ID.
    pub credential: String,
    /// When the browser signed in.
    pub created_at: Timestamp,
    /// When the browser last asked for a page, up to [`NOTED_AFTER`](Self::NOTED_AFTER) earlier.
    pub seen_at: Timestamp,
    /// When the session ends at the latest.
    pub ends_at: Timestamp,
    /// The address that the browser signed in from; empty when it is unknown.
    pub address: String,
    /// The name that the browser gave itself (`User-Agent`), the first
    /// [`MAX_AGENT_CHARS`](Self::MAX_AGENT_CHARS) characters of it.
    pub agent: String,
}

impl Session {
    /// A session ends when the browser asks for no page for this long.
    pub const IDLE: Duration = Duration::from_secs(12 * 60 * 60);
    /// A session ends this long after its beginning in any case.
    pub const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);
    /// How old the noted time of the last page may be.
    pub const NOTED_AFTER: Duration = Duration::from_secs(5 * 60);
    /// The sessions that an account has at most. One more ends the session that was unused for
    /// longest.
    pub const MAX_PER_ACCOUNT: usize = 1_000;
    /// The characters that are kept of a browser's name for itself.
    pub const MAX_AGENT_CHARS: usize = 200;

    /// A session that begins now, of an unknown browser.
    #[must_use]
    pub fn new(id_hash: [u8; 32], account_id: AccountId, now: Timestamp) -> Self {
        Self {
            id_hash,
            account_id,
            credential: String::new(),
            created_at: now,
            seen_at: now,
            ends_at: now + Self::LONGEST,
            address: String::new(),
            agent: String::new(),
        }
    }

    /// Whether the session has not ended.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        now < self.ends_at && now.since(self.seen_at) < Self::IDLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_when_it_is_unused_and_after_a_week() {
        let (start, hour) = (Timestamp::from_secs(1_700_000_000), Duration::from_secs(60 * 60));
        let mut session = Session::new([1; 32], AccountId::generate(), start);
        assert!(session.is_valid(start + hour * 11) && !session.is_valid(start + hour * 12));
        for passed in (11..7 * 24).step_by(11) {
            let now = start + hour * passed;
            assert!(session.is_valid(now), "after {passed} hours");
            session.seen_at = now;
        }
        assert!(!session.is_valid(start + hour * 7 * 24));
    }
}
