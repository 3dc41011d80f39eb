//! Logs beyond what every store promises.

use std::{collections::HashSet, sync::Arc, time::Duration};

use futures_util::{FutureExt, future::join_all};
use sea_orm::{ConnectionTrait, Database};
use webhook_core::{
    AccountId, BucketId, DeliveryId, ErrorKind, NodeId, OutputId,
    model::DeliveryStatus,
    store::{
        Accept, ClientReport, CountQuery, DeliveryStore, Drain, LogCursor, LogQuery, LogStore,
        OldLogs, Origin,
    },
};
use webhook_storage::{DatabaseUrl, Storage, StorageOptions};

use crate::{
    databases::{Tested, on_each, open, postgres, sqlite},
    sample::{NOW, delivery, sent, webhook, with},
};

/// Where the webhooks of a test come in.
#[derive(Clone, Copy)]
struct Place {
    account: AccountId,
    bucket: BucketId,
    output: OutputId,
}

impl Place {
    fn new() -> Self {
        Self {
            account: AccountId::generate(),
            bucket: BucketId::generate(),
            output: OutputId::generate(),
        }
    }

    /// A webhook that waits for clients.
    fn waiting(self, body_bytes: usize) -> Accept {
        let mut webhook = webhook(vec![b'x'; body_bytes]);
        webhook.account_id = self.account;
        webhook.bucket_id = self.bucket;
        let delivery = with(delivery(self.output), |delivery| {
            delivery.internal = true;
            delivery.due_at = None;
        });
        Accept::new(Arc::new(webhook), vec![delivery])
    }

    async fn store(self, storage: &Storage, count: usize) -> Vec<DeliveryId> {
        let accepts: Vec<_> = (0..count).map(|_| self.waiting(1)).collect();
        let ids = accepts.iter().map(|accept| accept.deliveries[0].id).collect();
        let stored = join_all(accepts.into_iter().map(|accept| storage.accept(accept))).await;
        assert!(stored.iter().all(Result::is_ok), "{stored:?}");
        ids
    }

    async fn total(self, storage: &Storage, status: DeliveryStatus) -> u64 {
        let query = with(LogQuery::default(), |query| query.status = Some(status));
        storage.logs(self.account, &query).await.expect("a page").total
    }
}

fn drain(limit: usize) -> Drain {
    Drain::new(NOW, limit)
}

fn report(id: DeliveryId) -> ClientReport {
    with(ClientReport::new(id, NOW, DeliveryStatus::Sent), |report| {
        report.status_code = 200;
        report.duration = Duration::from_millis(5);
    })
}

#[tokio::test]
async fn a_call_returns_a_bounded_number_of_bytes() {
    on_each(async |mut options| {
        options.claim_bytes = 20_000;
        let storage = open(&options).await;
        let place = Place::new();
        for _ in 0..40 {
            storage.accept(place.waiting(5_000)).await.expect("it is new");
        }
        let mut query = LogQuery::new(100);
        let mut pages = Vec::new();
        loop {
            let page = storage.logs(place.account, &query).await.expect("a page");
            assert_eq!(page.total, 40);
            pages.push(page.logs.len());
            query.before = page.logs.last().map(LogCursor::of);
            if !page.has_more {
                break;
            }
        }
        assert_eq!(pages.iter().sum::<usize>(), 40);
        assert!(pages.iter().all(|logs| *logs <= 4), "{pages:?}");
        let waiting = storage.waiting(place.account, &[place.bucket], None, 100).await;
        assert_eq!(waiting.expect("a list").len(), pages[0]);
        let drained = storage.drain(place.account, &drain(100)).await.expect("a drain");
        assert_eq!((drained.logs.len(), drained.has_more), (pages[0], true));
        storage.close().await;
    })
    .await;
}

/// Few logs are read at once, many when they are small, and more than that few at
/// once again.
#[tokio::test]
async fn a_page_of_small_logs_is_whole_and_in_order() {
    on_each(async |options| {
        let storage = open(&options).await;
        let place = Place::new();
        let mut ids = place.store(&storage, 150).await;
        ids.sort_unstable();
        for limit in [10, 100, 150] {
            let query = LogQuery::new(limit);
            let page = storage.logs(place.account, &query).await.expect("a page");
            let listed: Vec<_> = page.logs.iter().map(LogCursor::of).collect();
            assert!(listed.is_sorted_by(|newer, older| newer > older), "{listed:?}");
            assert!(listed.iter().all(|log| ids.binary_search(&log.id).is_ok()));
            assert_eq!((listed.len(), page.has_more), (limit, limit < ids.len()));
        }
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_drained_for_nobody_waits_again() {
    on_each(async |mut options| {
        options.writers = 1;
        let storage = open(&options).await;
        let place = Place::new();
        let ids = place.store(&storage, 5).await;
        // Queued by the first poll, and then given up by the caller.
        assert!(storage.drain(place.account, &drain(3)).now_or_never().is_none());
        // The same writer answers this one after it is done with the first. It
        // must be a drain as well: SQLite's writer answers accepts before them.
        let nothing = storage.drain(AccountId::generate(), &drain(1)).await.expect("a drain");
        assert!(nothing.logs.is_empty());
        assert_eq!(place.total(&storage, DeliveryStatus::Received).await, 5);
        assert_eq!(place.total(&storage, DeliveryStatus::Sent).await, 0);
        let drained = storage.drain(place.account, &drain(9)).await.expect("a drain");
        let drained: HashSet<_> = drained.logs.iter().map(|log| log.delivery.id).collect();
        assert_eq!(drained, ids.into_iter().collect());
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_log_that_cannot_be_read_holds_up_nothing() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = sqlite(folder.path());
    let storage = open(&options).await;
    let place = Place::new();
    let (bad, good) = (place.waiting(1), place.waiting(1));
    for accept in [&bad, &good] {
        storage.accept(accept.clone()).await?;
    }
    storage.close().await;
    let file = Database::connect(options.database_url.to_string()).await?;
    let id = bad.webhook.id.as_uuid().simple();
    let spoil = format!("UPDATE webhook SET method = 'not a method' WHERE id = x'{id}'");
    assert_eq!(file.execute_unprepared(&spoil).await?.rows_affected(), 1);
    file.close().await?;

    let storage = open(&options).await;
    let page = storage.logs(place.account, &LogQuery::new(9)).await?;
    assert_eq!((page.logs.len(), page.total), (1, 2), "the others are listed");
    let error = storage.report(place.account, &report(bad.deliveries[0].id)).await;
    assert_eq!(error.expect_err("there is no log to answer with").kind(), ErrorKind::Internal);
    assert_eq!(place.total(&storage, DeliveryStatus::Received).await, 2, "nothing was written");
    let drained = storage.drain(place.account, &drain(9)).await?;
    let ids: Vec<_> = drained.logs.iter().map(|log| log.delivery.id).collect();
    assert_eq!(ids, [good.deliveries[0].id]);
    for status in [DeliveryStatus::Sent, DeliveryStatus::Failed] {
        assert_eq!(place.total(&storage, status).await, 1, "{status:?}");
    }
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn what_counts_nothing_is_forgotten_when_logs_are_purged() {
    on_each(async |options| {
        let storage = open(&options).await;
        let place = Place::new();
        let ids = place.store(&storage, 300).await;
        // The start folds: what is counted and gone between two folds has no tally at all.
        storage.close().await;
        let storage = open(&options).await;
        for id in ids {
            storage.report(place.account, &report(id)).await.expect("it waits");
        }
        let later = NOW + Duration::from_secs(60);
        assert_eq!(storage.purge(&OldLogs::new(later), 1_000).await.expect("a purge"), 300);
        storage.close().await;

        for table in ["webhook", "delivery", "tally", "tally_delta"] {
            // The tallies of all time stay, one for each status, and the
            // month's count of webhooks.
            let expected = if table == "tally" { 3 } else { 0 };
            assert_eq!(rows(&options, table).await, expected, "{table}");
        }
    })
    .await;
}

/// The rows of a table, counted beside the storage.
async fn rows(options: &StorageOptions, table: &str) -> i64 {
    let url = match &options.database_url {
        DatabaseUrl::Postgres(url) => url.clone(),
        file => file.to_string(),
    };
    let database = Database::connect(url).await.expect("the database can be opened");
    let sql = format!("SELECT COUNT(*) AS rows FROM {table}");
    let sql = sea_orm::Statement::from_string(database.get_database_backend(), sql);
    let row = database.query_one_raw(sql).await.expect("a count").expect("a row");
    let rows = row.try_get_by("rows").expect("a number");
    database.close().await.expect("the connection can be closed");
    rows
}

#[tokio::test]
async fn counts_are_the_same_before_and_after_they_are_folded() {
    on_each(async |options| {
        let storage = open(&options).await;
        let place = Place::new();
        for id in place.store(&storage, 20).await.into_iter().take(7) {
            storage.report(place.account, &report(id)).await.expect("it waits");
        }
        let counts = async |storage: &Storage| {
            let query = CountQuery::default();
            (
                storage.days(place.account, &query).await.expect("days"),
                storage.minutes(place.account, &query).await.expect("minutes"),
                storage.received(place.account, NOW).await.expect("a number"),
                place.total(storage, DeliveryStatus::Sent).await,
                place.total(storage, DeliveryStatus::Received).await,
            )
        };
        let before = counts(&storage).await;
        assert_eq!((before.0[0].received, before.0[0].success), (20, 7));
        assert_eq!((before.2, before.3, before.4), (20, 7, 13));
        storage.close().await;
        assert!(rows(&options, "tally_delta").await > 7, "nothing is folded yet");

        let storage = open(&options).await;
        assert_eq!(rows(&options, "tally_delta").await, 0, "all is folded at the start");
        assert_eq!(counts(&storage).await, before);
        storage.close().await;
    })
    .await;
}

/// Each row is folded once, whichever node does it.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_fold_what_all_of_them_appended() -> Tested {
    const WORKERS: usize = 8;
    const EACH: usize = 150;
    let Some((options, remove)) = postgres().await else { return Ok(()) };
    let mut options = options;
    // Commits are small, so that there are enough of them for several folds.
    options.batch_operations = 1;
    let stores = [open(&options).await, open(&options).await];
    let place = Place::new();
    let workers = (0..WORKERS).map(|number| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move {
            for _ in 0..EACH {
                store.accept(place.waiting(1)).await?;
            }
            Ok::<_, webhook_core::Error>(())
        })
    });
    for worker in join_all(workers).await {
        worker??;
    }
    assert!(rows(&options, "tally_delta").await < (WORKERS * EACH) as i64, "some are folded");
    let all = (WORKERS * EACH) as u64;
    for store in &stores {
        assert_eq!(store.received(place.account, NOW).await?, all);
        assert_eq!(place.total(store, DeliveryStatus::Received).await, all);
    }
    for store in stores {
        store.close().await;
    }
    let storage = open(&options).await;
    assert_eq!(storage.received(place.account, NOW).await?, all);
    assert_eq!(place.total(&storage, DeliveryStatus::Received).await, all);
    storage.close().await;
    remove.await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_drain_and_count_without_getting_in_each_others_way() -> Tested {
    const LOGS: usize = 300;
    let Some((options, remove)) = postgres().await else { return Ok(()) };
    let stores = [open(&options).await, open(&options).await];
    let place = Place::new();
    let (first, second) =
        futures_util::join!(place.store(&stores[0], LOGS / 2), place.store(&stores[1], LOGS / 2));
    let node = NodeId::generate();
    let workers = (0..8).map(|number| {
        let store = stores[number % 2].clone();
        tokio::spawn(async move {
            let mut mine = Vec::new();
            loop {
                let drained = store.drain(place.account, &drain(7)).await?;
                mine.extend(drained.logs.iter().map(|log| log.delivery.id));
                // Others change the same counts all the while.
                let mut accept = place.waiting(1);
                let held = with(delivery(place.output), |delivery| delivery.held_by = Some(node));
                accept.deliveries = vec![held.clone()];
                let origin = Origin::new(&accept.webhook, held.output_id, NOW);
                store.accept(accept).await?;
                store.settle(sent(held.id, origin, node)).await?;
                if drained.logs.is_empty() {
                    return Ok::<_, webhook_core::Error>(mine);
                }
            }
        })
    });
    let mut all = HashSet::new();
    for worker in join_all(workers).await {
        for id in worker?? {
            assert!(all.insert(id), "{id} was drained twice");
        }
    }
    assert_eq!(all, [first, second].concat().into_iter().collect());
    let settled = stores[0].days(place.account, &CountQuery::default()).await?;
    let total = place.total(&stores[1], DeliveryStatus::Sent).await;
    assert_eq!((settled[0].received, settled[0].success), (total, total));
    for store in stores {
        store.close().await;
    }
    remove.await;
    Ok(())
}
