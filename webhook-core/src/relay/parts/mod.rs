//! What a relay is made of.

pub(super) mod observer;
pub(super) mod options;
pub(super) mod quota;

use std::sync::Arc;

use self::{observer::Observer, options::RelayOptions, quota::Quota};
use super::cache::{BucketCache, MaxAge};
use crate::{
    clock::{Ids, StoreClock},
    cluster::Broadcast,
    destination::Destinations,
    function::FunctionRuntime,
    id::NodeId,
    store::Stores,
};

/// What a [`Relay`](super::Relay) is made of. [`Webhooks`](crate::Webhooks) puts it together, and
/// each part of the relay takes what it uses.
#[derive(Debug)]
pub(crate) struct RelayParts {
    pub(crate) stores: Stores,
    pub(crate) clock: Arc<StoreClock>,
    pub(crate) ids: Arc<Ids>,
    pub(crate) destinations: Arc<Destinations>,
    pub(crate) functions: Option<Arc<dyn FunctionRuntime>>,
    pub(crate) quota: Option<Arc<dyn Quota>>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) broadcast: Option<Arc<dyn Broadcast>>,
    pub(crate) options: Arc<RelayOptions>,
    pub(crate) node: NodeId,
}

impl RelayParts {
    /// How old what is cached may be.
    pub(super) fn max_age(&self) -> MaxAge {
        MaxAge { clock: self.clock.clone(), max_age: self.options.route_max_age }
    }

    /// An empty cache of buckets.
    pub(super) fn buckets(&self) -> Arc<BucketCache> {
        let (capacity, routes) = (self.options.cached_routes, self.stores.routes.clone());
        let schedule = self.options.default_schedule;
        Arc::new(BucketCache::new(capacity, self.max_age(), routes, schedule))
    }
}
