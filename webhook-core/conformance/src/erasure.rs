//! What every store of erasures does.

use std::time::Duration;

use webhook_core::{
    AccountId, ErasureId, ErrorKind, NodeId, Timestamp,
    model::{Erasure, ErasureSpec, ReplayFilter, ReplayStatus, Webhook},
    store::{ClaimWork, EraseOutcome, EraseStep, EraseWebhook, ErasedWebhook, KEPT_WORK, Stores},
};

use crate::{
    delivery::{accept, logs_of, new_delivery, node, rejected},
    sample::{NOW, after, expect_kind, ids, race, webhook, with},
};

fn erasure_of(account: AccountId) -> Erasure {
    let filter = ReplayFilter { search: "jane".to_owned(), ..ReplayFilter::default() };
    let spec = with(ErasureSpec::default(), |spec| spec.filter = filter);
    Erasure {
        id: ErasureId::generate(),
        account_id: account,
        bucket_id: None,
        status: ReplayStatus::Running,
        error: String::new(),
        found: 2,
        erased: 0,
        withdrawn: 0,
        in_flight: Vec::new(),
        created_at: NOW,
        finished_at: None,
        cursor: String::new(),
        spec,
    }
}

async fn create(stores: &Stores, erasure: &Erasure) {
    stores.erasures.create_erasure(erasure, 10).await.expect("it begins");
}

async fn stored(stores: &Stores, erasure: &Erasure) -> Erasure {
    let read = stores.erasures.erasure(erasure.account_id, erasure.id).await;
    read.expect("an answer").expect("it is there")
}

async fn claimed(stores: &Stores, node: NodeId, now: Timestamp) -> Vec<ErasureId> {
    let claim = ClaimWork::new(node, now, now + Duration::from_secs(10), 10);
    let claimed = stores.erasures.claim_erasures(claim).await.expect("a claim");
    claimed.iter().map(|erasure| erasure.id).collect()
}

fn step(erasure: &Erasure, node: NodeId, to: &str, webhooks: &[&Webhook]) -> EraseStep {
    with(EraseStep::new(erasure, node, after(5), after(90)), |step| {
        step.to = to.to_owned();
        let erase = |webhook: &&Webhook| EraseWebhook::new(webhook.id, node, after(5));
        step.webhooks = webhooks.iter().map(erase).collect();
    })
}

async fn take(stores: &Stores, step: EraseStep) -> Option<Vec<EraseOutcome>> {
    stores.erasures.step_erasure(step).await.expect("an answer")
}

/// An erasure is read as it was stored, by its account alone.
pub async fn every_field_of_an_erasure_round_trips(stores: &Stores) {
    let whole = with(erasure_of(AccountId::generate()), |erasure| {
        erasure.bucket_id = Some(webhook_core::BucketId::generate());
        (erasure.erased, erasure.withdrawn) = (7, 3);
        erasure.in_flight = ids(2);
        erasure.cursor = "1.place".to_owned();
    });
    create(stores, &whole).await;
    assert_eq!(stored(stores, &whole).await, whole);
    let other = stores.erasures.erasure(AccountId::generate(), whole.id).await;
    assert_eq!(other.expect("an answer"), None);
}

/// The open erasures of an account have a bound.
pub async fn open_erasures_of_an_account_are_bounded(stores: &Stores) {
    let account = AccountId::generate();
    for _ in 0..2 {
        let begun = stores.erasures.create_erasure(&erasure_of(account), 2).await;
        begun.expect("there is room");
    }
    let third = stores.erasures.create_erasure(&erasure_of(account), 2).await;
    expect_kind(third, ErrorKind::Busy);
    create(stores, &erasure_of(AccountId::generate())).await;
}

/// Of the erasures of an account that are over the newest stay, up to a bound.
pub async fn erasures_that_are_over_have_a_bound(stores: &Stores) {
    let account = AccountId::generate();
    let over = |second| {
        with(erasure_of(account), |erasure| {
            (erasure.created_at, erasure.finished_at) = (after(second), Some(after(second)));
            erasure.status = ReplayStatus::Done;
        })
    };
    let (oldest, second) = (over(1), over(2));
    create(stores, &oldest).await;
    create(stores, &second).await;
    for number in 2..=KEPT_WORK as u64 {
        create(stores, &over(number + 1)).await;
    }
    create(stores, &erasure_of(account)).await;
    let gone = stores.erasures.erasure(account, oldest.id).await.expect("an answer");
    assert_eq!(gone, None, "one more than stay");
    assert_eq!(stored(stores, &second).await, second);
}

/// An erasure is held by one node, until its hold ends or it is released.
pub async fn an_erasure_is_held_by_one_node(stores: &Stores) {
    let erasure = erasure_of(AccountId::generate());
    assert_eq!(stores.erasures.erasures_wake_at().await.expect("read"), None);
    create(stores, &erasure).await;
    let (one, two) = (NodeId::generate(), NodeId::generate());
    assert_eq!(claimed(stores, one, NOW).await, [erasure.id]);
    assert_eq!(stores.erasures.erasures_wake_at().await.expect("read"), Some(after(10)));
    assert_eq!(claimed(stores, two, after(9)).await, []);
    assert_eq!(claimed(stores, two, after(10)).await, [erasure.id]);
    assert_eq!(take(stores, step(&erasure, one, "", &[])).await, None);
    assert_eq!(take(stores, step(&erasure, two, "", &[])).await, Some(Vec::new()));
    assert_eq!(claimed(stores, one, after(89)).await, [], "a step prolongs the hold");
    stores.erasures.release_erasures(two).await.expect("released");
    assert_eq!(claimed(stores, one, after(12)).await, [erasure.id]);
}

/// A step erases webhooks, counts them and moves the place together, once.
pub async fn a_step_of_an_erasure_is_taken_once(stores: &Stores) {
    let (account, node) = (AccountId::generate(), node(stores).await);
    let output = webhook_core::OutputId::generate();
    let (waits, ended, held) = (webhook(account), webhook(account), webhook(account));
    let other = webhook(AccountId::generate());
    accept(stores, &waits, &[new_delivery(output, NOW), rejected(output)]).await;
    accept(stores, &ended, &[rejected(output)]).await;
    let of_held = with(new_delivery(output, NOW), |delivery| delivery.held_by = Some(node));
    accept(stores, &held, std::slice::from_ref(&of_held)).await;
    accept(stores, &other, &[rejected(output)]).await;
    let erasure = erasure_of(account);
    create(stores, &erasure).await;
    let worker = NodeId::generate();
    assert_eq!(claimed(stores, worker, NOW).await, [erasure.id]);
    let first = step(&erasure, worker, "1.here", &[&held, &waits, &other, &ended]);
    let outcomes = take(stores, first.clone()).await.expect("it is taken");
    let withdrawn = |outcome: &EraseOutcome| match outcome {
        EraseOutcome::Erased(ErasedWebhook { withdrawn, .. }) => Some(*withdrawn),
        _ => None,
    };
    assert_eq!(outcomes[0], EraseOutcome::InFlight);
    assert_eq!((withdrawn(&outcomes[1]), withdrawn(&outcomes[3])), (Some(1), Some(0)));
    assert_eq!(outcomes[2], EraseOutcome::Gone, "another account's is not there");
    assert_eq!(take(stores, first).await, None, "it was taken");
    for (webhook, left) in [(&waits, 0), (&ended, 0), (&held, 1), (&other, 1)] {
        assert_eq!(logs_of(stores, webhook).await.len(), left);
    }
    let now = stored(stores, &erasure).await;
    assert_eq!((&*now.cursor, now.found, now.erased, now.withdrawn), ("1.here", 3, 2, 1));
    assert_eq!(now.in_flight, [held.id]);

    // Later it is in flight no more.
    let again = with(step(&now, worker, "1.here", &[&held]), |step| {
        step.webhooks[0].node = node;
        step.webhooks[0].given_up = vec![of_held.id];
    });
    take(stores, again).await.expect("it is taken");
    let now = stored(stores, &erasure).await;
    assert_eq!((now.found, now.erased, now.withdrawn, now.in_flight.len()), (3, 3, 2, 0));

    let last = with(step(&now, worker, "1.here", &[]), |step| {
        step.end = Some((ReplayStatus::Failed, "why".to_owned()));
    });
    take(stores, last).await.expect("it is taken");
    let over = stored(stores, &erasure).await;
    assert_eq!((over.status, &*over.error), (ReplayStatus::Failed, "why"));
    assert_eq!((over.finished_at, over.erased), (Some(after(5)), 3));
    assert_eq!((over.spec, &*over.cursor), (ErasureSpec::default(), ""), "it may tell what went");
    assert_eq!(stores.erasures.erasures_wake_at().await.expect("read"), None);
    assert_eq!(take(stores, step(&now, worker, "2.on", &[])).await, None);
}

/// Several nodes that take one step concurrently take it once.
pub async fn concurrent_steps_of_an_erasure_are_taken_once(stores: &Stores) {
    let account = AccountId::generate();
    let erasure = erasure_of(account);
    create(stores, &erasure).await;
    let (output, worker) = (webhook_core::OutputId::generate(), NodeId::generate());
    claimed(stores, worker, NOW).await;
    let webhook = webhook(account);
    accept(stores, &webhook, &[rejected(output)]).await;
    let taken = race(4, |_| {
        let (stores, step) = (stores.clone(), step(&erasure, worker, "1.on", &[&webhook]));
        async move { take(&stores, step).await.is_some() }
    })
    .await;
    assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
    assert_eq!(stored(stores, &erasure).await.erased, 1);
}
