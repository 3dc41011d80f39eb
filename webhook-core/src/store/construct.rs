//! How the questions and answers of a [`DeliveryStore`](super::DeliveryStore) are made.
//! What is no argument has a default and may be set afterwards: so they can grow.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    Accept, Claim, ClaimOrder, Claimed, NewDelivery, NewExecution, Origin, Pending, Redeliver,
    Settle,
};
use crate::{
    clock::Timestamp,
    forward::history::History,
    function::record::RunRecord,
    id::{DeliveryId, NodeId, OutputId, WebhookId},
    model::{DeliveryStatus, Reason, Webhook},
};

impl Accept {
    /// A webhook to be stored with these deliveries.
    #[must_use]
    pub const fn new(webhook: Arc<Webhook>, deliveries: Vec<NewDelivery>) -> Self {
        Self { webhook, deliveries, runs: Vec::new(), seen: Vec::new() }
    }

    /// Whether it is a webhook of the month. What came before is none, and neither is what is not
    /// from whom it says it is: anyone could use up an account's webhooks with that.
    #[must_use]
    pub fn counts(&self) -> bool {
        let refused = |delivery: &NewDelivery| delivery.reason == Some(Reason::Signature);
        self.webhook.checks.duplicate_of.is_none() && !self.deliveries.iter().any(refused)
    }

    /// What is stored of the webhook if it is a duplicate of the one with this log: all but
    /// its body, and a log that says so.
    #[must_use]
    pub fn duplicate_of(&self, first: DeliveryId) -> Self {
        let mut webhook = Webhook::clone(&self.webhook);
        webhook.request.body = Bytes::new();
        // What its function did is not kept either.
        webhook.input_execution_id = None;
        webhook.checks.duplicate_of = Some(first);
        let id = self.deliveries.iter().map(|delivery| delivery.id).min();
        let id = id.unwrap_or_else(|| DeliveryId::from_uuid(webhook.id.as_uuid()));
        let mut log = NewDelivery::new(id, None, None);
        log.status = DeliveryStatus::Rejected;
        log.reason = Some(Reason::Duplicate);
        log.detail = Some(format!("a duplicate of the webhook of log {first}"));
        Self::new(Arc::new(webhook), vec![log])
    }
}

impl NewDelivery {
    /// A `Received` delivery to an output that is not internal, held by nobody.
    #[must_use]
    pub const fn new(
        id: DeliveryId,
        output_id: Option<OutputId>,
        due_at: Option<Timestamp>,
    ) -> Self {
        let (status, internal) = (DeliveryStatus::Received, false);
        Self { id, output_id, internal, status, reason: None, detail: None, due_at, held_by: None }
    }
}

impl NewExecution {
    /// This run, and of the function's runs the newest `keep`.
    #[must_use]
    pub fn new(execution: RunRecord, keep: usize) -> Self {
        Self { execution: Arc::new(execution), keep }
    }
}

impl Redeliver {
    /// Other deliveries of what came in.
    #[must_use]
    pub const fn new(webhook_id: WebhookId, deliveries: Vec<NewDelivery>, now: Timestamp) -> Self {
        Self { webhook_id, deliveries, processed: None, now }
    }
}

impl Claim {
    /// A request for deliveries that are due.
    #[must_use]
    pub const fn new(node: NodeId, output_id: OutputId, now: Timestamp, limit: usize) -> Self {
        Self { node, output_id, now, limit, order: ClaimOrder::Due }
    }
}

impl Claimed {
    /// These deliveries, and when the next is due.
    #[must_use]
    pub const fn new(deliveries: Vec<Pending>, next_due_at: Option<Timestamp>) -> Self {
        Self { deliveries, next_due_at }
    }
}

impl Pending {
    /// A delivery that was never attempted.
    #[must_use]
    pub const fn new(
        id: DeliveryId,
        output_id: OutputId,
        webhook: Arc<Webhook>,
        created_at: Timestamp,
        due_at: Timestamp,
    ) -> Self {
        let history = History::from_bytes(Bytes::new());
        Self {
            id,
            output_id,
            due_at,
            created_at,
            attempts: 0,
            processed: None,
            history,
            replay: None,
            webhook,
        }
    }
}

impl Origin {
    /// Of a delivery of `webhook` that was stored at `created_at`.
    #[must_use]
    pub fn new(webhook: &Webhook, output_id: Option<OutputId>, created_at: Timestamp) -> Self {
        let Webhook { id, account_id, bucket_id, ephemeral, .. } = *webhook;
        Self { webhook_id: id, ephemeral, account_id, bucket_id, output_id, created_at }
    }

    /// Of a delivery that a node holds.
    #[must_use]
    pub fn of(pending: &Pending) -> Self {
        Self::new(&pending.webhook, Some(pending.output_id), pending.created_at)
    }
}

impl Settle {
    /// An outcome without an attempt, after which there is none.
    #[must_use]
    pub fn new(
        id: DeliveryId,
        origin: Origin,
        node: NodeId,
        now: Timestamp,
        status: DeliveryStatus,
    ) -> Self {
        Self {
            id,
            origin,
            node,
            now,
            status,
            due_at: None,
            attempts: 0,
            reason: None,
            attempt: Arc::default(),
            history: None,
            processed: None,
            output_execution_id: None,
            runs: Vec::new(),
        }
    }
}
