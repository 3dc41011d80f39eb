//! Handing webhooks to consumers for a time.

use std::time::Duration;

use webhook_core::{
    ErrorKind, Timestamp,
    model::{DeliveryStatus, Log, Webhook},
    store::{ClientReport, Drain, Stores},
};

use super::{Place, cursors, drain, drain_all, oracle::assert_exact, purge, report, reported};
use crate::{
    delivery::find_log,
    sample::{NOW, after, odd_webhook, race, with},
};

const LEASE: Duration = Duration::from_secs(60);

/// A drain at `now` that leases.
fn leasing(now: Timestamp, limit: usize) -> Drain {
    with(Drain::new(now, limit), |drain| drain.lease = Some(LEASE))
}

fn says(log: &Log, status: DeliveryStatus, now: Timestamp) -> ClientReport {
    ClientReport::new(log.delivery.id, now, status)
}

/// Until when the log is leased after this report.
async fn leased_until(stores: &Stores, place: Place, by: ClientReport) -> Option<Timestamp> {
    report(stores, place.account, &by).await.log.delivery.leased_until
}

/// A leased log is whole and waits on; nobody else gets it before the lease is over, and
/// then everybody may.
pub async fn leased_log_comes_again_when_its_lease_is_over(stores: &Stores) {
    let place = Place::new();
    for (number, delivery) in [place.to_clients(), place.to_nobody()].into_iter().enumerate() {
        let stored = place.store(stores, after(number as u64), delivery).await;
        let mut expected = find_log(stores, place.account, stored.id).await.expect("stored");
        for start in [500, 560] {
            let log = drain(stores, place.account, &leasing(after(start), 9)).await.logs.remove(0);
            expected.delivery.leased_until = Some(after(start + 60));
            expected.delivery.updated_at = after(start);
            assert_eq!((&log, log.delivery.status), (&expected, DeliveryStatus::Received));
            assert_eq!(find_log(stores, place.account, stored.id).await, Some(log));
            assert_exact(stores, place.account).await;
            let early = after(start) + (LEASE - Duration::from_millis(1));
            for asked in [leasing(early, 9), Drain::new(early, 9)] {
                let none = drain(stores, place.account, &asked).await;
                assert_eq!((none.logs, none.has_more), (Vec::new(), false), "{asked:?}");
            }
        }
        let taken = drain(stores, place.account, &Drain::new(after(620), 9)).await.logs.remove(0);
        assert_eq!(taken.delivery.status, DeliveryStatus::Sent);
        assert_eq!(taken.delivery.leased_until, None);
        assert_exact(stores, place.account).await;
    }
}

/// What is leased is passed over, and what is behind it is handed out.
pub async fn leased_logs_are_passed_over(stores: &Stores) {
    let place = Place::new();
    let stored = place.store_waiting(stores, 0, 7).await;
    let first = drain(stores, place.account, &leasing(after(500), 3)).await;
    assert_eq!((cursors(&first.logs), first.has_more), (stored[..3].to_vec(), true));
    let second = drain(stores, place.account, &leasing(after(530), 2)).await;
    assert_eq!((cursors(&second.logs), second.has_more), (stored[3..5].to_vec(), true));
    let rest = drain(stores, place.account, &drain_all(9)).await;
    assert_eq!((cursors(&rest.logs), rest.has_more), (stored[5..].to_vec(), false));
    let again = drain(stores, place.account, &leasing(after(560), 9)).await;
    assert_eq!((cursors(&again.logs), again.has_more), (stored[..3].to_vec(), false));
    assert_exact(stores, place.account).await;
}

/// An outcome is the end of a lease, also one that comes when it is over.
pub async fn report_settles_a_lease(stores: &Stores) {
    let place = Place::new();
    place.store_waiting(stores, 0, 4).await;
    let leased = drain(stores, place.account, &leasing(after(500), 9)).await.logs;
    let outcomes = [
        (DeliveryStatus::Sent, 501),
        (DeliveryStatus::Failed, 559),
        (DeliveryStatus::Rejected, 700),
        (DeliveryStatus::Stalled, 502),
    ];
    for (log, (status, at)) in leased.iter().zip(outcomes) {
        let answer = report(stores, place.account, &says(log, status, after(at))).await;
        assert!(answer.taken, "{status:?}");
        let now = &answer.log.delivery;
        assert_eq!((now.status, now.leased_until), (status, None));
    }
    assert_eq!(drain(stores, place.account, &Drain::new(after(9_999), 9)).await.logs, []);
    assert_exact(stores, place.account).await;
}

/// `received` gives a webhook back, `preparing` keeps it and may prolong the lease; neither
/// makes a lease of what is none.
pub async fn lease_is_given_back_or_prolonged(stores: &Stores) {
    let place = Place::new();
    let stored = place.store_waiting(stores, 0, 1).await;
    let lease = async |at| drain(stores, place.account, &leasing(after(at), 9)).await.logs;
    let prolonging = |log: &Log, at| {
        with(says(log, DeliveryStatus::Preparing, after(at)), |report| {
            report.lease = Some(Duration::from_secs(90));
        })
    };
    let log = lease(500).await.remove(0);
    let kept = says(&log, DeliveryStatus::Preparing, after(510));
    assert_eq!(leased_until(stores, place, kept).await, Some(after(560)));
    assert_eq!(leased_until(stores, place, prolonging(&log, 550)).await, Some(after(640)));
    assert_eq!(lease(639).await, []);
    let back = |at| says(&log, DeliveryStatus::Received, after(at));
    assert_eq!(leased_until(stores, place, back(639)).await, None);
    assert_eq!(cursors(&lease(639).await), stored);
    assert_eq!(leased_until(stores, place, back(640)).await, None);
    let free = leased_until(stores, place, prolonging(&log, 641)).await;
    assert_eq!(free, None, "nobody had leased it");
    assert_eq!(cursors(&lease(641).await), stored);
    assert_exact(stores, place.account).await;
}

/// Of one account so many are leased and no more; others, and who takes for good, get theirs.
pub async fn leases_of_an_account_are_bounded(stores: &Stores) {
    let (place, other) = (Place::new(), Place::new());
    let stored = place.store_waiting(stores, 0, 6).await;
    other.store_waiting(stores, 0, 1).await;
    let asked = |now| with(leasing(now, 2), |drain| drain.max_leased = 3);
    for (number, count) in [(0, 2), (1, 1)] {
        let some = drain(stores, place.account, &asked(after(500 + number))).await;
        assert_eq!((some.logs.len(), some.has_more), (count, true));
    }
    let full = stores.logs.drain(place.account, &asked(after(502))).await;
    assert_eq!(full.expect_err("three are leased").kind(), ErrorKind::Busy);
    assert_eq!(drain(stores, other.account, &asked(after(502))).await.logs.len(), 1);
    let good = drain(stores, place.account, &Drain::new(after(502), 1)).await;
    assert_eq!(cursors(&good.logs), stored[3..4]);
    // The first two are free again.
    let again = drain(stores, place.account, &asked(after(560))).await;
    assert_eq!(cursors(&again.logs), stored[..2]);
}

/// The content of an ephemeral webhook stays until it is reported on.
pub async fn leased_ephemeral_content_stays_until_the_report(stores: &Stores) {
    let place = Place::new();
    let webhook = Webhook { bucket_id: place.bucket, ..odd_webhook(place.account) };
    crate::delivery::accept(stores, &webhook, &[place.to_clients()]).await;
    for at in [500, 600] {
        let leased = drain(stores, place.account, &leasing(after(at), 9)).await.logs.remove(0);
        assert_eq!(leased.webhook, webhook);
    }
    let log = drain(stores, place.account, &leasing(after(700), 9)).await.logs.remove(0);
    let done = report(stores, place.account, &reported(log.delivery.id, after(701))).await;
    assert!(done.log.webhook.request.body.is_empty(), "it is erased");
}

/// Being leased keeps no log from going when it is old.
pub async fn leased_logs_are_purged(stores: &Stores) {
    let place = Place::new();
    place.store(stores, NOW, place.to_clients()).await;
    assert_eq!(drain(stores, place.account, &leasing(after(500), 9)).await.logs.len(), 1);
    assert_eq!(purge(stores, after(1), 9).await, 1);
    assert_exact(stores, place.account).await;
}

/// Ten consumers that lease at once share nothing and leave nothing.
pub async fn concurrent_leases_never_share(stores: &Stores) {
    let place = Place::new();
    let stored = place.store_waiting(stores, 0, 60).await;
    let taken = race(10, |_| {
        let stores = stores.clone();
        async move {
            let mut taken = Vec::new();
            loop {
                let some = drain(&stores, place.account, &leasing(after(500), 7)).await;
                taken.extend(cursors(&some.logs));
                if some.logs.is_empty() {
                    return taken;
                }
            }
        }
    })
    .await;
    let mut taken = taken.concat();
    taken.sort_unstable();
    assert_eq!(taken, stored);
    assert_exact(stores, place.account).await;
}
