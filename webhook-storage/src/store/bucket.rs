//! Buckets.

use async_trait::async_trait;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, DatabaseTransaction, EntityTrait, IntoActiveModel,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, prelude::Uuid,
};
use webhook_core::{
    AccountId, BucketId, Error, InputId,
    model::Bucket,
    store::{BucketCounts, BucketRetention, BucketStore},
};

use super::{read_error, stop::stop_deliveries, whole::expect_bucket};
use crate::{
    Storage,
    entity::{bucket, input, output},
    fault,
};

fn of_account(account: AccountId) -> Condition {
    Condition::all().add(bucket::Column::AccountId.eq(account.as_uuid()))
}

#[async_trait]
impl BucketStore for Storage {
    async fn create_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        let transaction = self.begin("bucket").await?;
        let created = self.insert_whole(&transaction, bucket).await;
        self.database().finish(transaction, created, "bucket").await
    }

    async fn bucket(&self, account: AccountId, id: BucketId) -> Result<Option<Bucket>, Error> {
        self.whole_bucket(of_account(account).add(bucket::Column::Id.eq(id.as_uuid()))).await
    }

    async fn bucket_by_name(
        &self,
        account: AccountId,
        name: &str,
    ) -> Result<Option<Bucket>, Error> {
        self.whole_bucket(of_account(account).add(bucket::Column::Name.eq(name))).await
    }

    async fn bucket_owner(&self, id: BucketId) -> Result<Option<AccountId>, Error> {
        let find = bucket::Entity::find_by_id(id.as_uuid());
        let find = find.select_only().column(bucket::Column::AccountId).into_tuple::<Uuid>();
        let owner = find.one(&self.database().read).await.map_err(read_error)?;
        Ok(owner.map(AccountId::from_uuid))
    }

    async fn buckets(&self, account: AccountId) -> Result<Vec<Bucket>, Error> {
        self.whole_buckets(of_account(account)).await
    }

    async fn bucket_counts(&self, account: AccountId) -> Result<BucketCounts, Error> {
        let ids = bucket::Entity::find().select_only().column(bucket::Column::Id);
        let ids = ids.filter(of_account(account)).into_query();
        let in_inputs = input::Column::BucketId.in_subquery(ids.clone());
        let in_outputs = output::Column::BucketId.in_subquery(ids);
        let read = &self.database().read;
        let buckets = bucket::Entity::find().filter(of_account(account)).count(read);
        let inputs = input::Entity::find().filter(in_inputs).count(read);
        let outputs = output::Entity::find().filter(in_outputs).count(read);
        let mut counts = BucketCounts::default();
        counts.buckets = buckets.await.map_err(read_error)?;
        counts.inputs = inputs.await.map_err(read_error)?;
        counts.outputs = outputs.await.map_err(read_error)?;
        Ok(counts)
    }

    async fn retentions(
        &self,
        after: Option<BucketId>,
        limit: usize,
    ) -> Result<Vec<BucketRetention>, Error> {
        use bucket::Column::{AccountId as Account, Id, RetentionFailed, RetentionLogs};
        type Said = (Uuid, Uuid, Option<i64>, Option<i64>);
        let find = bucket::Entity::find().select_only();
        let find = find.columns([Id, Account, RetentionLogs, RetentionFailed]);
        let mut find = find.filter(RetentionLogs.is_not_null()).order_by_asc(Id);
        if let Some(after) = after {
            find = find.filter(Id.gt(after.as_uuid()));
        }
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        let find = find.limit(limit).into_tuple::<Said>();
        let said = find.all(&self.database().read).await.map_err(read_error)?;
        let found = said.into_iter().filter_map(|(id, account, logs, failed)| {
            Some(BucketRetention {
                account_id: AccountId::from_uuid(account),
                bucket_id: BucketId::from_uuid(id),
                retention: *bucket::retention(logs, failed).set()?,
            })
        });
        Ok(found.collect())
    }

    async fn update_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        let row = bucket::Model::seal(bucket, self.vault())?.into_active_model().reset_all();
        let update = bucket::Entity::update_many().set(row);
        let update = update.filter(bucket::Column::Id.eq(bucket.id.as_uuid()));
        let update = update.filter(of_account(bucket.account_id));
        let updated = update.exec(&self.database().write).await;
        fault::met(updated.map(|it| it.rows_affected), "bucket")
    }

    async fn delete_bucket(
        &self,
        account: AccountId,
        id: BucketId,
        spare: Option<InputId>,
        force: bool,
    ) -> Result<(), Error> {
        let transaction = self.begin("bucket").await?;
        let deleted = delete(&transaction, account, id, spare, force).await;
        self.database().finish(transaction, deleted, "bucket").await
    }
}

impl Storage {
    pub(super) async fn insert_whole(
        &self,
        transaction: &DatabaseTransaction,
        bucket: &Bucket,
    ) -> Result<(), Error> {
        let row = bucket::Model::seal(bucket, self.vault())?.into_active_model();
        let insert = bucket::Entity::insert(row).exec_without_returning(transaction);
        insert.await.map_err(|error| fault::error(error, "bucket"))?;
        for input in &bucket.inputs {
            let row = input::Model::seal(input, self.vault())?.into_active_model();
            let insert = input::Entity::insert(row).exec_without_returning(transaction);
            insert.await.map_err(|error| fault::error(error, "input"))?;
        }
        for output in &bucket.outputs {
            let row = output::Model::seal(output, self.vault())?.into_active_model();
            let insert = output::Entity::insert(row).exec_without_returning(transaction);
            insert.await.map_err(|error| fault::error(error, "output"))?;
        }
        Ok(())
    }
}

/// Removes the bucket with its inputs, its outputs and its cron.
pub(super) async fn delete(
    transaction: &DatabaseTransaction,
    account: AccountId,
    id: BucketId,
    spare: Option<InputId>,
    force: bool,
) -> Result<(), Error> {
    let id = id.as_uuid();
    expect_bucket(transaction, account.as_uuid(), id).await?;
    let outputs = output::Entity::find().filter(output::Column::BucketId.eq(id));
    let outputs = outputs.select_only().column(output::Column::Id).into_tuple::<Uuid>();
    let outputs = outputs.all(transaction).await.map_err(read_error)?;
    if !force {
        let mut inputs = input::Entity::find().filter(input::Column::BucketId.eq(id));
        if let Some(spare) = spare {
            inputs = inputs.filter(input::Column::Id.ne(spare.as_uuid()));
        }
        let inputs = inputs.count(transaction).await.map_err(read_error)?;
        if inputs > 0 || !outputs.is_empty() {
            return Err(Error::conflict("the bucket has inputs or outputs"));
        }
    }
    stop_deliveries(transaction, account.as_uuid(), id, outputs).await?;
    // Its inputs and outputs go with it.
    let deleted = bucket::Entity::delete_by_id(id).exec(transaction).await;
    deleted.map(|_| ()).map_err(|error| fault::error(error, "bucket"))
}
