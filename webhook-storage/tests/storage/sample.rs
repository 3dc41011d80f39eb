//! Things to store.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, BucketId, DeliveryId, InputId, NodeId, OutputId, Timestamp, WebhookId,
    model::{Attempt, DeliveryStatus, Request, Webhook},
    store::{Accept, Claim, NewDelivery, Origin, Settle, Sweep},
};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_760_000_000_123);

/// The same, changed.
pub(crate) fn with<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

pub(crate) fn webhook(body: impl Into<Bytes>) -> Webhook {
    let request = Request::new(Method::POST, HeaderMap::new(), body.into());
    let place = (AccountId::generate(), BucketId::generate(), InputId::generate());
    Webhook::new(WebhookId::generate(), place, request, NOW)
}

pub(crate) fn delivery(output: OutputId) -> NewDelivery {
    NewDelivery::new(DeliveryId::generate(), Some(output), Some(NOW))
}

/// A webhook with one delivery to `output`.
pub(crate) fn accept(output: OutputId) -> Accept {
    Accept::new(Arc::new(webhook("body")), vec![delivery(output)])
}

pub(crate) fn claim(node: NodeId, output_id: OutputId) -> Claim {
    Claim::new(node, output_id, NOW, 1_000)
}

pub(crate) fn sent(id: DeliveryId, origin: Origin, node: NodeId) -> Settle {
    with(Settle::new(id, origin, node, NOW, DeliveryStatus::Sent), |settle| {
        settle.attempts = 1;
        settle.attempt = Attempt { status_code: 200, ..Attempt::default() }.into();
    })
}

/// A look for what nobody holds.
pub(crate) fn sweep() -> Sweep {
    Sweep::new(NodeId::generate(), NOW, NOW)
}
