//! Handing webhooks to consumers.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};
use webhook_core::{
    BucketId, OutputId,
    model::{DeliveryStatus, Webhook},
    store::{LogCursor, Stores},
};

use super::{
    Outcome, Place, cursors, drain, drain_all, drain_concurrently, oracle::assert_exact, report,
    reported,
};
use crate::{
    delivery::{accept, claim_due, find_log, node, rejected},
    sample::{NOW, after, odd_request, odd_webhook, with},
};

/// The oldest webhooks come first, each once, and `has_more` says when to come back.
pub async fn drain_takes_the_oldest_once(stores: &Stores) {
    let place = Place::new();
    let mut stored = place.store_waiting(stores, 10, 3).await;
    stored.extend(place.store_waiting(stores, 5, 2).await);
    stored.sort_unstable();
    let first = drain(stores, place.account, &drain_all(3)).await;
    assert_eq!((cursors(&first.logs), first.has_more), (stored[..3].to_vec(), true));
    let second = drain(stores, place.account, &drain_all(3)).await;
    assert_eq!((cursors(&second.logs), second.has_more), (stored[3..].to_vec(), false));
    let third = drain(stores, place.account, &drain_all(3)).await;
    assert_eq!((third.logs, third.has_more), (Vec::new(), false));
}

/// A drained log is whole, `sent` from then on, and says when.
pub async fn drained_logs_are_sent(stores: &Stores) {
    let place = Place::new();
    let webhook = Webhook { ephemeral: false, ..odd_webhook(place.account) };
    for delivery in [place.to_clients(), place.to_nobody()] {
        let webhook = Webhook { id: webhook_core::WebhookId::generate(), ..webhook.clone() };
        accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
        let before = find_log(stores, place.account, delivery.id).await.expect("it is stored");
        let log = drain(stores, place.account, &drain_all(9)).await.logs.remove(0);
        let mut expected = before;
        expected.delivery.status = DeliveryStatus::Sent;
        expected.delivery.updated_at = after(500);
        assert_eq!(log, expected);
        assert_eq!(find_log(stores, place.account, delivery.id).await, Some(log));
    }
}

/// What a relay delivers, what is final and what is stalled is not drained.
pub async fn drain_takes_only_what_waits(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let held = with(place.to_public(), |delivery| {
        delivery.held_by = Some(node);
        delivery.internal = true;
    });
    for delivery in [place.to_public(), rejected(place.internal), held] {
        place.store(stores, NOW, delivery).await;
    }
    let stalled = place.store(stores, NOW, place.to_clients()).await;
    let stalled =
        with(reported(stalled.id, after(1)), |report| report.status = DeliveryStatus::Stalled);
    assert!(report(stores, place.account, &stalled).await.taken);
    place.store_settled(stores, NOW, Outcome::SENT).await;
    Place::new().store(stores, NOW, place.to_clients()).await;
    let drained = drain(stores, place.account, &drain_all(9)).await;
    assert_eq!((drained.logs, drained.has_more), (Vec::new(), false));
}

/// Consumers of some buckets or of one output get nothing else.
pub async fn drain_is_of_what_was_asked_for(stores: &Stores) {
    let first = Place::new();
    let (second, third) = (Place::of(first.account), Place::of(first.account));
    let mut stored = Vec::new();
    for place in [first, second, third] {
        let waiting = place.store(stores, after(1), place.to_clients()).await;
        let other = Place { internal: OutputId::generate(), ..place };
        let other = other.store(stores, after(2), other.to_clients()).await;
        let nobody = place.store(stores, after(3), place.to_nobody()).await;
        stored.push([waiting, other, nobody]);
    }
    let of = |buckets: Vec<BucketId>, output_id| {
        with(drain_all(9), |drain| {
            drain.buckets = buckets;
            drain.output_id = output_id;
        })
    };
    let asked = [
        (of(vec![second.bucket], Some(first.internal)), vec![]),
        (of(vec![BucketId::generate()], None), vec![]),
        (of(vec![], Some(first.internal)), vec![stored[0][0]]),
        (of(vec![third.bucket, third.bucket], Some(third.internal)), vec![stored[2][0]]),
        (
            of(vec![first.bucket, third.bucket], None),
            vec![stored[0][1], stored[2][1], stored[0][2], stored[2][2]],
        ),
        (of(vec![], None), stored[1].to_vec()),
    ];
    for (asked, expected) in asked {
        let mut taken = cursors(&drain(stores, first.account, &asked).await.logs);
        assert!(taken.is_sorted_by_key(|log| log.created_at), "the oldest first");
        taken.sort_unstable_by_key(|log| (log.created_at, expected.iter().position(|e| e == log)));
        assert_eq!(taken, expected, "{asked:?}");
    }
}

/// A consumer says where it begins, by age and by place; both hold.
pub async fn drain_begins_where_it_is_told(stores: &Stores) {
    let place = Place::new();
    let stored = place.store_waiting(stores, 0, 8).await;
    let asked = [
        (with(drain_all(9), |drain| drain.since = after(7)), vec![stored[7]]),
        (with(drain_all(9), |drain| drain.after = Some(stored[5])), vec![stored[6]]),
        (
            with(drain_all(9), |drain| {
                drain.after = Some(stored[1]);
                drain.since = after(4);
            }),
            stored[4..6].to_vec(),
        ),
        (
            with(drain_all(9), |drain| {
                drain.after = Some(stored[2]);
                drain.since = after(1);
            }),
            vec![stored[3]],
        ),
        (drain_all(9), stored[..3].to_vec()),
    ];
    for (asked, expected) in asked {
        assert_eq!(
            cursors(&drain(stores, place.account, &asked).await.logs),
            expected,
            "{asked:?}"
        );
    }
}

/// A limit of nothing takes nothing; there is no limit that is too large.
pub async fn drain_takes_any_limit(stores: &Stores) {
    let place = Place::new();
    let stored = place.store_waiting(stores, 0, 3).await;
    let none = drain(stores, place.account, &drain_all(0)).await;
    assert_eq!((none.logs, none.has_more), (Vec::new(), true));
    let all = drain(stores, place.account, &drain_all(usize::MAX)).await;
    assert_eq!((cursors(&all.logs), all.has_more), (stored, false));
}

/// What is drained is nobody else's.
pub async fn drain_is_of_one_account(stores: &Stores) {
    let (ours, theirs) = (Place::new(), Place::new());
    let stored = theirs.store_waiting(stores, 0, 2).await;
    let asked = with(drain_all(9), |drain| {
        drain.buckets = vec![theirs.bucket];
        drain.output_id = Some(theirs.internal);
    });
    for asked in [asked, drain_all(9)] {
        assert_eq!(drain(stores, ours.account, &asked).await.logs, []);
    }
    assert_eq!(cursors(&drain(stores, theirs.account, &drain_all(9)).await.logs), stored);
}

/// The one who drains an ephemeral webhook gets its content, and nobody after.
pub async fn drained_ephemeral_content_is_seen_once(stores: &Stores) {
    let place = Place::new();
    let webhook = odd_webhook(place.account);
    let other = Place { internal: OutputId::generate(), ..place };
    accept(stores, &webhook, &[place.to_clients(), other.to_clients()]).await;
    let first = drain(stores, place.account, &drain_all(1)).await.logs.remove(0);
    assert_eq!(first.webhook, webhook);
    let second = drain(stores, place.account, &drain_all(1)).await.logs.remove(0);
    assert_eq!(second.webhook, webhook, "the first one was not the last");
    for id in [first.delivery.id, second.delivery.id] {
        let log = find_log(stores, place.account, id).await.expect("the log stays");
        assert!(log.webhook.request.body.is_empty() && log.webhook.request.headers.is_empty());
    }
}

/// An internal delivery whose function ran on a relay is drained with what the function made.
pub async fn drained_log_has_what_the_function_made(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let delivery = with(place.to_public(), |delivery| {
        delivery.internal = true;
        delivery.held_by = Some(node);
    });
    let stored = place.queue(stores, NOW, &delivery).await;
    assert_eq!(drain(stores, place.account, &drain_all(9)).await.logs, []);
    let left = Outcome { status: DeliveryStatus::Received, attempts: 0, ..Outcome::SENT };
    let left = with(left.settle(stored, node, after(1)), |settle| {
        settle.attempt = Default::default();
        settle.processed = Some(Arc::new(odd_request()));
    });
    stores.deliveries.settle(left).await.expect("the node holds it");
    assert_exact(stores, place.account).await;
    let drained = drain(stores, place.account, &drain_all(9)).await.logs.remove(0);
    assert_eq!(drained.delivery.processed, Some(odd_request()));
    assert_eq!((drained.delivery.attempts, drained.delivery.id), (0, stored.id));
    assert_exact(stores, place.account).await;
    assert!(claim_due(stores, node, place.public, after(900)).await.is_empty());
}

/// Ten consumers that drain at once share nothing and leave nothing.
pub async fn concurrent_drains_never_share(stores: &Stores) {
    let place = Place::new();
    let mut stored = place.store_waiting(stores, 0, 150).await;
    for number in 0..50 {
        stored.push(place.store(stores, after(number), place.to_nobody()).await);
    }
    let at_once = Arc::new(AtomicBool::new(true));
    let taken = drain_concurrently(stores, place.account, 10, 7, at_once).await;
    assert!(taken.iter().all(|some| some.len() <= stored.len()));
    assert_eq!(sorted(taken.concat()), sorted(stored));
    assert_exact(stores, place.account).await;
}

/// Consumers that drain while webhooks come in get each of them once.
pub async fn concurrent_drains_and_accepts_lose_nothing(stores: &Stores) {
    let place = Place::new();
    let done = Arc::new(AtomicBool::new(false));
    let senders = async {
        let stored = crate::sample::race(4, |number| {
            let stores = stores.clone();
            async move { place.store_waiting(&stores, number as u64 * 100, 25).await }
        })
        .await;
        done.store(true, SeqCst);
        stored.concat()
    };
    let consumers = drain_concurrently(stores, place.account, 4, 5, done.clone());
    let (stored, taken) = futures_util::join!(senders, consumers);
    assert_eq!(stored.len(), 100);
    assert_eq!(sorted(taken.concat()), sorted(stored));
}

fn sorted(mut cursors: Vec<LogCursor>) -> Vec<LogCursor> {
    cursors.sort_unstable();
    cursors
}
