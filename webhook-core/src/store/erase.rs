//! Erasing a webhook whole.

use crate::{
    clock::Timestamp,
    error::Error,
    id::{DeliveryId, NodeId, WebhookId},
};

/// A webhook that is to be erased.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EraseWebhook {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The node that asks.
    pub node: NodeId,
    /// Deliveries that the node holds and does not attempt any more: these do not stand in the
    /// way.
    pub given_up: Vec<DeliveryId>,
    /// The current moment, against which leases are judged.
    pub now: Timestamp,
}

impl EraseWebhook {
    /// A webhook. The node holds none of its deliveries.
    #[must_use]
    pub const fn new(webhook_id: WebhookId, node: NodeId, now: Timestamp) -> Self {
        Self { webhook_id, node, given_up: Vec::new(), now }
    }

    /// The error of a webhook that cannot be erased now.
    #[must_use]
    pub fn in_flight() -> Error {
        Error::conflict("an attempt of the webhook is in flight: erase it when that has ended")
    }
}

/// The logs that an erasure removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErasedWebhook {
    /// The logs of the webhook, in the order of their identifiers.
    pub logs: Vec<DeliveryId>,
    /// How many of these were still waiting for an output or a client.
    pub withdrawn: u64,
}

impl ErasedWebhook {
    /// These logs; `withdrawn` of them were still waiting.
    #[must_use]
    pub const fn new(logs: Vec<DeliveryId>, withdrawn: u64) -> Self {
        Self { logs, withdrawn }
    }
}
