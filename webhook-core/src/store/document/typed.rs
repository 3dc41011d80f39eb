//! Documents by their types.

use std::collections::HashMap;

use async_trait::async_trait;
use uuid::Uuid;

use super::{Bounds, Change, Configured, Document, DocumentKind, DocumentStore, Find, Page};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, FunctionId, InputId, OutputId},
    model::{Bucket, Domain, Function, FunctionVersion, Input, Output},
    rule::Rules,
    store::RouteStore,
};

/// Buckets, each with its inputs, the oldest first, and its outputs in the order of their
/// identifiers. Every [`DocumentStore`] is one.
#[async_trait]
pub trait BucketStore: DocumentStore {
    /// The account's bucket with this ID.
    async fn bucket(&self, account: AccountId, id: BucketId) -> Result<Option<Bucket>, Error> {
        Ok(whole(self.find(Find::Bucket(account, id)).await?)?.pop())
    }

    /// All buckets of the account.
    async fn buckets(&self, account: AccountId) -> Result<Vec<Bucket>, Error> {
        whole(self.find(Find::Buckets(account, Page::ALL)).await?)
    }

    /// Stores a new bucket with the inputs and outputs in it. A taken ID, or a name that the
    /// account has already, is a [`Conflict`](crate::ErrorKind::Conflict).
    async fn create_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        Ok(self.apply(&Change::create_bucket(bucket, Bounds::NONE, Bounds::NONE)?).await?)
    }

    /// Replaces a bucket, except its inputs and outputs, if it still has the version of `bucket`.
    async fn update_bucket(&self, bucket: &Bucket) -> Result<(), Error> {
        Ok(self.apply(&[Change::update(bucket.account_id, bucket, bucket.version)?]).await?)
    }

    /// Removes a bucket with all that is in it.
    async fn delete_bucket(&self, account: AccountId, id: BucketId) -> Result<(), Error> {
        Ok(self.apply(&[Change::delete::<Bucket>(account, id.as_uuid())]).await?)
    }
}

/// Inputs. Every [`DocumentStore`] is a store of them.
#[async_trait]
pub trait InputStore: DocumentStore {
    /// The account's input with this ID in this bucket.
    async fn input(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: InputId,
    ) -> Result<Option<Input>, Error> {
        let found = one::<Input>(self, account, id.as_uuid()).await?;
        Ok(found.filter(|input| input.bucket_id == bucket))
    }

    /// The inputs at a domain, the oldest first.
    async fn inputs_of_domain(&self, domain: &Domain) -> Result<Vec<Input>, Error> {
        let users = Find::Users(DocumentKind::Input, Domain::key(domain.id.as_uuid()));
        let mut inputs = read::<Input>(self.find(users).await?)?;
        inputs.sort_unstable_by_key(|input| (input.created_at, input.id));
        Ok(inputs)
    }

    /// Stores a new input. A bucket that the account does not have is
    /// [`NotFound`](crate::ErrorKind::NotFound).
    async fn create_input(&self, account: AccountId, input: &Input) -> Result<(), Error> {
        Ok(self.apply(&[Change::create(account, input, Bounds::NONE)?]).await?)
    }

    /// Replaces an input, if it still has the version of `input`.
    async fn update_input(&self, account: AccountId, input: &Input) -> Result<(), Error> {
        Ok(self.apply(&[Change::update(account, input, input.version)?]).await?)
    }

    /// Removes an input.
    async fn delete_input(&self, account: AccountId, id: InputId) -> Result<(), Error> {
        Ok(self.apply(&[Change::delete::<Input>(account, id.as_uuid())]).await?)
    }
}

/// Outputs. Every [`DocumentStore`] is a store of them.
#[async_trait]
pub trait OutputStore: DocumentStore {
    /// The account's output with this ID in this bucket.
    async fn output(
        &self,
        account: AccountId,
        bucket: BucketId,
        id: OutputId,
    ) -> Result<Option<Output>, Error> {
        let found = one::<Output>(self, account, id.as_uuid()).await?;
        Ok(found.filter(|output| output.bucket_id == bucket))
    }

    /// Stores a new output. A bucket that the account does not have is
    /// [`NotFound`](crate::ErrorKind::NotFound); a name that another output of the bucket has is
    /// a [`Conflict`](crate::ErrorKind::Conflict), unless it is empty.
    async fn create_output(&self, account: AccountId, output: &Output) -> Result<(), Error> {
        Ok(self.apply(&[Change::create(account, output, Bounds::NONE)?]).await?)
    }

    /// Replaces an output, except its state, if it still has the version of `output`.
    async fn update_output(&self, account: AccountId, output: &Output) -> Result<(), Error> {
        Ok(self.apply(&[Change::update(account, output, output.version)?]).await?)
    }

    /// The rules that the account's output had at `at`, as far as that version is kept.
    async fn rules_at(
        &self,
        account: AccountId,
        id: OutputId,
        at: Timestamp,
    ) -> Result<Option<RulesVersion>, Error> {
        let versions = self.history(account, Output::key(id.as_uuid())).await?;
        // The first version is what it was made as, whenever that was changed last.
        let since = |version: &Document| match version.version {
            1 => version.created_at,
            _ => version.updated_at,
        };
        let then = versions.into_iter().find(|version| since(version) <= at);
        let Some(document) = then else { return Ok(None) };
        let version = u32::try_from(document.version).unwrap_or(u32::MAX);
        let rules: Rules = Output::read(document)?.spec.rules;
        Ok(Some(RulesVersion::new(version, rules)))
    }

    /// Removes an output; deliveries that wait for it are not attempted any more, and their
    /// logs stay.
    async fn delete_output(&self, account: AccountId, id: OutputId) -> Result<(), Error> {
        Ok(self.apply(&[Change::delete::<Output>(account, id.as_uuid())]).await?)
    }
}

impl<D: DocumentStore + ?Sized> BucketStore for D {}
impl<D: DocumentStore + ?Sized> InputStore for D {}
impl<D: DocumentStore + ?Sized> OutputStore for D {}

#[async_trait]
impl<D: DocumentStore + ?Sized> RouteStore for D {
    async fn bucket_of_input(&self, id: InputId) -> Result<Option<Bucket>, Error> {
        Ok(whole(self.find(Find::BucketOf(Input::key(id.as_uuid()))).await?)?.pop())
    }

    async fn bucket_of_output(&self, id: OutputId) -> Result<Option<Bucket>, Error> {
        Ok(whole(self.find(Find::BucketOf(Output::key(id.as_uuid()))).await?)?.pop())
    }
}

/// What all kinds have in common.
impl dyn DocumentStore {
    /// One configured thing of an account.
    pub async fn get<T: Configured>(
        &self,
        account: AccountId,
        id: Uuid,
    ) -> Result<Option<T>, Error> {
        one(self, account, id).await
    }

    /// All configured things of a kind of an account, in the order of their identifiers.
    pub async fn list<T: Configured>(&self, account: AccountId) -> Result<Vec<T>, Error> {
        read(self.find(Find::OfAccount(account, T::KIND, Page::ALL)).await?)
    }

    /// Stores a new configured thing.
    ///
    /// # Errors
    /// As an [`ApplyError`](super::ApplyError) becomes one.
    pub async fn create<T: Configured>(&self, account: AccountId, made: &T) -> Result<(), Error> {
        Ok(self.apply(&[Change::create(account, made, Bounds::NONE)?]).await?)
    }

    /// Removes a configured thing, whatever its version is.
    ///
    /// # Errors
    /// As an [`ApplyError`](super::ApplyError) becomes one.
    pub async fn delete<T: Configured>(&self, account: AccountId, id: Uuid) -> Result<(), Error> {
        Ok(self.apply(&[Change::delete::<T>(account, id)]).await?)
    }

    /// Whatever `find` finds of a kind.
    pub async fn search<T: Configured>(&self, find: Find) -> Result<Vec<T>, Error> {
        read(self.find(find).await?)
    }

    /// Buckets with their inputs and outputs.
    pub async fn search_buckets(&self, find: Find) -> Result<Vec<Bucket>, Error> {
        whole(self.find(find).await?)
    }

    /// The reserved domain of this name, whichever account has it.
    pub async fn domain_named(&self, name: &str) -> Result<Option<Domain>, Error> {
        let find = Find::Named(DocumentKind::Domain, None, name.to_owned());
        Ok(read(self.find(find).await?)?.pop())
    }

    /// The versions of a function's source that are kept, the newest first, which is the present
    /// one; with their sources. None of a missing function.
    pub async fn function_versions(
        &self,
        account: AccountId,
        id: FunctionId,
    ) -> Result<Vec<FunctionVersion>, Error> {
        let versions = self.history(account, Function::key(id.as_uuid())).await?;
        let mut versions = read::<Function>(versions)?;
        versions.dedup_by_key(|function| function.revision);
        let kept = versions.into_iter().enumerate().map(|(place, function)| {
            let version = FunctionVersion::current(&function);
            let version = FunctionVersion { current: place == 0, ..version };
            version.with_payload(function.spec.payload)
        });
        Ok(kept.collect())
    }
}

impl Change {
    /// Makes a configured thing.
    ///
    /// # Errors
    /// As for [`Configured::document`].
    pub fn create<T: Configured>(
        account: AccountId,
        made: &T,
        bounds: Bounds,
    ) -> Result<Self, Error> {
        Ok(Self::Create { document: made.document(account)?, bounds })
    }

    /// Makes a bucket, the inputs and the outputs in it.
    ///
    /// # Errors
    /// As for [`Configured::document`].
    pub fn create_bucket(
        bucket: &Bucket,
        bounds: Bounds,
        of_inputs: Bounds,
    ) -> Result<Vec<Self>, Error> {
        let account = bucket.account_id;
        let mut changes = vec![Self::create(account, bucket, bounds)?];
        for input in &bucket.inputs {
            changes.push(Self::create(account, input, of_inputs)?);
        }
        for output in &bucket.outputs {
            changes.push(Self::create(account, output, Bounds::NONE)?);
        }
        Ok(changes)
    }

    /// Replaces a configured thing, if it still has the expected version.
    ///
    /// # Errors
    /// As for [`Configured::document`].
    pub fn update<T: Configured>(
        account: AccountId,
        changed: &T,
        expected_version: u64,
    ) -> Result<Self, Error> {
        Ok(Self::Update { document: changed.document(account)?, expected_version })
    }

    /// Removes a configured thing, whatever its version is.
    #[must_use]
    pub fn delete<T: Configured>(account_id: AccountId, id: Uuid) -> Self {
        Self::Delete { key: T::key(id), account_id, expected_version: None }
    }

    /// The same removal of this version only, if there is one.
    #[must_use]
    pub fn pinned(self, version: Option<u64>) -> Self {
        match self {
            Self::Delete { key, account_id, .. } => {
                Self::Delete { key, account_id, expected_version: version }
            }
            other => other,
        }
    }
}

async fn one<T: Configured>(
    store: &(impl DocumentStore + ?Sized),
    account: AccountId,
    id: Uuid,
) -> Result<Option<T>, Error> {
    Ok(read(store.find(Find::One(account, T::key(id))).await?)?.pop())
}

fn read<T: Configured>(documents: Vec<Document>) -> Result<Vec<T>, Error> {
    documents.into_iter().map(T::read).collect()
}

/// Buckets in the order of their identifiers, of documents in any order.
fn whole(documents: Vec<Document>) -> Result<Vec<Bucket>, Error> {
    let (buckets, others): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|document| document.key.kind == DocumentKind::Bucket);
    let mut buckets = read::<Bucket>(buckets)?;
    buckets.sort_unstable_by_key(|bucket| bucket.id);
    let places: HashMap<_, _> = buckets.iter().map(|bucket| bucket.id).zip(0..).collect();
    for document in others {
        let place = document.bucket_id.and_then(|id| places.get(&id));
        let Some(bucket) = place.and_then(|place: &usize| buckets.get_mut(*place)) else {
            continue;
        };
        match document.key.kind {
            DocumentKind::Input => bucket.inputs.push(Input::read(document)?),
            DocumentKind::Output => bucket.outputs.push(Output::read(document)?),
            _ => {}
        }
    }
    for bucket in &mut buckets {
        bucket.inputs.sort_unstable_by_key(|input| (input.created_at, input.id));
        bucket.outputs.sort_unstable_by_key(|output| output.id);
    }
    Ok(buckets)
}

/// The rules that an output had at some moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RulesVersion {
    /// The version of the output that had them.
    pub version: u32,
    /// The rules.
    pub rules: Rules,
}

impl RulesVersion {
    /// The rules of this version.
    #[must_use]
    pub const fn new(version: u32, rules: Rules) -> Self {
        Self { version, rules }
    }
}
