//! What the bounds of the store promise.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};

use super::MemoryStore;
use crate::{
    clock::Timestamp,
    error::ErrorKind,
    id::{AccountId, BucketId, DeliveryId, InputId, NodeId, OutputId, WebhookId},
    model::{Attempt, DeliveryStatus, Log, Request, Webhook},
    store::{
        Accept, CountQuery, DeliveryStore, Lease, LogQuery, LogStore, NewDelivery, Origin,
        Redeliver, Settle,
    },
};

const NOW: Timestamp = Timestamp::from_secs(1_760_000_000);

/// What a test stores: to an output, to nobody in particular, or a log from the start.
#[derive(Clone, Copy)]
enum To {
    Output,
    Agent,
    Nobody,
    Rejected,
}

struct Stored {
    webhook: Arc<Webhook>,
    delivery: DeliveryId,
    origin: Origin,
}

fn new(to: To, body_bytes: usize) -> (Stored, Accept) {
    let request = Request::new(Method::POST, HeaderMap::new(), Bytes::from(vec![7; body_bytes]));
    let place = (AccountId::generate(), BucketId::generate(), InputId::generate());
    let webhook = Arc::new(Webhook::new(WebhookId::generate(), place, request, NOW));
    let delivery = NewDelivery {
        id: DeliveryId::generate(),
        output_id: (!matches!(to, To::Nobody)).then(OutputId::generate),
        internal: matches!(to, To::Agent),
        status: match to {
            To::Rejected => DeliveryStatus::Rejected,
            _ => DeliveryStatus::Received,
        },
        reason: None,
        detail: None,
        due_at: matches!(to, To::Output).then_some(NOW),
        held_by: None,
    };
    let origin = Origin::new(&webhook, delivery.output_id, NOW);
    let stored = Stored { webhook: webhook.clone(), delivery: delivery.id, origin };
    (stored, Accept::new(webhook, vec![delivery]))
}

async fn store(store: &MemoryStore, to: To) -> Stored {
    let (stored, accept) = new(to, 0);
    store.accept(accept).await.expect("there is room");
    stored
}

async fn refusal(store: &MemoryStore, body_bytes: usize) -> ErrorKind {
    let (_, accept) = new(To::Output, body_bytes);
    store.accept(accept).await.expect_err("there is no room").kind()
}

async fn log(store: &MemoryStore, stored: &Stored) -> Option<Log> {
    store.log(stored.webhook.account_id, stored.delivery).await.expect("the log can be read")
}

fn outcome(stored: &Stored, response_bytes: usize, due_at: Option<Timestamp>) -> Settle {
    Settle {
        id: stored.delivery,
        origin: stored.origin,
        node: NodeId::generate(),
        now: NOW,
        status: if due_at.is_some() { DeliveryStatus::Received } else { DeliveryStatus::Sent },
        due_at,
        attempts: 1,
        reason: None,
        history: None,
        attempt: Arc::new(Attempt {
            response_body: Bytes::from(vec![7; response_bytes]),
            ..Attempt::default()
        }),
        processed: None,
        output_execution_id: None,
        runs: Vec::new(),
    }
}

async fn finish(store: &MemoryStore, stored: &Stored) {
    store.settle(outcome(stored, 0, None)).await.expect("the delivery is pending");
}

#[tokio::test]
async fn oldest_finished_webhook_goes_first() {
    let memory = MemoryStore::with_capacity(3);
    let unfinished = store(&memory, To::Output).await;
    let older = store(&memory, To::Output).await;
    let newer = store(&memory, To::Rejected).await;
    finish(&memory, &older).await;

    let next = store(&memory, To::Output).await;
    assert_eq!(log(&memory, &older).await, None);
    for kept in [&unfinished, &newer, &next] {
        assert!(log(&memory, kept).await.is_some());
    }
    store(&memory, To::Output).await;
    assert_eq!(log(&memory, &newer).await, None);
    assert!(log(&memory, &unfinished).await.is_some());
}

#[tokio::test]
async fn store_full_of_unfinished_webhooks_is_unavailable_until_one_is_finished() {
    let memory = MemoryStore::with_capacity(2);
    let (first, second) = (store(&memory, To::Output).await, store(&memory, To::Agent).await);
    let (_, accept) = new(To::Rejected, 0);
    let error = memory.accept(accept.clone()).await.expect_err("both are unfinished");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.retry_after().is_some());
    for kept in [&first, &second] {
        assert!(log(&memory, kept).await.is_some());
    }

    let again = Accept::new(first.webhook.clone(), Vec::new());
    memory.accept(again).await.expect("a webhook that is stored needs no room");

    finish(&memory, &first).await;
    memory.accept(accept).await.expect("a finished one makes room");
    assert_eq!(log(&memory, &first).await, None);
    assert!(log(&memory, &second).await.is_some());
}

#[tokio::test]
async fn webhooks_that_wait_for_nobody_in_particular_go_after_finished_ones() {
    let memory = MemoryStore::with_capacity(2);
    let unaddressed = store(&memory, To::Nobody).await;
    let finished = store(&memory, To::Rejected).await;
    store(&memory, To::Output).await;
    assert_eq!(log(&memory, &finished).await, None);
    assert!(log(&memory, &unaddressed).await.is_some());
    store(&memory, To::Output).await;
    assert_eq!(log(&memory, &unaddressed).await, None);
    assert_eq!(refusal(&memory, 0).await, ErrorKind::Unavailable);
}

#[tokio::test]
async fn webhooks_of_deleted_outputs_are_finished() {
    let memory = MemoryStore::with_capacity(1);
    let stored = store(&memory, To::Output).await;
    let output = log(&memory, &stored).await.and_then(|log| log.delivery.output_id);
    memory.queue().give_up(output.expect("it has an output"));
    let delivery = log(&memory, &stored).await.expect("the log stays").delivery;
    assert_eq!(delivery.status, DeliveryStatus::Failed);
    let reason = delivery.last.and_then(|last| last.error);
    assert_eq!(reason.as_deref(), Some("the output was deleted"));
    store(&memory, To::Output).await;
    assert_eq!(log(&memory, &stored).await, None);
}

#[tokio::test]
async fn bytes_are_bounded_too() {
    let memory = MemoryStore::default().with_max_bytes(100_000);
    let (first, accept) = new(To::Output, 60_000);
    memory.accept(accept).await.expect("there is room");
    assert_eq!(refusal(&memory, 60_000).await, ErrorKind::Unavailable);
    assert_eq!(refusal(&memory, 100_000).await, ErrorKind::TooLarge);
    finish(&memory, &first).await;
    let (second, accept) = new(To::Output, 60_000);
    memory.accept(accept).await.expect("the finished one makes room");
    assert_eq!(log(&memory, &first).await, None);
    assert!(log(&memory, &second).await.is_some());
}

#[tokio::test]
async fn refused_webhook_pushes_out_nothing() {
    let memory = MemoryStore::default().with_max_bytes(100_000);
    let (unfinished, accept) = new(To::Output, 60_000);
    memory.accept(accept).await.expect("there is room");
    let finished = store(&memory, To::Rejected).await;
    assert_eq!(refusal(&memory, 50_000).await, ErrorKind::Unavailable);
    assert!(log(&memory, &finished).await.is_some());
    assert!(log(&memory, &unfinished).await.is_some());
}

#[tokio::test]
async fn responses_push_out_finished_webhooks_only() {
    let memory = MemoryStore::default().with_max_bytes(100_000);
    let finished = store(&memory, To::Rejected).await;
    let (first, second) = (store(&memory, To::Output).await, store(&memory, To::Output).await);
    for stored in [&first, &second] {
        let failed = outcome(stored, 80_000, Some(NOW));
        memory.settle(failed).await.expect("the delivery is pending");
    }
    assert_eq!(log(&memory, &finished).await, None);
    for stored in [&first, &second] {
        let last = log(&memory, stored).await.and_then(|log| log.delivery.last);
        assert_eq!(last.expect("it was attempted").response_body.len(), 80_000);
    }
    assert_eq!(refusal(&memory, 0).await, ErrorKind::Unavailable);

    // A smaller response in place of the large one gives its room back.
    for stored in [&first, &second] {
        memory.settle(outcome(stored, 0, Some(NOW))).await.expect("the delivery is pending");
    }
    store(&memory, To::Output).await;
}

#[tokio::test]
async fn nothing_is_left_of_webhooks_that_went() {
    let memory = MemoryStore::with_capacity(1);
    for _ in 0..10 {
        let stored = store(&memory, To::Output).await;
        memory
            .extend_lease(Lease::new(NodeId::generate(), 0, NOW))
            .await
            .expect("a lease can be extended");
        finish(&memory, &stored).await;
    }
    let last = store(&memory, To::Output).await;
    let claim = crate::store::Claim {
        node: NodeId::generate(),
        output_id: OutputId::generate(),
        now: NOW,
        limit: 1,
        order: crate::store::ClaimOrder::Due,
    };
    memory.claim(claim).await.expect("deliveries can be claimed");
    let queue = memory.queue();
    assert!(queue.rows.contains_key(&last.delivery));
    assert_eq!((queue.webhooks.len(), queue.rows.len(), queue.index.outputs.len()), (1, 1, 1));
    assert_eq!((queue.index.held.len(), queue.leases.len()), (0, 0));
}

#[tokio::test]
async fn store_without_capacity_takes_nothing() {
    assert_eq!(refusal(&MemoryStore::with_capacity(0), 0).await, ErrorKind::Unavailable);
}

#[tokio::test]
async fn webhooks_that_are_pushed_out_are_listed_and_counted_no_longer() {
    let memory = MemoryStore::with_capacity(1);
    let gone = store(&memory, To::Rejected).await;
    let kept = store(&memory, To::Nobody).await;
    for (stored, count) in [(gone, 0), (kept, 1)] {
        let account = stored.webhook.account_id;
        let page = memory.logs(account, &LogQuery { limit: 9, ..LogQuery::default() }).await;
        let page = page.expect("logs can be listed");
        assert_eq!((page.logs.len(), page.total), (count, count as u64));
        let days = memory.days(account, &CountQuery::default()).await.expect("days");
        assert_eq!(days.len(), count);
    }
}

#[tokio::test]
async fn webhook_that_is_sent_again_needs_room_and_keeps_it() {
    let memory = MemoryStore::with_capacity(1);
    let stored = store(&memory, To::Rejected).await;
    let again = || {
        let (_, accept) = new(To::Output, 0);
        Redeliver::new(stored.webhook.id, accept.deliveries, NOW)
    };
    memory.redeliver(stored.webhook.account_id, again()).await.expect("its room is its own");
    assert_eq!(refusal(&memory, 0).await, ErrorKind::Unavailable);
    assert!(log(&memory, &stored).await.is_some());
    memory.redeliver(stored.webhook.account_id, again()).await.expect("it is there already");
}
