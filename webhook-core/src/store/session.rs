//! Browsers that are signed in.

use std::fmt;

use async_trait::async_trait;

use crate::{clock::Timestamp, error::Error, model::Session};

/// Keeps the sessions of browsers.
#[async_trait]
pub trait SessionStore: Send + Sync + fmt::Debug {
    /// Stores a new session. Removes sessions that ended before it began, and of its account the
    /// sessions above `bound` that were seen longest ago.
    async fn begin_session(&self, session: &Session, bound: usize) -> Result<(), Error>;

    /// The session with this hash, also one that has ended and is not removed yet.
    async fn session(&self, id_hash: &[u8; 32]) -> Result<Option<Session>, Error>;

    /// Writes when the browser last asked for a page. Without such a session nothing happens.
    async fn note_seen(&self, id_hash: &[u8; 32], at: Timestamp) -> Result<(), Error>;

    /// Removes a session. Without such a session nothing happens.
    async fn end_session(&self, id_hash: &[u8; 32]) -> Result<(), Error>;
}
