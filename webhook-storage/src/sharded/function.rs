//! Functions: they, their variables and what they remember are in the control database. Runs
//! on the way of a webhook are in its shard, where a row without source stands for the
//! function; other runs are in the control database.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use webhook_core::{
    AccountId, Error, ErrorKind, ExecutionId, FunctionId, Timestamp,
    function::record::RunRecord,
    model::{Execution, Function, FunctionVersion, Variable},
    store::{ExecutionPage, FunctionStore, KvKey, KvValue, KvWrite, NewExecution},
};

use super::{KEPT_IN_MIND, ShardedStorage, delivery::first, locked, registry, shard::Shard};

#[async_trait]
impl FunctionStore for ShardedStorage {
    async fn create_function(&self, function: &Function) -> Result<(), Error> {
        self.control().create_function(function).await
    }

    async fn function(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Option<Function>, Error> {
        self.control().function(account, id).await
    }

    async fn functions(&self, account: AccountId) -> Result<Vec<Function>, Error> {
        self.control().functions(account).await
    }

    async fn update_function(&self, function: &Function) -> Result<(), Error> {
        self.control().update_function(function).await
    }

    async fn function_versions(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Vec<FunctionVersion>, Error> {
        self.control().function_versions(account, id).await
    }

    async fn function_version(
        &self,
        account: AccountId,
        id: FunctionId,
        version: u32,
    ) -> Result<Option<FunctionVersion>, Error> {
        self.control().function_version(account, id, version).await
    }

    /// Its runs in a shard that does not answer go later.
    async fn delete_function(&self, account: AccountId, id: FunctionId) -> Result<(), Error> {
        self.control().delete_function(account, id).await?;
        locked(&self.shared.functions).remove(&id);
        let shards = self.shared.slots.all().await;
        let others = shards.iter().filter(|shard| shard.number != registry::CONTROL);
        let gone = others.map(|it| it.ask(it.storage.forget_function(id.as_uuid())));
        for error in join_all(gone).await.into_iter().filter_map(Result::err) {
            tracing::warn!(function = %id, %error, "its runs there go later");
        }
        Ok(())
    }

    async fn variables(&self, account: AccountId, id: FunctionId) -> Result<Vec<Variable>, Error> {
        self.control().variables(account, id).await
    }

    async fn put_variable(&self, account: AccountId, variable: &Variable) -> Result<(), Error> {
        self.control().put_variable(account, variable).await
    }

    async fn delete_variable(
        &self,
        account: AccountId,
        id: FunctionId,
        key: &str,
    ) -> Result<(), Error> {
        self.control().delete_variable(account, id, key).await
    }

    async fn kv_get(&self, key: &KvKey, now: Timestamp) -> Result<Option<KvValue>, Error> {
        self.control().kv_get(key, now).await
    }

    async fn kv_write(&self, write: KvWrite) -> Result<Option<KvValue>, Error> {
        self.control().kv_write(write).await
    }

    async fn purge_kv(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        self.control().purge_kv(now, limit).await
    }

    async fn record_execution(&self, execution: &RunRecord, keep: usize) -> Result<(), Error> {
        self.keeps_runs(execution.function_id, keep);
        self.control().record_execution(execution, keep).await
    }

    async fn purge_executions(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut gone = 0;
        for shard in self.with_runs().await {
            let left = limit.saturating_sub(usize::try_from(gone).unwrap_or(usize::MAX));
            if left == 0 {
                break;
            }
            match shard.ask(shard.storage.purge_executions(before, left)).await {
                Ok(more) => gone += more,
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    tracing::warn!(shard = shard.number, %error, "old runs there go later");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(gone)
    }

    async fn execution(
        &self,
        account: AccountId,
        id: ExecutionId,
    ) -> Result<Option<Execution>, Error> {
        let shards = self.with_runs().await;
        let found = shards.iter().map(|it| it.ask(it.storage.execution(account, id)));
        first(join_all(found).await)
    }

    /// The newest of all shards, each of which keeps so many as are kept.
    async fn executions(
        &self,
        account: AccountId,
        function: FunctionId,
        limit: usize,
        offset: usize,
    ) -> Result<ExecutionPage, Error> {
        let shards = self.with_runs().await;
        let some = limit.saturating_add(offset);
        let pages =
            shards.iter().map(|it| it.ask(it.storage.executions(account, function, some, 0)));
        let (mut runs, mut total) = (Vec::new(), 0_usize);
        for page in join_all(pages).await {
            let ExecutionPage { executions, total: more, .. } = page?;
            runs.extend(executions);
            total = total.saturating_add(more);
        }
        runs.sort_unstable_by_key(|run| std::cmp::Reverse(run.id));
        let kept = locked(&self.shared.functions).get(&function).and_then(|known| known.runs);
        if let Some(kept) = kept {
            total = total.min(kept);
            runs.truncate(kept);
        }
        let runs = runs.into_iter().skip(offset).take(limit).collect();
        Ok(ExecutionPage::new(runs, total))
    }
}

impl ShardedStorage {
    /// The shards, and the control database.
    async fn with_runs(&self) -> Vec<Arc<Shard>> {
        let mut shards = self.shared.slots.all().await;
        if shards.iter().all(|shard| shard.number != registry::CONTROL) {
            let control = self.shared.opened.iter().find(|it| it.number == registry::CONTROL);
            shards.extend(control.cloned());
        }
        shards
    }

    fn keeps_runs(&self, function: FunctionId, keep: usize) {
        let mut functions = locked(&self.shared.functions);
        if functions.len() >= KEPT_IN_MIND {
            functions.clear();
        }
        functions.entry(function).or_default().runs = Some(keep);
    }

    /// Makes sure that something stands for the functions of these runs in a shard that is
    /// about to keep them, unless they are gone.
    pub(super) async fn stand_for(
        &self,
        shard: &Arc<Shard>,
        runs: &[NewExecution],
    ) -> Result<(), Error> {
        for run in runs {
            let id = run.execution.function_id;
            self.keeps_runs(id, run.keep);
            let is_known = locked(&self.shared.functions)
                .get(&id)
                .is_some_and(|known| known.in_shards.contains(&shard.number));
            if shard.number == registry::CONTROL || is_known {
                continue;
            }
            let Some(mut function) = self.control().function(run.execution.account_id, id).await?
            else {
                continue;
            };
            (function.spec.payload, function.payload_size) = (String::new(), 0);
            match shard.ask(shard.storage.create_function(&function)).await {
                Err(error) if error.kind() != ErrorKind::Conflict => return Err(error),
                _ => {}
            }
            locked(&self.shared.functions).entry(id).or_default().in_shards.push(shard.number);
        }
        Ok(())
    }
}
