//! What waits for agents.

use webhook_core::{model::DeliveryStatus, store::Stores};

use super::{Outcome, Place, cursors, drain, drain_all, report, reported, waiting};
use crate::{
    delivery::{find_log, node, rejected},
    sample::{NOW, after, with},
};

/// What waits for an internal output is there, oldest first, and stays until somebody takes it.
pub async fn waiting_logs_come_oldest_first(stores: &Stores) {
    let place = Place::new();
    let mut stored = place.store_waiting(stores, 4, 3).await;
    stored.extend(place.store_waiting(stores, 0, 3).await);
    stored.sort_unstable();
    for _ in 0..2 {
        assert_eq!(waiting(stores, place.account, &[place.bucket]).await, stored);
    }
    let logs = stores.logs.waiting(place.account, &[place.bucket], None, 9).await;
    for log in logs.expect("waiting logs can be listed") {
        assert_eq!(find_log(stores, place.account, log.delivery.id).await, Some(log));
    }
}

/// Page after page gives all of it.
pub async fn waiting_logs_are_paged(stores: &Stores) {
    let place = Place::new();
    let stored = place.store_waiting(stores, 0, 5).await;
    let buckets = [place.bucket, place.bucket];
    for limit in [1, 2, 5, usize::MAX] {
        let (mut seen, mut last) = (Vec::new(), None);
        loop {
            let logs = stores.logs.waiting(place.account, &buckets, last, limit).await;
            let logs = logs.expect("waiting logs can be listed");
            if logs.is_empty() {
                break;
            }
            assert!(logs.len() <= limit);
            seen.extend(cursors(&logs));
            last = seen.last().copied();
        }
        assert_eq!(seen, stored);
    }
    let none = stores.logs.waiting(place.account, &buckets, None, 0).await;
    assert_eq!(none.expect("waiting logs can be listed"), []);
}

/// Only of internal outputs, only `received`, and nothing that a relay is to deliver.
pub async fn waiting_logs_are_those_of_agents(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let held = with(place.to_public(), |delivery| {
        delivery.held_by = Some(node);
        delivery.internal = true;
    });
    for delivery in [place.to_nobody(), place.to_public(), rejected(place.internal), held] {
        place.store(stores, NOW, delivery).await;
    }
    place.store_settled(stores, NOW, Outcome::SENT).await;
    for status in [DeliveryStatus::Sent, DeliveryStatus::Failed, DeliveryStatus::Stalled] {
        let log = place.store(stores, NOW, place.to_clients()).await;
        let done = with(reported(log.id, after(1)), |report| report.status = status);
        assert!(report(stores, place.account, &done).await.taken);
    }
    assert_eq!(waiting(stores, place.account, &[place.bucket]).await, []);
    let stored = place.store(stores, NOW, place.to_clients()).await;
    assert_eq!(waiting(stores, place.account, &[place.bucket]).await, [stored]);
    drain(stores, place.account, &drain_all(9)).await;
    assert_eq!(waiting(stores, place.account, &[place.bucket]).await, []);
}

/// Only of the buckets that were named, and of the account.
pub async fn waiting_logs_are_of_what_was_asked_for(stores: &Stores) {
    let first = Place::new();
    let (second, stranger) = (Place::of(first.account), Place::new());
    let mut stored = Vec::new();
    for (second_of, place) in [first, second, stranger].into_iter().enumerate() {
        stored.push(place.store(stores, after(second_of as u64), place.to_clients()).await);
    }
    let account = first.account;
    assert_eq!(waiting(stores, account, &[]).await, []);
    assert_eq!(waiting(stores, account, &[second.bucket]).await, [stored[1]]);
    assert_eq!(waiting(stores, account, &[stranger.bucket]).await, []);
    let all = [second.bucket, stranger.bucket, first.bucket];
    assert_eq!(waiting(stores, account, &all).await, stored[..2]);
}
