//! Outputs.

use async_trait::async_trait;
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter,
    QuerySelect, QueryTrait,
};
use webhook_core::{
    AccountId, BucketId, Error, OutputId, Timestamp,
    model::Output,
    store::{OutputStore, RulesVersion},
};

use super::{read_error, stop::stop_deliveries, whole::expect_bucket};
use crate::{
    Storage,
    entity::{bucket, output},
    fault,
};

/// The output in this bucket of the account.
pub(super) fn place(account: AccountId, bucket: BucketId, id: OutputId) -> Condition {
    let owned = bucket::Entity::find()
        .select_only()
        .column(bucket::Column::Id)
        .filter(bucket::Column::Id.eq(bucket.as_uuid()))
        .filter(bucket::Column::AccountId.eq(account.as_uuid()));
    Condition::all()
        .add(output::Column::Id.eq(id.as_uuid()))
        .add(output::Column::BucketId.in_subquery(owned.into_query()))
}

#[async_trait]
impl OutputStore for Storage {
    async fn create_output(&self, account: AccountId, output: &Output) -> Result<(), Error> {
        let transaction = self.begin("output").await?;
        let created = self.insert_output(&transaction, account, output).await;
        self.database().finish(transaction, created, "output").await
    }

    async fn output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<Option<Output>, Error> {
        let find = output::Entity::find().filter(place(account, bucket, id));
        let row = find.one(&self.database().read).await.map_err(read_error)?;
        row.map(|row| row.open(self.vault())).transpose()
    }

    async fn update_output(&self, account: AccountId, output: &Output) -> Result<(), Error> {
        let transaction = self.begin("output").await?;
        let updated = self.replace_output(&transaction, account, output).await;
        self.database().finish(transaction, updated, "output").await
    }

    async fn rules_at(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
        at: Timestamp,
    ) -> Result<Option<RulesVersion>, Error> {
        let snapshot = self.snapshot().await?;
        let rules = self.rules_of(&snapshot, account, bucket, id, at).await;
        snapshot.commit().await.map_err(read_error)?;
        rules
    }

    async fn delete_output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<(), Error> {
        let transaction = self.begin("output").await?;
        let deleted = delete(&transaction, account, bucket, id).await;
        self.database().finish(transaction, deleted, "output").await
    }
}

impl Storage {
    async fn insert_output(
        &self,
        transaction: &DatabaseTransaction,
        account: AccountId,
        output: &Output,
    ) -> Result<(), Error> {
        expect_bucket(transaction, account.as_uuid(), output.bucket_id.as_uuid()).await?;
        let row = output::Model::seal(output, self.vault())?.into_active_model();
        let insert = output::Entity::insert(row).exec_without_returning(transaction);
        insert.await.map(|_| ()).map_err(|error| fault::error(error, "output"))
    }
}

async fn delete(
    transaction: &DatabaseTransaction,
    account: AccountId,
    bucket: BucketId,
    id: OutputId,
) -> Result<(), Error> {
    let delete = output::Entity::delete_many().filter(place(account, bucket, id));
    let deleted = delete.exec(transaction).await;
    fault::met(deleted.map(|it| it.rows_affected), "output")?;
    stop_deliveries(transaction, account.as_uuid(), bucket.as_uuid(), vec![id.as_uuid()]).await
}
