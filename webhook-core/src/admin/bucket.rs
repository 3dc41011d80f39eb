//! Buckets.

use std::collections::BTreeMap;

use super::{Admin, Caller, check};
use crate::{
    error::{Error, ErrorKind, invalid_if},
    id::{BucketId, InputId},
    model::{Bucket, BucketSpec, Extension, Input, InputSpec, LogRetention},
    plan::Limited,
    store::{
        ApplyError, Bounds, BucketStore, Change, Configured, DocumentKind, Find, Page, Refusal,
        again,
    },
};

/// The name of the input that every new bucket owns.
pub const DEFAULT_INPUT_NAME: &str = "Default public endpoint";

impl Admin {
    /// All buckets of the account that the caller reaches, in the order they were made.
    pub async fn buckets(&self, caller: &Caller) -> Result<Vec<Bucket>, Error> {
        self.buckets_page(caller, Page::ALL).await
    }

    /// A page of the buckets that the caller reaches, in the order they were made.
    pub async fn buckets_page(&self, caller: &Caller, page: Page) -> Result<Vec<Bucket>, Error> {
        caller.require_api_access()?;
        self.streamed_buckets(caller, page).await
    }

    /// A page of the buckets whose webhooks the caller may subscribe to; an access token
    /// without API access may, too.
    pub async fn streamed_buckets(
        &self,
        caller: &Caller,
        page: Page,
    ) -> Result<Vec<Bucket>, Error> {
        let (documents, account) = (&self.stores.documents, caller.account_id());
        let mut buckets = match caller.scope() {
            [] => documents.search_buckets(Find::Buckets(account, page)).await?,
            // A scope lists few buckets of an account that may have many.
            scope => {
                let mut reached = BTreeMap::new();
                for entry in scope {
                    let find = match entry.parse() {
                        Ok(id) => Find::Bucket(account, id),
                        Err(_) => Find::BucketNamed(account, entry.clone()),
                    };
                    let found = documents.search_buckets(find).await?;
                    reached.extend(found.into_iter().map(|bucket| (bucket.id, bucket)));
                }
                page.of(reached.into_values()).collect()
            }
        };
        buckets.iter_mut().for_each(|bucket| bucket.end_pauses(self.now()));
        Ok(buckets)
    }

    /// Makes a bucket with its default input, both or neither. An access token
    /// with a scope may make the buckets whose names the scope lists.
    pub async fn create_bucket(
        &self,
        caller: &Caller,
        mut spec: BucketSpec,
    ) -> Result<Bucket, Error> {
        caller.require_api_access()?;
        self.check_bucket(caller, &mut spec, &BucketSpec::default()).await?;
        invalid_if(spec.name.is_empty(), "name", "must not be empty")?;
        caller.require_name(&spec.name)?;
        let most = self.options.max_buckets_per_account;
        let full = Error::conflict(format!("the account has all of its {most} buckets"));
        let (buckets, full) = self.bound(caller, Limited::Buckets, most, full).await?;
        // Its default input is one, too.
        let (inputs, no_input) = self.bound_of_all(caller, Limited::Inputs).await?;

        let now = self.now();
        let mut bucket = Bucket::new(self.ids.next(), caller.account_id(), now, spec);
        bucket.inputs.push(self.default_input(caller, &bucket));
        let bounds = |in_account| Bounds { in_account, ..Bounds::NONE };
        let changes = Change::create_bucket(&bucket, bounds(buckets), bounds(inputs))?;
        self.stores.documents.apply(&changes).await.map_err(|error| match error {
            ApplyError::Refused(Refusal::AccountFull(DocumentKind::Bucket)) => full,
            ApplyError::Refused(Refusal::AccountFull(_)) => no_input,
            error => error.into(),
        })?;
        self.retention_changed(&Extension::Absent, &bucket);
        self.tell(|it| it.bucket_changed(&bucket));
        Ok(bucket)
    }

    /// One bucket of the account; another account's is [`Forbidden`](ErrorKind::Forbidden).
    pub async fn bucket(&self, caller: &Caller, id: BucketId) -> Result<Bucket, Error> {
        caller.require_api_access()?;
        match self.stores.documents.bucket(caller.account_id(), id).await? {
            Some(mut bucket) => {
                bucket.end_pauses(self.now());
                caller.require_scope(&bucket).map(|()| bucket)
            }
            None => Err(self.absent_or_foreign(id).await?),
        }
    }

    /// Replaces what a caller may write of a bucket; an empty name keeps the old one.
    pub async fn update_bucket(
        &self,
        caller: &Caller,
        id: BucketId,
        spec: BucketSpec,
    ) -> Result<Bucket, Error> {
        again(|| async {
            let mut bucket = self.owned_bucket(caller, id).await?;
            caller.require_version(bucket.version)?;
            let mut spec = spec.clone();
            self.check_bucket(caller, &mut spec, &bucket.spec).await?;
            let old = std::mem::replace(&mut bucket.spec, spec);
            bucket.updated_at = self.now();
            bucket.stamp_auth();
            let update = [Change::update(bucket.account_id, &bucket, bucket.version)?];
            self.stores.documents.apply(&update).await?;
            bucket.version += 1;
            self.retention_changed(&old.retention, &bucket);
            self.tell(|it| it.bucket_changed(&bucket));
            Ok(bucket)
        })
        .await
    }

    /// Removes a bucket with all it holds. Without `force`, one that has an
    /// output or an input beside its default one is a
    /// [`Conflict`](ErrorKind::Conflict); another account's is
    /// [`Forbidden`](ErrorKind::Forbidden).
    pub async fn delete_bucket(
        &self,
        caller: &Caller,
        id: BucketId,
        force: bool,
    ) -> Result<(), Error> {
        caller.require_api_access()?;
        let account = caller.account_id();
        let Some(bucket) = self.stores.documents.bucket(account, id).await? else {
            return Err(self.absent_or_foreign(id).await?);
        };
        caller.require_scope(&bucket)?;
        let delete = Change::delete::<Bucket>(account, id.as_uuid());
        let delete = delete.pinned(caller.pin(bucket.version)?);
        let spare = default_input(&bucket).filter(|_| !force);
        let spare = spare.map(|input| Change::delete::<Input>(account, input.as_uuid()));
        let unused = (!force).then(|| Change::Unused(Bucket::key(id.as_uuid())));
        let changes: Vec<_> = spare.into_iter().chain(unused).chain([delete]).collect();
        self.stores.documents.apply(&changes).await.map_err(|error| match error {
            ApplyError::Refused(Refusal::Used) => Error::conflict(
                "the bucket still has inputs or outputs; delete them first or set force=true",
            ),
            error => error.into(),
        })?;
        self.tell(|it| it.bucket_changed(&bucket));
        Ok(())
    }

    /// The input that a new bucket of this caller owns.
    pub(super) fn default_input(&self, caller: &Caller, bucket: &Bucket) -> Input {
        let spec = InputSpec::new(DEFAULT_INPUT_NAME);
        let mut input = Input::new(self.ids.unguessable(), bucket.id, bucket.created_at, spec);
        input.created_by = caller.label();
        input
    }

    /// Completes what a caller wrote by what is `stored`, and checks it. A retention may stay as
    /// it is also when the plan has changed.
    async fn check_bucket(
        &self,
        caller: &Caller,
        spec: &mut BucketSpec,
        stored: &BucketSpec,
    ) -> Result<(), Error> {
        if spec.name.is_empty() {
            spec.name.clone_from(&stored.name);
        }
        spec.retention.keep("retention", &stored.retention)?;
        check::fields(spec)?;
        let changed = spec.retention.set().filter(|_| spec.retention != stored.retention);
        let Some(retention) = changed else { return Ok(()) };
        let plan = self.quotas.plan(caller.account_id()).await?;
        retention.check(plan.limits.keep_logs_for().or(self.options.log_retention))
    }

    /// Wakes [`keep_logs_for`](Self::keep_logs_for) when the bucket keeps its logs for another
    /// time than before.
    fn retention_changed(&self, before: &Extension<LogRetention>, bucket: &Bucket) {
        if bucket.spec.retention.set() != before.set() {
            self.retention_changed.notify_one();
        }
    }

    /// Why the account does not have a bucket.
    async fn absent_or_foreign(&self, id: BucketId) -> Result<Error, Error> {
        let any = self.stores.documents.find(Find::Any(Bucket::key(id.as_uuid()))).await?;
        Ok(match any.first() {
            Some(_) => Error::new(ErrorKind::Forbidden, "the bucket belongs to another account"),
            None => Error::not_found("bucket"),
        })
    }
}

/// The input that was made with the bucket: the first one, if it still has its
/// name and still belongs to the same moment.
fn default_input(bucket: &Bucket) -> Option<InputId> {
    bucket
        .inputs
        .iter()
        .find(|input| input.created_at == bucket.created_at)
        .filter(|input| input.spec.name == DEFAULT_INPUT_NAME)
        .map(|input| input.id)
}
