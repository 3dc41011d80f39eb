//! A function that is only tried: it sends nothing, and what it keeps is thrown away.

use std::collections::HashMap;

use super::kv::{KvEntry, KvKey, KvValue, KvWrite, too_many_keys};
use crate::{clock::Timestamp, error::Error, lock::Lock};

/// The values that functions have kept since a trial began. It is shared by the runs of one
/// trial, which see what the runs before them have kept; the store is read and never written.
///
/// A [runtime](super::FunctionRuntime) asks it instead of the store when an
/// [`Invocation`](super::Invocation) has one, and refuses to send requests.
#[derive(Debug, Default)]
pub struct Trial {
    /// None for a key that was removed.
    kept: Lock<HashMap<KvKey, Option<KvEntry>>>,
}

impl Trial {
    /// The value that a run of this trial kept at a key. None where no run has changed the key,
    /// so that the value in the store counts.
    #[must_use]
    pub fn kept(&self, key: &KvKey, now: Timestamp) -> Option<Option<KvValue>> {
        let kept = self.kept.lock();
        let live = kept.get(key)?.as_ref().filter(|entry| entry.is_live(now));
        Some(live.map(|entry| entry.value.clone()))
    }

    /// Changes a key, whose value before is `value`, and returns its value afterwards, as
    /// [`FunctionStore::kv_write`](crate::store::FunctionStore::kv_write) does.
    ///
    /// # Errors
    ///
    /// As there; a trial has at most [`KvWrite::max_keys`] keys that it has changed.
    pub fn write(&self, value: Option<KvValue>, write: KvWrite) -> Result<Option<KvValue>, Error> {
        let KvWrite { key, change, now, max_keys } = write;
        let mut kept = self.kept.lock();
        if kept.len() >= max_keys && !kept.contains_key(&key) {
            return Err(too_many_keys(max_keys));
        }
        let former = kept.entry(key).or_insert_with(|| {
            // When it expires is not known, and a trial does not last.
            value.map(|value| KvEntry { value, expires_at: None })
        });
        *former = change.apply(former.clone(), now)?;
        Ok(former.as_ref().map(|entry| entry.value.clone()))
    }
}
