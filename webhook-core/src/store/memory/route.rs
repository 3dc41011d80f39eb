//! The buckets of inputs and outputs in memory.

use std::sync::Arc;

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    error::Error,
    id::{InputId, OutputId},
    model::Bucket,
    store::RouteStore,
};

#[async_trait]
impl RouteStore for MemoryStore {
    async fn bucket_of_input(&self, id: InputId) -> Result<Option<Bucket>, Error> {
        let bucket = {
            let directory = self.directory();
            directory.of_input.get(&id).and_then(|id| directory.any_bucket(*id)).cloned()
        };
        Ok(bucket.map(Arc::unwrap_or_clone))
    }

    async fn bucket_of_output(&self, id: OutputId) -> Result<Option<Bucket>, Error> {
        let bucket = {
            let directory = self.directory();
            directory.of_output.get(&id).and_then(|id| directory.any_bucket(*id)).cloned()
        };
        Ok(bucket.map(Arc::unwrap_or_clone))
    }
}
