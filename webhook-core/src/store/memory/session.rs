//! Browsers that are signed in, in memory.

use std::{cmp::Reverse, collections::HashMap};

use async_trait::async_trait;

use super::MemoryStore;
use crate::{clock::Timestamp, error::Error, model::Session, store::SessionStore};

/// The sessions, by the hashes of their identifiers.
pub(super) type Sessions = HashMap<[u8; 32], Session>;

#[async_trait]
impl SessionStore for MemoryStore {
    async fn begin_session(&self, session: &Session, bound: usize) -> Result<(), Error> {
        let mut sessions = self.sessions.lock();
        sessions.retain(|_, other| other.is_valid(session.created_at));
        sessions.insert(session.id_hash, session.clone());
        let of_account = sessions.values().filter(|it| it.account_id == session.account_id);
        let mut seen: Vec<_> = of_account.map(|it| (Reverse(it.seen_at), it.id_hash)).collect();
        seen.sort_unstable();
        for (_, id_hash) in seen.iter().skip(bound) {
            sessions.remove(id_hash);
        }
        Ok(())
    }

    async fn session(&self, id_hash: &[u8; 32]) -> Result<Option<Session>, Error> {
        Ok(self.sessions.lock().get(id_hash).cloned())
    }

    async fn note_seen(&self, id_hash: &[u8; 32], at: Timestamp) -> Result<(), Error> {
        if let Some(session) = self.sessions.lock().get_mut(id_hash) {
            session.seen_at = at;
        }
        Ok(())
    }

    async fn end_session(&self, id_hash: &[u8; 32]) -> Result<(), Error> {
        self.sessions.lock().remove(id_hash);
        Ok(())
    }
}
