//! The buckets of inputs and outputs.

use async_trait::async_trait;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QuerySelect, QueryTrait};
use webhook_core::{Error, InputId, OutputId, model::Bucket, store::RouteStore};

use crate::{
    Storage,
    entity::{bucket, input, output},
};

#[async_trait]
impl RouteStore for Storage {
    async fn bucket_of_input(&self, id: InputId) -> Result<Option<Bucket>, Error> {
        let bucket = input::Entity::find_by_id(id.as_uuid())
            .select_only()
            .column(input::Column::BucketId)
            .into_query();
        self.routed_bucket(Condition::all().add(bucket::Column::Id.in_subquery(bucket))).await
    }

    async fn bucket_of_output(&self, id: OutputId) -> Result<Option<Bucket>, Error> {
        let bucket = output::Entity::find_by_id(id.as_uuid())
            .select_only()
            .column(output::Column::BucketId)
            .into_query();
        self.routed_bucket(Condition::all().add(bucket::Column::Id.in_subquery(bucket))).await
    }
}
