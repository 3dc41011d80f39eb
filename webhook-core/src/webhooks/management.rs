//! Putting the management together.

use std::sync::Arc;

use super::WebhooksBuilder;
use crate::{
    admin::{Admin, AdminOptions, AdminParts, ChangeListener},
    billing::{BillingProvider, Unconfigured},
    clock::StoreClock,
    function::generate::FunctionGenerator,
    guard::AddressGuard,
    plan::{Plans, Quotas},
    relay::{Quota, Relay, RelayParts},
    store::Stores,
};

/// The parts of the management that the relay does not have.
#[derive(Debug, Default)]
pub(super) struct Management {
    generator: Option<Arc<dyn FunctionGenerator>>,
    plans: Option<Plans>,
    quotas: Option<Arc<Quotas>>,
    billing: Option<Arc<dyn BillingProvider>>,
    listener: Option<Arc<dyn ChangeListener>>,
    options: AdminOptions,
}

impl Management {
    /// The destinations that outputs may have, and the webhooks that accounts may receive.
    pub(super) fn limits(
        &mut self,
        stores: &Stores,
        clock: &Arc<StoreClock>,
    ) -> (AddressGuard, Option<Arc<dyn Quota>>) {
        let plans = self.plans.take();
        self.quotas =
            plans.map(|plans| Arc::new(Quotas::new(plans, stores.clone(), clock.clone())));
        let quota = self.quotas.clone().map(|quotas| quotas as Arc<dyn Quota>);
        (self.options.guard.clone(), quota)
    }

    /// The management operations over the parts of the relay.
    pub(super) fn build(self, parts: RelayParts, relay: Relay) -> Admin {
        let RelayParts { stores, clock, ids, functions, .. } = parts;
        let unlimited = || Arc::new(Quotas::new(Plans::unlimited(), stores.clone(), clock.clone()));
        let quotas = self.quotas.unwrap_or_else(unlimited);
        Admin::new(AdminParts {
            stores,
            clock,
            ids,
            options: self.options,
            relay,
            listener: self.listener,
            functions,
            generator: self.generator,
            quotas,
            billing: self.billing.unwrap_or_else(|| Arc::new(Unconfigured)),
        })
    }
}

impl WebhooksBuilder {
    /// Writes functions from samples with `generator`: the one of
    /// `webhook-generate`, or one of the embedder's.
    #[must_use]
    pub fn generator(mut self, generator: Arc<dyn FunctionGenerator>) -> Self {
        self.management.generator = Some(generator);
        self
    }

    /// Holds accounts to these plans; past the webhooks that they include
    /// senders get 429. Without this there is no limit.
    #[must_use]
    pub fn quotas(mut self, plans: Plans) -> Self {
        self.management.plans = Some(plans);
        self
    }

    /// Bills through `provider`.
    #[must_use]
    pub fn billing(mut self, provider: Arc<dyn BillingProvider>) -> Self {
        self.management.billing = Some(provider);
        self
    }

    /// Tells `listener`, after the relay, of every change that the management
    /// makes: so that other processes on the same stores learn of it.
    #[must_use]
    pub fn listener(mut self, listener: Arc<dyn ChangeListener>) -> Self {
        self.management.listener = Some(listener);
        self
    }

    /// Sets the bounds of the management operations.
    #[must_use]
    pub fn admin_options(mut self, options: AdminOptions) -> Self {
        self.management.options = options;
        self
    }
}
