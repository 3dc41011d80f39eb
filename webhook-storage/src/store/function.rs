//! Functions, their variables and their runs.

use async_trait::async_trait;
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, sea_query::OnConflict,
};
use webhook_core::{
    AccountId, Error, ExecutionId, FunctionId, Timestamp,
    function::record::RunRecord,
    model::{Execution, Function, FunctionVersion, Variable},
    store::{ExecutionPage, FunctionStore, KvKey, KvValue, KvWrite},
};

use super::{
    function_version::{list, replace, with_source},
    read_error,
};
use crate::{
    Storage,
    entity::{execution, function, millis, variable},
    fault,
    tx::{Tx, with},
    writer::{Record, read_kv},
};

pub(super) fn place(account: AccountId, id: FunctionId) -> Condition {
    Condition::all()
        .add(function::Column::Id.eq(id.as_uuid()))
        .add(function::Column::AccountId.eq(account.as_uuid()))
}

/// The function's ID, if it is one of the account's.
fn owned(account: AccountId, id: FunctionId) -> Select<function::Entity> {
    let find = function::Entity::find().filter(place(account, id));
    find.select_only().column(function::Column::Id)
}

#[async_trait]
impl FunctionStore for Storage {
    async fn create_function(&self, function: &Function) -> Result<(), Error> {
        let row = function::Model::of(function)?.into_active_model();
        let insert = function::Entity::insert(row);
        let inserted = insert.exec_without_returning(&self.database().write).await;
        inserted.map(|_| ()).map_err(|error| fault::error(error, "function"))
    }

    async fn function(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Option<Function>, Error> {
        let find = function::Entity::find().filter(place(account, id));
        let row = find.one(&self.database().routes).await.map_err(read_error)?;
        row.map(function::Model::read).transpose()
    }

    async fn functions(&self, account: AccountId) -> Result<Vec<Function>, Error> {
        let find = function::Entity::find()
            .filter(function::Column::AccountId.eq(account.as_uuid()))
            .order_by_asc(function::Column::Id);
        let rows = find.all(&self.database().read).await.map_err(read_error)?;
        rows.into_iter().map(function::Model::read).collect()
    }

    async fn update_function(&self, function: &Function) -> Result<(), Error> {
        let transaction = self.begin("function").await?;
        let updated = replace(&transaction, function).await;
        self.database().finish(transaction, updated, "function").await
    }

    async fn function_versions(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Vec<FunctionVersion>, Error> {
        let snapshot = self.snapshot().await?;
        let versions = list(&snapshot, account, id).await;
        snapshot.commit().await.map_err(read_error)?;
        Ok(versions?.map(|(_, versions)| versions).unwrap_or_default())
    }

    async fn function_version(
        &self,
        account: AccountId,
        id: FunctionId,
        version: u32,
    ) -> Result<Option<FunctionVersion>, Error> {
        let snapshot = self.snapshot().await?;
        let found = with_source(&snapshot, account, id, version).await;
        snapshot.commit().await.map_err(read_error)?;
        found
    }

    async fn delete_function(&self, account: AccountId, id: FunctionId) -> Result<(), Error> {
        // Its variables and runs go with it.
        let delete = function::Entity::delete_many().filter(place(account, id));
        let deleted = delete.exec(&self.database().write).await;
        fault::met(deleted.map(|it| it.rows_affected), "function")
    }

    async fn variables(&self, account: AccountId, id: FunctionId) -> Result<Vec<Variable>, Error> {
        let find = variable::Entity::find()
            .filter(variable::Column::FunctionId.in_subquery(owned(account, id).into_query()))
            .order_by_asc(variable::Column::Key);
        let rows = find.all(&self.database().routes).await.map_err(read_error)?;
        rows.into_iter().map(|row| row.open(self.vault())).collect()
    }

    async fn put_variable(&self, account: AccountId, variable: &Variable) -> Result<(), Error> {
        let transaction = self.begin("variable").await?;
        let put = self.upsert_variable(&transaction, account, variable).await;
        self.database().finish(transaction, put, "variable").await
    }

    async fn delete_variable(
        &self,
        account: AccountId,
        id: FunctionId,
        key: &str,
    ) -> Result<(), Error> {
        let delete = variable::Entity::delete_many()
            .filter(variable::Column::FunctionId.in_subquery(owned(account, id).into_query()))
            .filter(variable::Column::Key.eq(key));
        let deleted = delete.exec(&self.database().write).await;
        fault::met(deleted.map(|it| it.rows_affected), "variable")
    }

    async fn kv_get(&self, key: &KvKey, now: Timestamp) -> Result<Option<KvValue>, Error> {
        read_kv(&self.database().read, key, now).await.map_err(read_error)
    }

    async fn kv_write(&self, write: KvWrite) -> Result<Option<KvValue>, Error> {
        self.write(write).await
    }

    async fn purge_kv(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        let purge = "DELETE FROM function_key WHERE (function_id, key) IN (SELECT function_id, key \
            FROM function_key WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let purge = with(purge, [millis(now).into(), limit.into()]);
        let gone = self.database().write.execute(purge).await;
        gone.map_err(|error| fault::error(error, "function"))
    }

    async fn record_execution(&self, execution: &RunRecord, keep: usize) -> Result<(), Error> {
        let execution = execution::Model::of(execution)?;
        self.write(Record { execution, keep }).await
    }

    async fn purge_executions(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        // The order of identifiers is that of the runs: what is old comes first,
        // and nothing behind the first that is not has to be read.
        let oldest = execution::Entity::find()
            .select_only()
            .columns([execution::Column::Id, execution::Column::Created])
            .order_by_asc(execution::Column::Id)
            .limit(u64::try_from(limit).unwrap_or(u64::MAX).min(i64::MAX as u64))
            .into_tuple::<(sea_orm::prelude::Uuid, i64)>();
        let oldest = oldest.all(&self.database().read).await.map_err(read_error)?;
        let old = oldest.into_iter().filter(|(_, created)| *created < before.as_millis());
        let old: Vec<_> = old.map(|(id, _)| id).collect();
        let mut gone = 0;
        // Databases have bounds on the parameters of a statement.
        for some in old.chunks(500) {
            let delete = execution::Entity::delete_many();
            let delete = delete.filter(execution::Column::Id.is_in(some.iter().copied()));
            let deleted = delete.exec(&self.database().write).await;
            gone += deleted.map_err(|error| fault::error(error, "execution"))?.rows_affected;
        }
        Ok(gone)
    }

    async fn execution(
        &self,
        account: AccountId,
        id: ExecutionId,
    ) -> Result<Option<Execution>, Error> {
        let find = execution::Entity::find_by_id(id.as_uuid())
            .filter(execution::Column::AccountId.eq(account.as_uuid()));
        let row = find.one(&self.database().read).await.map_err(read_error)?;
        row.map(execution::Model::read).transpose()
    }

    async fn executions(
        &self,
        account: AccountId,
        function: FunctionId,
        limit: usize,
        offset: usize,
    ) -> Result<ExecutionPage, Error> {
        let of_function = execution::Entity::find()
            .filter(execution::Column::FunctionId.eq(function.as_uuid()))
            .filter(execution::Column::AccountId.eq(account.as_uuid()));
        let bounded =
            |number: usize| u64::try_from(number).unwrap_or(u64::MAX).min(i64::MAX as u64);
        let page = of_function
            .clone()
            .order_by_desc(execution::Column::Id)
            .limit(bounded(limit))
            .offset(bounded(offset));

        let snapshot = self.snapshot().await?;
        let total = of_function.count(&snapshot).await;
        let rows = page.all(&snapshot).await;
        snapshot.commit().await.map_err(read_error)?;
        let executions = rows.map_err(read_error)?.into_iter().map(execution::Model::read);
        let total = usize::try_from(total.map_err(read_error)?).unwrap_or(usize::MAX);
        Ok(ExecutionPage::new(executions.collect::<Result<_, _>>()?, total))
    }
}

impl Storage {
    async fn upsert_variable(
        &self,
        transaction: &DatabaseTransaction,
        account: AccountId,
        variable: &Variable,
    ) -> Result<(), Error> {
        let find = owned(account, variable.function_id).into_tuple::<sea_orm::prelude::Uuid>();
        if find.one(transaction).await.map_err(read_error)?.is_none() {
            return Err(Error::not_found("function"));
        }
        let row = variable::Model::seal(variable, self.vault())?.into_active_model();
        // All but `created_at`.
        let replace = OnConflict::columns([variable::Column::FunctionId, variable::Column::Key])
            .update_columns([variable::Column::ValueSealed, variable::Column::UpdatedAt])
            .to_owned();
        let put = variable::Entity::insert(row).on_conflict(replace);
        // A function that was deleted meanwhile is a missing reference.
        let put = put.exec_without_returning(transaction).await;
        put.map(|_| ()).map_err(|error| fault::error(error, "function"))
    }
}
