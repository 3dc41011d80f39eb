//! Buckets by the inputs and outputs that they have.

use std::sync::Arc;

use super::{MaxAge, Snapshots};
use crate::{
    error::Error,
    id::{InputId, OutputId},
    model::{Bucket, RetrySchedule},
    store::RouteStore,
};

/// What a bucket is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Input(InputId),
    Output(OutputId),
}

/// Buckets, without asking the store.
#[derive(Debug)]
pub(crate) struct BucketCache {
    by_key: Snapshots<Key, Arc<Bucket>>,
    routes: Arc<dyn RouteStore>,
    default_schedule: Option<RetrySchedule>,
}

impl BucketCache {
    /// Keeps the buckets of at most `capacity` inputs, and of as many outputs.
    /// An output that sets neither `durability` nor `retries` has the default schedule.
    pub(crate) fn new(
        capacity: usize,
        max_age: MaxAge,
        routes: Arc<dyn RouteStore>,
        default_schedule: Option<RetrySchedule>,
    ) -> Self {
        let by_key = Snapshots::new(capacity.saturating_mul(2), max_age);
        Self { by_key, routes, default_schedule }
    }

    /// The bucket of an input; none when there is no such input.
    pub(crate) async fn of_input(&self, id: InputId) -> Result<Option<Arc<Bucket>>, Error> {
        let read = || async { Ok(self.routes.bucket_of_input(id).await?.map(|it| self.ready(it))) };
        self.by_key.get(&Key::Input(id), read, |bucket| keys(bucket)).await
    }

    /// The bucket of an output; none when there is no such output.
    pub(crate) async fn of_output(&self, id: OutputId) -> Result<Option<Arc<Bucket>>, Error> {
        let read =
            || async { Ok(self.routes.bucket_of_output(id).await?.map(|it| self.ready(it))) };
        self.by_key.get(&Key::Output(id), read, |bucket| keys(bucket)).await
    }

    fn ready(&self, mut bucket: Bucket) -> Arc<Bucket> {
        if let Some(schedule) = self.default_schedule {
            let specs = bucket.outputs.iter_mut().map(|output| &mut output.spec);
            for spec in specs.filter(|spec| !spec.durability.enabled && spec.retries == 0) {
                spec.durability.enabled = true;
                spec.durability.schedule = schedule;
            }
        }
        Arc::new(bucket)
    }

    /// Forgets a bucket that has changed.
    pub(crate) fn forget(&self, bucket: &Bucket) {
        self.by_key.changed(&keys(bucket));
    }

    /// The same, by the inputs and outputs that it has and had.
    pub(crate) fn changed(&self, inputs: &[InputId], outputs: &[OutputId]) {
        let inputs = inputs.iter().copied().map(Key::Input);
        let keys: Vec<_> = inputs.chain(outputs.iter().copied().map(Key::Output)).collect();
        self.by_key.changed(&keys);
    }
}

fn keys(bucket: &Bucket) -> Vec<Key> {
    let inputs = bucket.inputs.iter().map(|input| Key::Input(input.id));
    inputs.chain(bucket.outputs.iter().map(|output| Key::Output(output.id))).collect()
}
