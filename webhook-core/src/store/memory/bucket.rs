//! Buckets in memory, each with its inputs and outputs.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use async_trait::async_trait;

use super::{MemoryStore, versions::Versions};
use crate::{
    error::Error,
    id::{AccountId, BucketId, InputId, OutputId},
    model::{Bucket, Output},
    rule::Rules,
    store::{BucketCounts, BucketRetention, BucketStore},
};

/// Every bucket, whole, and ways to find it.
#[derive(Default)]
pub(super) struct Directory {
    /// Shared, so that a reader copies a bucket after it let go of the lock.
    buckets: HashMap<BucketId, Arc<Bucket>>,
    owners: HashMap<AccountId, Owned>,
    pub(super) of_input: HashMap<InputId, BucketId>,
    pub(super) of_output: HashMap<OutputId, BucketId>,
    /// Of outputs whose rules have changed.
    pub(super) rules: HashMap<OutputId, Versions<Rules>>,
}

/// What one account has.
#[derive(Default)]
struct Owned {
    ids: BTreeSet<BucketId>,
    by_name: HashMap<String, BucketId>,
}

impl Directory {
    pub(super) fn any_bucket(&self, id: BucketId) -> Option<&Arc<Bucket>> {
        self.buckets.get(&id)
    }

    pub(super) fn bucket(&self, account: AccountId, id: BucketId) -> Option<&Arc<Bucket>> {
        self.buckets.get(&id).filter(|bucket| bucket.account_id == account)
    }

    pub(super) fn bucket_mut(&mut self, account: AccountId, id: BucketId) -> Option<&mut Bucket> {
        self.buckets.get_mut(&id).filter(|bucket| bucket.account_id == account).map(Arc::make_mut)
    }

    pub(super) fn buckets_of(&self, account: AccountId) -> impl Iterator<Item = &Arc<Bucket>> {
        let ids = self.owners.get(&account).into_iter().flat_map(|owned| &owned.ids);
        ids.filter_map(|id| self.buckets.get(id))
    }

    fn bucket_named(&self, account: AccountId, name: &str) -> Option<&Arc<Bucket>> {
        let id = self.owners.get(&account)?.by_name.get(name)?;
        self.buckets.get(id)
    }

    pub(super) fn insert(&mut self, mut bucket: Bucket) -> Result<(), Error> {
        if self.buckets.contains_key(&bucket.id) {
            return Err(Error::conflict("a bucket with this id exists"));
        }
        self.refuse_taken_name(bucket.account_id, bucket.id, &bucket.spec.name)?;
        let (mut ids, mut names) = (HashSet::new(), HashSet::new());
        for input in &bucket.inputs {
            if self.of_input.contains_key(&input.id) || !ids.insert(input.id.as_uuid()) {
                return Err(Error::conflict("an input with this id exists"));
            }
        }
        ids.clear();
        for Output { id, spec, .. } in &bucket.outputs {
            if self.of_output.contains_key(id) || !ids.insert(id.as_uuid()) {
                return Err(Error::conflict("an output with this id exists"));
            }
            if !spec.name.is_empty() && !names.insert(spec.name.as_str()) {
                return Err(Error::conflict(format!("name: output {:?} exists", spec.name)));
            }
        }

        bucket.inputs.sort_by_key(|input| (input.created_at, input.id));
        bucket.outputs.sort_by_key(|output| output.id);
        bucket.stamp_auth();
        self.of_input.extend(bucket.inputs.iter().map(|input| (input.id, bucket.id)));
        self.of_output.extend(bucket.outputs.iter().map(|output| (output.id, bucket.id)));
        let owned = self.owners.entry(bucket.account_id).or_default();
        owned.ids.insert(bucket.id);
        owned.by_name.insert(bucket.spec.name.clone(), bucket.id);
        self.buckets.insert(bucket.id, Arc::new(bucket));
        Ok(())
    }

    fn refuse_taken_name(&self, account: AccountId, id: BucketId, name: &str) -> Result<(), Error> {
        match self.bucket_named(account, name) {
            Some(other) if other.id != id => {
                Err(Error::conflict(format!("name: bucket {name:?} exists")))
            }
            _ => Ok(()),
        }
    }

    fn update(&mut self, mut update: Bucket) -> Result<(), Error> {
        let (account, id) = (update.account_id, update.id);
        if self.bucket(account, id).is_none() {
            return Err(Error::not_found("bucket"));
        }
        self.refuse_taken_name(account, id, &update.spec.name)?;
        let bucket = self.bucket_mut(account, id).ok_or_else(|| Error::not_found("bucket"))?;
        update.inputs = std::mem::take(&mut bucket.inputs);
        update.outputs = std::mem::take(&mut bucket.outputs);
        update.stamp_auth();
        let name = update.spec.name.clone();
        let former = std::mem::replace(bucket, update);
        let owned = self.owners.entry(account).or_default();
        owned.by_name.remove(&former.spec.name);
        owned.by_name.insert(name, id);
        Ok(())
    }

    fn remove(&mut self, bucket: &Bucket) {
        self.buckets.remove(&bucket.id);
        for input in &bucket.inputs {
            self.of_input.remove(&input.id);
        }
        for output in &bucket.outputs {
            self.of_output.remove(&output.id);
            self.rules.remove(&output.id);
        }
        if let Some(owned) = self.owners.get_mut(&bucket.account_id) {
            owned.ids.remove(&bucket.id);
            owned.by_name.remove(&bucket.spec.name);
            if owned.ids.is_empty() {
                self.owners.remove(&bucket.account_id);
            }
        }
    }
}

#[async_trait]
impl BucketStore for MemoryStore {
    async fn create_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        self.directory_mut().insert(bucket.clone())
    }

    async fn bucket(&self, account: AccountId, id: BucketId) -> Result<Option<Bucket>, Error> {
        let bucket = self.directory().bucket(account, id).cloned();
        Ok(bucket.map(Arc::unwrap_or_clone))
    }

    async fn bucket_by_name(
        &self,
        account: AccountId,
        name: &str,
    ) -> Result<Option<Bucket>, Error> {
        let bucket = self.directory().bucket_named(account, name).cloned();
        Ok(bucket.map(Arc::unwrap_or_clone))
    }

    async fn bucket_owner(&self, id: BucketId) -> Result<Option<AccountId>, Error> {
        Ok(self.directory().any_bucket(id).map(|bucket| bucket.account_id))
    }

    async fn buckets(&self, account: AccountId) -> Result<Vec<Bucket>, Error> {
        let buckets: Vec<_> = {
            let directory = self.directory();
            directory.buckets_of(account).cloned().collect()
        };
        Ok(buckets.into_iter().map(Arc::unwrap_or_clone).collect())
    }

    async fn bucket_counts(&self, account: AccountId) -> Result<BucketCounts, Error> {
        let directory = self.directory();
        let mut counts = BucketCounts::default();
        let ids = directory.owners.get(&account).into_iter().flat_map(|owned| &owned.ids);
        for bucket in ids.filter_map(|id| directory.any_bucket(*id)) {
            counts.buckets += 1;
            counts.inputs += bucket.inputs.len() as u64;
            counts.outputs += bucket.outputs.len() as u64;
        }
        Ok(counts)
    }

    async fn retentions(
        &self,
        after: Option<BucketId>,
        limit: usize,
    ) -> Result<Vec<BucketRetention>, Error> {
        let directory = self.directory();
        let mut found: Vec<_> = directory
            .buckets
            .values()
            .filter(|bucket| after.is_none_or(|after| bucket.id > after))
            .filter_map(|bucket| {
                let (account_id, bucket_id) = (bucket.account_id, bucket.id);
                let retention = *bucket.spec.retention.set()?;
                Some(BucketRetention { account_id, bucket_id, retention })
            })
            .collect();
        found.sort_unstable_by_key(|it| it.bucket_id);
        found.truncate(limit);
        Ok(found)
    }

    async fn update_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        self.directory_mut().update(bucket.clone())
    }

    async fn delete_bucket(
        &self,
        account: AccountId,
        id: BucketId,
        spare: Option<InputId>,
        force: bool,
    ) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let bucket =
            directory.bucket(account, id).cloned().ok_or_else(|| Error::not_found("bucket"))?;
        if !force && !bucket.outputs.is_empty() {
            return Err(Error::conflict("the bucket has outputs"));
        }
        if !force && bucket.inputs.iter().any(|input| Some(input.id) != spare) {
            return Err(Error::conflict("the bucket has inputs"));
        }
        self.remove_whole(&mut directory, &bucket);
        Ok(())
    }
}

impl MemoryStore {
    /// Removes a bucket with all it holds and whatever belongs to it.
    pub(super) fn remove_bucket(&self, account: AccountId, id: BucketId) -> Result<(), Error> {
        let mut directory = self.directory_mut();
        let bucket =
            directory.bucket(account, id).cloned().ok_or_else(|| Error::not_found("bucket"))?;
        self.remove_whole(&mut directory, &bucket);
        Ok(())
    }

    fn remove_whole(&self, directory: &mut Directory, bucket: &Bucket) {
        directory.remove(bucket);
        if bucket.cron_id.is_some() {
            self.crons.lock().remove_with(bucket.id);
        }
        self.notifications.lock().remove_with(bucket.id);
        let mut queue = self.queue();
        for output in &bucket.outputs {
            queue.give_up(output.id);
        }
    }
}
