//! Buckets, inputs and outputs.

use std::fmt;

use async_trait::async_trait;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, InputId, OutputId},
    model::{Bucket, Input, LogRetention, Output},
    store::RulesVersion,
};

/// Keeps buckets, each with its inputs and outputs.
///
/// Every bucket that a call returns carries its inputs, the oldest first, its
/// outputs in ID order and the stamped read-only fields of `auth`.
#[async_trait]
pub trait BucketStore: Send + Sync + fmt::Debug {
    /// Stores a new bucket with the inputs and outputs in it. A taken ID, or a
    /// name that the account has already, is a conflict.
    async fn create_bucket(&self, bucket: &Bucket) -> Result<(), Error>;

    /// The account's bucket with this ID.
    async fn bucket(&self, account: AccountId, id: BucketId) -> Result<Option<Bucket>, Error>;

    /// The account's bucket with this name.
    async fn bucket_by_name(&self, account: AccountId, name: &str)
    -> Result<Option<Bucket>, Error>;

    /// The account that owns the bucket, whoever asks.
    async fn bucket_owner(&self, id: BucketId) -> Result<Option<AccountId>, Error>;

    /// All buckets of the account.
    async fn buckets(&self, account: AccountId) -> Result<Vec<Bucket>, Error>;

    /// How much the account has, counted without reading it.
    async fn bucket_counts(&self, account: AccountId) -> Result<BucketCounts, Error>;

    /// The buckets of all accounts that say how long their logs are kept, in ID order from the
    /// first after `after` on, at most `limit`.
    async fn retentions(
        &self,
        after: Option<BucketId>,
        limit: usize,
    ) -> Result<Vec<BucketRetention>, Error>;

    /// Replaces everything but the inputs and outputs, which are left as stored.
    /// A name that another bucket of the account has is a conflict.
    async fn update_bucket(&self, bucket: &Bucket) -> Result<(), Error>;

    /// Removes the bucket with its inputs and outputs; deliveries that wait for
    /// them are no longer attempted, their logs stay. Unless `force`, a bucket
    /// with an output, or with an input other than `spare`, is a conflict.
    async fn delete_bucket(
        &self,
        account: AccountId,
        id: BucketId,
        spare: Option<InputId>,
        force: bool,
    ) -> Result<(), Error>;
}

/// How many buckets an account has, and what is in them all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketCounts {
    /// Buckets.
    pub buckets: u64,
    /// Inputs.
    pub inputs: u64,
    /// Outputs.
    pub outputs: u64,
}

/// How long a bucket keeps its logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketRetention {
    /// Whose it is.
    pub account_id: AccountId,
    /// The bucket.
    pub bucket_id: BucketId,
    /// How long.
    pub retention: LogRetention,
}

/// Keeps inputs.
#[async_trait]
pub trait InputStore: Send + Sync + fmt::Debug {
    /// Stores a new input. A bucket that the account does not have is not found.
    async fn create_input(&self, account: AccountId, input: &Input) -> Result<(), Error>;

    /// The account's input with this ID in this bucket.
    async fn input(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: InputId,
    ) -> Result<Option<Input>, Error>;

    /// Replaces an input.
    async fn update_input(&self, account: AccountId, input: &Input) -> Result<(), Error>;

    /// Removes an input.
    async fn delete_input(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: InputId,
    ) -> Result<(), Error>;
}

/// Keeps outputs.
#[async_trait]
pub trait OutputStore: Send + Sync + fmt::Debug {
    /// Stores a new output. A bucket that the account does not have is not
    /// found; a name that the bucket has already is a conflict, unless it is empty.
    async fn create_output(&self, account: AccountId, output: &Output) -> Result<(), Error>;

    /// The account's output with this ID in this bucket.
    async fn output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<Option<Output>, Error>;

    /// Replaces an output; the contract on names is that of `create_output`. Other rules are
    /// another version, since `updated_at`.
    async fn update_output(&self, account: AccountId, output: &Output) -> Result<(), Error>;

    /// The rules that the account's output had at `at`, as far as it is kept:
    /// [`MAX_VERSIONS`](super::MAX_VERSIONS) versions are. An output whose rules never changed
    /// has one, since it was made.
    async fn rules_at(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
        at: Timestamp,
    ) -> Result<Option<RulesVersion>, Error>;

    /// Removes an output; deliveries that wait for it are no longer attempted,
    /// their logs stay.
    async fn delete_output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<(), Error>;
}
