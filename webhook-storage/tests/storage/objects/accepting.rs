//! When objects are written, and when they go.

use std::{sync::Arc, time::Duration};

use webhook_core::{
    ErrorKind, OutputId,
    store::{Accepted, DeliveryStore, LogStore, OldLogs, Origin, Seen},
};

use super::{GATE, MIN_BYTES, Objects, accept_of, body, claim, key, opened};
use crate::{
    databases::on_each,
    sample::{NOW, sent, with},
};

#[tokio::test]
async fn a_large_body_is_there_before_its_row() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        let accept = accept_of(OutputId::generate(), body(MIN_BYTES + 1));
        let (account, id) = (accept.webhook.account_id, accept.webhook.id);
        let closed = objects.gate.acquire_many(GATE).await.expect("all");
        let (accepting, given) = (storage.clone(), accept.clone());
        let accepting = tokio::spawn(async move { accepting.accept(given).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(storage.logs_of(account, id).await.expect("a read").is_empty());
        drop(closed);
        let accepted = accepting.await.expect("it ends").expect("it is new");
        assert_eq!(accepted, Accepted::Stored);
        assert_eq!(objects.keys(), [key(id)]);
        // The same again is the same object.
        assert_eq!(storage.accept(accept.clone()).await.expect("known"), Accepted::Known);
        assert_eq!(objects.keys(), [key(id)]);
        let logs = storage.logs_of(account, id).await.expect("a read");
        assert_eq!(logs[0].webhook, *accept.webhook);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_put_is_not_stored() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        objects.set_away(true);
        let accept = accept_of(OutputId::generate(), body(MIN_BYTES + 1));
        let error = storage.accept(accept.clone()).await.expect_err("it is away");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.retry_after().is_some());
        let logs = storage.logs_of(accept.webhook.account_id, accept.webhook.id).await;
        assert!(logs.expect("a read").is_empty());
        // What needs no object comes in.
        let small = accept_of(OutputId::generate(), body(MIN_BYTES));
        storage.accept(small).await.expect("it is new");
        let ephemeral = with(accept_of(OutputId::generate(), body(9_000)), |accept| {
            Arc::make_mut(&mut accept.webhook).ephemeral = true;
        });
        storage.accept(ephemeral).await.expect("it is new");
        objects.set_away(false);
        storage.accept(accept).await.expect("it is new");
        assert_eq!(objects.keys().len(), 1);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn of_a_duplicate_no_object_is_kept() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        let first = with(accept_of(OutputId::generate(), body(500)), |accept| {
            accept.seen = vec![Seen { key: [7; 32], until: NOW + Duration::from_secs(60) }];
        });
        let second = with(accept_of(OutputId::generate(), body(500)), |accept| {
            accept.seen = first.seen.clone();
            Arc::make_mut(&mut accept.webhook).input_id = first.webhook.input_id;
        });
        storage.accept(first.clone()).await.expect("it is new");
        let accepted = storage.accept(second.clone()).await.expect("it is known");
        assert_eq!(accepted, Accepted::Duplicate { of: first.webhook.id });
        for _ in 0..200 {
            if objects.keys() == [key(first.webhook.id)] {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(objects.keys(), [key(first.webhook.id)]);
        let logs = storage.logs_of(second.webhook.account_id, second.webhook.id).await;
        assert!(logs.expect("a read")[0].webhook.request.body.is_empty());
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn objects_go_with_their_rows() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let output = OutputId::generate();
        for round in 0..2 {
            for bytes in [10, 500, 600] {
                storage.accept(accept_of(output, body(bytes))).await.expect("it is new");
            }
            let kept = accept_of(OutputId::generate(), body(700));
            storage.accept(kept).await.expect("it is new");
            for pending in storage.claim(claim(node, output)).await.expect("a claim").deliveries {
                let settle = sent(pending.id, Origin::of(&pending), node);
                storage.settle(settle).await.expect("it is held");
            }
            // A store that is away keeps nobody from purging.
            objects.set_away(round == 1);
            let old = OldLogs::new(NOW + Duration::from_secs(86_400));
            assert_eq!(storage.purge(&old, 100).await.expect("a purge"), 3);
        }
        assert_eq!(objects.keys().len(), 1 + 3, "two of the second round, and two that wait");
        storage.close().await;
    })
    .await;
}
