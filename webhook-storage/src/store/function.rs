//! What belongs to functions: their variables, keys and runs.

use async_trait::async_trait;
use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, Error, ExecutionId, FunctionId, Timestamp,
    function::record::RunRecord,
    model::{Execution, Variable},
    store::{ExecutionPage, FunctionStore, KvKey, KvValue, KvWrite, too_many_variables},
};

use crate::{
    Storage,
    entity::{Table, execution::Model, millis, variable},
    fault::{self, About},
    tx::{MAX_ROWS, Param, Read, Tx, over_set, with},
    writer::{Record, read_kv},
};

/// The function, if it is one of the account's; its identifier.
const OWNED: &str = "SELECT id FROM document WHERE kind = 'function' AND id = ? \
    AND account_id = ? AND deleted_at IS NULL";

#[async_trait]
impl FunctionStore for Storage {
    async fn variables(&self, account: AccountId, id: FunctionId) -> Result<Vec<Variable>, Error> {
        let tail = format!("WHERE function_id IN ({OWNED}) ORDER BY key");
        let values = [id.as_uuid().into(), account.as_uuid().into()];
        let rows = variable::Raw::select(&self.database().routes, &tail, values).await;
        rows?.into_iter().map(|row| row.open(self.vault())).collect()
    }

    async fn put_variable(
        &self,
        account: AccountId,
        variable: &Variable,
        bound: usize,
    ) -> Result<(), Error> {
        let transaction = self.begin("variable").await?;
        let put = self.put_in(&*transaction, account, variable, bound).await;
        self.database().finish(transaction, put, "variable").await
    }

    async fn delete_variable(
        &self,
        account: AccountId,
        id: FunctionId,
        key: &str,
    ) -> Result<(), Error> {
        let sql = format!("DELETE FROM variable WHERE key = ? AND function_id IN ({OWNED})");
        let query = with(sql, [key.into(), id.as_uuid().into(), account.as_uuid().into()]);
        let deleted = Tx::execute(&self.database().write, query).await;
        fault::met(deleted, "variable")
    }

    async fn kv_get(&self, key: &KvKey, now: Timestamp) -> Result<Option<KvValue>, Error> {
        read_kv(&self.database().read, key, now).await.map_err(Error::from)
    }

    async fn kv_write(&self, write: KvWrite) -> Result<Option<KvValue>, Error> {
        self.write(write).await
    }

    async fn purge_kv(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        let purge = "DELETE FROM function_key WHERE (function_id, key) IN (SELECT function_id, key \
            FROM function_key WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)";
        let purge = with(purge, [millis(now).into(), Param::count(limit)]);
        self.database().write.execute(purge).await.about("function")
    }

    async fn record_execution(&self, execution: &RunRecord, keep: usize) -> Result<(), Error> {
        self.write(Record::alone(execution, keep)?).await
    }

    async fn purge_executions(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        // The order of identifiers is that of the runs: what is old comes first,
        // and nothing behind the first that is not has to be read.
        let oldest = "SELECT id, created FROM execution ORDER BY id LIMIT ?";
        let oldest =
            Read::query(&self.database().read, with(oldest, [Param::count(limit)]), |row| {
                Ok((row.get::<Uuid>("id")?, row.get::<i64>("created")?))
            });
        let oldest = oldest.await?;
        let old = oldest.into_iter().filter(|(_, created)| *created < before.as_millis());
        let old: Vec<_> = old.map(|(id, _)| id).collect();
        let mut gone = 0;
        for some in old.chunks(MAX_ROWS) {
            let ids = some.iter().map(|id| Param::from(*id));
            let delete = over_set("DELETE FROM execution WHERE id IN ", [], ids, "");
            let deleted = self.database().write.execute(delete).await;
            gone += deleted.about("execution")?;
        }
        Ok(gone)
    }

    async fn execution(
        &self,
        account: AccountId,
        id: ExecutionId,
    ) -> Result<Option<Execution>, Error> {
        let (read, tail) = (&self.database().read, "WHERE id = ? AND account_id = ?");
        let values = [id.as_uuid().into(), account.as_uuid().into()];
        Model::select_one(read, tail, values).await?.map(Model::read).transpose()
    }

    async fn executions(
        &self,
        account: AccountId,
        function: FunctionId,
        limit: usize,
        offset: usize,
    ) -> Result<ExecutionPage, Error> {
        let place = || [function.as_uuid().into(), account.as_uuid().into()];
        let count = "SELECT COUNT(*) AS runs FROM execution \
            WHERE function_id = ? AND account_id = ?";
        let page = "WHERE function_id = ? AND account_id = ? ORDER BY id DESC LIMIT ? OFFSET ?";
        let page_values = place().into_iter().chain([Param::count(limit), Param::count(offset)]);

        let snapshot = self.snapshot().await?;
        let total = snapshot.query_one(with(count, place()), |row| row.get::<i64>("runs")).await;
        let rows = Model::select(&snapshot, page, page_values).await;
        snapshot.commit().await.about("database")?;
        let executions = rows?.into_iter().map(Model::read);
        let total = total?.unwrap_or_default();
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        Ok(ExecutionPage::new(executions.collect::<Result<_, _>>()?, total))
    }
}

impl Storage {
    /// Sets a variable of a function whose row is locked until the transaction ends, so that
    /// the number of variables is exact.
    async fn put_in(
        &self,
        tx: &impl Tx,
        account: AccountId,
        variable: &Variable,
        bound: usize,
    ) -> Result<(), Error> {
        let function = variable.function_id.as_uuid();
        let lock = format!("{OWNED}{}", tx.on_postgres(" FOR UPDATE"));
        let lock = with(lock, [function.into(), account.as_uuid().into()]);
        if !tx.has_rows(lock).await.about("variable")? {
            return Err(Error::not_found("function"));
        }
        // All but `created_at`.
        let put = "INSERT INTO variable (function_id, key, value_sealed, created_at, updated_at) \
            VALUES (?, ?, ?, ?, ?) ON CONFLICT (function_id, key) DO UPDATE SET \
            value_sealed = excluded.value_sealed, updated_at = excluded.updated_at";
        let put = with(put, variable::values(variable, self.vault())?);
        tx.execute(put).await.about("variable")?;
        let count = "SELECT COUNT(*) AS number FROM variable WHERE function_id = ?";
        let count = tx.query_one(with(count, [function.into()]), |row| row.get::<i64>("number"));
        let count = count.await.about("variable")?.unwrap_or_default();
        match usize::try_from(count).is_ok_and(|count| count <= bound) {
            true => Ok(()),
            false => Err(too_many_variables(bound)),
        }
    }
}
