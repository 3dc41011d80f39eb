//! Listing logs.

use webhook_core::{
    AccountId,
    model::{DeliveryStatus, LogHead},
    store::{Claim, LogCursor, LogQuery, Stores},
};

use super::{
    Outcome, Place, cursors,
    oracle::{assert_every_filter, assert_exact, walk},
    page, purge, report, reported, reversed,
};
use crate::{
    delivery::{accept, find_log, node},
    sample::{NOW, after, odd_webhook, with},
};

fn limited(limit: usize) -> LogQuery {
    LogQuery::new(limit)
}

/// An account without logs has an empty page.
pub async fn no_logs_are_an_empty_page(stores: &Stores) {
    assert_exact(stores, AccountId::generate()).await;
    Place::new().store(stores, NOW, Place::new().to_clients()).await;
    assert_exact(stores, AccountId::generate()).await;
}

/// A listed log is the log, field by field.
pub async fn listed_logs_are_complete(stores: &Stores) {
    let place = Place::new();
    let webhook = odd_webhook(place.account);
    let deliveries = [place.to_clients(), place.to_public()];
    accept(stores, &webhook, &deliveries).await;
    let listed = page(stores, place.account, &limited(9)).await.logs;
    assert_eq!(listed.len(), 2);
    for log in listed {
        assert_eq!(find_log(stores, place.account, log.delivery.id).await, Some(log));
    }
}

/// The heads of a page are those of its logs, whatever the filter, and are complete where the
/// logs are too many bytes for a page.
pub async fn heads_say_of_logs_what_is_short(stores: &Stores) {
    let place = Place::new();
    let odd = odd_webhook(place.account);
    accept(stores, &odd, &[place.to_clients(), place.to_public()]).await;
    for seconds in 0..5 {
        let outcome = if seconds % 2 == 0 { Outcome::SENT } else { Outcome::FAILED };
        place.store_settled(stores, after(seconds), outcome).await;
    }
    let failed = with(limited(9), |query| query.status = Some(DeliveryStatus::Failed));
    let second = with(limited(2), |query| query.offset = 2);
    for query in [limited(9), failed, second, limited(3)] {
        let logs = page(stores, place.account, &query).await;
        let heads = stores.logs.heads(place.account, &query).await.expect("heads");
        assert_eq!(heads.heads, logs.logs.iter().map(LogHead::of).collect::<Vec<_>>());
        assert_eq!((heads.total, heads.has_more), (logs.total, logs.has_more));
    }
}

/// Logs come by the time they were stored, then by ID, however they came in.
pub async fn logs_are_listed_newest_first(stores: &Stores) {
    let place = Place::new();
    let mut stored = Vec::new();
    for seconds in [5, 1, 3, 3, 3, 0, 9] {
        stored.push(place.store(stores, after(seconds), place.to_clients()).await);
    }
    stored.sort_unstable_by(|a, b| b.cmp(a));
    let listed = page(stores, place.account, &limited(100)).await;
    assert_eq!(cursors(&listed.logs), stored);
    assert_eq!((listed.total, listed.has_more), (7, false));
}

/// Pages take any limit and offset, before and after a cursor.
pub async fn pages_take_any_limit_and_offset(stores: &Stores) {
    let place = Place::new();
    let stored = reversed(place.store_waiting(stores, 0, 7).await);
    for limit in [0, 1, 3, 6, 7, 8, usize::MAX] {
        for offset in [0, 1, 4, 6, 7, 8, u64::MAX] {
            for cursor in [None, Some(0), Some(3), Some(6)] {
                let before = cursor.map(|index: usize| stored[index]);
                let rest = &stored[cursor.map_or(0, |index| index + 1)..];
                let rest = rest.get(offset.min(8) as usize..).unwrap_or_default();
                let query = with(limited(limit), |query| {
                    query.before = before;
                    query.offset = offset;
                });
                let found = page(stores, place.account, &query).await;
                assert_eq!(cursors(&found.logs), rest[..rest.len().min(limit)], "{query:?}");
                assert_eq!(found.total, 7, "{query:?}");
                assert_eq!(found.has_more, rest.len() > limit, "{query:?}");
            }
        }
    }
}

/// Neither new logs nor changes of old ones shift the pages after a cursor.
pub async fn cursors_are_stable_while_logs_arrive(stores: &Stores) {
    let place = Place::new();
    let stored = reversed(place.store_waiting(stores, 0, 9).await);
    let (mut seen, mut before) = (Vec::new(), None);
    for number in 0_usize.. {
        let found =
            page(stores, place.account, &with(limited(2), |query| query.before = before)).await;
        seen.extend(cursors(&found.logs));
        before = seen.last().copied();
        if !found.has_more {
            break;
        }
        place.store(stores, after(100 + number as u64), place.to_clients()).await;
        if let Some(log) = stored.get(8 - number) {
            report(stores, place.account, &reported(log.id, after(200))).await;
        }
    }
    assert_eq!(seen, stored);
}

/// A cursor is good for the rest of the list when its own log is gone.
pub async fn cursor_outlives_its_log(stores: &Stores) {
    let place = Place::new();
    let stored = place.store_waiting(stores, 0, 3).await;
    let held = place.store(stores, NOW, place.to_public()).await;
    let before = Some(stored[1]);
    assert_eq!(purge(stores, after(9), 9).await, 3);
    let found = page(stores, place.account, &with(limited(9), |query| query.before = before)).await;
    assert_eq!(cursors(&found.logs), [held]);
}

/// Logs of one account are nobody else's, nor counted there.
pub async fn lists_are_of_one_account(stores: &Stores) {
    let (ours, theirs) = (Place::new(), Place::new());
    let stored = reversed(ours.store_waiting(stores, 0, 3).await);
    theirs.store_waiting(stores, 0, 4).await;
    let found = page(stores, ours.account, &limited(9)).await;
    assert_eq!((cursors(&found.logs), found.total), (stored, 3));
    let query = with(limited(9), |query| query.bucket_id = Some(theirs.bucket));
    let found = page(stores, ours.account, &query).await;
    assert_eq!((found.logs, found.total, found.has_more), (Vec::new(), 0, false));
}

/// Every filter finds exactly what it names, whatever became of the logs.
pub async fn filters_are_exact(stores: &Stores) {
    let (first, second) = (Place::new(), Place::new());
    let second = Place { account: first.account, ..second };
    super::count::mixed(stores, first, second).await;
    assert_every_filter(stores, first.account).await;
}

/// A log that a node holds is `preparing` or `received`; a filter by either finds it.
pub async fn preparing_is_listed_as_received(stores: &Stores) {
    let (place, node) = (Place::new(), node(stores).await);
    let stored = place.store(stores, NOW, place.to_public()).await;
    let claim = Claim::new(node, place.public, NOW, 1);
    assert_eq!(stores.deliveries.claim(claim).await.expect("it is due").deliveries.len(), 1);
    for status in [
        webhook_core::model::DeliveryStatus::Received,
        webhook_core::model::DeliveryStatus::Preparing,
    ] {
        let query = with(limited(9), |query| query.status = Some(status));
        let found = page(stores, place.account, &query).await;
        assert_eq!((cursors(&found.logs), found.total), (vec![stored], 1));
    }
    assert_exact(stores, place.account).await;
}

/// Large logs may come on more pages than asked for, and none is left out.
pub async fn large_logs_are_all_listed(stores: &Stores) {
    let place = Place::new();
    let mut stored = Vec::new();
    for number in 0..24 {
        let mut webhook = place.webhook(after(number));
        webhook.request.body = bytes::Bytes::from(vec![b'x'; 1 << 20]);
        let delivery = place.to_clients();
        accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
        stored.push(LogCursor { created_at: after(number), id: delivery.id });
    }
    let listed = walk(stores, place.account, limited(100)).await;
    assert_eq!(cursors(&listed), reversed(stored));
    assert!(listed.iter().all(|log| log.webhook.request.body.len() == 1 << 20));
}

/// Totals stay exact while webhooks come in and are delivered from all sides.
pub async fn totals_are_exact_after_concurrent_changes(stores: &Stores) {
    let place = Place::new();
    crate::sample::race(12, |number| {
        let stores = stores.clone();
        async move {
            for second in 0..8 {
                let at = after(second * 20 + number as u64);
                match number % 3 {
                    0 => place.store_settled(&stores, at, Outcome::SENT).await,
                    1 => place.store_settled(&stores, at, Outcome::FAILED).await,
                    _ => place.store(&stores, at, place.to_clients()).await,
                };
            }
        }
    })
    .await;
    assert_eq!(page(stores, place.account, &limited(1)).await.total, 96);
    assert_exact(stores, place.account).await;
}
