//! Group commit. With PostgreSQL, on a runtime of one thread, everything that
//! is polled before the writer runs is in its next batch, so that the counts
//! are exact. SQLite's writer is a thread, whose counts are tested beside it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::join_all;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, Error, ErrorKind, ExecutionId, FunctionId, NodeId, OutputId,
    function::record::{Given, KeptBody, Left, RunRecord},
    model::{Checks, DeliveryStatus, ExecutionStatus},
    store::{Accept, DeliveryStore, DocumentStore, FunctionStore, Lease, Origin},
};
use webhook_storage::Storage;

use crate::{
    databases::{on_each, on_postgres, open},
    sample::{NOW, accept, claim, delivery, sent, webhook, with},
};

fn stray_execution() -> RunRecord {
    RunRecord {
        id: ExecutionId::generate(),
        function_id: FunctionId::generate(),
        account_id: AccountId::generate(),
        created: NOW,
        updated: NOW,
        duration: Duration::ZERO,
        status: ExecutionStatus::Success,
        stands_for: 1,
        given: Given {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: HeaderMap::new(),
            body: KeptBody::default(),
            metadata: BTreeMap::new(),
            checks: Checks::default(),
            response: None,
        },
        left: Left::default(),
    }
}

async fn has_log(storage: &Storage, accept: &Accept) -> bool {
    let account = accept.webhook.account_id;
    let log = storage.log(account, accept.deliveries[0].id).await;
    log.expect("the log can be read").is_some()
}

#[tokio::test]
async fn what_comes_at_once_shares_commits() {
    on_postgres(async |mut options| {
        options.writers = 1;
        let storage = open(&options).await;
        let (node, output) = (NodeId::generate(), OutputId::generate());
        storage
            .extend_lease(Lease::new(node, 0, NOW + Duration::from_secs(60)))
            .await
            .expect("a lease");

        let accepts: Vec<_> = (0..64).map(|_| accept(output)).collect();
        let stored = join_all(accepts.iter().map(|accept| storage.accept(accept.clone()))).await;
        assert!(stored.iter().all(Result::is_ok));
        assert_eq!(storage.write_stats().commits, 1, "64 accepts are one commit");
        assert_eq!(storage.write_stats().operations, 64);

        let claimed = storage.claim(claim(node, output)).await.expect("a claim");
        assert_eq!(claimed.deliveries.len(), 64);
        let held = claimed.deliveries.iter();
        let settles = held.map(|held| storage.settle(sent(held.id, Origin::of(held), node)));
        assert!(join_all(settles).await.iter().all(Result::is_ok));
        assert_eq!(storage.write_stats().commits, 3, "64 settles are one commit");
        assert_eq!((storage.write_stats().queued, storage.write_stats().queued_bytes), (0, 0));
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn batches_are_bounded() {
    on_postgres(async |mut options| {
        options.writers = 1;
        options.batch_operations = 10;
        let storage = open(&options).await;
        let output = OutputId::generate();
        let stored = join_all((0..64).map(|_| storage.accept(accept(output)))).await;
        assert!(stored.iter().all(Result::is_ok));
        assert_eq!(storage.write_stats().commits, 7);
        storage.close().await;

        options.batch_operations = 512;
        options.batch_bytes = 1;
        let storage = open(&options).await;
        let stored = join_all((0..3).map(|_| storage.accept(accept(output)))).await;
        assert!(stored.iter().all(Result::is_ok));
        assert_eq!(storage.write_stats().commits, 3, "each is a batch of its own");
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_small_webhook_does_not_wait_for_all_the_large_ones_before_it() {
    on_postgres(async |mut options| {
        options.writers = 1;
        let storage = open(&options).await;
        let large = || {
            with(accept(OutputId::generate()), |accept| {
                accept.webhook = Arc::new(webhook(vec![0; 1 << 20]))
            })
        };
        let large = join_all((0..8).map(|_| storage.accept(large())));
        let small = async {
            storage.accept(accept(OutputId::generate())).await.expect("it is stored");
            storage.write_stats().commits
        };
        let (large, commits_until_then) = tokio::join!(large, small);
        assert!(large.iter().all(Result::is_ok));
        assert_eq!((commits_until_then, storage.write_stats().commits), (1, 9));
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn one_bad_operation_spoils_nothing_for_the_others() {
    on_postgres(async |mut options| {
        options.writers = 1;
        let storage = open(&options).await;
        let (node, output) = (NodeId::generate(), OutputId::generate());
        storage.extend_lease(Lease::new(node, 0, NOW + Duration::from_secs(60))).await.expect("a lease");
        let (held, taken) = (accept(output), accept(OutputId::generate()));
        storage.accept(held.clone()).await.expect("it is new");
        storage.accept(taken.clone()).await.expect("it is new");
        assert_eq!(storage.claim(claim(node, output)).await.expect("a claim").deliveries.len(), 1);

        let good: Vec<_> = (0..5).map(|_| accept(output)).collect();
        let taken_id = with(accept(output), |accept| accept.deliveries = taken.deliveries.clone());
        let nul = with(delivery(output), |delivery| { delivery.detail = Some("a\0b".to_owned()); delivery.status = DeliveryStatus::Rejected; delivery.due_at = None; });
        let nul = with(accept(output), |accept| accept.deliveries = vec![nul]);
        let (good, taken_id, taken, nul) = (&good, &taken_id, &taken, &nul);

        let origin = Origin::new(&held.webhook, Some(output), NOW);
        let stray = stray_execution();
        let before = storage.write_stats().commits;
        let (accepted, settled, twice, unknown, bad, again, nul_text, recorded, claimed) = tokio::join!(
            join_all(good.iter().map(|accept| storage.accept(accept.clone()))),
            storage.settle(sent(held.deliveries[0].id, origin, node)),
            storage.settle(sent(held.deliveries[0].id, origin, node)),
            storage.settle(sent(webhook_core::DeliveryId::generate(), origin, node)),
            storage.accept(taken_id.clone()),
            storage.accept(taken.clone()),
            storage.accept(nul.clone()),
            storage.record_execution(&stray, 3),
            storage.claim(claim(node, output)),
        );
        assert_eq!(storage.write_stats().commits, before + 1, "they were one batch");

        assert!(accepted.iter().all(Result::is_ok));
        for accept in good {
            assert!(has_log(&storage, accept).await);
        }
        settled.expect("the first outcome counts");
        let kind = |result: Result<(), Error>| result.expect_err("it is refused").kind();
        assert_eq!(kind(twice), ErrorKind::Conflict);
        assert_eq!(kind(unknown), ErrorKind::Conflict);
        assert_eq!(kind(bad.map(drop)), ErrorKind::Conflict);
        assert_eq!(kind(recorded), ErrorKind::NotFound);
        again.expect("storing it again changes nothing");
        nul_text.expect("any text can be stored");
        let log = storage.log(nul.webhook.account_id, nul.deliveries[0].id).await.expect("a log");
        let last = log.expect("it is stored").delivery.last.expect("it has a reason");
        assert_eq!(last.error.as_deref(), Some("a\u{fffd}b"));
        assert!(claimed.expect("a claim").deliveries.len() <= good.len());
        let refused = storage.logs_of(taken_id.webhook.account_id, taken_id.webhook.id).await;
        assert!(refused.expect("logs can be read").is_empty(), "nothing of it is stored");
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_full_queue_refuses_at_once() {
    on_postgres(async |mut options| {
        options.writers = 1;
        options.queue_operations = 4;
        let storage = open(&options).await;
        let accepts: Vec<_> = (0..10).map(|_| accept(OutputId::generate())).collect();
        let stored = join_all(accepts.iter().map(|accept| storage.accept(accept.clone()))).await;
        for (number, (accept, stored)) in accepts.iter().zip(stored).enumerate() {
            assert_eq!(stored.is_ok(), number < 4, "number {number}");
            assert_eq!(has_log(&storage, accept).await, number < 4, "number {number}");
            if let Err(error) = stored {
                assert_eq!(error.kind(), ErrorKind::Unavailable);
                assert!(error.retry_after().is_some());
            }
        }
        storage.accept(accepts[9].clone()).await.expect("there is room again");
        storage.close().await;

        options.queue_operations = 1_000;
        options.queue_bytes = 10_000;
        let storage = open(&options).await;
        let large = |bytes: usize| {
            with(accept(OutputId::generate()), |accept| {
                accept.webhook = Arc::new(webhook(vec![0; bytes]))
            })
        };
        let stored = join_all((0..4).map(|_| storage.accept(large(4_000)))).await;
        assert_eq!(stored.iter().filter(|stored| stored.is_ok()).count(), 2);
        storage.accept(large(50_000)).await.expect("a larger one is taken alone");
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_closed_storage_is_unavailable() {
    on_each(async |options| {
        let storage = open(&options).await;
        let (written, ()) = tokio::join!(storage.accept(accept(OutputId::generate())), async {
            storage.close().await;
        });
        written.expect("what was taken before is written");
        let output = OutputId::generate();
        let error = storage.accept(accept(output)).await.expect_err("it is closed");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        let error = storage.counts(AccountId::generate()).await.expect_err("it is closed");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        storage.close().await;
    })
    .await;
}
