//! Removing old logs.

use webhook_core::{
    DeliveryId, ErrorKind,
    model::DeliveryStatus,
    store::{LogCursor, LogQuery, OldLogs, Redeliver, Stores},
};

use super::{
    Outcome, Place, cursors, oracle::assert_exact, page, purge, report, reported, reversed,
};
use crate::{
    delivery::{accept, claim_due, find_log, logs_of, node, rejected},
    sample::{NOW, after, expect_not_found, race, with},
};

async fn left(stores: &Stores, place: Place) -> Vec<LogCursor> {
    let all = LogQuery::new(1_000);
    reversed(cursors(&page(stores, place.account, &all).await.logs))
}

/// Old logs go that are final or wait for clients; what a relay has to attempt stays.
pub async fn purge_removes_what_no_relay_attempts(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let held = with(place.to_public(), |delivery| delivery.held_by = Some(node));
    let mut stay = vec![
        place.store(stores, after(0), place.to_public()).await,
        place.store(stores, after(1), held).await,
    ];
    for delivery in [place.to_clients(), place.to_nobody(), rejected(place.public)] {
        place.store(stores, after(2), delivery).await;
    }
    place.store_settled(stores, after(3), Outcome::SENT).await;
    place.store_settled(stores, after(3), Outcome::FAILED).await;
    let stalled = place.store(stores, after(4), place.to_clients()).await;
    let stalled =
        with(reported(stalled.id, after(5)), |report| report.status = DeliveryStatus::Stalled);
    report(stores, place.account, &stalled).await;
    stay.push(place.store_settled(stores, after(10), Outcome::SENT).await);
    stay.push(place.store(stores, after(11), place.to_clients()).await);

    assert_eq!(purge(stores, after(10), 100).await, 6);
    assert_eq!(left(stores, place).await, stay);
    assert_exact(stores, place.account).await;
    assert_eq!(purge(stores, after(10), 100).await, 0);
    assert_eq!(claim_due(stores, node, place.public, after(1)).await, [stay[0].id]);
}

/// The oldest days go first, of whatever account, and no more than asked for.
pub async fn purge_takes_the_oldest_days_first(stores: &Stores) {
    const DAY: u64 = 86_400;
    let (first, second) = (Place::new(), Place::new());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for day in [2, 0, 3, 1] {
        ours.push(first.store(stores, after(day * DAY), first.to_clients()).await);
        let at = after((day + 2) * DAY);
        theirs.push(second.store(stores, at, rejected(second.public)).await);
    }
    ours.sort_unstable();
    theirs.sort_unstable();
    let end = after(100 * DAY);
    for (limit, gone, (of_ours, of_theirs)) in
        [(0, 0, (0, 0)), (2, 2, (2, 0)), (4, 4, (4, 2)), (usize::MAX, 2, (4, 4)), (5, 0, (4, 4))]
    {
        assert_eq!(purge(stores, end, limit).await, gone);
        assert_eq!(left(stores, first).await, ours[of_ours..]);
        assert_eq!(left(stores, second).await, theirs[of_theirs..]);
        for place in [first, second] {
            assert_exact(stores, place.account).await;
        }
    }
}

/// A webhook goes with its last log, and not before.
pub async fn webhook_goes_with_its_last_log(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let webhook = place.webhook(NOW);
    let (waits, pending) = (place.to_clients(), place.to_public());
    accept(stores, &webhook, &[waits.clone(), pending.clone()]).await;
    assert_eq!(purge(stores, after(9), 9).await, 1);
    assert_eq!(find_log(stores, place.account, waits.id).await, None);
    let logs = logs_of(stores, &webhook).await;
    assert_eq!((logs.len(), &logs[0].webhook), (1, &webhook));
    assert_eq!(claim_due(stores, node, place.public, NOW).await, [pending.id]);
    let sent = Outcome::SENT.settle((&webhook, &pending), node, after(1));
    stores.deliveries.settle(sent).await.expect("it is held");

    assert_eq!(purge(stores, after(9), 9).await, 1);
    assert_eq!(logs_of(stores, &webhook).await, []);
    let again = Redeliver::new(webhook.id, vec![place.to_public()], after(10));
    expect_not_found(stores.deliveries.redeliver(place.account, again).await);
    accept(stores, &webhook, &[pending]).await;
    assert_eq!(logs_of(stores, &webhook).await.len(), 1, "nothing is known of it any more");
    assert_exact(stores, place.account).await;
}

/// Removing old logs and storing new ones at once keeps each right.
pub async fn concurrent_purges_and_accepts_disturb_nothing(stores: &Stores) {
    let place = Place::new();
    place.store_waiting(stores, 0, 60).await;
    let gone = race(4, |number| {
        let stores = stores.clone();
        async move {
            if number % 2 == 0 {
                let mut gone = 0;
                for _ in 0..10 {
                    gone += purge(&stores, after(100), 4).await;
                }
                return gone;
            }
            for second in 0..15 {
                let at = after(200 + second);
                place.store(&stores, at, place.to_public()).await;
                place.store_settled(&stores, at, Outcome::SENT).await;
            }
            0
        }
    })
    .await;
    assert_eq!(gone.iter().sum::<u64>() + purge(stores, after(100), 1_000).await, 60);
    assert_eq!(left(stores, place).await.len(), 60);
    assert_exact(stores, place.account).await;
}

/// Several who remove at once remove each log once.
pub async fn concurrent_purges_count_each_log_once(stores: &Stores) {
    let place = Place::new();
    place.store_waiting(stores, 0, 40).await;
    let gone = race(5, |_| {
        let stores = stores.clone();
        async move { purge(&stores, after(100), 15).await }
    })
    .await;
    let rest = purge(stores, after(100), 100).await;
    assert_eq!(gone.iter().sum::<u64>() + rest, 40, "{gone:?}");
    assert_eq!(left(stores, place).await, []);
    assert_exact(stores, place.account).await;
}

/// A webhook is either sent again or gone, never a delivery without its webhook.
pub async fn concurrent_purge_and_redeliver_exclude_each_other(stores: &Stores) {
    let place = Place::new();
    for number in 0..10 {
        let webhook = place.webhook(after(number));
        accept(stores, &webhook, &[rejected(place.public)]).await;
        let again = with(place.to_public(), |delivery| delivery.id = DeliveryId::generate());
        let outcomes = race(2, |task| {
            let stores = stores.clone();
            let again = Redeliver::new(webhook.id, vec![again.clone()], after(1_000));
            async move {
                if task == 0 {
                    assert_eq!(purge(&stores, after(100), 10).await, 1);
                    return true;
                }
                match stores.deliveries.redeliver(place.account, again).await {
                    Ok(()) => true,
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::NotFound, "{error:?}");
                        false
                    }
                }
            }
        })
        .await;
        let logs = logs_of(stores, &webhook).await;
        assert_eq!(logs.len(), usize::from(outcomes[1]));
        if let Some(log) = logs.first() {
            assert_eq!((&log.webhook, log.delivery.id), (&webhook, again.id));
        }
    }
    assert_exact(stores, place.account).await;
}

/// What is removed of one account is nobody else's.
pub async fn purge_of_an_account_leaves_the_others(stores: &Stores) {
    let (ours, theirs) = (Place::new(), Place::new());
    for number in 0..3 {
        ours.store(stores, after(number), ours.to_clients()).await;
    }
    let stay = vec![theirs.store(stores, after(0), theirs.to_nobody()).await];
    let purge = async |limit| {
        let old = with(OldLogs::new(after(100)), |old| old.account_id = Some(ours.account));
        let gone = stores.logs.purge(&old, limit).await;
        gone.expect("logs can be purged")
    };
    assert_eq!(purge(2).await, 2);
    assert_eq!(purge(100).await, 1);
    assert_eq!(purge(100).await, 0);
    assert_eq!(left(stores, ours).await, []);
    assert_eq!(left(stores, theirs).await, stay);
    for place in [ours, theirs] {
        assert_exact(stores, place.account).await;
    }
}

/// Of one bucket those that are failed or stalled go, or the others, and nothing of other buckets.
pub async fn purge_of_a_bucket_tells_failed_logs_apart(stores: &Stores) {
    let (ours, other) = (Place::new(), Place::new());
    let theirs = Place { bucket: other.bucket, public: other.public, ..ours };
    let mut failed = vec![ours.store_settled(stores, after(0), Outcome::FAILED).await];
    let stalled = ours.store(stores, after(1), ours.to_clients()).await;
    let report_of =
        with(reported(stalled.id, after(2)), |report| report.status = DeliveryStatus::Stalled);
    report(stores, ours.account, &report_of).await;
    failed.push(stalled);
    let mut others = vec![
        ours.store_settled(stores, after(3), Outcome::SENT).await,
        ours.store(stores, after(4), rejected(ours.public)).await,
        ours.store(stores, after(5), ours.to_nobody()).await,
    ];
    let stay = [
        theirs.store_settled(stores, after(0), Outcome::FAILED).await,
        theirs.store_settled(stores, after(3), Outcome::SENT).await,
        ours.store(stores, after(6), ours.to_public()).await,
    ];
    let purge = async |failed, before, limit| {
        let mut old = OldLogs::new(before);
        old.account_id = Some(ours.account);
        old.bucket_id = Some(ours.bucket);
        old.failed = failed;
        stores.logs.purge(&old, limit).await.expect("logs can be purged")
    };
    let expect_left = async |of: &[&[LogCursor]]| {
        let mut expected = of.concat();
        expected.sort_unstable();
        assert_eq!(left(stores, ours).await, expected);
        assert_exact(stores, ours.account).await;
    };
    assert_eq!(purge(Some(false), after(100), 1).await, 1);
    others.remove(0);
    expect_left(&[&failed, &others, &stay]).await;
    assert_eq!(purge(Some(true), after(1), 9).await, 1);
    failed.remove(0);
    expect_left(&[&failed, &others, &stay]).await;
    assert_eq!(purge(Some(false), after(100), 9).await, 2);
    expect_left(&[&failed, &stay]).await;
    assert_eq!(purge(None, after(100), 9).await, 1);
    expect_left(&[&stay]).await;
}
