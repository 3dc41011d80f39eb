//! Inputs in memory: they are kept in their buckets.

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    error::Error,
    id::{AccountId, BucketId, InputId},
    model::{Bucket, Input},
    store::InputStore,
};

fn position(bucket: &Bucket, id: InputId) -> Option<usize> {
    bucket.inputs.iter().position(|input| input.id == id)
}

#[async_trait]
impl InputStore for MemoryStore {
    async fn create_input(&self, account: AccountId, input: &Input) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let taken = directory.of_input.contains_key(&input.id);
        let bucket = directory
            .bucket_mut(account, input.bucket_id)
            .ok_or_else(|| Error::not_found("bucket"))?;
        if taken {
            return Err(Error::conflict("an input with this id exists"));
        }
        let age = (input.created_at, input.id);
        let index = bucket.inputs.partition_point(|other| (other.created_at, other.id) < age);
        bucket.inputs.insert(index, input.clone());
        directory.of_input.insert(input.id, input.bucket_id);
        Ok(())
    }

    async fn input(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: InputId,
    ) -> Result<Option<Input>, Error> {
        let directory = self.directory();
        let bucket = directory.bucket(account, bucket);
        Ok(bucket.and_then(|bucket| bucket.inputs.get(position(bucket, id)?)).cloned())
    }

    async fn update_input(&self, account: AccountId, input: &Input) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let stored = directory
            .bucket_mut(account, input.bucket_id)
            .and_then(|bucket| {
                let index = position(bucket, input.id)?;
                bucket.inputs.get_mut(index)
            })
            .ok_or_else(|| Error::not_found("input"))?;
        *stored = input.clone();
        Ok(())
    }

    async fn delete_input(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: InputId,
    ) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let bucket =
            directory.bucket_mut(account, bucket).ok_or_else(|| Error::not_found("input"))?;
        let index = position(bucket, id).ok_or_else(|| Error::not_found("input"))?;
        bucket.inputs.remove(index);
        directory.of_input.remove(&id);
        Ok(())
    }
}
