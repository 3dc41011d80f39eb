//! Buckets with their inputs and outputs.

use std::collections::HashMap;

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait, prelude::Uuid,
};
use webhook_core::{Error, model::Bucket};

use super::read_error;
use crate::{
    Storage,
    entity::{bucket, input, output},
};

impl Storage {
    /// The one bucket that `condition` finds.
    pub(super) async fn whole_bucket(&self, condition: Condition) -> Result<Option<Bucket>, Error> {
        Ok(self.whole_buckets(condition).await?.pop())
    }

    /// The buckets that `condition` finds, in ID order, all as they were at
    /// one moment.
    pub(super) async fn whole_buckets(&self, condition: Condition) -> Result<Vec<Bucket>, Error> {
        self.whole_in(self.snapshot().await?, condition).await
    }

    /// The one bucket that `condition` finds, for a webhook that waits.
    pub(super) async fn routed_bucket(
        &self,
        condition: Condition,
    ) -> Result<Option<Bucket>, Error> {
        let database = self.database();
        let snapshot = database.snapshot_on(&database.routes).await.map_err(read_error)?;
        Ok(self.whole_in(snapshot, condition).await?.pop())
    }

    async fn whole_in(
        &self,
        snapshot: DatabaseTransaction,
        condition: Condition,
    ) -> Result<Vec<Bucket>, Error> {
        let buckets = self.read_whole(&snapshot, condition).await;
        // Nothing was written: this only ends the snapshot.
        snapshot.commit().await.map_err(read_error)?;
        buckets
    }

    async fn read_whole(
        &self,
        snapshot: &DatabaseTransaction,
        condition: Condition,
    ) -> Result<Vec<Bucket>, Error> {
        let rows = bucket::Entity::find().filter(condition.clone());
        let rows = rows.order_by_asc(bucket::Column::Id).all(snapshot).await.map_err(read_error)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids = bucket::Entity::find().select_only().column(bucket::Column::Id);
        let ids = ids.filter(condition).into_query();

        let inputs = input::Entity::find()
            .order_by_asc(input::Column::CreatedAt)
            .order_by_asc(input::Column::Id);
        let inputs = inputs.filter(input::Column::BucketId.in_subquery(ids.clone()));
        let inputs = inputs.all(snapshot).await.map_err(read_error)?;
        let outputs = output::Entity::find().order_by_asc(output::Column::Id);
        let outputs = outputs.filter(output::Column::BucketId.in_subquery(ids));
        let outputs = outputs.all(snapshot).await.map_err(read_error)?;

        let places: HashMap<Uuid, usize> = rows.iter().map(|row| row.id).zip(0..).collect();
        let open = |row: bucket::Model| row.open(self.vault());
        let mut buckets = rows.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        for row in inputs {
            let place = places.get(&row.bucket_id);
            if let Some(bucket) = place.and_then(|place| buckets.get_mut(*place)) {
                bucket.inputs.push(row.open(self.vault())?);
            }
        }
        for row in outputs {
            let place = places.get(&row.bucket_id);
            if let Some(bucket) = place.and_then(|place| buckets.get_mut(*place)) {
                bucket.outputs.push(row.open(self.vault())?);
            }
        }
        Ok(buckets)
    }
}

/// Fails unless the account has the bucket, which stays until the transaction ends.
pub(super) async fn expect_bucket(
    transaction: &DatabaseTransaction,
    account: Uuid,
    id: Uuid,
) -> Result<(), Error> {
    let find = bucket::Entity::find_by_id(id).filter(bucket::Column::AccountId.eq(account));
    let find = find.select_only().column(bucket::Column::Id);
    let find = match transaction.get_database_backend() {
        // SQLite has one writer, which is this transaction.
        sea_orm::DbBackend::Sqlite => find,
        _ => find.lock(sea_orm::sea_query::LockType::Update),
    };
    let found = find.into_tuple::<Uuid>().one(transaction).await.map_err(read_error)?;
    found.map(|_| ()).ok_or_else(|| Error::not_found("bucket"))
}
