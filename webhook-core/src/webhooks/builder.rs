//! Putting the parts together.

use std::sync::Arc;

use super::Webhooks;
use crate::{
    admin::{Admin, AdminOptions, AdminParts, ChangeListener},
    billing::{BillingProvider, Unconfigured},
    clock::{Clock, StoreClock, SystemClock},
    clock::{Ids, Random, SystemRandom},
    cluster::Broadcast,
    destination::{Destination, Destinations, HttpDestination},
    forward::Forwarder,
    function::{FunctionRuntime, generate::FunctionGenerator},
    id::NodeId,
    plan::{Plans, Quotas},
    relay::{NoObserver, Observer, Quota, Relay, RelayOptions, RelayParts},
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
    generator: Option<Arc<dyn FunctionGenerator>>,
    plans: Option<Plans>,
    billing: Arc<dyn BillingProvider>,
    observer: Arc<dyn Observer>,
    broadcast: Option<Arc<dyn Broadcast>>,
    listener: Option<Arc<dyn ChangeListener>>,
    options: RelayOptions,
    admin_options: AdminOptions,
    node: Option<NodeId>,
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
            generator: None,
            plans: None,
            billing: Arc::new(Unconfigured),
            observer: Arc::new(NoObserver),
            broadcast: None,
            listener: None,
            options: RelayOptions::default(),
            admin_options: AdminOptions::default(),
            node: None,
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

    /// Writes functions from samples with `generator`: the one of
    /// `webhook-generate`, or one of the embedder's.
    #[must_use]
    pub fn generator(mut self, generator: Arc<dyn FunctionGenerator>) -> Self {
        self.generator = Some(generator);
        self
    }

    /// Holds accounts to these plans; past the webhooks that they include
    /// senders get 429. Without this there is no limit.
    #[must_use]
    pub fn quotas(mut self, plans: Plans) -> Self {
        self.plans = Some(plans);
        self
    }

    /// Bills through `provider`.
    #[must_use]
    pub fn billing(mut self, provider: Arc<dyn BillingProvider>) -> Self {
        self.billing = provider;
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

    /// Tells `listener`, after the relay, of every change that the management
    /// makes: so that other processes on the same stores learn of it.
    #[must_use]
    pub fn listener(mut self, listener: Arc<dyn ChangeListener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Sets the bounds of the data path.
    #[must_use]
    pub fn options(mut self, options: RelayOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the bounds of the management operations.
    #[must_use]
    pub fn admin_options(mut self, options: AdminOptions) -> Self {
        self.admin_options = options;
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
        let Self { stores, functions, .. } = self;
        let store_clock = Arc::new(StoreClock::new(self.clock));
        let clock: Arc<dyn Clock> = store_clock.clone();
        let ids = Arc::new(Ids::new(Arc::clone(&clock), self.random));
        let of_plans = |plans| Arc::new(Quotas::new(plans, stores.clone(), Arc::clone(&clock)));
        let quotas = self.plans.map(of_plans);
        let can_send = self.forwarder.is_some() || !self.destinations.is_empty();
        let http = HttpDestination::new(self.forwarder, self.admin_options.guard.clone());
        let destinations = Destinations { http, added: self.destinations };
        let relay = Relay::new(&RelayParts {
            stores: stores.clone(),
            clock: store_clock,
            destinations: Arc::new(destinations),
            functions: functions.clone(),
            quotas: quotas.clone().map(|quotas| quotas as Arc<dyn Quota>),
            observer: self.observer,
            broadcast: self.broadcast,
            options: Arc::new(self.options),
            node: self.node.unwrap_or_else(|| ids.next()),
            ids: Arc::clone(&ids),
        });
        let quotas = quotas.unwrap_or_else(|| of_plans(Plans::unlimited()));
        let admin = Admin::new(AdminParts {
            stores: stores.clone(),
            clock: Arc::clone(&clock),
            ids: Arc::clone(&ids),
            options: self.admin_options,
            relay: relay.clone(),
            listener: self.listener,
            functions,
            generator: self.generator,
            quotas,
            billing: self.billing,
        });
        Webhooks { relay, admin: Arc::new(admin), ids, can_send }
    }
}
