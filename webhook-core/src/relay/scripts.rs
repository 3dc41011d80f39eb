//! The cache of functions: source and variables, without asking the store.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use quick_cache::{Weighter, sync::Cache};

use super::{RelayOptions, routes::Source};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, FunctionId},
    model::{Driver, Function, Variable},
};

/// A function as the data path sees it: an immutable snapshot, replaced whole
/// when the function or one of its variables changes.
pub(super) struct Script {
    account_id: AccountId,
    pub(super) driver: Driver,
    pub(super) source: Arc<str>,
    /// Compiled code is found by its text: the same source is the same revision.
    pub(super) revision: u64,
    pub(super) config: Arc<BTreeMap<String, String>>,
    bytes: u64,
    loaded_at: Timestamp,
}

/// Variables are secret: they are left out.
impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("revision", &self.revision).finish_non_exhaustive()
    }
}

impl Script {
    fn new(function: Function, variables: Vec<Variable>, loaded_at: Timestamp) -> Self {
        let mut hasher = DefaultHasher::new();
        function.spec.payload.hash(&mut hasher);
        let config: BTreeMap<_, _> = variables
            .into_iter()
            .map(|variable| (variable.key, variable.value.expose().to_owned()))
            .collect();
        let variables: usize = config.iter().map(|(key, value)| key.len() + value.len()).sum();
        let overhead = 512 + 128 * config.len();
        let bytes = function.spec.payload.len() + variables + overhead;
        Self {
            account_id: function.account_id,
            driver: function.spec.driver,
            revision: hasher.finish(),
            source: Arc::from(function.spec.payload),
            config: Arc::new(config),
            bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
            loaded_at,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Bytes;

impl Weighter<FunctionId, Arc<Script>> for Bytes {
    fn weight(&self, _: &FunctionId, script: &Arc<Script>) -> u64 {
        script.bytes
    }
}

/// Functions that have run, `cached_function_bytes` of them.
#[derive(Debug)]
pub(super) struct Scripts {
    by_id: Cache<FunctionId, Arc<Script>, Bytes>,
    /// Counts changes, so that a snapshot that was read before a change is not
    /// put into the cache after it.
    changes: AtomicU64,
}

impl Scripts {
    pub(super) fn new(options: &RelayOptions) -> Self {
        let bytes = u64::try_from(options.cached_function_bytes).unwrap_or(u64::MAX);
        // Most scripts have some kilobytes.
        let expected = options.cached_function_bytes / 4096;
        Self { by_id: Cache::with_weighter(expected, bytes, Bytes), changes: AtomicU64::new(0) }
    }

    /// The account's function; none when it has no such function.
    pub(super) async fn get(
        &self,
        account: AccountId,
        id: FunctionId,
        source: &Source<'_>,
    ) -> Result<Option<Arc<Script>>, Error> {
        if let Some(script) = self.by_id.get(&id)
            && source.is_fresh(script.loaded_at)
        {
            return Ok(Some(script).filter(|script| script.account_id == account));
        }
        let seen = self.changes.load(Ordering::Acquire);
        let functions = &source.stores.functions;
        let Some(function) = functions.function(account, id).await? else { return Ok(None) };
        let variables = functions.variables(account, id).await?;
        let script = Arc::new(Script::new(function, variables, source.clock.now()));
        self.by_id.insert(id, Arc::clone(&script));
        // A change may have come between the read and the insertion.
        if self.changes.load(Ordering::Acquire) != seen {
            self.by_id.remove(&id);
        }
        Ok(Some(script))
    }

    /// Forgets a function, which has changed.
    pub(super) fn forget(&self, id: FunctionId) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.by_id.remove(&id);
    }
}
