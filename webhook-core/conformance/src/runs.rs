//! Cases for runs of functions that are stored with what they led to, in a
//! [`DeliveryStore`](webhook_core::store::DeliveryStore) beside a
//! [`FunctionStore`](webhook_core::store::FunctionStore).

use std::sync::Arc;

use webhook_core::{
    AccountId, Error, ErrorKind, ExecutionId, OutputId,
    model::{Function, Webhook},
    store::{Accept, Accepted, EraseWebhook, NewDelivery, NewExecution, Stores},
};

use super::{
    delivery::{claim_due, logs_of, new_delivery, node, queue, retry, sent, settle},
    execution::{execution, kept},
    function::stored,
    sample::{NOW, after, ids, race, webhook, with},
};

fn run(function: &Function, id: ExecutionId, keep: usize) -> NewExecution {
    NewExecution::new(execution(function, id), keep)
}

async fn accept(
    stores: &Stores,
    webhook: &Webhook,
    delivery: &NewDelivery,
    runs: Vec<NewExecution>,
) -> Result<Accepted, Error> {
    let accept = Accept::new(Arc::new(webhook.clone()), vec![delivery.clone()]);
    stores.deliveries.accept(with(accept, |accept| accept.runs = runs)).await
}

/// Runs come with the webhook, of several functions, each as it was; with a webhook that is
/// known, and with one that is refused, nothing comes.
pub async fn runs_come_with_their_webhook_or_not_at_all(stores: &Stores) {
    let account = AccountId::generate();
    let (one, other) = (stored(stores, account, "a").await, stored(stores, account, "b").await);
    let (webhook, delivery) = (webhook(account), new_delivery(OutputId::generate(), NOW));
    let ids: Vec<ExecutionId> = ids(4);
    let runs = vec![run(&one, ids[0], 9), run(&other, ids[1], 9)];
    let accepted = accept(stores, &webhook, &delivery, runs.clone()).await;
    assert_eq!(accepted.expect("it is new"), Accepted::Stored);
    for run in &runs {
        let read = stores.functions.execution(account, run.execution.id).await;
        assert_eq!(read.expect("the run can be read").as_ref(), Some(&run.execution.execution()));
    }

    let again = accept(stores, &webhook, &delivery, vec![run(&one, ids[2], 9)]).await;
    assert_eq!(again.expect("it is known"), Accepted::Known);
    let taken = Webhook { bucket_id: webhook.bucket_id, ..super::sample::webhook(account) };
    let refused = accept(stores, &taken, &delivery, vec![run(&one, ids[3], 9)]).await;
    assert_eq!(refused.expect_err("the delivery is another's").kind(), ErrorKind::Conflict);
    assert_eq!(kept(stores, &one).await, [ids[0]]);
    assert_eq!(kept(stores, &other).await, [ids[1]]);
}

/// Runs come with the outcome of an attempt; with one that is a conflict they do not.
pub async fn runs_come_with_their_outcome_or_not_at_all(stores: &Stores) {
    let function = stored(stores, AccountId::generate(), "f").await;
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = queue(stores, output, NOW).await;
    let ids: Vec<ExecutionId> = ids(4);
    claim_due(stores, node, output, NOW).await;
    let retried = retry(queued, node, after(1), after(2));
    settle(stores, with(retried, |settle| settle.runs = vec![run(&function, ids[0], 9)])).await;
    claim_due(stores, node, output, after(2)).await;
    let last = with(sent(queued, node, after(3)), |settle| {
        settle.runs = vec![run(&function, ids[1], 9), run(&function, ids[2], 9)];
    });
    settle(stores, last).await;
    assert_eq!(kept(stores, &function).await, [ids[2], ids[1], ids[0]]);

    let late = with(sent(queued, node, after(4)), |settle| {
        settle.runs = vec![run(&function, ids[3], 9)];
    });
    let refused = stores.deliveries.settle(late).await;
    assert_eq!(refused.expect_err("it is settled").kind(), ErrorKind::Conflict);
    assert_eq!(kept(stores, &function).await, [ids[2], ids[1], ids[0]]);
}

/// Nothing is refused because a function is gone, or because a run is recorded already.
pub async fn runs_that_cannot_be_kept_are_passed_over(stores: &Stores) {
    let account = AccountId::generate();
    let (here, gone) = (stored(stores, account, "a").await, stored(stores, account, "b").await);
    stores.documents.delete::<Function>(account, gone.id.as_uuid()).await.expect("it is there");
    let (output, node) = (OutputId::generate(), node(stores).await);
    let (webhook, delivery) = (webhook(account), new_delivery(output, NOW));
    let ids: Vec<ExecutionId> = ids(3);
    let runs = vec![run(&gone, ids[0], 9), run(&here, ids[1], 9)];
    accept(stores, &webhook, &delivery, runs).await.expect("the webhook is stored");
    claim_due(stores, node, output, NOW).await;
    let outcome = with(sent((&webhook, &delivery), node, after(1)), |settle| {
        settle.runs = vec![run(&here, ids[1], 9), run(&gone, ids[0], 9), run(&here, ids[2], 9)];
    });
    settle(stores, outcome).await;
    assert_eq!(kept(stores, &here).await, [ids[2], ids[1]]);
    assert_eq!(kept(stores, &gone).await, []);
}

/// Of a function's runs the newest stay, however they came.
pub async fn runs_with_webhooks_keep_the_newest(stores: &Stores) {
    let account = AccountId::generate();
    let function = stored(stores, account, "f").await;
    let (output, node) = (OutputId::generate(), node(stores).await);
    let ids: Vec<ExecutionId> = ids(6);
    for id in &ids[..4] {
        let delivery = new_delivery(OutputId::generate(), NOW);
        let runs = vec![run(&function, *id, 3)];
        accept(stores, &webhook(account), &delivery, runs).await.expect("the webhook is stored");
    }
    assert_eq!(kept(stores, &function).await, [ids[3], ids[2], ids[1]]);
    let queued = queue(stores, output, NOW).await;
    claim_due(stores, node, output, NOW).await;
    let outcome = with(sent(queued, node, after(1)), |settle| {
        settle.runs = vec![run(&function, ids[4], 3), run(&function, ids[5], 2)];
    });
    settle(stores, outcome).await;
    assert_eq!(kept(stores, &function).await, [ids[5], ids[4]]);
}

/// All runs on a webhook go when it is erased, also those of earlier attempts; the runs on
/// another webhook stay.
pub async fn runs_go_with_an_erased_webhook(stores: &Stores) {
    let account = AccountId::generate();
    let (one, other) = (stored(stores, account, "a").await, stored(stores, account, "b").await);
    let (output, node) = (OutputId::generate(), node(stores).await);
    let (webhook, delivery) = (webhook(account), new_delivery(output, NOW));
    let ids: Vec<ExecutionId> = ids(4);
    let runs = vec![run(&one, ids[0], 9)];
    accept(stores, &webhook, &delivery, runs).await.expect("the webhook is stored");
    claim_due(stores, node, output, NOW).await;
    let failed = with(retry((&webhook, &delivery), node, after(1), after(2)), |settle| {
        settle.runs = vec![run(&other, ids[1], 9)];
        settle.output_execution_id = Some(ids[1]);
    });
    settle(stores, failed).await;
    claim_due(stores, node, output, after(2)).await;
    let last = with(sent((&webhook, &delivery), node, after(3)), |settle| {
        settle.runs = vec![run(&other, ids[2], 9)];
        settle.output_execution_id = Some(ids[2]);
    });
    settle(stores, last).await;
    let (kept_webhook, kept_delivery) =
        (super::sample::webhook(account), new_delivery(output, NOW));
    let runs = vec![run(&one, ids[3], 9)];
    accept(stores, &kept_webhook, &kept_delivery, runs).await.expect("the webhook is stored");

    let erase = EraseWebhook::new(webhook.id, node, after(4));
    stores.logs.erase(account, &erase).await.expect("it has ended");
    assert_eq!(kept(stores, &one).await, [ids[3]]);
    assert_eq!(kept(stores, &other).await, []);
    for id in &ids[..3] {
        assert_eq!(stores.functions.execution(account, *id).await.expect("an answer"), None);
    }
}

/// The run behind an ephemeral webhook stays when its content goes.
pub async fn runs_stay_when_ephemeral_content_goes(stores: &Stores) {
    let account = AccountId::generate();
    let function = stored(stores, account, "f").await;
    let (output, node) = (OutputId::generate(), node(stores).await);
    let (webhook, delivery) =
        (Webhook { ephemeral: true, ..webhook(account) }, new_delivery(output, NOW));
    let ids: Vec<ExecutionId> = ids(2);
    let accepted = accept(stores, &webhook, &delivery, vec![run(&function, ids[0], 9)]).await;
    accepted.expect("the webhook is stored");
    claim_due(stores, node, output, NOW).await;
    let outcome = with(sent((&webhook, &delivery), node, after(1)), |settle| {
        settle.runs = vec![run(&function, ids[1], 9)];
    });
    settle(stores, outcome).await;
    assert!(logs_of(stores, &webhook).await[0].webhook.request.body.is_empty());
    assert_eq!(kept(stores, &function).await, [ids[1], ids[0]]);
}

/// However many webhooks with runs of the same functions come at once, all are stored, and
/// the next one brings the runs within the limit.
pub async fn concurrent_webhooks_with_runs_are_all_stored(stores: &Stores) {
    let account = AccountId::generate();
    let functions = [stored(stores, account, "a").await, stored(stores, account, "b").await];
    let accepted = race(16, |number| {
        let (store, webhook) = (stores.clone(), webhook(account));
        let mut runs: Vec<_> =
            functions.iter().map(|function| run(function, ExecutionId::generate(), 4)).collect();
        if number % 2 == 0 {
            runs.reverse();
        }
        async move { accept(&store, &webhook, &new_delivery(OutputId::generate(), NOW), runs).await }
    })
    .await;
    for accepted in accepted {
        assert_eq!(accepted.expect("it is new"), Accepted::Stored);
    }
    for function in &functions {
        let last = ExecutionId::generate();
        let delivery = new_delivery(OutputId::generate(), NOW);
        let runs = vec![run(function, last, 4)];
        accept(stores, &webhook(account), &delivery, runs).await.expect("it is new");
        let kept = kept(stores, function).await;
        assert_eq!((kept.len(), kept[0]), (4, last));
    }
}
