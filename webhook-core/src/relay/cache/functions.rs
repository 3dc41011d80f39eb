//! Functions with their source and variables.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use super::{MaxAge, Snapshots, sample::Sample};
use crate::{
    error::Error,
    id::{AccountId, FunctionId},
    model::{Driver, Function, FunctionSpec, Variable},
    store::{DocumentStore, FunctionStore, Stores},
};

/// A function as it is run.
pub(crate) struct Script {
    account_id: AccountId,
    pub(crate) driver: Driver,
    pub(crate) source: Arc<str>,
    /// Compiled code is found by its text: the same source is the same revision.
    pub(crate) revision: u64,
    pub(crate) config: Arc<BTreeMap<String, String>>,
    /// Decides which runs of the function have a record.
    pub(crate) sample: Sample,
    bytes: u64,
}

/// Variables are secret: they are left out.
impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("revision", &self.revision).finish_non_exhaustive()
    }
}

impl Script {
    fn new(function: Function, variables: Vec<Variable>) -> Self {
        let variables = variables.into_iter();
        let config = variables.map(|it| (it.key, it.value.expose().to_owned())).collect();
        let Function { account_id, spec: FunctionSpec { driver, payload, .. }, .. } = function;
        Self::of_source(account_id, driver, payload, Arc::new(config))
    }

    pub(crate) fn of_source(
        account_id: AccountId,
        driver: Driver,
        source: String,
        config: Arc<BTreeMap<String, String>>,
    ) -> Self {
        let mut hasher = DefaultHasher::new();
        source.hash(&mut hasher);
        let variables: usize = config.iter().map(|(key, value)| key.len() + value.len()).sum();
        let overhead = 512 + 128 * config.len();
        let bytes = source.len() + variables + overhead;
        Self {
            account_id,
            driver,
            revision: hasher.finish(),
            source: Arc::from(source),
            config,
            sample: Sample::default(),
            bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
        }
    }
}

/// Functions that have run, without asking the store.
#[derive(Debug)]
pub(crate) struct FunctionCache {
    by_id: Snapshots<FunctionId, Arc<Script>>,
    documents: Arc<dyn DocumentStore>,
    store: Arc<dyn FunctionStore>,
}

impl FunctionCache {
    /// Keeps functions of at most `bytes` together.
    pub(crate) fn new(bytes: usize, max_age: MaxAge, stores: &Stores) -> Self {
        // Most scripts have some kilobytes.
        let expected = bytes / 4096;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Self {
            by_id: Snapshots::weighed(expected, bytes, |script| script.bytes, max_age),
            documents: stores.documents.clone(),
            store: stores.functions.clone(),
        }
    }

    /// The account's function; none when it has no such function.
    pub(crate) async fn get(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Option<Arc<Script>>, Error> {
        let read = || async {
            let function = self.documents.get::<Function>(account, id.as_uuid()).await?;
            let Some(function) = function else { return Ok(None) };
            let variables = self.store.variables(account, id).await?;
            Ok(Some(Arc::new(Script::new(function, variables))))
        };
        let script = self.by_id.get(&id, read, |_| vec![id]).await?;
        Ok(script.filter(|script| script.account_id == account))
    }

    /// Forgets a function that has changed.
    pub(crate) fn changed(&self, id: FunctionId) {
        self.by_id.changed([&id]);
    }
}
