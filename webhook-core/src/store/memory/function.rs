//! What belongs to functions, in memory.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    function::record::RunRecord,
    id::{AccountId, ExecutionId, FunctionId, WebhookId},
    model::{Execution, Variable},
    store::{
        ExecutionPage, FunctionStore, KvEntry, KvKey, KvValue, KvWrite, NewExecution,
        too_many_keys, too_many_variables,
    },
};

#[derive(Default)]
pub(super) struct Functions {
    rows: HashMap<FunctionId, Stored>,
    /// Where each run is kept.
    of_execution: HashMap<ExecutionId, Place>,
}

/// Which function a run is kept with, and the webhook that it led to.
#[derive(Clone, Copy)]
struct Place {
    function: FunctionId,
    webhook: Option<WebhookId>,
}

/// Removes the rows that belong to a removed function.
struct Stored {
    account_id: AccountId,
    variables: BTreeMap<String, Variable>,
    keys: HashMap<String, KvEntry>,
    /// In the order of identifiers, which is that of the runs. As they are shown: a record
    /// would keep the memory in which its webhook came.
    executions: BTreeMap<ExecutionId, Execution>,
}

impl Functions {
    /// Makes room for what belongs to a new function.
    pub(super) fn insert(&mut self, account_id: AccountId, id: FunctionId) {
        let stored = Stored {
            account_id,
            variables: BTreeMap::new(),
            keys: HashMap::new(),
            executions: BTreeMap::new(),
        };
        self.rows.insert(id, stored);
    }

    /// Removes what belongs to a function that is gone.
    pub(super) fn remove(&mut self, id: FunctionId) {
        let executions = self.rows.remove(&id).map(|stored| stored.executions);
        for execution in executions.unwrap_or_default().keys() {
            self.of_execution.remove(execution);
        }
    }

    fn get(&self, account: AccountId, id: FunctionId) -> Option<&Stored> {
        self.rows.get(&id).filter(|stored| stored.account_id == account)
    }

    fn get_mut(&mut self, account: AccountId, id: FunctionId) -> Result<&mut Stored, Error> {
        self.rows
            .get_mut(&id)
            .filter(|stored| stored.account_id == account)
            .ok_or_else(|| Error::not_found("function"))
    }

    /// Removes the runs on a webhook that is erased.
    pub(super) fn forget_runs_on(&mut self, webhook: WebhookId) {
        let rows = &mut self.rows;
        self.of_execution.retain(|id, place| {
            let stays = place.webhook != Some(webhook);
            if !stays && let Some(stored) = rows.get_mut(&place.function) {
                stored.executions.remove(id);
            }
            stays
        });
    }

    fn record(
        &mut self,
        execution: Execution,
        webhook: Option<WebhookId>,
        keep: usize,
    ) -> Result<(), Error> {
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
        self.of_execution.insert(id, Place { function: function_id, webhook });
        for id in dropped {
            self.of_execution.remove(&id);
        }
        Ok(())
    }
}

impl MemoryStore {
    /// Makes a change of the queue, and records the runs behind it if it was `made`: whoever
    /// reads finds both or neither. They are runs on this webhook.
    pub(super) fn with_runs<T>(
        &self,
        webhook: WebhookId,
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
                let _ = functions.record(execution, Some(webhook), keep);
            }
        }
        Ok(changed)
    }
}

#[async_trait]
impl FunctionStore for MemoryStore {
    async fn variables(&self, account: AccountId, id: FunctionId) -> Result<Vec<Variable>, Error> {
        let functions = self.functions.lock();
        let stored = functions.get(account, id);
        Ok(stored.into_iter().flat_map(|stored| stored.variables.values()).cloned().collect())
    }

    async fn put_variable(
        &self,
        account: AccountId,
        variable: &Variable,
        bound: usize,
    ) -> Result<(), Error> {
        let mut functions = self.functions.lock();
        let variables = &mut functions.get_mut(account, variable.function_id)?.variables;
        let mut variable = variable.clone();
        match variables.get(&variable.key) {
            Some(former) => variable.created_at = former.created_at,
            None if variables.len() >= bound => return Err(too_many_variables(bound)),
            None => {}
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
        self.functions.lock().record(execution, None, keep)
    }

    async fn purge_executions(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut functions = self.functions.lock();
        let Functions { rows, of_execution, .. } = &mut *functions;
        // The order of identifiers is that of the runs.
        let mut old: Vec<_> =
            of_execution.iter().map(|(id, place)| (*id, place.function)).collect();
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
        let place = functions.of_execution.get(&id);
        let stored = place.and_then(|place| functions.get(account, place.function));
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
