//! Forgetting the content of ephemeral webhooks.

use std::sync::Arc;

use webhook_core::{
    AccountId, OutputId,
    model::{DeliveryStatus, Request, Webhook},
    store::{Claim, Stores},
};

use super::{
    ALL, accept, claim_as, claim_due, find_log, logs_of, new_delivery, node, rejected, retry, sent,
    settle,
};
use crate::sample::{NOW, after, ids, odd_request, odd_webhook, race, webhook, with};

fn ephemeral() -> Webhook {
    Webhook { ephemeral: true, ..webhook(AccountId::generate()) }
}

/// Whether all logs of the webhook have its content; it fails when they have a part of it.
async fn has_content(stores: &Stores, webhook: &Webhook) -> bool {
    let logs = logs_of(stores, webhook).await;
    let first = &logs.first().expect("the webhook has logs").webhook;
    let kept = first.request == webhook.request;
    if !kept {
        assert_forgotten(&first.request);
    }
    for log in &logs {
        let request = if kept { webhook.request.clone() } else { first.request.clone() };
        assert_eq!(
            log.webhook,
            Webhook { request, ..webhook.clone() },
            "all but the request stays"
        );
    }
    kept
}

#[track_caller]
fn assert_forgotten(request: &Request) {
    assert!(request.body.is_empty(), "the body is gone");
    assert!(request.headers.is_empty(), "the headers are gone");
    assert_eq!(request.raw_query, "", "the query is gone");
}

/// After the outcome body, query and headers are gone; the log and what is known of it stay.
pub async fn ephemeral_content_is_forgotten_after_the_outcome(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    for status in [DeliveryStatus::Sent, DeliveryStatus::Failed, DeliveryStatus::Rejected] {
        let webhook = Webhook { ephemeral: true, ..odd_webhook(AccountId::generate()) };
        let delivery = new_delivery(output, NOW);
        accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
        assert!(has_content(stores, &webhook).await);
        assert_eq!(claim_due(stores, node, output, NOW).await, [delivery.id]);
        assert!(has_content(stores, &webhook).await);
        settle(
            stores,
            with(sent((&webhook, &delivery), node, after(1)), |settle| settle.status = status),
        )
        .await;
        assert!(!has_content(stores, &webhook).await);
        let log = find_log(stores, webhook.account_id, delivery.id).await.expect("the log stays");
        assert_eq!((log.delivery.status, log.delivery.attempts), (status, 1));
        assert_forgotten(&log.webhook.request);
    }
}

/// What is tried again is there to be sent.
pub async fn ephemeral_content_is_kept_for_a_retry(stores: &Stores) {
    let (webhook, output) = (ephemeral(), OutputId::generate());
    let node = node(stores).await;
    let delivery = new_delivery(output, NOW);
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    claim_due(stores, node, output, NOW).await;
    settle(stores, retry((&webhook, &delivery), node, NOW, after(5))).await;
    assert!(has_content(stores, &webhook).await);
    let claim = Claim::new(node, output, after(5), ALL);
    let again = claim_as(stores, claim).await;
    assert_eq!(*again.deliveries[0].webhook, webhook);
}

/// What a function made of the webhook is content as well, of this attempt or of an earlier one.
pub async fn ephemeral_processed_content_is_forgotten(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    for earlier in [false, true] {
        let webhook = ephemeral();
        let delivery = new_delivery(output, NOW);
        accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
        claim_due(stores, node, output, NOW).await;
        let processed = Some(Arc::new(odd_request()));
        let last = sent((&webhook, &delivery), node, after(2));
        if earlier {
            let first = retry((&webhook, &delivery), node, NOW, NOW);
            settle(stores, with(first, |settle| settle.processed = processed)).await;
            claim_due(stores, node, output, NOW).await;
            settle(stores, last).await;
        } else {
            settle(stores, with(last, |settle| settle.processed = processed)).await;
        }
        let log = find_log(stores, webhook.account_id, delivery.id).await.expect("the log stays");
        assert_forgotten(&log.webhook.request);
        if let Some(processed) = &log.delivery.processed {
            assert_forgotten(processed);
        }
    }
}

/// The content is there as long as one delivery needs it, processed requests of others included.
pub async fn ephemeral_content_stays_until_the_last_outcome(stores: &Stores) {
    let (webhook, outputs, node) = (ephemeral(), ids(3), node(stores).await);
    let deliveries: Vec<_> = outputs.iter().map(|output| new_delivery(*output, NOW)).collect();
    accept(stores, &webhook, &deliveries).await;
    for (left, delivery) in deliveries.iter().enumerate().rev() {
        let output = delivery.output_id.expect("it has an output");
        let claim = Claim::new(node, output, NOW, ALL);
        let claimed = claim_as(stores, claim).await;
        assert_eq!(*claimed.deliveries[0].webhook, webhook, "with {left} others left");
        let processed = Some(Arc::new(odd_request()));
        settle(
            stores,
            with(sent((&webhook, delivery), node, after(1)), |settle| settle.processed = processed),
        )
        .await;
        assert_eq!(has_content(stores, &webhook).await, left > 0, "with {left} others left");
    }
    for log in logs_of(stores, &webhook).await {
        if let Some(processed) = &log.delivery.processed {
            assert_forgotten(processed);
        }
    }
}

/// A delivery that was final from the start does not keep the content, and does not end it early.
pub async fn ephemeral_content_is_forgotten_beside_a_rejected_delivery(stores: &Stores) {
    let (webhook, output) = (ephemeral(), OutputId::generate());
    let node = node(stores).await;
    let delivery = new_delivery(output, NOW);
    let deliveries =
        [rejected(OutputId::generate()), delivery.clone(), rejected(OutputId::generate())];
    accept(stores, &webhook, &deliveries).await;
    assert!(has_content(stores, &webhook).await);
    claim_due(stores, node, output, NOW).await;
    settle(stores, sent((&webhook, &delivery), node, after(1))).await;
    assert!(!has_content(stores, &webhook).await);
}

/// What is final in every part when it comes is stored without content.
pub async fn ephemeral_webhook_that_is_final_at_once_has_no_content(stores: &Stores) {
    let webhook = ephemeral();
    accept(stores, &webhook, &[OutputId::generate(), OutputId::generate()].map(rejected)).await;
    assert!(!has_content(stores, &webhook).await);
}

/// What waits for connected clients has no outcome yet.
pub async fn ephemeral_content_waits_for_clients(stores: &Stores) {
    let (webhook, output) = (ephemeral(), OutputId::generate());
    let node = node(stores).await;
    let delivery = new_delivery(output, NOW);
    let waiting = with(new_delivery(OutputId::generate(), NOW), |delivery| {
        delivery.internal = true;
        delivery.due_at = None;
    });
    accept(stores, &webhook, &[delivery.clone(), waiting]).await;
    claim_due(stores, node, output, NOW).await;
    settle(stores, sent((&webhook, &delivery), node, after(1))).await;
    assert!(has_content(stores, &webhook).await);

    let nowhere = Webhook { id: webhook_core::WebhookId::generate(), ..webhook };
    let delivery = with(new_delivery(output, NOW), |delivery| {
        delivery.output_id = None;
        delivery.due_at = None;
    });
    accept(stores, &nowhere, &[delivery]).await;
    assert!(has_content(stores, &nowhere).await);
}

/// When the last deliveries are settled at once, the content is gone all the same.
pub async fn concurrent_last_outcomes_forget_ephemeral_content(stores: &Stores) {
    let node = node(stores).await;
    for _ in 0..10 {
        let webhook = ephemeral();
        let deliveries = [(); 3].map(|()| new_delivery(OutputId::generate(), NOW));
        accept(stores, &webhook, &deliveries).await;
        for delivery in &deliveries {
            let output = delivery.output_id.expect("it has an output");
            claim_due(stores, node, output, NOW).await;
        }
        let results = race(deliveries.len(), |number| {
            let store = stores.deliveries.clone();
            let outcome = sent((&webhook, &deliveries[number]), node, after(1));
            async move { store.settle(outcome).await }
        })
        .await;
        for result in results {
            result.expect("each is pending");
        }
        assert!(!has_content(stores, &webhook).await);
    }
}

/// Neither a webhook that is not ephemeral nor another ephemeral one loses anything.
pub async fn content_of_other_webhooks_stays(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let (lasting, waiting, done) = (webhook(AccountId::generate()), ephemeral(), ephemeral());
    let deliveries = [(); 3].map(|()| new_delivery(output, NOW));
    for (webhook, delivery) in [&lasting, &waiting, &done].into_iter().zip(&deliveries) {
        accept(stores, webhook, std::slice::from_ref(delivery)).await;
    }
    claim_due(stores, node, output, NOW).await;
    let processed = odd_request();
    let outcome = with(sent((&lasting, &deliveries[0]), node, after(1)), |settle| {
        settle.processed = Some(Arc::new(processed.clone()))
    });
    settle(stores, outcome).await;
    settle(stores, sent((&done, &deliveries[2]), node, after(1))).await;
    assert!(has_content(stores, &lasting).await);
    assert_eq!(logs_of(stores, &lasting).await[0].delivery.processed, Some(processed));
    assert!(has_content(stores, &waiting).await);
    assert!(!has_content(stores, &done).await);
}
