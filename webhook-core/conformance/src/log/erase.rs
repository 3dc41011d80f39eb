//! Erasing webhooks.

use std::sync::Arc;

use webhook_core::{
    AccountId, DeliveryId, Error, ErrorKind, Month, NodeId, Timestamp,
    model::Webhook,
    store::{
        Accept, Accepted, CountQuery, EraseWebhook, ErasedWebhook, LogQuery, OldLogs, Redeliver,
        Seen, Stores,
    },
};

use super::{Outcome, Place, drain, drain_all, oracle::walk, page};
use crate::{
    delivery::{accept, claim_due, find_log, logs_of, node, node_until, rejected},
    sample::{NOW, after, expect_not_found, race, with},
};

async fn try_erase(
    stores: &Stores,
    webhook: &Webhook,
    change: impl FnOnce(&mut EraseWebhook),
) -> Result<ErasedWebhook, Error> {
    let erase = EraseWebhook::new(webhook.id, NodeId::generate(), after(5));
    stores.logs.erase(webhook.account_id, &with(erase, change)).await
}

async fn erase(stores: &Stores, webhook: &Webhook) -> ErasedWebhook {
    try_erase(stores, webhook, |_| {}).await.expect("nothing of it is in flight")
}

#[track_caller]
fn expect_in_flight(erased: Result<ErasedWebhook, Error>) {
    let error = erased.expect_err("it is in flight");
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error:?}");
}

async fn total(stores: &Stores, place: Place) -> u64 {
    walk(stores, place.account, LogQuery::new(7)).await.len() as u64
}

/// All logs of the webhook go, whether they wait or have ended, also those that were added;
/// others stay.
pub async fn erased_webhook_is_gone_whole(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let webhook = place.webhook(NOW);
    let deliveries =
        [place.to_public(), place.to_clients(), place.to_nobody(), rejected(place.public)];
    accept(stores, &webhook, &deliveries).await;
    let added = place.to_public();
    let again = Redeliver::new(webhook.id, vec![added.clone()], after(1));
    stores.deliveries.redeliver(place.account, again).await.expect("the webhook is there");
    let stays = place.store_settled(stores, after(2), Outcome::SENT).await;

    let mut logs: Vec<_> = deliveries.iter().chain([&added]).map(|delivery| delivery.id).collect();
    logs.sort_unstable();
    assert_eq!(erase(stores, &webhook).await, ErasedWebhook::new(logs.clone(), 4));
    for id in logs {
        assert_eq!(find_log(stores, place.account, id).await, None);
    }
    assert_eq!(logs_of(stores, &webhook).await, []);
    assert_eq!(claim_due(stores, node, place.public, after(9)).await, []);
    assert_eq!(drain(stores, place.account, &drain_all(9)).await.logs, []);
    let left = page(stores, place.account, &LogQuery::new(9)).await;
    assert_eq!((left.total, super::cursors(&left.logs)), (1, vec![stays]));
    expect_not_found(try_erase(stores, &webhook, |_| {}).await);
    let again = Redeliver::new(webhook.id, vec![place.to_public()], after(3));
    expect_not_found(stores.deliveries.redeliver(place.account, again).await);
}

/// An account erases what is its own.
pub async fn webhook_of_another_account_is_not_erased(stores: &Stores) {
    let place = Place::new();
    let webhook = place.webhook(NOW);
    accept(stores, &webhook, &[place.to_public()]).await;
    let other = Webhook { account_id: AccountId::generate(), ..webhook.clone() };
    expect_not_found(try_erase(stores, &other, |_| {}).await);
    assert_eq!(logs_of(stores, &webhook).await.len(), 1);
}

/// What a node holds, or a consumer has leased, is in flight: nothing of the webhook changes
/// then. It is not any more when the node gives it up, or when its lease is over.
pub async fn webhook_in_flight_is_not_erased(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let lapses = node_until(stores, after(60)).await;
    let webhook = place.webhook(NOW);
    let held = with(place.to_public(), |delivery| delivery.held_by = Some(node));
    accept(stores, &webhook, &[held.clone(), place.to_clients()]).await;
    let before = logs_of(stores, &webhook).await;
    expect_in_flight(try_erase(stores, &webhook, |_| {}).await);
    // Who gives up what it does not hold gives up nothing.
    let stranger = |erase: &mut EraseWebhook| erase.given_up = vec![held.id];
    expect_in_flight(try_erase(stores, &webhook, stranger).await);
    expect_in_flight(try_erase(stores, &webhook, |erase| erase.node = node).await);
    assert_eq!(logs_of(stores, &webhook).await, before);
    let given_up = |erase: &mut EraseWebhook| {
        (erase.node, erase.given_up) = (node, vec![held.id]);
    };
    let erased = try_erase(stores, &webhook, given_up).await.expect("it is given up");
    assert_eq!((erased.logs.len(), erased.withdrawn), (2, 2));

    let webhook = place.webhook(after(1));
    accept(stores, &webhook, &[place.to_public()]).await;
    assert_eq!(claim_due(stores, lapses, place.public, after(2)).await.len(), 1);
    expect_in_flight(try_erase(stores, &webhook, |erase| erase.now = after(59)).await);
    let late = try_erase(stores, &webhook, |erase| erase.now = after(60)).await;
    assert_eq!(late.expect("the lease is over").withdrawn, 1);

    let webhook = place.webhook(after(3));
    accept(stores, &webhook, &[place.to_clients()]).await;
    let lease = std::time::Duration::from_secs(30);
    let leased = with(drain_all(9), |drain| {
        (drain.now, drain.lease) = (after(4), Some(lease));
    });
    assert_eq!(drain(stores, place.account, &leased).await.logs.len(), 1);
    expect_in_flight(try_erase(stores, &webhook, |erase| erase.now = after(33)).await);
    let late = try_erase(stores, &webhook, |erase| erase.now = after(34)).await;
    assert_eq!(late.expect("the lease is over").logs.len(), 1);
}

/// Days, minutes and months count what was erased until a purge comes to its time; totals of
/// lists do not.
pub async fn erased_webhooks_count_in_statistics(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    super::count::mixed(stores, place, Place::of(place.account)).await;
    let counted = async || {
        let mut counts = Vec::new();
        for bucket in [None, Some(place.bucket)] {
            let query = with(CountQuery::default(), |query| query.bucket_id = bucket);
            let days = stores.logs.days(place.account, &query).await.expect("days");
            let minutes = stores.logs.minutes(place.account, &query).await.expect("minutes");
            counts.push((days, minutes));
        }
        let month = Month::of(NOW).start;
        (counts, stores.logs.received(place.account, month).await.expect("a count"))
    };
    let before = counted().await;
    let logs = walk(stores, place.account, LogQuery::new(100)).await;
    // Every second one, and all of one bucket.
    let is_meant = |number: usize, bucket| number.is_multiple_of(2) || bucket == place.bucket;
    let mut left = logs.len() as u64;
    for (number, log) in logs.iter().enumerate() {
        if is_meant(number, log.webhook.bucket_id) {
            let erased = try_erase(stores, &log.webhook, |erase| erase.node = node).await;
            left -= erased.expect("it is at rest").logs.len() as u64;
            assert_eq!(total(stores, place).await, left);
        }
    }
    assert!(left > 0 && left < logs.len() as u64 / 2);
    assert_eq!(counted().await, before);

    let of_bucket = with(OldLogs::new(after(10_000_000)), |old| {
        (old.account_id, old.bucket_id) = (Some(place.account), Some(place.bucket));
    });
    stores.logs.purge(&of_bucket, 1_000).await.expect("logs can be purged");
    let (counts, received) = counted().await;
    assert_eq!((counts[1].clone(), received), ((Vec::new(), Vec::new()), before.1));
    assert!(!counts[0].0.is_empty(), "the other bucket's stay");
}

/// A purge forgets the minutes of erased logs that it comes to, and no later one of the day.
pub async fn erased_webhooks_are_counted_until_their_minute_is_purged(stores: &Stores) {
    let place = Place::new();
    let minute = |number: i64| Timestamp::from_millis(60_000 * (29_333_333 + number));
    for number in 0..3 {
        let webhook = place.webhook(minute(number));
        accept(stores, &webhook, &[rejected(place.public)]).await;
        erase(stores, &webhook).await;
    }
    let counted = async || {
        let days = stores.logs.days(place.account, &CountQuery::default()).await.expect("days");
        days.first().map_or(0, |day| day.received)
    };
    let before =
        |moment: Timestamp| with(OldLogs::new(moment), |old| old.account_id = Some(place.account));
    let short_of = Timestamp::from_millis(minute(1).as_millis() - 1);
    for (moment, left) in [(short_of, 3), (minute(1), 2), (minute(2), 1), (minute(3), 0)] {
        stores.logs.purge(&before(moment), 10).await.expect("logs can be purged");
        assert_eq!(counted().await, left);
    }
}

/// A key outlives its webhook: the twin is a duplicate, and nothing is delivered of it.
pub async fn twin_of_an_erased_webhook_is_a_duplicate(stores: &Stores) {
    let place = Place::new();
    let first = place.webhook(NOW);
    let of = |at: Timestamp| Webhook { input_id: first.input_id, ..place.webhook(at) };
    let keyed = |webhook: &Webhook| {
        let accept = Accept::new(Arc::new(webhook.clone()), vec![place.to_public()]);
        with(accept, |accept| accept.seen = vec![Seen { key: [9; 32], until: after(60) }])
    };
    let accept = async |accept| stores.deliveries.accept(accept).await.expect("it is taken");
    assert_eq!(accept(keyed(&first)).await, Accepted::Stored);
    erase(stores, &first).await;
    let twin = of(after(59));
    assert_eq!(accept(keyed(&twin)).await, Accepted::Duplicate { of: first.id });
    assert_eq!(accept(keyed(&of(after(60)))).await, Accepted::Stored);
    let logs = logs_of(stores, &twin).await;
    assert!(logs[0].webhook.request.body.is_empty());
    assert_eq!(erase(stores, &twin).await.logs, [logs[0].delivery.id]);
}

/// A webhook is either sent again or erased.
pub async fn concurrent_erasures_and_redeliveries_exclude_each_other(stores: &Stores) {
    let place = Place::new();
    for number in 0..10 {
        let webhook = place.webhook(after(number));
        accept(stores, &webhook, &[rejected(place.public)]).await;
        let again = with(place.to_public(), |delivery| delivery.id = DeliveryId::generate());
        let outcomes = race(3, |task| {
            let (stores, webhook) = (stores.clone(), webhook.clone());
            let again = Redeliver::new(webhook.id, vec![again.clone()], after(1_000));
            async move {
                let done = match task {
                    0 => stores.deliveries.redeliver(place.account, again).await,
                    _ => try_erase(&stores, &webhook, |_| {}).await.map(drop),
                };
                match done {
                    Ok(()) => true,
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::NotFound, "{error:?}");
                        false
                    }
                }
            }
        })
        .await;
        assert!(outcomes[1] != outcomes[2], "one of two erases it: {outcomes:?}");
        assert_eq!(logs_of(stores, &webhook).await, []);
    }
    assert_eq!(total(stores, place).await, 0);
}

/// An outcome is stored before the webhook is erased, or is a conflict.
pub async fn concurrent_erasures_and_outcomes_exclude_each_other(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    for number in 0..10 {
        let webhook = Webhook { ephemeral: number % 2 == 0, ..place.webhook(after(number)) };
        let held = with(place.to_public(), |delivery| delivery.held_by = Some(node));
        accept(stores, &webhook, std::slice::from_ref(&held)).await;
        let settle = Outcome::SENT.settle((&webhook, &held), node, after(number));
        let outcomes = race(2, |task| {
            let (stores, webhook, settle) = (stores.clone(), webhook.clone(), settle.clone());
            async move {
                let done = match task {
                    0 => stores.deliveries.settle(settle).await,
                    _ => try_erase(&stores, &webhook, |_| {}).await.map(drop),
                };
                done.map_err(|error| error.kind())
            }
        })
        .await;
        assert_eq!(outcomes[0], Ok(()), "what is held is not erased before its outcome");
        let left = logs_of(stores, &webhook).await.len();
        assert_eq!(left, usize::from(outcomes[1].is_err()));
        assert!(matches!(outcomes[1], Ok(()) | Err(ErrorKind::Conflict)), "{outcomes:?}");
    }
}
