//! Sending a stored webhook again, and handing deliveries over to clients.

use std::sync::Arc;

use webhook_core::{
    AccountId, BucketId, Error, ErrorKind, ExecutionId, OutputId, WebhookId,
    forward::history::History,
    model::{Attempt, Delivery, DeliveryStatus, Webhook},
    store::{Claim, NewDelivery, Redeliver, Stores},
};

use super::{
    accept, backlogs, claim_as, claim_due, find_log, log, logs_of, new_delivery, node, queue,
    rejected, sent, settle, take_due,
};
use crate::{
    log::oracle::assert_exact,
    sample::{
        NOW, after, expect_conflict, expect_not_found, odd_request, odd_webhook, race, webhook,
        with,
    },
};

fn again(webhook: &Webhook, delivery: &NewDelivery) -> Redeliver {
    Redeliver::new(webhook.id, vec![delivery.clone()], after(60))
}

async fn redeliver(stores: &Stores, webhook: &Webhook, redeliver: Redeliver) -> Result<(), Error> {
    stores.deliveries.redeliver(webhook.account_id, redeliver).await
}

/// A stored webhook that was rejected, so that nothing else is to be done with it.
async fn stored(stores: &Stores) -> Webhook {
    stored_in(stores, BucketId::generate()).await
}

/// The same in this bucket.
async fn stored_in(stores: &Stores, bucket_id: BucketId) -> Webhook {
    let webhook = Webhook { bucket_id, ephemeral: false, ..odd_webhook(AccountId::generate()) };
    accept(stores, &webhook, &[rejected(OutputId::generate())]).await;
    webhook
}

/// Every kind of delivery can be added; its log has every field, and the others stay.
pub async fn redelivered_webhook_has_another_log(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let pending = new_delivery(output, after(90));
    let kinds = [
        pending.clone(),
        with(new_delivery(output, after(90)), |delivery| delivery.held_by = Some(node)),
        with(new_delivery(output, after(90)), |delivery| {
            delivery.internal = true;
            delivery.due_at = None;
        }),
        with(new_delivery(output, after(90)), |delivery| {
            delivery.output_id = None;
            delivery.due_at = None;
        }),
        rejected(output),
    ];
    for (kind, processed) in kinds.into_iter().zip([true, false].into_iter().cycle()) {
        let webhook = stored(stores).await;
        let before = logs_of(stores, &webhook).await;
        let processed = processed.then(odd_request);
        let added = with(again(&webhook, &kind), |redeliver| {
            redeliver.processed = processed.clone().map(Arc::new)
        });
        redeliver(stores, &webhook, added).await.expect("the webhook is stored");

        let NewDelivery { id, output_id, internal, status, reason, detail, due_at, .. } = kind;
        let expected = Delivery {
            id,
            webhook_id: webhook.id,
            output_id,
            internal,
            status,
            due_at,
            attempts: 0,
            reason,
            last: detail.map(|error| Attempt { error: Some(error), ..Attempt::default() }),
            processed,
            history: History::default(),
            output_execution_id: None,
            leased_until: None,
            replay: None,
            created_at: after(60),
            updated_at: after(60),
        };
        let log = find_log(stores, webhook.account_id, id).await.expect("the log is there");
        assert_eq!((&log.delivery, &log.webhook), (&expected, &webhook));
        let mut all = [before, vec![log]].concat();
        all.sort_unstable_by_key(|log| log.delivery.id);
        assert_eq!(logs_of(stores, &webhook).await, all);
    }
    assert_eq!(backlogs(stores, after(90)).await, [(output, after(90), 1)], "one is free");
    assert_eq!(claim_due(stores, node, output, after(90)).await, [pending.id]);
}

/// It is claimed when it is due, with what is to be sent, and settled as any other.
pub async fn redelivered_webhook_is_attempted(stores: &Stores) {
    let (webhook, output) = (stored(stores).await, OutputId::generate());
    let node = node(stores).await;
    let delivery = new_delivery(output, after(70));
    let processed = Some(Arc::new(odd_request()));
    let added =
        with(again(&webhook, &delivery), |redeliver| redeliver.processed = processed.clone());
    redeliver(stores, &webhook, added).await.expect("the webhook is stored");
    assert!(claim_due(stores, node, output, after(69)).await.is_empty());
    let now = after(70);
    let claim = Claim::new(node, output, now, 9);
    let claimed = claim_as(stores, claim).await.deliveries.remove(0);
    assert_eq!((claimed.id, claimed.attempts), (delivery.id, 0));
    assert_eq!((*claimed.webhook).clone(), webhook);
    assert_eq!((&claimed.processed, claimed.created_at), (&processed, after(60)));
    settle(stores, sent(&claimed, node, after(71))).await;
    let log = find_log(stores, webhook.account_id, delivery.id).await.expect("it is stored");
    assert_eq!(log.delivery.status, DeliveryStatus::Sent);
}

/// It counts when it was added, however long after the webhook that was.
pub async fn redelivered_log_counts_when_it_was_added(stores: &Stores) {
    let (webhook, output) = (stored(stores).await, OutputId::generate());
    let node = node(stores).await;
    let delivery = new_delivery(output, after(70));
    let processed = Some(Arc::new(odd_request()));
    let added = with(again(&webhook, &delivery), |redeliver| redeliver.processed = processed);
    redeliver(stores, &webhook, added).await.expect("the webhook is stored");
    let claimed = take_due(stores, node, output, after(70)).await.deliveries.remove(0);
    settle(stores, sent(&claimed, node, after(71))).await;
    assert_exact(stores, webhook.account_id).await;
}

/// What the account does not have cannot be sent again.
pub async fn redelivery_of_a_missing_webhook_is_not_found(stores: &Stores) {
    let (webhook, output) = (stored(stores).await, OutputId::generate());
    let delivery = new_delivery(output, NOW);
    let missing = Webhook { id: WebhookId::generate(), ..webhook.clone() };
    expect_not_found(redeliver(stores, &missing, again(&missing, &delivery)).await);
    let theirs = Webhook { account_id: AccountId::generate(), ..webhook.clone() };
    expect_not_found(redeliver(stores, &theirs, again(&webhook, &delivery)).await);
    assert_eq!(logs_of(stores, &webhook).await.len(), 1);
    assert_eq!(backlogs(stores, NOW).await, []);
}

/// Several deliveries are added at once; one that is there already stays as it is, and
/// one of another webhook's keeps the others out.
pub async fn redeliveries_are_added_all_or_none(stores: &Stores) {
    let (webhook, output) = (stored(stores).await, OutputId::generate());
    let other = stored_in(stores, webhook.bucket_id).await;
    let [known, first, second, taken] = std::array::from_fn(|_| new_delivery(output, NOW));
    redeliver(stores, &webhook, again(&webhook, &known)).await.expect("it is new");
    redeliver(stores, &other, again(&other, &taken)).await.expect("it is new");
    let several = |deliveries: &[&NewDelivery]| {
        let deliveries = deliveries.iter().copied().cloned().collect();
        Redeliver::new(webhook.id, deliveries, after(60))
    };
    let before = logs_of(stores, &webhook).await;
    let refused = redeliver(stores, &webhook, several(&[&first, &taken, &second])).await;
    expect_conflict(refused);
    assert_eq!(logs_of(stores, &webhook).await, before);
    for _ in 0..2 {
        let added = several(&[&known, &first, &second, &first]);
        redeliver(stores, &webhook, added).await.expect("they are new, or known");
    }
    let mut logs = logs_of(stores, &webhook).await;
    logs.retain(|log| !before.contains(log));
    let ids: Vec<_> = logs.iter().map(|log| log.delivery.id).collect();
    assert_eq!(ids, [first.id, second.id]);
}

/// The same delivery again changes nothing; that of another webhook is refused.
pub async fn redelivery_is_known_by_its_id(stores: &Stores) {
    let (webhook, output) = (stored(stores).await, OutputId::generate());
    let node = node(stores).await;
    let delivery = new_delivery(output, NOW);
    let added = again(&webhook, &delivery);
    for _ in 0..2 {
        redeliver(stores, &webhook, added.clone()).await.expect("the webhook is stored");
    }
    assert_eq!(claim_due(stores, node, output, NOW).await, [delivery.id]);
    settle(stores, sent((&webhook, &added), node, after(1))).await;
    let before = logs_of(stores, &webhook).await;
    redeliver(stores, &webhook, added).await.expect("it is stored");
    assert_eq!(logs_of(stores, &webhook).await, before);

    let other = stored_in(stores, webhook.bucket_id).await;
    expect_conflict(redeliver(stores, &other, again(&other, &delivery)).await);
    assert_eq!(logs_of(stores, &other).await.len(), 1);
}

/// An erased webhook has nothing to send; one that is not erased yet keeps its content.
pub async fn redelivery_of_an_erased_webhook_is_a_conflict(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let webhook = Webhook { ephemeral: true, ..odd_webhook(AccountId::generate()) };
    let (first, second) = (new_delivery(output, NOW), new_delivery(output, NOW));
    accept(stores, &webhook, std::slice::from_ref(&first)).await;
    let added = again(&webhook, &second);
    redeliver(stores, &webhook, added.clone()).await.expect("it has its content");
    assert_eq!(claim_due(stores, node, output, NOW).await, [first.id, second.id]);
    settle(stores, sent((&webhook, &first), node, after(1))).await;
    let log = find_log(stores, webhook.account_id, first.id).await.expect("it is stored");
    assert_eq!(log.webhook, webhook, "one is still to be sent");
    settle(stores, sent((&webhook, &added), node, after(1))).await;

    let third = new_delivery(output, NOW);
    let refused = redeliver(stores, &webhook, again(&webhook, &third)).await;
    expect_conflict(refused);
    assert_eq!(find_log(stores, webhook.account_id, third.id).await, None);
    assert_eq!(backlogs(stores, NOW).await, []);
}

/// Of several redeliveries with one ID at once one is stored.
pub async fn concurrent_redeliveries_of_one_id_store_one(stores: &Stores) {
    let (webhook, output) = (stored(stores).await, OutputId::generate());
    let delivery = new_delivery(output, NOW);
    let results = race(6, |_| {
        let (stores, webhook, delivery) = (stores.clone(), webhook.clone(), delivery.clone());
        async move { redeliver(&stores, &webhook, again(&webhook, &delivery)).await }
    })
    .await;
    for result in results {
        result.expect("it is the same delivery");
    }
    assert_eq!(logs_of(stores, &webhook).await.len(), 2);
}

/// Sending again as the last outcome comes finds the content, or is told that it is gone.
pub async fn concurrent_redelivery_and_outcome_keep_content_or_refuse(stores: &Stores) {
    let node = node(stores).await;
    for _ in 0..10 {
        let output = OutputId::generate();
        let webhook = Webhook { ephemeral: true, ..webhook(AccountId::generate()) };
        let (first, second) = (new_delivery(output, NOW), new_delivery(output, after(5)));
        accept(stores, &webhook, std::slice::from_ref(&first)).await;
        assert_eq!(claim_due(stores, node, output, NOW).await, [first.id]);
        let results = race(2, |number| {
            let (stores, webhook, second) = (stores.clone(), webhook.clone(), second.clone());
            let outcome = sent((&webhook, &first), node, after(1));
            async move {
                if number == 0 {
                    return stores.deliveries.settle(outcome).await;
                }
                redeliver(&stores, &webhook, again(&webhook, &second)).await
            }
        })
        .await;
        assert!(results[0].is_ok(), "{results:?}");
        match &results[1] {
            Ok(()) => {
                let log = find_log(stores, webhook.account_id, second.id).await;
                assert_eq!(log.expect("it is stored").webhook, webhook);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Conflict);
                assert_eq!(find_log(stores, webhook.account_id, second.id).await, None);
            }
        }
    }
}

/// `Received` without a time leaves a delivery to clients, with what the function made.
pub async fn received_without_a_time_is_left_to_clients(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = queue(stores, output, NOW).await;
    assert_eq!(claim_due(stores, node, output, NOW).await, [queued.id]);
    let (processed, run) = (odd_request(), ExecutionId::generate());
    let left = with(sent(queued, node, after(1)), |settle| {
        settle.status = DeliveryStatus::Received;
        settle.attempts = 0;
        settle.attempt = Arc::default();
        settle.processed = Some(Arc::new(processed.clone()));
        settle.output_execution_id = Some(run);
    });
    settle(stores, left.clone()).await;
    let delivery = log(stores, queued).await.delivery;
    assert_eq!((delivery.status, delivery.due_at), (DeliveryStatus::Received, None));
    assert_eq!((delivery.processed, delivery.output_execution_id), (Some(processed), Some(run)));
    assert_eq!((delivery.attempts, delivery.updated_at), (0, after(1)));
    assert!(claim_due(stores, node, output, after(900)).await.is_empty());
    assert_eq!(backlogs(stores, after(900)).await, []);
    expect_conflict(stores.deliveries.settle(left).await);
}

/// The content of an ephemeral webhook stays as long as a delivery is left to clients.
pub async fn ephemeral_content_outlasts_the_handing_over(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let webhook = Webhook { ephemeral: true, ..odd_webhook(AccountId::generate()) };
    let delivery = with(new_delivery(output, NOW), |delivery| delivery.held_by = Some(node));
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    let left = with(sent((&webhook, &delivery), node, after(1)), |settle| {
        settle.status = DeliveryStatus::Received;
        settle.processed = Some(Arc::new(odd_request()));
    });
    settle(stores, left).await;
    let log = find_log(stores, webhook.account_id, delivery.id).await.expect("it is stored");
    assert_eq!((log.webhook, log.delivery.processed), (webhook, Some(odd_request())));
}

/// A final status ends the attempts, whatever time is said beside it.
pub async fn final_status_leaves_no_time(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = queue(stores, output, NOW).await;
    assert_eq!(claim_due(stores, node, output, NOW).await, [queued.id]);
    let outcome = with(sent(queued, node, after(1)), |settle| settle.due_at = Some(after(5)));
    settle(stores, outcome).await;
    let delivery = log(stores, queued).await.delivery;
    assert_eq!((delivery.status, delivery.due_at), (DeliveryStatus::Sent, None));
    assert_eq!(backlogs(stores, after(9)).await, []);
    let webhook = webhook(AccountId::generate());
    let stopped = with(rejected(output), |delivery| delivery.due_at = Some(NOW));
    accept(stores, &webhook, std::slice::from_ref(&stopped)).await;
    assert_eq!(logs_of(stores, &webhook).await[0].delivery.due_at, None);
    assert!(claim_due(stores, node, output, after(9)).await.is_empty());
}
