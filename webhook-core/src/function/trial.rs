//! A function that is only tried: it sends nothing, and what it keeps is thrown away.

use std::collections::HashMap;

use crate::{
    clock::Timestamp,
    error::Error,
    lock::Lock,
    store::{FunctionStore, KvEntry, KvKey, KvValue, KvWrite, too_many_keys},
};

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
    /// The value of a key, as [`FunctionStore::kv_get`] answers it.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn kv_get(
        &self,
        store: &dyn FunctionStore,
        key: &KvKey,
        now: Timestamp,
    ) -> Result<Option<KvValue>, Error> {
        if let Some(kept) = self.kept.lock().get(key) {
            let live = kept.as_ref().filter(|entry| entry.is_live(now));
            return Ok(live.map(|entry| entry.value.clone()));
        }
        store.kv_get(key, now).await
    }

    /// Changes a key and returns its value afterwards, as [`FunctionStore::kv_write`] does.
    ///
    /// # Errors
    ///
    /// As there; a trial has at most [`KvWrite::max_keys`] keys that it has changed.
    pub async fn kv_write(
        &self,
        store: &dyn FunctionStore,
        write: KvWrite,
    ) -> Result<Option<KvValue>, Error> {
        let KvWrite { key, change, now, max_keys } = write;
        let stored = self.kv_get(store, &key, now).await?;
        let mut kept = self.kept.lock();
        if kept.len() >= max_keys && !kept.contains_key(&key) {
            return Err(too_many_keys(max_keys));
        }
        let former = kept.entry(key).or_insert_with(|| {
            // When it expires is not known, and a trial does not last.
            stored.map(|value| KvEntry { value, expires_at: None })
        });
        *former = change.apply(former.clone(), now)?;
        Ok(former.as_ref().map(|entry| entry.value.clone()))
    }
}
