//! Cases for [`DeliveryStore`](webhook_core::store::DeliveryStore), by what they begin with.

pub mod accept;
pub mod claim;
pub mod ephemeral;
pub mod lease;
pub mod redeliver;
pub mod seen;
pub mod settle;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use webhook_core::{
    AccountId, DeliveryId, Error, NodeId, OutputId, Timestamp,
    model::{Attempt, DeliveryStatus, Log, Reason, Webhook},
    store::{
        Accept, Accepted, Backlog, Claim, Claimed, Lease, NewDelivery, Origin, Pending, Redeliver,
        Settle, Stores, Sweep,
    },
};

use super::sample::{after, webhook, with};

/// More than any case queues for one output.
pub(super) const ALL: usize = 1_000;

/// A delivery that a case has queued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub(super) id: DeliveryId,
    pub(super) origin: Origin,
}

impl From<(&Webhook, &NewDelivery)> for Queued {
    fn from((webhook, delivery): (&Webhook, &NewDelivery)) -> Self {
        let origin = Origin::new(webhook, delivery.output_id, webhook.received_at);
        Self { id: delivery.id, origin }
    }
}

impl From<(&Webhook, &Redeliver)> for Queued {
    fn from((webhook, Redeliver { deliveries, now, .. }): (&Webhook, &Redeliver)) -> Self {
        let [delivery] = &deliveries[..] else { panic!("one delivery is added") };
        Self { id: delivery.id, origin: Origin::new(webhook, delivery.output_id, *now) }
    }
}

impl From<&Pending> for Queued {
    fn from(pending: &Pending) -> Self {
        Self { id: pending.id, origin: Origin::of(pending) }
    }
}

pub(super) fn new_delivery(output: OutputId, due_at: Timestamp) -> NewDelivery {
    NewDelivery::new(DeliveryId::generate(), Some(output), Some(due_at))
}

/// A delivery that is final already.
pub(super) fn rejected(output: OutputId) -> NewDelivery {
    with(new_delivery(output, after(0)), |delivery| {
        delivery.status = DeliveryStatus::Rejected;
        delivery.reason = Some(Reason::Rules);
        delivery.detail = Some("stopped by the rules".to_owned());
        delivery.due_at = None;
    })
}

pub(super) async fn try_accept(
    stores: &Stores,
    webhook: &Webhook,
    deliveries: &[NewDelivery],
) -> Result<Accepted, Error> {
    let accept = Accept::new(Arc::new(webhook.clone()), deliveries.to_vec());
    stores.deliveries.accept(accept).await
}

pub(super) async fn accept(stores: &Stores, webhook: &Webhook, deliveries: &[NewDelivery]) {
    try_accept(stores, webhook, deliveries).await.expect("the webhook can be stored");
}

/// Stores a plain webhook with one delivery that is due at `due_at`.
pub(super) async fn queue(stores: &Stores, output: OutputId, due_at: Timestamp) -> Queued {
    let webhook = webhook(AccountId::generate());
    let delivery = new_delivery(output, due_at);
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    (&webhook, &delivery).into()
}

/// As [`queue`], `count` times; the identifiers are in order.
pub(super) async fn queue_many(
    stores: &Stores,
    output: OutputId,
    due_at: Timestamp,
    count: usize,
) -> Vec<DeliveryId> {
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        ids.push(queue(stores, output, due_at).await.id);
    }
    ids
}

/// A node whose lease lasts until `until`.
pub(super) async fn node_until(stores: &Stores, until: Timestamp) -> NodeId {
    let node = NodeId::generate();
    extend(stores, node, until).await;
    node
}

/// A node whose lease outlasts the case.
pub(super) async fn node(stores: &Stores) -> NodeId {
    node_until(stores, after(1_000_000)).await
}

pub(super) async fn extend(stores: &Stores, node: NodeId, until: Timestamp) {
    stores
        .deliveries
        .extend_lease(Lease::new(node, 0, until))
        .await
        .expect("the lease can be extended");
}

pub(super) async fn claim_as(stores: &Stores, claim: Claim) -> Claimed {
    stores.deliveries.claim(claim).await.expect("deliveries can be claimed")
}

/// What `node` gets of everything that is due at `now`.
pub(super) async fn claim_due(
    stores: &Stores,
    node: NodeId,
    output_id: OutputId,
    now: Timestamp,
) -> Vec<DeliveryId> {
    ids_of(&take_due(stores, node, output_id, now).await)
}

/// As [`claim_due`], with all that there is to a claim.
pub(super) async fn take_due(
    stores: &Stores,
    node: NodeId,
    output_id: OutputId,
    now: Timestamp,
) -> Claimed {
    let claim = Claim::new(node, output_id, now, ALL);
    claim_as(stores, claim).await
}

pub(super) fn ids_of(claimed: &Claimed) -> Vec<DeliveryId> {
    claimed.deliveries.iter().map(|pending| pending.id).collect()
}

/// A failed attempt after which the delivery is due again at `due_at`.
pub(super) fn retry(
    of: impl Into<Queued>,
    node: NodeId,
    now: Timestamp,
    due_at: Timestamp,
) -> Settle {
    let attempt = Attempt { status_code: 503, ..attempt(b"try again") };
    with(sent(of, node, now), |settle| {
        settle.status = DeliveryStatus::Received;
        settle.due_at = Some(due_at);
        settle.attempt = attempt.into();
    })
}

/// A successful first attempt.
pub(super) fn sent(of: impl Into<Queued>, node: NodeId, now: Timestamp) -> Settle {
    let Queued { id, origin } = of.into();
    with(Settle::new(id, origin, node, now, DeliveryStatus::Sent), |settle| {
        settle.attempts = 1;
        settle.attempt = attempt(b"thanks").into();
    })
}

fn attempt(body: &'static [u8]) -> Attempt {
    let mut response_headers = HeaderMap::new();
    response_headers.insert("content-type", HeaderValue::from_static("text/plain"));
    Attempt {
        status_code: 200,
        response_headers,
        response_body: Bytes::from_static(body),
        duration: std::time::Duration::from_millis(12),
        error: None,
    }
}

pub(super) async fn settle(stores: &Stores, settle: Settle) {
    stores.deliveries.settle(settle).await.expect("the delivery can be settled");
}

pub(super) async fn find_log(stores: &Stores, account: AccountId, id: DeliveryId) -> Option<Log> {
    stores.deliveries.log(account, id).await.expect("the log can be read")
}

pub(super) async fn log(stores: &Stores, queued: Queued) -> Log {
    find_log(stores, queued.origin.account_id, queued.id).await.expect("the log is there")
}

pub(super) async fn logs_of(stores: &Stores, webhook: &Webhook) -> Vec<Log> {
    let logs = stores.deliveries.logs_of(webhook.account_id, webhook.id).await;
    logs.expect("the logs can be read")
}

/// What a node finds at `now` that has nothing to do with anything, in a fixed order, as
/// (output, first due, number).
pub(super) async fn backlogs(stores: &Stores, now: Timestamp) -> Vec<(OutputId, Timestamp, u64)> {
    let sweep = Sweep::new(NodeId::generate(), now, now);
    let found = self::sweep(stores, sweep).await.into_iter();
    let free = |found: Backlog| (found.output_id, found.due_at.expect("a time"), found.pending);
    found.map(free).collect()
}

/// What a sweep finds, in a fixed order.
pub(super) async fn sweep(stores: &Stores, sweep: Sweep) -> Vec<Backlog> {
    let found = stores.deliveries.backlogs(sweep).await;
    let mut found = found.expect("the backlogs can be listed");
    found.sort_by_key(|backlog| (backlog.output_id, backlog.due_at));
    found
}
