//! Cases for what deleting a bucket or an output does to its deliveries.

use crate::sample::Together as _;
use webhook_core::store::{BucketStore as _, OutputStore as _};
use webhook_core::{
    AccountId, NodeId, OutputId, Timestamp,
    model::{Bucket, DeliveryStatus, Log, Webhook},
    store::{Claim, ClaimOrder, Stores},
};

use super::{
    delivery::{
        ALL, Queued, accept, backlogs, claim_as, claim_due, find_log, log, logs_of, new_delivery,
        node, retry, take_due,
    },
    log::{Outcome, Place, oracle::assert_exact, reported},
    sample::{NOW, after, bucket, expect_conflict, expect_not_found, input, output, webhook, with},
};

/// A stored bucket with an input and two outputs.
async fn stored(stores: &Stores, name: &str) -> Bucket {
    let mut bucket = bucket(AccountId::generate(), name);
    bucket.inputs.push(input(bucket.id, "in"));
    bucket.outputs = ["first", "second"].map(|name| output(bucket.id, name)).into();
    stores.documents.create_bucket(&bucket).await.expect("the bucket is new");
    bucket
}

/// Stores a webhook of the bucket with one delivery that is due at `due_at`: what an output
/// gets came into its bucket.
async fn queue(stores: &Stores, bucket: &Bucket, output: OutputId, due_at: Timestamp) -> Queued {
    let webhook = Webhook { bucket_id: bucket.id, ..webhook(bucket.account_id) };
    let delivery = new_delivery(output, due_at);
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    (&webhook, &delivery).into()
}

async fn queue_many(
    stores: &Stores,
    bucket: &Bucket,
    output: OutputId,
    due_at: Timestamp,
    count: usize,
) {
    for _ in 0..count {
        queue(stores, bucket, output, due_at).await;
    }
}

async fn delete_output(stores: &Stores, bucket: &Bucket, id: OutputId) {
    let deleted = stores.documents.delete_output(bucket.account_id, id).await;
    deleted.expect("the output exists");
    assert_nothing_to_claim(stores, node(stores).await, id).await;
    cancel_all(stores, 2).await;
}

/// Cancels the deliveries that wait for deleted outputs, at most `most` with each call.
async fn cancel_all(stores: &Stores, most: usize) {
    while let Some(cancelled) = stores.deliveries.cancel_deleted(most).await.expect("a number") {
        assert!(cancelled <= most, "{cancelled}");
    }
}

async fn delete_bucket(stores: &Stores, bucket: &Bucket) {
    let deleted = stores.documents.remove_bucket(bucket.account_id, bucket.id, None, true).await;
    deleted.expect("force is set");
    cancel_all(stores, 2).await;
}

/// Fails if anything of `output` can be claimed, now or ever.
async fn assert_nothing_to_claim(stores: &Stores, node: NodeId, output_id: OutputId) {
    for order in [ClaimOrder::Due, ClaimOrder::Receipt] {
        let claim =
            with(Claim::new(node, output_id, after(900_000), ALL), |claim| claim.order = order);
        let claimed = claim_as(stores, claim).await;
        assert!(claimed.deliveries.is_empty(), "{claimed:?}");
        assert_eq!(claimed.next_due_at, None);
    }
    assert!(backlogs(stores, after(900_000)).await.iter().all(|backlog| backlog.0 != output_id));
}

/// Fails unless the log has everything it had `before`, and is no longer due.
async fn assert_log_stays(stores: &Stores, queued: Queued, before: Log) {
    let found = find_log(stores, queued.origin.account_id, queued.id).await.expect("the log stays");
    assert_eq!(found.webhook, before.webhook);
    assert_eq!(found.delivery.due_at, None, "nobody will attempt it");
    assert_eq!(found.delivery.output_id, before.delivery.output_id);
    assert_eq!(found.delivery.attempts, before.delivery.attempts);
    assert_eq!(found.delivery.created_at, before.delivery.created_at);
    assert_eq!(found.delivery.processed, before.delivery.processed);
    assert_eq!(logs_of(stores, &found.webhook).await, [found]);
}

/// What waits for a deleted output is not attempted: due, later, held or to be tried again.
pub async fn deliveries_of_a_deleted_output_are_not_claimed(stores: &Stores) {
    let bucket = stored(stores, "a").await;
    let (output, node) = (bucket.outputs[0].id, node(stores).await);
    queue_many(stores, &bucket, output, NOW, 2).await;
    let held = take_due(stores, node, output, NOW).await.deliveries;
    assert_eq!(held.len(), 2);
    stores
        .deliveries
        .settle(retry(&held[0], node, after(1), after(60)))
        .await
        .expect("the delivery is pending");
    queue(stores, &bucket, output, NOW).await;
    queue(stores, &bucket, output, after(100)).await;

    delete_output(stores, &bucket, output).await;
    assert_nothing_to_claim(stores, node, output).await;
    stores.deliveries.release(node, None).await.expect("the node can be released");
    assert_nothing_to_claim(stores, node, output).await;
}

/// The logs of a deleted output are there to be read.
pub async fn logs_of_a_deleted_output_stay(stores: &Stores) {
    let bucket = stored(stores, "a").await;
    let output = bucket.outputs[0].id;
    let queued = queue(stores, &bucket, output, after(5)).await;
    let before = log(stores, queued).await;
    delete_output(stores, &bucket, output).await;
    assert_log_stays(stores, queued, before).await;
}

/// The deliveries of other outputs, and what is final, stay as they are.
pub async fn deleting_an_output_leaves_others_alone(stores: &Stores) {
    let bucket = stored(stores, "a").await;
    let (gone, stays) = (bucket.outputs[0].id, bucket.outputs[1].id);
    let node = node(stores).await;
    let done = queue(stores, &bucket, gone, NOW).await;
    claim_due(stores, node, gone, NOW).await;
    let sent = super::delivery::sent(done, node, after(1));
    stores.deliveries.settle(sent).await.expect("the delivery is pending");
    let waiting = queue(stores, &bucket, stays, NOW).await;
    let before = (log(stores, done).await, log(stores, waiting).await);

    delete_output(stores, &bucket, gone).await;
    assert_eq!((log(stores, done).await, log(stores, waiting).await), before);
    assert_eq!(backlogs(stores, NOW).await, [(stays, NOW, 1)]);
    assert_eq!(claim_due(stores, node, stays, NOW).await, [waiting.id]);
}

/// A deletion that fails touches no delivery.
pub async fn refused_deletion_of_an_output_leaves_its_deliveries(stores: &Stores) {
    let (bucket, elsewhere) = (stored(stores, "a").await, stored(stores, "b").await);
    let output = bucket.outputs[0].id;
    let queued = queue(stores, &bucket, output, NOW).await;
    let outputs = &stores.documents;
    expect_not_found(outputs.delete_output(elsewhere.account_id, output).await);
    assert_eq!(claim_due(stores, node(stores).await, output, NOW).await, [queued.id]);
}

/// An attempt that was under way when its output went is the last one, whatever came of it.
pub async fn delivery_in_flight_at_deletion_is_not_tried_again(stores: &Stores) {
    for whole_bucket in [false, true] {
        let bucket = stored(stores, "a").await;
        let (output, node) = (bucket.outputs[0].id, node(stores).await);
        let queued = queue(stores, &bucket, output, NOW).await;
        assert_eq!(claim_due(stores, node, output, NOW).await, [queued.id]);
        if whole_bucket {
            delete_bucket(stores, &bucket).await;
        } else {
            delete_output(stores, &bucket, output).await;
        }
        expect_conflict(stores.deliveries.settle(retry(queued, node, after(1), after(2))).await);
        assert_nothing_to_claim(stores, node, output).await;
        assert_eq!(log(stores, queued).await.delivery.due_at, None);
    }
}

/// What waits for any output of a deleted bucket is not attempted.
pub async fn deliveries_of_a_deleted_bucket_are_not_claimed(stores: &Stores) {
    let (bucket, other) = (stored(stores, "a").await, stored(stores, "b").await);
    let node = node(stores).await;
    for output in &bucket.outputs {
        queue(stores, &bucket, output.id, NOW).await;
        claim_due(stores, node, output.id, NOW).await;
        queue(stores, &bucket, output.id, after(100)).await;
    }
    let stays = other.outputs[0].id;
    let waiting = queue(stores, &other, stays, NOW).await;

    delete_bucket(stores, &bucket).await;
    for output in &bucket.outputs {
        assert_nothing_to_claim(stores, node, output.id).await;
    }
    assert_eq!(claim_due(stores, node, stays, NOW).await, [waiting.id]);
}

/// The logs of a deleted bucket are there to be read.
pub async fn logs_of_a_deleted_bucket_stay(stores: &Stores) {
    let bucket = stored(stores, "a").await;
    let mut queued = Vec::new();
    for output in &bucket.outputs {
        let delivery = queue(stores, &bucket, output.id, NOW).await;
        queued.push((delivery, log(stores, delivery).await));
    }
    delete_bucket(stores, &bucket).await;
    for (delivery, before) in queued {
        assert_log_stays(stores, delivery, before).await;
    }
}

/// A deletion that is refused touches no delivery.
pub async fn refused_deletion_of_a_bucket_leaves_its_deliveries(stores: &Stores) {
    let bucket = stored(stores, "a").await;
    let output = bucket.outputs[0].id;
    let queued = queue(stores, &bucket, output, NOW).await;
    let (account, spare) = (bucket.account_id, Some(bucket.inputs[0].id));
    let buckets = &stores.documents;
    expect_conflict(buckets.remove_bucket(account, bucket.id, spare, false).await);
    expect_not_found(buckets.remove_bucket(AccountId::generate(), bucket.id, spare, true).await);
    assert_eq!(claim_due(stores, node(stores).await, output, NOW).await, [queued.id]);
}

/// Changes of a bucket or of an output, renames included, leave the queue alone.
pub async fn deliveries_stay_claimable_when_a_bucket_changes(stores: &Stores) {
    let mut bucket = stored(stores, "a").await;
    let queued = queue(stores, &bucket, bucket.outputs[0].id, NOW).await;
    bucket.spec.name = "renamed".to_owned();
    bucket.suspended = true;
    stores.documents.update_bucket(&bucket).await.expect("the bucket exists");
    let mut output = bucket.outputs[0].clone();
    output.spec.name = "renamed".to_owned();
    output.spec.destination = "https://example.com/elsewhere".to_owned();
    stores.documents.update_output(bucket.account_id, &output).await.expect("the output exists");
    assert_eq!(claim_due(stores, node(stores).await, output.id, NOW).await, [queued.id]);
}

/// Clients neither drain nor get what waited for a deleted output; it is counted as failed.
pub async fn what_waits_for_clients_ends_with_its_output(stores: &Stores) {
    for whole_bucket in [false, true] {
        let bucket = stored(stores, "a").await;
        let of = |internal| Place {
            account: bucket.account_id,
            bucket: bucket.id,
            public: bucket.outputs[0].id,
            internal,
        };
        let (gone, stays) = (of(bucket.outputs[0].id), of(bucket.outputs[1].id));
        let account = gone.account;
        let waits = gone.store(stores, NOW, gone.to_clients()).await;
        let other = stays.store(stores, NOW, stays.to_clients()).await;
        let stalled = gone.store(stores, after(70), gone.to_clients()).await;
        let report = with(reported(stalled.id, after(71)), |report| {
            report.status = DeliveryStatus::Stalled;
            report.retries = 3;
        });
        stores.logs.report(account, &report).await.expect("the log is there");
        let retried = Outcome {
            status: DeliveryStatus::Received,
            due_at: Some(after(90)),
            ..Outcome::FAILED
        };
        let retried = gone.store_settled(stores, after(80), retried).await;
        gone.store(stores, after(81), gone.to_public()).await;
        assert_exact(stores, account).await;

        if whole_bucket {
            delete_bucket(stores, &bucket).await;
        } else {
            delete_output(stores, &bucket, gone.internal).await;
        }
        assert_exact(stores, account).await;
        let expected = if whole_bucket { vec![] } else { vec![other] };
        assert_eq!(super::log::waiting(stores, account, &[bucket.id]).await, expected);
        for id in [waits.id, stalled.id, retried.id] {
            let log = find_log(stores, account, id).await.expect("the log stays");
            assert_eq!(log.delivery.status, DeliveryStatus::Failed);
        }
        let drained = super::log::drain(stores, account, &super::log::drain_all(9)).await;
        assert_eq!(super::log::cursors(&drained.logs), expected);
        assert_exact(stores, account).await;
    }
}
