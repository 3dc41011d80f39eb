//! Putting the parts together.

use std::sync::Arc;

use super::Webhooks;
#[cfg(feature = "admin")]
use super::management::Management;
#[cfg(not(feature = "admin"))]
use crate::guard::AddressGuard;
use crate::{
    clock::{Clock, Ids, Random, StoreClock, SystemClock, SystemRandom},
    cluster::Broadcast,
    destination::{Destination, Destinations, HttpDestination},
    forward::Forwarder,
    function::FunctionRuntime,
    id::NodeId,
    relay::{NoObserver, Observer, Relay, RelayOptions, RelayParts},
    store::Stores,
};

/// Puts [`Webhooks`] together.
#[derive(Debug)]
pub struct WebhooksBuilder {
    stores: Stores,
    forwarder: Option<Arc<dyn Forwarder>>,
    destinations: Vec<Arc<dyn Destination>>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    functions: Option<Arc<dyn FunctionRuntime>>,
    observer: Arc<dyn Observer>,
    broadcast: Option<Arc<dyn Broadcast>>,
    options: RelayOptions,
    node: Option<NodeId>,
    #[cfg(feature = "admin")]
    pub(super) management: Management,
}

impl WebhooksBuilder {
    pub(super) fn new(stores: Stores) -> Self {
        Self {
            stores,
            forwarder: None,
            destinations: Vec::new(),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            functions: None,
            observer: Arc::new(NoObserver),
            broadcast: None,
            options: RelayOptions::default(),
            node: None,
            #[cfg(feature = "admin")]
            management: Management::default(),
        }
    }

    /// Sends deliveries to `http` and `https` with `forwarder`.
    #[must_use]
    pub fn forwarder(mut self, forwarder: impl Forwarder + 'static) -> Self {
        self.forwarder = Some(Arc::new(forwarder));
        self
    }

    /// Sends deliveries to the schemes of `destination` there. The last destination with a scheme
    /// has it, except that `http` and `https` are the forwarder's.
    #[must_use]
    pub fn destination(mut self, destination: impl Destination + 'static) -> Self {
        self.destinations.push(Arc::new(destination));
        self
    }

    /// Takes the time from `clock` in place of the machine's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Takes the random bits of identifiers from `random` in place of the system's.
    #[must_use]
    pub fn random(mut self, random: impl Random + 'static) -> Self {
        self.random = Arc::new(random);
        self
    }

    /// Runs functions with `runtime` and compiles them before they are saved.
    /// Without one none can be saved, and what needs one fails.
    #[must_use]
    pub fn functions(mut self, runtime: Arc<dyn FunctionRuntime>) -> Self {
        self.functions = Some(runtime);
        self
    }

    /// Tells `observer` what happens on the way of each webhook.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Tells the other relays over the same stores through `broadcast` what changes here, and
    /// hears it of them: changes are seen at once, clients get what any of them receives, and
    /// senders the answers that come to any of them. Each needs a [node](Self::node) of its
    /// own. Without it they find in the stores what they need, later.
    #[must_use]
    pub fn broadcast(mut self, broadcast: Arc<dyn Broadcast>) -> Self {
        self.broadcast = Some(broadcast);
        self
    }

    /// Sets the bounds of the data path.
    #[must_use]
    pub fn options(mut self, options: RelayOptions) -> Self {
        self.options = options;
        self
    }

    /// Names this node among those that share a store. A node that keeps its
    /// name over a restart goes on at once with what it held.
    #[must_use]
    pub fn node(mut self, node: NodeId) -> Self {
        self.node = Some(node);
        self
    }

    /// Everything together.
    #[must_use]
    pub fn build(self) -> Webhooks {
        let clock = Arc::new(StoreClock::new(self.clock));
        let ids = Arc::new(Ids::new(clock.clone(), self.random));
        #[cfg(feature = "admin")]
        let mut management = self.management;
        #[cfg(feature = "admin")]
        let (guard, quota) = management.limits(&self.stores, &clock);
        #[cfg(not(feature = "admin"))]
        let (guard, quota) = (AddressGuard::default(), None);
        let can_send = self.forwarder.is_some() || !self.destinations.is_empty();
        let http = HttpDestination::new(self.forwarder, guard);
        let parts = RelayParts {
            stores: self.stores,
            clock,
            destinations: Arc::new(Destinations { http, added: self.destinations }),
            functions: self.functions,
            quota,
            observer: self.observer,
            broadcast: self.broadcast,
            options: Arc::new(self.options),
            node: self.node.unwrap_or_else(|| ids.next()),
            ids: Arc::clone(&ids),
        };
        let relay = Relay::new(&parts);
        #[cfg(feature = "admin")]
        let admin = Arc::new(management.build(parts, relay.clone()));
        Webhooks {
            relay,
            #[cfg(feature = "admin")]
            admin,
            ids,
            can_send,
        }
    }
}
