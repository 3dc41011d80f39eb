//! Outputs in memory: they are kept in their buckets.

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, OutputId},
    model::{Bucket, Output},
    store::{OutputStore, RulesVersion},
};

fn position(bucket: &Bucket, id: OutputId) -> Result<usize, usize> {
    bucket.outputs.binary_search_by_key(&id, |output| output.id)
}

fn refuse_taken_name(bucket: &Bucket, output: &Output) -> Result<(), Error> {
    let name = &output.spec.name;
    let taken = |other: &Output| other.id != output.id && other.spec.name == *name;
    if !name.is_empty() && bucket.outputs.iter().any(taken) {
        return Err(Error::conflict(format!("name: output {name:?} exists")));
    }
    Ok(())
}

#[async_trait]
impl OutputStore for MemoryStore {
    async fn create_output(&self, account: AccountId, output: &Output) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let taken = directory.of_output.contains_key(&output.id);
        let bucket = directory
            .bucket_mut(account, output.bucket_id)
            .ok_or_else(|| Error::not_found("bucket"))?;
        refuse_taken_name(bucket, output)?;
        match position(bucket, output.id) {
            Err(index) if !taken => bucket.outputs.insert(index, output.clone()),
            _ => return Err(Error::conflict("an output with this id exists")),
        }
        directory.of_output.insert(output.id, output.bucket_id);
        Ok(())
    }

    async fn output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<Option<Output>, Error> {
        let directory = self.directory();
        let bucket = directory.bucket(account, bucket);
        Ok(bucket.and_then(|bucket| bucket.outputs.get(position(bucket, id).ok()?)).cloned())
    }

    async fn update_output(&self, account: AccountId, output: &Output) -> Result<(), Error> {
        let not_found = || Error::not_found("output");
        let mut directory = self.directory_mut();
        let bucket = directory.bucket(account, output.bucket_id).ok_or_else(not_found)?;
        let index = position(bucket, output.id).map_err(|_| not_found())?;
        refuse_taken_name(bucket, output)?;
        let bucket = directory.bucket_mut(account, output.bucket_id).ok_or_else(not_found)?;
        let stored = bucket.outputs.get_mut(index).ok_or_else(not_found)?;
        let before = std::mem::replace(stored, output.clone());
        if before.spec.rules != output.spec.rules {
            let versions = directory.rules.entry(output.id).or_default();
            let former = (before.created_at, before.spec.rules);
            versions.change(former, output.updated_at, output.spec.rules.clone());
        }
        Ok(())
    }

    async fn rules_at(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
        at: Timestamp,
    ) -> Result<Option<RulesVersion>, Error> {
        let Some(output) = self.output(account, bucket, id).await? else { return Ok(None) };
        let directory = self.directory();
        let Some(versions) = directory.rules.get(&id) else {
            let is_known = output.created_at <= at;
            return Ok(is_known.then(|| RulesVersion::new(1, output.spec.rules)));
        };
        let found = versions.newest_first().find(|version| version.since <= at);
        Ok(found.map(|found| RulesVersion::new(found.number, (*found.content).clone())))
    }

    async fn delete_output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let bucket =
            directory.bucket_mut(account, bucket).ok_or_else(|| Error::not_found("output"))?;
        let index = position(bucket, id).map_err(|_| Error::not_found("output"))?;
        bucket.outputs.remove(index);
        directory.of_output.remove(&id);
        directory.rules.remove(&id);
        self.queue().give_up(id);
        Ok(())
    }
}
