//! Claims and drains of webhooks whose bodies are objects.

use std::{sync::Arc, time::Duration};

use futures_util::FutureExt;
use webhook_core::{
    DeliveryId, ErrorKind, OutputId,
    model::{DeliveryStatus, Log},
    store::{
        Accept, ClaimOrder, DeliveryStore, Drain, LogCursor, LogStore, NewDelivery, Redeliver,
    },
};

use super::{Objects, accept_of, body, claim, opened};
use crate::{
    databases::{on_each, open},
    sample::{NOW, delivery, with},
};

const LATER: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_claim_has_the_body_after_a_restart() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let accept = accept_of(OutputId::generate(), body(5_000));
        let output = accept.deliveries[0].output_id.expect("an output");
        storage.accept(accept.clone()).await.expect("it is new");
        storage.close().await;
        // A server that does not know where the objects are sends nothing wrong.
        let bare = open(&options).await;
        let claimed = bare.claim(claim(node, output)).await.expect("a claim");
        assert!(claimed.deliveries.is_empty());
        bare.close().await;
        let (storage, node) = opened(&options, &objects).await;
        let later = with(claim(node, output), |claim| claim.now = NOW + Duration::from_secs(10));
        let claimed = storage.claim(later).await.expect("a claim");
        assert_eq!(claimed.deliveries[0].webhook, accept.webhook);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_claim_counts_what_its_objects_have() {
    on_each(async |mut options| {
        options.claim_bytes = 2_500;
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let output = OutputId::generate();
        for bytes in [1_000, 1_000, 1_000, 9_000, 10] {
            storage.accept(accept_of(output, body(bytes))).await.expect("it is new");
        }
        for expected in [2, 1, 1, 1] {
            let claimed = storage.claim(claim(node, output)).await.expect("a claim");
            assert_eq!(claimed.deliveries.len(), expected);
        }
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn others_are_delivered_while_the_store_is_away() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let output = OutputId::generate();
        let large: Vec<_> = (0..3).map(|_| accept_of(output, body(500))).collect();
        let small = accept_of(output, body(5));
        for accept in large.iter().chain([&small]) {
            storage.accept(accept.clone()).await.expect("it is new");
        }
        objects.set_away(true);
        let claimed = storage.claim(claim(node, output)).await.expect("a claim");
        assert_eq!(claimed.deliveries.len(), 1);
        assert_eq!(claimed.deliveries[0].webhook, small.webhook);
        // It is not asked for them again and again.
        let again_at = NOW + Duration::from_secs(10);
        assert_eq!(claimed.next_due_at, Some(again_at));
        let claimed = storage.claim(claim(node, output)).await.expect("a claim");
        assert_eq!((claimed.deliveries.len(), claimed.next_due_at), (0, Some(again_at)));
        objects.set_away(false);
        let later = with(claim(node, output), |claim| claim.now = again_at);
        let claimed = storage.claim(later).await.expect("a claim");
        let bodies: Vec<_> = claimed.deliveries.iter().map(|it| it.webhook.clone()).collect();
        assert_eq!(bodies, large.iter().map(|it| it.webhook.clone()).collect::<Vec<_>>());
        assert_eq!(claimed.deliveries[0].attempts, 0);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn others_are_delivered_while_one_cannot_be_read() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let output = OutputId::generate();
        let large: Vec<_> = (0..20).map(|_| accept_of(output, body(500))).collect();
        for accept in &large {
            storage.accept(accept.clone()).await.expect("it is new");
        }
        objects.state().unreadable = Some(super::key(large[0].webhook.id));
        let claimed = storage.claim(claim(node, output)).await.expect("a claim");
        let bodies: Vec<_> = claimed.deliveries.iter().map(|it| it.webhook.clone()).collect();
        assert_eq!(bodies, large[1..].iter().map(|it| it.webhook.clone()).collect::<Vec<_>>());
        assert_eq!(claimed.next_due_at, Some(NOW + Duration::from_secs(10)));
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_queue_in_order_waits_for_its_first() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let output = OutputId::generate();
        let accepts: Vec<_> =
            [5, 500, 5].into_iter().map(|bytes| accept_of(output, body(bytes))).collect();
        for accept in &accepts {
            storage.accept(accept.clone()).await.expect("it is new");
        }
        let in_order = with(claim(node, output), |claim| claim.order = ClaimOrder::Receipt);
        objects.set_away(true);
        let claimed = storage.claim(in_order).await.expect("a claim");
        assert_eq!(claimed.deliveries.len(), 1);
        assert_eq!(claimed.deliveries[0].webhook, accepts[0].webhook);
        let error = storage.claim(in_order).await.expect_err("the next one is away");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        objects.set_away(false);
        let claimed = storage.claim(in_order).await.expect("a claim");
        let bodies: Vec<_> = claimed.deliveries.iter().map(|it| it.webhook.clone()).collect();
        assert_eq!(bodies, [accepts[1].webhook.clone(), accepts[2].webhook.clone()]);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_whose_body_is_gone_fails_alone() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let output = OutputId::generate();
        let accepts: Vec<_> = (0..4).map(|_| accept_of(output, body(500))).collect();
        for accept in &accepts {
            storage.accept(accept.clone()).await.expect("it is new");
        }
        let [gone, changed, longer, whole] = &accepts[..] else { unreachable!() };
        objects.replace(gone.webhook.id, None);
        objects.replace(changed.webhook.id, Some(&[b'x'; 500]));
        objects.replace(longer.webhook.id, Some(&[b'x'; 501]));
        let claimed = storage.claim(claim(node, output)).await.expect("a claim");
        assert_eq!(claimed.deliveries.len(), 1);
        assert_eq!(claimed.deliveries[0].webhook, whole.webhook);
        assert_eq!(claimed.next_due_at, None);
        for accept in [gone, changed, longer] {
            let log = log_of(&storage, accept).await;
            assert_eq!(log.delivery.status, DeliveryStatus::Failed);
            let said = log.delivery.last.and_then(|last| last.error);
            assert!(said.is_some_and(|said| said.contains("gone from the object storage")));
            assert!(log.webhook.request.body.is_empty());
            assert!(log.webhook.ephemeral, "it is shown as erased");
            // Nobody sends an empty body in its place.
            let redeliver = Redeliver::new(accept.webhook.id, vec![delivery(output)], NOW);
            let error = storage.redeliver(accept.webhook.account_id, redeliver).await;
            assert_eq!(error.expect_err("it is gone").kind(), ErrorKind::Conflict);
        }
        storage.close().await;
    })
    .await;
}

async fn log_of(storage: &webhook_storage::Storage, accept: &Accept) -> Log {
    let log = storage.log(accept.webhook.account_id, accept.deliveries[0].id).await;
    log.expect("a read").expect("the log is there")
}

#[tokio::test]
async fn what_was_claimed_for_nobody_is_free_again() {
    on_each(async |mut options| {
        options.writers = 1;
        let objects = Objects::new();
        let (storage, node) = opened(&options, &objects).await;
        let accept = accept_of(OutputId::generate(), body(500));
        let output = accept.deliveries[0].output_id.expect("an output");
        storage.accept(accept.clone()).await.expect("it is new");
        assert!(storage.claim(claim(node, output)).now_or_never().is_none());
        // Given up while its body is read.
        let reading = tokio::time::timeout(Duration::from_micros(300), async {
            storage.claim(claim(node, output)).await
        });
        drop(reading.await);
        let mut claimed = storage.claim(claim(node, output)).await.expect("a claim");
        for _ in 0..200 {
            if !claimed.deliveries.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            claimed = storage.claim(claim(node, output)).await.expect("a claim");
        }
        assert_eq!(claimed.deliveries[0].webhook, accept.webhook);
        storage.close().await;
    })
    .await;
}

/// Webhooks of one bucket that wait for clients.
fn waiting(sizes: &[usize]) -> Vec<Accept> {
    let output = OutputId::generate();
    let first = super::webhook(body(1));
    let of = |bytes: &usize| {
        let mut accept = accept_of(output, body(*bytes));
        let webhook = Arc::make_mut(&mut accept.webhook);
        webhook.account_id = first.account_id;
        webhook.bucket_id = first.bucket_id;
        let id = accept.deliveries[0].id;
        accept.deliveries =
            vec![with(NewDelivery::new(id, Some(output), None), |it| it.internal = true)];
        accept
    };
    sizes.iter().map(of).collect()
}

#[tokio::test]
async fn what_cannot_be_read_is_drained_later() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        let accepts = waiting(&[5, 500, 5, 600]);
        for accept in &accepts {
            storage.accept(accept.clone()).await.expect("it is new");
        }
        let account = accepts[0].webhook.account_id;
        let buckets = [accepts[0].webhook.bucket_id];
        objects.set_away(true);
        let shown = storage.waiting(account, &buckets, None, 9).await.expect("a list");
        assert_eq!(shown.len(), 1);
        // After a place, nothing is passed over.
        let from = LogCursor { created_at: NOW, id: DeliveryId::from_uuid(uuid::Uuid::nil()) };
        let after = with(Drain::new(NOW, 9), |drain| drain.after = Some(from));
        let leased_for_a_moment = with(after, |drain| drain.lease = Some(Duration::ZERO));
        let drained = storage.drain(account, &leased_for_a_moment).await.expect("a drain");
        assert_eq!((drained.logs.len(), drained.has_more), (1, true));
        let drained = storage.drain(account, &Drain::new(NOW, 9)).await.expect("a drain");
        assert_eq!((drained.logs.len(), drained.has_more), (2, true));
        let error = storage.drain(account, &Drain::new(NOW, 9)).await.expect_err("it is away");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        let leased = with(Drain::new(NOW, 9), |drain| drain.lease = Some(LATER));
        storage.drain(account, &leased).await.expect_err("it is away");
        objects.set_away(false);
        // The last one is lost meanwhile.
        objects.replace(accepts[3].webhook.id, None);
        let shown = storage.waiting(account, &buckets, None, 9).await.expect("a list");
        assert_eq!(shown.len(), 1);
        let drained = storage.drain(account, &leased).await.expect("a drain");
        let bodies: Vec<_> =
            drained.logs.iter().map(|log| log.webhook.request.body.clone()).collect();
        assert_eq!(bodies, [accepts[1].webhook.request.body.clone()]);
        let lost = log_of(&storage, &accepts[3]).await;
        assert_eq!(lost.delivery.status, DeliveryStatus::Failed);
        assert!(storage.waiting(account, &buckets, None, 9).await.expect("a list").len() <= 1);
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_of_what_is_gone_is_not_the_end() {
    on_each(async |options| {
        let objects = Objects::new();
        let (storage, _) = opened(&options, &objects).await;
        let accepts = waiting(&[500, 500, 500]);
        for accept in &accepts {
            storage.accept(accept.clone()).await.expect("it is new");
        }
        for accept in &accepts[..2] {
            objects.replace(accept.webhook.id, None);
        }
        let buckets = [accepts[0].webhook.bucket_id];
        let shown = storage.waiting(accepts[0].webhook.account_id, &buckets, None, 1).await;
        let shown = shown.expect("a list");
        assert_eq!(shown[0].webhook.request.body, accepts[2].webhook.request.body);
        storage.close().await;
    })
    .await;
}
