//! Storing webhooks and reading them back.

use std::{net::IpAddr, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, DeliveryId, OutputId, Timestamp,
    forward::history::History,
    model::{Attempt, Delivery, DeliveryStatus, Reason, Request, Webhook},
    store::{Accept, Accepted, NewDelivery, Stores},
};

use super::{
    accept, backlogs, claim_due, find_log, logs_of, new_delivery, node, rejected, sent, settle,
    try_accept,
};
use crate::sample::{NOW, ODD_TEXT, after, expect_conflict, ids, odd_webhook, race, webhook, with};

/// The log that a new delivery of `webhook` has.
fn expected(webhook: &Webhook, new: &NewDelivery) -> Delivery {
    let NewDelivery { id, output_id, internal, status, reason, detail, due_at, held_by: _, .. } =
        new.clone();
    Delivery {
        id,
        webhook_id: webhook.id,
        output_id,
        internal,
        status,
        due_at,
        attempts: 0,
        reason,
        last: detail.map(|error| Attempt { error: Some(error), ..Attempt::default() }),
        processed: None,
        history: History::default(),
        output_execution_id: None,
        leased_until: None,
        replay: None,
        created_at: webhook.received_at,
        updated_at: webhook.received_at,
    }
}

/// Stores `webhook` and reads it back through its log, the logs of the webhook and a claim.
async fn assert_round_trip(stores: &Stores, webhook: &Webhook) {
    let output = OutputId::generate();
    let delivery = new_delivery(output, NOW);
    accept(stores, webhook, std::slice::from_ref(&delivery)).await;
    let log = find_log(stores, webhook.account_id, delivery.id).await.expect("the log is there");
    assert_eq!(log.webhook, *webhook);
    assert_eq!(logs_of(stores, webhook).await, [log]);

    let claim = webhook_core::store::Claim::new(node(stores).await, output, NOW, 1);
    let claimed = super::claim_as(stores, claim).await;
    assert_eq!(*claimed.deliveries[0].webhook, *webhook);
}

/// Every field survives: odd text, repeated and opaque headers, a binary body, milliseconds.
pub async fn every_field_of_a_webhook_round_trips(stores: &Stores) {
    let odd = odd_webhook(AccountId::generate());
    assert_round_trip(stores, &odd).await;
    for header in ["x-many", "x-opaque", "x-utf8"] {
        let read = logs_of(stores, &odd).await.remove(0).webhook.request.headers;
        let values: Vec<_> = read.get_all(header).iter().collect();
        let sent: Vec<_> = odd.request.headers.get_all(header).iter().collect();
        assert_eq!(values, sent, "values of {header}, in order");
    }
    let early = Timestamp::from_millis(1);
    assert_round_trip(stores, &Webhook { received_at: early, ..webhook(odd.account_id) }).await;
}

/// Addresses survive in their own family, and so does a missing one.
pub async fn any_sender_address_round_trips(stores: &Stores) {
    let addresses = ["0.0.0.0", "255.255.255.255", "::", "::1", "::ffff:192.0.2.1", "2001:db8::a"];
    let parsed = addresses.map(|text| text.parse::<IpAddr>().expect("the address is well-formed"));
    for remote_addr in parsed.map(Some).into_iter().chain([None]) {
        let webhook = Webhook { remote_addr, ..webhook(AccountId::generate()) };
        assert_round_trip(stores, &webhook).await;
    }
}

/// A request without path, query, headers and body is not the same as none.
pub async fn empty_request_round_trips(stores: &Stores) {
    let request = Request {
        method: Method::GET,
        extra_path: String::new(),
        raw_query: String::new(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    assert_round_trip(stores, &Webhook { request, ..webhook(AccountId::generate()) }).await;
}

/// A body of a megabyte survives, and long headers and queries with it.
pub async fn body_of_one_megabyte_round_trips(stores: &Stores) {
    let mut webhook = webhook(AccountId::generate());
    webhook.request.body = (0..1_048_576_u32).map(|n| n.to_le_bytes()[n as usize % 3]).collect();
    webhook.request.raw_query = "ä=1&".repeat(4_000);
    let long = "x".repeat(16_000).parse().expect("the value is visible bytes");
    webhook.request.headers.insert("x-long", long);
    assert_round_trip(stores, &webhook).await;
}

/// Every kind of new delivery survives: due, later, for clients, without output, final.
pub async fn new_deliveries_round_trip(stores: &Stores) {
    let webhook = webhook(AccountId::generate());
    let due = |due_at| new_delivery(OutputId::generate(), due_at);
    let deliveries = [
        due(NOW),
        due(Timestamp::from_millis(4_102_444_800_999)),
        with(due(NOW), |delivery| {
            delivery.internal = true;
            delivery.due_at = None;
        }),
        with(due(NOW), |delivery| {
            delivery.output_id = None;
            delivery.due_at = None;
        }),
        rejected(OutputId::generate()),
        with(rejected(OutputId::generate()), |delivery| delivery.status = DeliveryStatus::Failed),
        with(rejected(OutputId::generate()), |delivery| {
            delivery.status = DeliveryStatus::Sent;
            delivery.reason = None;
            delivery.detail = None;
        }),
    ];
    accept(stores, &webhook, &deliveries).await;
    for new in &deliveries {
        let log = find_log(stores, webhook.account_id, new.id).await.expect("the log is there");
        assert_eq!(log.delivery, expected(&webhook, new));
        assert_eq!(log.webhook, webhook);
    }
}

/// The log says why a delivery was final from the start.
pub async fn reason_of_a_stopped_delivery_is_kept(stores: &Stores) {
    let webhook = webhook(AccountId::generate());
    let detail = Some(ODD_TEXT.to_owned());
    let delivery =
        with(rejected(OutputId::generate()), |delivery| delivery.detail = detail.clone());
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    let log = find_log(stores, webhook.account_id, delivery.id).await.expect("the log is there");
    assert_eq!(log.delivery.status, DeliveryStatus::Rejected);
    assert_eq!(log.delivery.reason, Some(Reason::Rules));
    assert_eq!(log.delivery.last, Some(Attempt { error: detail, ..Attempt::default() }));
}

/// The logs of a webhook are in ID order, whatever the order of the deliveries.
pub async fn logs_of_a_webhook_are_in_id_order(stores: &Stores) {
    let webhook = webhook(AccountId::generate());
    let in_order: Vec<_> = (0..5).map(|_| new_delivery(OutputId::generate(), NOW)).collect();
    let mut shuffled = in_order.clone();
    shuffled.reverse();
    shuffled.swap(0, 2);
    accept(stores, &webhook, &shuffled).await;
    let logs: Vec<_> = logs_of(stores, &webhook).await.into_iter().map(|l| l.delivery).collect();
    let expected: Vec<_> = in_order.iter().map(|new| expected(&webhook, new)).collect();
    assert_eq!(logs, expected);
}

/// Nothing has an unknown ID.
pub async fn absent_log_is_none(stores: &Stores) {
    let absent = webhook(AccountId::generate());
    assert_eq!(find_log(stores, absent.account_id, DeliveryId::generate()).await, None);
    assert_eq!(logs_of(stores, &absent).await, []);
}

/// An account sees the logs of its own webhooks only.
pub async fn logs_of_another_account_are_absent(stores: &Stores) {
    let (mine, other) = (webhook(AccountId::generate()), AccountId::generate());
    let delivery = new_delivery(OutputId::generate(), NOW);
    accept(stores, &mine, std::slice::from_ref(&delivery)).await;
    assert_eq!(find_log(stores, other, delivery.id).await, None);
    let theirs = stores.deliveries.logs_of(other, mine.id).await;
    assert_eq!(theirs.expect("the logs can be read"), []);
    assert_eq!(logs_of(stores, &mine).await.len(), 1);
}

/// Storing a webhook ID again succeeds and changes neither the webhook nor its deliveries.
pub async fn accepting_a_webhook_again_changes_nothing(stores: &Stores) {
    let (first, output) = (webhook(AccountId::generate()), OutputId::generate());
    let delivery = new_delivery(output, NOW);
    accept(stores, &first, std::slice::from_ref(&delivery)).await;
    let logs = logs_of(stores, &first).await;

    accept(stores, &first, std::slice::from_ref(&delivery)).await;
    let bucket_id = first.bucket_id;
    let different = Webhook { id: first.id, bucket_id, ..odd_webhook(first.account_id) };
    let others = [new_delivery(output, NOW), new_delivery(OutputId::generate(), NOW)];
    accept(stores, &different, &others).await;

    assert_eq!(logs_of(stores, &first).await, logs);
    for other in &others {
        assert_eq!(find_log(stores, first.account_id, other.id).await, None);
    }
    assert_eq!(backlogs(stores, NOW).await, [(output, NOW, 1)]);
    assert_eq!(claim_due(stores, node(stores).await, output, NOW).await, [delivery.id]);
}

/// Storing a webhook again after its outcome does not queue it anew.
pub async fn accepting_a_settled_webhook_again_changes_nothing(stores: &Stores) {
    let (webhook, output) = (webhook(AccountId::generate()), OutputId::generate());
    let delivery = new_delivery(output, NOW);
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    let node = node(stores).await;
    assert_eq!(claim_due(stores, node, output, NOW).await, [delivery.id]);
    settle(stores, sent((&webhook, &delivery), node, after(1))).await;
    let logs = logs_of(stores, &webhook).await;

    for again in [delivery, new_delivery(output, NOW)] {
        let accepted = try_accept(stores, &webhook, &[again]).await;
        assert_eq!(accepted.expect("it succeeds"), Accepted::Known);
    }
    assert_eq!(logs_of(stores, &webhook).await, logs);
    assert!(claim_due(stores, node, output, after(2)).await.is_empty());
}

/// A webhook whose delivery has the ID of another one, its own or another webhook's, is
/// refused whole.
pub async fn accepting_a_delivery_id_again_stores_nothing(stores: &Stores) {
    let (first, output) = (webhook(AccountId::generate()), OutputId::generate());
    let taken = new_delivery(output, NOW);
    accept(stores, &first, std::slice::from_ref(&taken)).await;
    let logs = logs_of(stores, &first).await;

    let fresh = new_delivery(output, NOW);
    for deliveries in [[fresh.clone(), taken], [fresh.clone(), fresh]] {
        let second = Webhook { bucket_id: first.bucket_id, ..webhook(first.account_id) };
        expect_conflict(try_accept(stores, &second, &deliveries).await);
        assert_eq!(logs_of(stores, &second).await, []);
    }
    assert_eq!(logs_of(stores, &first).await, logs);
    assert_eq!(backlogs(stores, NOW).await, [(output, NOW, 1)]);
}

/// One webhook that is stored many times at once is stored once, with the deliveries of one call.
pub async fn concurrent_accepts_of_one_webhook_store_it_once(stores: &Stores) {
    for _ in 0..5 {
        let webhook = Arc::new(webhook(AccountId::generate()));
        let outputs = ids(2);
        let results = race(8, |_| {
            let (store, webhook) = (stores.deliveries.clone(), webhook.clone());
            let deliveries: Vec<_> =
                outputs.iter().map(|output| new_delivery(*output, NOW)).collect();
            async move {
                let ids: Vec<_> = deliveries.iter().map(|delivery| delivery.id).collect();
                let accept = Accept::new(webhook, deliveries);
                store.accept(accept).await.map(|accepted| (accepted, ids))
            }
        })
        .await;
        let results = results.into_iter().map(|result| result.expect("each succeeds"));
        let (new, known): (Vec<_>, Vec<_>) =
            results.partition(|(accepted, _)| *accepted == Accepted::Stored);
        assert_eq!((new.len(), known.len()), (1, 7), "one is told that it was the first");
        let stored: Vec<_> =
            logs_of(stores, &webhook).await.iter().map(|log| log.delivery.id).collect();
        assert_eq!(stored, new[0].1, "they are of that call");
        let node = node(stores).await;
        for output in outputs {
            assert_eq!(claim_due(stores, node, output, NOW).await.len(), 1);
        }
    }
}

/// Webhooks that are stored at once are all stored, each with its own deliveries.
pub async fn concurrent_accepts_of_many_webhooks_store_all(stores: &Stores) {
    let (account, output) = (AccountId::generate(), OutputId::generate());
    let stored = race(100, |number| {
        let stores = stores.clone();
        async move {
            let mut webhook = webhook(account);
            webhook.request.body = Bytes::from(format!("body {number}"));
            let deliveries = [new_delivery(output, NOW), rejected(OutputId::generate())];
            let accepted = try_accept(&stores, &webhook, &deliveries).await;
            accepted.map(|accepted| {
                assert_eq!(accepted, Accepted::Stored);
                (webhook, deliveries)
            })
        }
    })
    .await;
    let mut queued = Vec::new();
    for result in stored {
        let (webhook, deliveries) = result.expect("each is new");
        let logs = logs_of(stores, &webhook).await;
        assert_eq!(logs.len(), 2);
        for (log, new) in logs.iter().zip(&deliveries) {
            assert_eq!(log.webhook, webhook);
            assert_eq!(log.delivery, expected(&webhook, new));
        }
        queued.push(deliveries[0].id);
    }
    queued.sort();
    let mut claimed = claim_due(stores, node(stores).await, output, NOW).await;
    claimed.sort();
    assert_eq!(claimed, queued);
}
