//! Things to store.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, BucketId, DeliveryId, InputId, NodeId, OutputId, Timestamp, WebhookId,
    model::{Attempt, DeliveryStatus, Request, Webhook},
    store::{Accept, Claim, ClaimOrder, NewDelivery, Origin, Settle},
};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_760_000_000_123);

pub(crate) fn webhook(body: impl Into<Bytes>) -> Webhook {
    Webhook {
        id: WebhookId::generate(),
        account_id: AccountId::generate(),
        bucket_id: BucketId::generate(),
        input_id: InputId::generate(),
        request: Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: HeaderMap::new(),
            body: body.into(),
        },
        remote_addr: None,
        secure: false,
        ephemeral: false,
        input_execution_id: None,
        input_failed: false,
        received_at: NOW,
    }
}

pub(crate) fn delivery(output: OutputId) -> NewDelivery {
    NewDelivery {
        id: DeliveryId::generate(),
        output_id: Some(output),
        internal: false,
        status: DeliveryStatus::Received,
        reason: None,
        due_at: Some(NOW),
        held_by: None,
    }
}

/// A webhook with one delivery to `output`.
pub(crate) fn accept(output: OutputId) -> Accept {
    Accept { webhook: Arc::new(webhook("body")), deliveries: vec![delivery(output)] }
}

pub(crate) fn claim(node: NodeId, output_id: OutputId) -> Claim {
    Claim { node, output_id, now: NOW, limit: 1_000, order: ClaimOrder::Due }
}

pub(crate) fn sent(id: DeliveryId, origin: Origin, node: NodeId) -> Settle {
    Settle {
        id,
        origin,
        node,
        now: NOW,
        status: DeliveryStatus::Sent,
        due_at: None,
        attempts: 1,
        attempt: Attempt { status_code: 200, ..Attempt::default() }.into(),
        processed: None,
        output_execution_id: None,
    }
}
