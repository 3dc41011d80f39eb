//! What clients report.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use webhook_core::{
    AccountId, DeliveryId, NodeId,
    model::{Attempt, Delivery, DeliveryStatus},
    store::{ClientReport, Redeliver, Stores},
};

use super::{
    Outcome, Place, cursors, drain, drain_all, oracle::assert_exact, report, reported, waiting,
};
use crate::{
    delivery::{accept, find_log, node, rejected},
    sample::{NOW, after, expect_conflict, expect_not_found, odd_headers, odd_webhook, race, with},
};

fn odd(id: DeliveryId, status: DeliveryStatus) -> ClientReport {
    with(ClientReport::new(id, after(77), status), |report| {
        report.status_code = 418;
        report.response_headers = odd_headers();
        report.response_body = Bytes::from_iter((0..=u8::MAX).rev());
        report.retries = 6;
        report.duration = Duration::from_nanos(1_234_567_891);
    })
}

/// Makes a delivery what a report like [`odd`] makes of it.
fn become_odd(delivery: &mut Delivery, status: DeliveryStatus, sent: ClientReport) {
    delivery.status = status;
    delivery.attempts = 7;
    delivery.updated_at = after(77);
    delivery.last = Some(Attempt {
        status_code: 418,
        response_headers: sent.response_headers,
        response_body: sent.response_body,
        duration: sent.duration,
        error: None,
    });
}

/// Every field of a report is in the log, and the log in the answer.
pub async fn report_keeps_every_field(stores: &Stores) {
    let place = Place::new();
    let statuses = [
        DeliveryStatus::Sent,
        DeliveryStatus::Failed,
        DeliveryStatus::Rejected,
        DeliveryStatus::Stalled,
        DeliveryStatus::Received,
    ];
    for status in statuses {
        for delivery in [place.to_clients(), place.to_nobody()] {
            let stored = place.store(stores, NOW, delivery).await;
            let mut expected =
                find_log(stores, place.account, stored.id).await.expect("it is stored");
            let sent = odd(stored.id, status);
            let answer = report(stores, place.account, &sent).await;
            become_odd(&mut expected.delivery, status, sent);
            assert_eq!((&answer.log, answer.taken), (&expected, true));
            assert_eq!(find_log(stores, place.account, stored.id).await, Some(expected));
        }
    }
    assert_exact(stores, place.account).await;
}

/// A client that says it is at work leaves the log to be taken.
pub async fn preparing_is_kept_as_received(stores: &Stores) {
    let place = Place::new();
    let stored = place.store(stores, NOW, place.to_clients()).await;
    let answer = report(stores, place.account, &odd(stored.id, DeliveryStatus::Preparing)).await;
    assert_eq!((answer.taken, answer.log.delivery.status), (true, DeliveryStatus::Received));
    assert_eq!(waiting(stores, place.account, &[place.bucket]).await, [stored]);
    assert_exact(stores, place.account).await;
    assert_eq!(cursors(&drain(stores, place.account, &drain_all(9)).await.logs), [stored]);
    assert_exact(stores, place.account).await;
}

/// Only the first final report counts.
pub async fn second_final_report_is_ignored(stores: &Stores) {
    let place = Place::new();
    for status in [DeliveryStatus::Sent, DeliveryStatus::Failed, DeliveryStatus::Rejected] {
        let stored = place.store(stores, NOW, place.to_clients()).await;
        let first = with(reported(stored.id, after(1)), |report| report.status = status);
        let first = report(stores, place.account, &first).await;
        let second = report(stores, place.account, &odd(stored.id, DeliveryStatus::Failed)).await;
        assert_eq!((first.taken, second.taken), (true, false));
        assert_eq!(second.log, first.log);
        assert_eq!(find_log(stores, place.account, stored.id).await, Some(first.log));
    }
}

/// A client that could not reach its target may say later that it did.
pub async fn stalled_log_can_be_reported_again(stores: &Stores) {
    let place = Place::new();
    let stored = place.store(stores, NOW, place.to_clients()).await;
    assert!(report(stores, place.account, &odd(stored.id, DeliveryStatus::Stalled)).await.taken);
    let done = report(stores, place.account, &reported(stored.id, after(90))).await;
    assert_eq!((done.taken, done.log.delivery.status), (true, DeliveryStatus::Sent));
    assert_exact(stores, place.account).await;
}

/// What a relay has to attempt, or was final from the start, is not for clients.
pub async fn report_leaves_relays_alone(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let held = with(place.to_public(), |delivery| delivery.held_by = Some(node));
    for delivery in [place.to_public(), held, rejected(place.public)] {
        let stored = place.store(stores, NOW, delivery).await;
        let before = find_log(stores, place.account, stored.id).await;
        let answer = report(stores, place.account, &reported(stored.id, after(1))).await;
        assert_eq!((Some(&answer.log), answer.taken), (before.as_ref(), false));
        assert_eq!(find_log(stores, place.account, stored.id).await, before);
    }
    assert_exact(stores, place.account).await;
}

/// There is no reporting on what is not there, or is another account's.
pub async fn report_on_a_missing_log_is_not_found(stores: &Stores) {
    let place = Place::new();
    let stored = place.store(stores, NOW, place.to_clients()).await;
    let before = find_log(stores, place.account, stored.id).await;
    let missing = reported(DeliveryId::generate(), NOW);
    expect_not_found(stores.logs.report(place.account, &missing).await);
    let theirs = reported(stored.id, NOW);
    expect_not_found(stores.logs.report(AccountId::generate(), &theirs).await);
    assert_eq!(find_log(stores, place.account, stored.id).await, before);
}

/// After the last final report the content of an ephemeral webhook is gone, from the answer too.
pub async fn report_erases_ephemeral_content(stores: &Stores) {
    let place = Place::new();
    let webhook = odd_webhook(place.account);
    let (first, second) = (place.to_clients(), place.to_clients());
    accept(stores, &webhook, &[first.clone(), second.clone()]).await;
    let stalled = report(stores, place.account, &odd(first.id, DeliveryStatus::Stalled)).await;
    assert_eq!(stalled.log.webhook, webhook);
    let one = report(stores, place.account, &reported(first.id, after(1))).await;
    assert_eq!(one.log.webhook, webhook);
    let last = report(stores, place.account, &reported(second.id, after(1))).await;
    let again = report(stores, place.account, &reported(second.id, after(1))).await;
    for log in [last.log, again.log] {
        let request = log.webhook.request;
        assert!(request.body.is_empty() && request.headers.is_empty());
        assert_eq!(request.raw_query, "");
    }
}

/// A consumer that drained a log may say how that ended, once.
pub async fn first_outcome_after_a_drain_counts(stores: &Stores) {
    let place = Place::new();
    for status in [DeliveryStatus::Failed, DeliveryStatus::Sent, DeliveryStatus::Rejected] {
        for delivery in [place.to_clients(), place.to_nobody()] {
            let stored = place.store(stores, NOW, delivery).await;
            let mut expected = drain(stores, place.account, &drain_all(1)).await.logs.remove(0);
            let sent = odd(stored.id, status);
            let answer = report(stores, place.account, &sent).await;
            become_odd(&mut expected.delivery, status, sent);
            assert_eq!((&answer.log, answer.taken), (&expected, true));
            assert_exact(stores, place.account).await;
            for later in [DeliveryStatus::Sent, DeliveryStatus::Failed, DeliveryStatus::Stalled] {
                let later = with(reported(stored.id, after(90)), |report| report.status = later);
                let answer = report(stores, place.account, &later).await;
                assert_eq!((&answer.log, answer.taken), (&expected, false));
            }
            assert_eq!(find_log(stores, place.account, stored.id).await, Some(expected));
        }
    }
    assert_exact(stores, place.account).await;
}

/// What was drained never waits again, whatever is reported before its end.
pub async fn drained_log_is_not_handed_out_again(stores: &Stores) {
    let place = Place::new();
    let stored = place.store(stores, NOW, place.to_clients()).await;
    let drained = drain(stores, place.account, &drain_all(9)).await.logs.remove(0);
    for status in [DeliveryStatus::Preparing, DeliveryStatus::Received] {
        let answer = report(stores, place.account, &odd(stored.id, status)).await;
        assert_eq!((&answer.log, answer.taken), (&drained, false));
    }
    let stalled = report(stores, place.account, &odd(stored.id, DeliveryStatus::Stalled)).await;
    assert_eq!((stalled.taken, stalled.log.delivery.status), (true, DeliveryStatus::Stalled));
    assert_exact(stores, place.account).await;
    let back = report(stores, place.account, &odd(stored.id, DeliveryStatus::Received)).await;
    assert_eq!((back.taken, back.log), (false, stalled.log));
    assert_eq!(drain(stores, place.account, &drain_all(9)).await.logs, []);
    let failed = report(stores, place.account, &odd(stored.id, DeliveryStatus::Failed)).await;
    assert_eq!((failed.taken, failed.log.delivery.status), (true, DeliveryStatus::Failed));
    assert!(!report(stores, place.account, &reported(stored.id, after(90))).await.taken);
    assert_exact(stores, place.account).await;
}

/// The content of a drained ephemeral webhook stays erased until the consumer has
/// reported, and nothing is sent of it again.
pub async fn report_after_a_drain_brings_no_content_back(stores: &Stores) {
    let place = Place::new();
    let webhook = odd_webhook(place.account);
    let delivery = place.to_clients();
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    assert_eq!(drain(stores, place.account, &drain_all(9)).await.logs[0].webhook, webhook);
    for status in [DeliveryStatus::Stalled, DeliveryStatus::Failed] {
        let answer = report(stores, place.account, &odd(delivery.id, status)).await;
        assert_eq!((answer.taken, answer.log.delivery.status), (true, status));
        assert!(answer.log.webhook.request.body.is_empty());
        let redeliver = Redeliver::new(webhook.id, vec![place.to_public()], after(78));
        expect_conflict(stores.deliveries.redeliver(place.account, redeliver).await);
    }
    assert_exact(stores, place.account).await;
}

/// Of several final reports at once one is taken, and it is the one that stays.
pub async fn concurrent_reports_take_one(stores: &Stores) {
    let place = Place::new();
    for number in 0..6 {
        let stored = place.store(stores, NOW, place.to_clients()).await;
        if number % 2 == 0 {
            drain(stores, place.account, &drain_all(9)).await;
        }
        let answers = race(6, |number| {
            let stores = stores.clone();
            let status_code = 500 + number as u16;
            let sent = with(reported(stored.id, after(1)), |report| {
                report.status = DeliveryStatus::Failed;
                report.status_code = status_code;
            });
            async move { (report(&stores, place.account, &sent).await, status_code) }
        })
        .await;
        let taken: Vec<_> = answers.iter().filter(|(answer, _)| answer.taken).collect();
        assert_eq!(taken.len(), 1);
        let log = find_log(stores, place.account, stored.id).await.expect("it is stored");
        assert_eq!(log.delivery.last.map(|last| last.status_code), Some(taken[0].1));
    }
    assert_exact(stores, place.account).await;
}

/// A report that meets a drain is kept, and who reported first leaves nothing to drain.
pub async fn concurrent_report_and_drain_keep_the_report(stores: &Stores) {
    let place = Place::new();
    for _ in 0..10 {
        let stored = place.store(stores, NOW, place.to_clients()).await;
        race(2, |number| {
            let stores = stores.clone();
            async move {
                if number == 0 {
                    let failed = odd(stored.id, DeliveryStatus::Failed);
                    assert!(report(&stores, place.account, &failed).await.taken);
                } else {
                    drain(&stores, place.account, &drain_all(9)).await;
                }
            }
        })
        .await;
        let log = find_log(stores, place.account, stored.id).await.expect("it is stored");
        assert_eq!(log.delivery.status, DeliveryStatus::Failed);
        assert_eq!(log.delivery.last.map(|last| last.status_code), Some(418));
        assert!(!report(stores, place.account, &reported(stored.id, after(99))).await.taken);
    }
    assert_exact(stores, place.account).await;
}

/// A report that comes as a relay hands a delivery over is taken after that, or not at all.
pub async fn concurrent_report_and_settle_exclude_each_other(stores: &Stores) {
    let (place, node) = (Place::new(), NodeId::generate());
    for _ in 0..10 {
        let held = with(place.to_public(), |delivery| {
            delivery.internal = true;
            delivery.held_by = Some(node);
        });
        let stored = place.queue(stores, NOW, &held).await;
        let left = Outcome { status: DeliveryStatus::Received, attempts: 0, ..Outcome::SENT };
        let left = with(left.settle(stored, node, after(1)), |settle| {
            settle.attempt = Arc::default();
            settle.processed = Some(Arc::new(crate::sample::odd_request()));
        });
        let taken = race(2, |number| {
            let (stores, left) = (stores.clone(), left.clone());
            async move {
                if number == 0 {
                    report(&stores, place.account, &reported(stored.id, after(2))).await.taken
                } else {
                    stores.deliveries.settle(left).await.expect("it is pending until then");
                    false
                }
            }
        })
        .await;
        let log = find_log(stores, place.account, stored.id).await.expect("it is stored");
        let sent = log.delivery.status == DeliveryStatus::Sent;
        assert_eq!((sent, log.delivery.due_at), (taken[0], None));
        assert!(log.delivery.processed.is_some(), "the settle is never lost");
    }
    assert_exact(stores, place.account).await;
}
