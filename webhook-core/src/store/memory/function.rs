//! Functions, their variables and their runs in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;

use super::{MemoryStore, versions::Versions};
use crate::{
    clock::Timestamp,
    error::Error,
    function::record::RunRecord,
    id::{AccountId, ExecutionId, FunctionId},
    model::{Driver, Execution, Function, FunctionVersion, Variable},
    store::{
        ExecutionPage, FunctionStore, KvEntry, KvKey, KvValue, KvWrite, NewExecution, too_many_keys,
    },
};

#[derive(Default)]
pub(super) struct Functions {
    rows: HashMap<FunctionId, Stored>,
    owners: HashMap<AccountId, BTreeSet<FunctionId>>,
    /// Which function a run is kept with.
    of_execution: HashMap<ExecutionId, FunctionId>,
}

/// A function with what goes when it is removed.
struct Stored {
    function: Function,
    versions: Versions<(Driver, String)>,
    variables: BTreeMap<String, Variable>,
    keys: HashMap<String, KvEntry>,
    /// In the order of identifiers, which is that of the runs. As they are shown: a record
    /// would keep the memory in which its webhook came.
    executions: BTreeMap<ExecutionId, Execution>,
}

impl Stored {
    /// The newest first.
    fn versions(&self) -> Vec<FunctionVersion> {
        let listed = self.versions.newest_first().map(|version| {
            let (driver, payload) = &*version.content;
            FunctionVersion::new(version.number, version.since, *driver, payload)
        });
        let mut listed: Vec<_> = listed.collect();
        match listed.first_mut() {
            Some(newest) => newest.current = true,
            None => listed.push(FunctionVersion::current(1, self.function.created, &self.function)),
        }
        listed
    }
}

impl Functions {
    fn get(&self, account: AccountId, id: FunctionId) -> Option<&Stored> {
        self.rows.get(&id).filter(|stored| stored.function.account_id == account)
    }

    fn get_mut(&mut self, account: AccountId, id: FunctionId) -> Result<&mut Stored, Error> {
        self.rows
            .get_mut(&id)
            .filter(|stored| stored.function.account_id == account)
            .ok_or_else(|| Error::not_found("function"))
    }

    fn record(&mut self, execution: Execution, keep: usize) -> Result<(), Error> {
        let (id, function_id) = (execution.id, execution.function_id);
        if self.of_execution.contains_key(&id) {
            return Err(Error::conflict("a run with this id exists"));
        }
        let stored = self.get_mut(execution.account_id, function_id)?;
        stored.executions.insert(id, execution);
        let mut dropped = Vec::new();
        while stored.executions.len() > keep {
            dropped.extend(stored.executions.pop_first().map(|(id, _)| id));
        }
        self.of_execution.insert(id, function_id);
        for id in dropped {
            self.of_execution.remove(&id);
        }
        Ok(())
    }
}

fn source(function: &Function) -> (Driver, String) {
    (function.spec.driver, function.spec.payload.clone())
}

impl MemoryStore {
    /// Makes a change of the queue, and records the runs behind it if it was `made`: whoever
    /// reads finds both or neither.
    pub(super) fn with_runs<T>(
        &self,
        runs: Vec<NewExecution>,
        change: impl FnOnce() -> Result<T, Error>,
        made: impl FnOnce(&T) -> bool,
    ) -> Result<T, Error> {
        if runs.is_empty() {
            return change();
        }
        let runs = runs.into_iter().map(|run| (run.execution.execution(), run.keep));
        let runs: Vec<_> = runs.collect();
        let mut functions = self.functions.lock();
        let changed = change()?;
        if made(&changed) {
            for (execution, keep) in runs {
                // One of a function that is gone, or that is recorded already.
                let _ = functions.record(execution, keep);
            }
        }
        Ok(changed)
    }
}

#[async_trait]
impl FunctionStore for MemoryStore {
    async fn create_function(&self, function: &Function) -> Result<(), Error> {
        let mut functions = self.functions.lock();
        if functions.rows.contains_key(&function.id) {
            return Err(Error::conflict("a function with this id exists"));
        }
        functions.owners.entry(function.account_id).or_default().insert(function.id);
        let stored = Stored {
            function: function.clone(),
            versions: Versions::default(),
            variables: BTreeMap::new(),
            keys: HashMap::new(),
            executions: BTreeMap::new(),
        };
        functions.rows.insert(function.id, stored);
        Ok(())
    }

    async fn function(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Option<Function>, Error> {
        Ok(self.functions.lock().get(account, id).map(|stored| stored.function.clone()))
    }

    async fn functions(&self, account: AccountId) -> Result<Vec<Function>, Error> {
        let functions = self.functions.lock();
        let ids = functions.owners.get(&account).into_iter().flatten();
        let rows = ids.filter_map(|id| functions.rows.get(id));
        Ok(rows.map(|stored| stored.function.clone()).collect())
    }

    async fn update_function(&self, function: &Function) -> Result<(), Error> {
        let mut functions = self.functions.lock();
        let stored = functions.get_mut(function.account_id, function.id)?;
        let before = (stored.function.created, source(&stored.function));
        stored.versions.change(before, function.updated, source(function));
        stored.function = function.clone();
        Ok(())
    }

    async fn function_versions(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Vec<FunctionVersion>, Error> {
        Ok(self.functions.lock().get(account, id).map(Stored::versions).unwrap_or_default())
    }

    async fn function_version(
        &self,
        account: AccountId,
        id: FunctionId,
        version: u32,
    ) -> Result<Option<FunctionVersion>, Error> {
        let functions = self.functions.lock();
        let Some(stored) = functions.get(account, id) else { return Ok(None) };
        let found = stored.versions().into_iter().find(|listed| listed.version == version);
        let Some(found) = found else { return Ok(None) };
        let kept = stored.versions.newest_first().find(|kept| kept.number == version);
        let payload = kept.map_or(&stored.function.spec.payload, |kept| &kept.content.1);
        Ok(Some(found.with_payload(payload.clone())))
    }

    async fn delete_function(&self, account: AccountId, id: FunctionId) -> Result<(), Error> {
        let mut functions = self.functions.lock();
        if functions.get(account, id).is_none() {
            return Err(Error::not_found("function"));
        }
        if let Some(stored) = functions.rows.remove(&id) {
            for execution in stored.executions.keys() {
                functions.of_execution.remove(execution);
            }
        }
        if let Some(owned) = functions.owners.get_mut(&account) {
            owned.remove(&id);
            if owned.is_empty() {
                functions.owners.remove(&account);
            }
        }
        Ok(())
    }

    async fn variables(&self, account: AccountId, id: FunctionId) -> Result<Vec<Variable>, Error> {
        let functions = self.functions.lock();
        let stored = functions.get(account, id);
        Ok(stored.into_iter().flat_map(|stored| stored.variables.values()).cloned().collect())
    }

    async fn put_variable(&self, account: AccountId, variable: &Variable) -> Result<(), Error> {
        let mut functions = self.functions.lock();
        let variables = &mut functions.get_mut(account, variable.function_id)?.variables;
        let mut variable = variable.clone();
        if let Some(former) = variables.get(&variable.key) {
            variable.created_at = former.created_at;
        }
        variables.insert(variable.key.clone(), variable);
        Ok(())
    }

    async fn delete_variable(
        &self,
        account: AccountId,
        id: FunctionId,
        key: &str,
    ) -> Result<(), Error> {
        let mut functions = self.functions.lock();
        let removed = functions.get_mut(account, id)?.variables.remove(key);
        removed.map(drop).ok_or_else(|| Error::not_found("variable"))
    }

    async fn kv_get(&self, key: &KvKey, now: Timestamp) -> Result<Option<KvValue>, Error> {
        let functions = self.functions.lock();
        let stored = functions.get(key.account_id, key.function_id);
        let entry = stored.and_then(|stored| stored.keys.get(&key.key));
        Ok(entry.filter(|entry| entry.is_live(now)).map(|entry| entry.value.clone()))
    }

    async fn kv_write(&self, write: KvWrite) -> Result<Option<KvValue>, Error> {
        let KvWrite { key, change, now, max_keys } = write;
        let mut functions = self.functions.lock();
        let keys = &mut functions.get_mut(key.account_id, key.function_id)?.keys;
        let Some(entry) = change.apply(keys.get(&key.key).cloned(), now)? else {
            keys.remove(&key.key);
            return Ok(None);
        };
        if !keys.contains_key(&key.key) && keys.len() >= max_keys {
            keys.retain(|_, entry| entry.is_live(now));
            if keys.len() >= max_keys {
                return Err(too_many_keys(max_keys));
            }
        }
        keys.insert(key.key, entry.clone());
        Ok(Some(entry.value))
    }

    async fn purge_kv(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut gone = 0;
        for stored in self.functions.lock().rows.values_mut() {
            stored.keys.retain(|_, entry| {
                let stays = entry.is_live(now) || gone >= limit;
                gone += usize::from(!stays);
                stays
            });
        }
        Ok(gone as u64)
    }

    async fn record_execution(&self, execution: &RunRecord, keep: usize) -> Result<(), Error> {
        let execution = execution.execution();
        self.functions.lock().record(execution, keep)
    }

    async fn purge_executions(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut functions = self.functions.lock();
        let Functions { rows, of_execution, .. } = &mut *functions;
        // The order of identifiers is that of the runs.
        let mut old: Vec<_> = of_execution.iter().map(|(id, function)| (*id, *function)).collect();
        old.sort_unstable();
        let mut gone = 0;
        for (id, function) in old.into_iter().take(limit) {
            let Some(stored) = rows.get_mut(&function) else { continue };
            if stored.executions.get(&id).is_some_and(|execution| execution.created < before) {
                stored.executions.remove(&id);
                of_execution.remove(&id);
                gone += 1;
            }
        }
        Ok(gone)
    }

    async fn execution(
        &self,
        account: AccountId,
        id: ExecutionId,
    ) -> Result<Option<Execution>, Error> {
        let functions = self.functions.lock();
        let function = functions.of_execution.get(&id);
        let stored = function.and_then(|function| functions.get(account, *function));
        Ok(stored.and_then(|stored| stored.executions.get(&id)).cloned())
    }

    async fn executions(
        &self,
        account: AccountId,
        function: FunctionId,
        limit: usize,
        offset: usize,
    ) -> Result<ExecutionPage, Error> {
        let functions = self.functions.lock();
        let Some(Stored { executions, .. }) = functions.get(account, function) else {
            return Ok(ExecutionPage { executions: Vec::new(), total: 0 });
        };
        let page = executions.values().rev().skip(offset).take(limit);
        Ok(ExecutionPage { executions: page.cloned().collect(), total: executions.len() })
    }
}
