//! Statistics.

use std::time::Duration;

use webhook_core::{
    AccountId, DeliveryId, Month, Timestamp,
    model::{DeliveryStatus, Reason},
    store::{CountQuery, LogQuery, Redeliver, Stores},
};

use super::{Outcome, Place, drain, drain_all, oracle::assert_exact, purge, report, reported};
use crate::{
    delivery::{Queued, accept, claim_due, node, rejected, take_due},
    sample::{NOW, after, with},
};

/// Logs of all kinds in two buckets and over two days.
pub(crate) async fn mixed(stores: &Stores, first: Place, second: Place) {
    for number in 0_i64..48 {
        let place = if number % 3 == 0 { second } else { first };
        // Some share a minute, some a millisecond.
        let step = number / 2 * 71 * 60_000 + number / 2 % 5 * 11_777;
        let at = Timestamp::from_millis(NOW.as_millis() + step);
        let later = at + Duration::from_secs(3);
        match number % 10 {
            0 => drop(place.store_settled(stores, at, Outcome::SENT).await),
            1 => drop(place.store_settled(stores, at, Outcome::FAILED).await),
            2 => {
                let due_at = Some(after(1_000_000));
                let retried =
                    Outcome { status: DeliveryStatus::Received, due_at, ..Outcome::FAILED };
                place.store_settled(stores, at, retried).await;
            }
            3 => drop(place.store(stores, at, rejected(place.public)).await),
            4 => drop(place.store(stores, at, place.to_clients()).await),
            5 => drop(place.store(stores, at, place.to_nobody()).await),
            6 => {
                let log = place.store(stores, at, place.to_clients()).await;
                report(stores, place.account, &reported(log.id, later)).await;
            }
            7 => {
                let log = place.store(stores, at, place.to_clients()).await;
                let stalled = with(reported(log.id, later), |report| {
                    report.status = DeliveryStatus::Stalled;
                    report.status_code = 0;
                    report.retries = 2;
                });
                report(stores, place.account, &stalled).await;
            }
            8 => drop(place.store(stores, at, place.to_public()).await),
            _ => {
                let sent = Outcome { attempts: 3, ..Outcome::SENT };
                place.store_settled(stores, at, sent).await;
            }
        }
    }
}

/// Counts are exact at every step of a log's life, whoever takes it.
pub async fn counts_are_exact_after_every_change(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let other = Place::of(place.account);
    let account = place.account;
    mixed(stores, place, other).await;
    assert_exact(stores, account).await;

    let claimed = take_due(stores, node, place.public, after(10)).await.deliveries;
    assert!(!claimed.is_empty());
    assert_exact(stores, account).await;
    for (number, held) in claimed.iter().enumerate() {
        let retried = Outcome {
            status: DeliveryStatus::Received,
            due_at: Some(after(30)),
            ..Outcome::FAILED
        };
        let outcome = if number == 0 { retried } else { Outcome::SENT };
        stores.deliveries.settle(outcome.settle(held, node, after(20))).await.expect("it is held");
    }
    assert_exact(stores, account).await;
    for held in &take_due(stores, node, place.public, after(30)).await.deliveries {
        let outcome = Outcome { attempts: 5, ..Outcome::SENT };
        stores.deliveries.settle(outcome.settle(held, node, after(31))).await.expect("it is held");
    }
    assert_exact(stores, account).await;

    assert_eq!(drain(stores, account, &drain_all(3)).await.logs.len(), 3);
    assert_exact(stores, account).await;
    let stalled = with(LogQuery::new(9), |query| query.status = Some(DeliveryStatus::Stalled));
    for log in super::page(stores, account, &stalled).await.logs {
        let done = with(reported(log.delivery.id, after(90)), |report| report.retries = 4);
        assert!(report(stores, account, &done).await.taken);
    }
    assert_exact(stores, account).await;

    let page = super::page(stores, account, &LogQuery::new(1)).await;
    let webhook_id = page.logs[0].webhook.id;
    let delivery = place.to_public();
    let again = Redeliver::new(webhook_id, vec![delivery], after(200_000));
    stores.deliveries.redeliver(account, again).await.expect("the webhook is stored");
    assert_exact(stores, account).await;

    let gone = purge(stores, after(60_000), 5).await;
    assert_eq!(gone, 5);
    assert_exact(stores, account).await;
    assert!(purge(stores, after(60_000), 1_000).await > 0);
    assert_exact(stores, account).await;
}

/// A log that is stored again is counted once, and a refused outcome not at all.
pub async fn what_changes_nothing_is_not_counted(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let webhook = place.webhook(NOW);
    let delivery = place.to_public();
    let (store, deliveries) = (&stores.deliveries, [delivery.clone()]);
    for _ in 0..3 {
        crate::delivery::accept(stores, &webhook, &deliveries).await;
    }
    for _ in 0..3 {
        let again = Redeliver::new(webhook.id, vec![delivery.clone()], after(9));
        store.redeliver(place.account, again).await.expect("it is stored");
    }
    assert_eq!(claim_due(stores, node, place.public, NOW).await, [delivery.id]);
    let queued = Queued::from((&webhook, &delivery));
    store.settle(Outcome::SENT.settle(queued, node, NOW)).await.expect("it is held");
    store.settle(Outcome::FAILED.settle(queued, node, NOW)).await.expect_err("it is settled");
    let nothing = Outcome::SENT.settle((&webhook, &place.to_public()), node, NOW);
    store.settle(nothing).await.expect_err("it is unknown");
    let days = stores.logs.days(place.account, &CountQuery::default()).await.expect("counts");
    assert_eq!((days.len(), days[0].received, days[0].success, days[0].failures), (1, 1, 1, 0));
    assert_exact(stores, place.account).await;
}

/// Sums stay finite whatever clients and clocks say.
pub async fn counts_take_the_greatest_numbers(stores: &Stores) {
    let place = Place::new();
    for number in 0..3 {
        let log = place.store(stores, after(number), place.to_clients()).await;
        let greatest = with(reported(log.id, after(9)), |report| {
            report.status_code = u16::MAX;
            report.retries = u32::MAX;
            report.duration = Duration::from_nanos(i64::MAX.unsigned_abs());
        });
        report(stores, place.account, &greatest).await;
    }
    assert_exact(stores, place.account).await;
    let minutes = stores.logs.minutes(place.account, &CountQuery::default()).await;
    let minutes = minutes.expect("minutes can be counted");
    assert_eq!(minutes.len(), 1);
    assert_eq!(minutes[0].latency_ms_avg, 3_600_000.0);
    assert_eq!(minutes[0].max_retries, u64::from(u32::MAX) - 1);
}

/// Counts of one account are nobody else's.
pub async fn counts_are_of_one_account(stores: &Stores) {
    let (ours, theirs) = (Place::new(), Place::new());
    ours.store_settled(stores, NOW, Outcome::SENT).await;
    for account in [theirs.account, AccountId::generate()] {
        let query = with(CountQuery::default(), |query| query.bucket_id = Some(ours.bucket));
        for query in [CountQuery::default(), query] {
            let days = stores.logs.days(account, &query).await.expect("days can be counted");
            let minutes = stores.logs.minutes(account, &query).await;
            assert_eq!((days, minutes.expect("minutes")), (Vec::new(), Vec::new()));
        }
    }
}

/// A webhook counts once, in the month in which it was received, for good.
pub async fn received_webhooks_are_counted_by_month(stores: &Stores) {
    let place = Place::new();
    let received = |moment| async move {
        stores.logs.received(place.account, moment).await.expect("webhooks can be counted")
    };
    let Month { start, end } = Month::of(NOW);
    assert_eq!(received(NOW).await, 0);
    let last = Timestamp::from_millis(end.as_millis() - 1);
    let outputs = [place.to_public(), place.to_clients(), rejected(place.public)];
    for moment in [start, NOW, last] {
        let webhook = place.webhook(moment);
        let deliveries =
            outputs.clone().map(|new| with(new, |delivery| delivery.id = DeliveryId::generate()));
        accept(stores, &webhook, &deliveries).await;
        accept(stores, &webhook, &deliveries).await;
    }
    // Anyone could have sent it.
    let refused = with(place.to_nobody(), |delivery| {
        delivery.status = DeliveryStatus::Rejected;
        delivery.reason = Some(Reason::Signature);
    });
    accept(stores, &place.webhook(NOW), &[refused]).await;
    place.store_settled(stores, end, Outcome::SENT).await;
    Place::new().store(stores, NOW, place.to_clients()).await;
    for (moment, expected) in [(start, 3), (NOW, 3), (last, 3), (end, 1)] {
        assert_eq!(received(moment).await, expected);
    }
    assert_eq!(received(Timestamp::from_millis(start.as_millis() - 1)).await, 0);
    assert!(purge(stores, end, 100).await > 0);
    assert_eq!(received(NOW).await, 3, "removing logs takes nothing away");
    assert_exact(stores, place.account).await;
}
