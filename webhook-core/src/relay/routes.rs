//! The route cache: the bucket of an input or an output, without asking the store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use quick_cache::sync::Cache;
use tokio::{sync::Semaphore, time::timeout};

use super::RelayOptions;
use crate::{
    clock::{Clock, Timestamp},
    error::Error,
    id::{InputId, OutputId},
    model::{Bucket, Input, Output},
    store::Stores,
};

/// How many buckets are read at once. The webhooks of one bucket often come
/// together: who has waited for a turn mostly finds that another has read it.
const LOADS_AT_ONCE: usize = 4;

/// How long one waits for a turn: a store that hangs is everybody's own trouble.
const TURN_PATIENCE: Duration = Duration::from_millis(100);

/// A bucket as the data path sees it: an immutable snapshot, shared by all
/// webhooks that use it and replaced whole when the bucket changes.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) bucket: Bucket,
    loaded_at: Timestamp,
}

impl Route {
    pub(super) fn new(bucket: Bucket, loaded_at: Timestamp) -> Self {
        Self { bucket, loaded_at }
    }

    pub(super) fn input(&self, id: InputId) -> Option<&Input> {
        self.bucket.inputs.iter().find(|input| input.id == id)
    }

    pub(super) fn output(&self, id: OutputId) -> Option<&Output> {
        self.bucket.outputs.iter().find(|output| output.id == id)
    }
}

/// Routes by input and by output, at most `cached_routes` of each.
#[derive(Debug)]
pub(super) struct Routes {
    by_input: Cache<InputId, Arc<Route>>,
    by_output: Cache<OutputId, Arc<Route>>,
    /// Counts changes, so that a snapshot that was read before a change is not
    /// put into the cache after it.
    changes: AtomicU64,
    loads: Semaphore,
}

impl Routes {
    pub(super) fn new(options: &RelayOptions) -> Self {
        Self {
            by_input: Cache::new(options.cached_routes),
            by_output: Cache::new(options.cached_routes),
            changes: AtomicU64::new(0),
            loads: Semaphore::new(LOADS_AT_ONCE),
        }
    }

    /// The route of an input; none when there is no such input.
    pub(super) async fn of_input(
        &self,
        id: InputId,
        source: &Source<'_>,
    ) -> Result<Option<Arc<Route>>, Error> {
        let cached = || self.by_input.get(&id);
        self.of(cached, || source.stores.inputs.bucket_of_input(id), source).await
    }

    /// The route of an output; none when there is no such output.
    pub(super) async fn of_output(
        &self,
        id: OutputId,
        source: &Source<'_>,
    ) -> Result<Option<Arc<Route>>, Error> {
        let cached = || self.by_output.get(&id);
        self.of(cached, || source.stores.outputs.bucket_of_output(id), source).await
    }

    async fn of<L>(
        &self,
        cached: impl Fn() -> Option<Arc<Route>>,
        load: impl FnOnce() -> L,
        source: &Source<'_>,
    ) -> Result<Option<Arc<Route>>, Error>
    where
        L: Future<Output = Result<Option<Bucket>, Error>>,
    {
        let fresh = || cached().filter(|route| source.is_fresh(route.loaded_at));
        if let Some(route) = fresh() {
            return Ok(Some(route));
        }
        let _turn = timeout(TURN_PATIENCE, self.loads.acquire()).await;
        if let Some(route) = fresh() {
            return Ok(Some(route));
        }
        let seen = self.changes.load(Ordering::Acquire);
        let bucket = load().await?;
        Ok(bucket.map(|bucket| self.keep(bucket, source, seen)))
    }

    fn keep(&self, bucket: Bucket, source: &Source<'_>, seen: u64) -> Arc<Route> {
        let route = Arc::new(Route::new(bucket, source.clock.now()));
        for input in &route.bucket.inputs {
            self.by_input.insert(input.id, Arc::clone(&route));
        }
        for output in &route.bucket.outputs {
            self.by_output.insert(output.id, Arc::clone(&route));
        }
        // A change may have come between the read and the insertions; its
        // `forget` may have run before them.
        if self.changes.load(Ordering::Acquire) != seen {
            self.forget_entries(&route.bucket);
        }
        route
    }

    /// Forgets what is cached of a bucket, which has changed.
    pub(super) fn forget(&self, bucket: &Bucket) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.forget_entries(bucket);
    }

    fn forget_entries(&self, bucket: &Bucket) {
        for input in &bucket.inputs {
            self.by_input.remove(&input.id);
        }
        for output in &bucket.outputs {
            self.by_output.remove(&output.id);
        }
    }
}

/// Where routes and functions come from.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) stores: &'a Stores,
    pub(super) clock: &'a dyn Clock,
    pub(super) options: &'a RelayOptions,
}

impl Source<'_> {
    /// Whether what was read then may still be used.
    pub(super) fn is_fresh(&self, loaded_at: Timestamp) -> bool {
        self.options
            .route_max_age
            .is_none_or(|max_age| self.clock.now().since(loaded_at) <= max_age)
    }
}
