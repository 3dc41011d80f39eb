//! Inputs.

use async_trait::async_trait;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, DatabaseTransaction, EntityTrait, IntoActiveModel,
    QueryFilter, QuerySelect, QueryTrait, prelude::Uuid,
};
use webhook_core::{AccountId, BucketId, Error, InputId, model::Input, store::InputStore};

use super::{read_error, whole::expect_bucket};
use crate::{
    Storage,
    entity::{bucket, input},
    fault,
    secret::Vault,
};

/// The input in this bucket of the account.
fn place(account: AccountId, bucket: BucketId, id: InputId) -> Condition {
    let owned = bucket::Entity::find()
        .select_only()
        .column(bucket::Column::Id)
        .filter(bucket::Column::Id.eq(bucket.as_uuid()))
        .filter(bucket::Column::AccountId.eq(account.as_uuid()));
    Condition::all()
        .add(input::Column::Id.eq(id.as_uuid()))
        .add(input::Column::BucketId.in_subquery(owned.into_query()))
}

#[async_trait]
impl InputStore for Storage {
    async fn create_input(&self, account: AccountId, input: &Input) -> Result<(), Error> {
        let transaction = self.begin("input").await?;
        let created = create(&transaction, account.as_uuid(), input, self.vault()).await;
        self.database().finish(transaction, created, "input").await
    }

    async fn input(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: InputId,
    ) -> Result<Option<Input>, Error> {
        let find = input::Entity::find().filter(place(account, bucket, id));
        let row = find.one(&self.database().read).await.map_err(read_error)?;
        row.map(|row| row.open(self.vault())).transpose()
    }

    async fn update_input(&self, account: AccountId, input: &Input) -> Result<(), Error> {
        let row = input::Model::seal(input, self.vault())?.into_active_model().reset_all();
        let update = input::Entity::update_many().set(row);
        let update = update.filter(place(account, input.bucket_id, input.id));
        let updated = update.exec(&self.database().write).await;
        fault::met(updated.map(|it| it.rows_affected), "input")
    }

    async fn delete_input(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: InputId,
    ) -> Result<(), Error> {
        let delete = input::Entity::delete_many().filter(place(account, bucket, id));
        let deleted = delete.exec(&self.database().write).await;
        fault::met(deleted.map(|it| it.rows_affected), "input")
    }
}

async fn create(
    transaction: &DatabaseTransaction,
    account: Uuid,
    input: &Input,
    vault: &Vault,
) -> Result<(), Error> {
    expect_bucket(transaction, account, input.bucket_id.as_uuid()).await?;
    let row = input::Model::seal(input, vault)?.into_active_model();
    let insert = input::Entity::insert(row).exec_without_returning(transaction);
    insert.await.map(|_| ()).map_err(|error| fault::error(error, "input"))
}
