//! Writing what came of an attempt.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use webhook_core::{
    AccountId, ErrorKind, ExecutionId, NodeId, OutputId, Timestamp,
    forward::history::History,
    model::{Attempt, DeliveryStatus, Request},
    store::{Claim, ClaimOrder, Settle, Stores},
};

use super::{
    Queued, accept, backlogs, claim_as, claim_due, extend, ids_of, log, new_delivery, node,
    node_until, queue, queue_many, rejected, retry, sent, settle, take_due,
};
use crate::sample::{
    NOW, ODD_TEXT, after, expect_conflict, expect_one_winner, odd_headers, odd_request, race,
    webhook, with,
};

/// One delivery that `node` has claimed at [`NOW`].
async fn claimed(stores: &Stores, output: OutputId, node: NodeId) -> Queued {
    let queued = queue(stores, output, NOW).await;
    assert_eq!(claim_due(stores, node, output, NOW).await, [queued.id]);
    queued
}

/// As long as one gets, with every byte in it.
fn odd_history() -> History {
    History::from_bytes((0..=u8::MAX).cycle().take(History::MAX_BYTES).collect())
}

fn odd_settle(queued: Queued, node: NodeId) -> Settle {
    with(sent(queued, node, NOW), |settle| {
        settle.now = Timestamp::from_millis(NOW.as_millis() + 7);
        settle.status = DeliveryStatus::Failed;
        settle.attempts = 5;
        settle.attempt = Arc::new(Attempt {
            status_code: 599,
            response_headers: odd_headers(),
            response_body: Bytes::from_iter((0..=u8::MAX).rev()),
            duration: Duration::from_nanos(1_234_567_891),
            error: Some(ODD_TEXT.to_owned()),
        });
        settle.history = Some(odd_history());
        settle.processed = Some(Arc::new(odd_request()));
        settle.output_execution_id = Some(ExecutionId::generate());
    })
}

/// Every field survives in the log: the response, the processed request, the run of the function.
pub async fn settle_keeps_every_field(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    for status in [DeliveryStatus::Sent, DeliveryStatus::Failed, DeliveryStatus::Rejected] {
        let queued = claimed(stores, output, node).await;
        let mut expected = log(stores, queued).await;
        let outcome = with(odd_settle(queued, node), |settle| settle.status = status);
        settle(stores, outcome.clone()).await;

        let Settle { now, due_at, attempts, attempt, history, .. } = outcome.clone();
        let Settle { processed, output_execution_id, .. } = outcome;
        expected.delivery.status = status;
        expected.delivery.due_at = due_at;
        expected.delivery.attempts = attempts;
        expected.delivery.last = Some(Arc::unwrap_or_clone(attempt));
        expected.delivery.history = history.unwrap_or_default();
        expected.delivery.processed = processed.map(Arc::unwrap_or_clone);
        expected.delivery.output_execution_id = output_execution_id;
        expected.delivery.updated_at = now;
        assert_eq!(log(stores, queued).await, expected);
    }
}

/// The smallest and the greatest numbers survive, and so do an empty and a large response.
pub async fn settle_keeps_numbers_at_their_limits(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let large = Attempt {
        status_code: u16::MAX,
        response_body: Bytes::from(vec![0xff; 1_048_576]),
        duration: Duration::from_nanos(i64::MAX.unsigned_abs()),
        ..Attempt::default()
    };
    for (attempts, attempt) in [(0, Attempt::default()), (u32::MAX, large)] {
        let queued = claimed(stores, output, node).await;
        let outcome = with(sent(queued, node, after(1)), |settle| {
            settle.attempts = attempts;
            settle.attempt = attempt.clone().into();
        });
        settle(stores, outcome).await;
        let delivery = log(stores, queued).await.delivery;
        assert_eq!((delivery.attempts, delivery.last), (attempts, Some(attempt)));
    }
}

/// A delivery that is tried again is `received`, and is claimed when it is due, with all it had.
pub async fn retried_delivery_is_claimed_again_when_due(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = claimed(stores, output, node).await;
    let due_at = Timestamp::from_millis(NOW.as_millis() + 30_001);
    let processed = Arc::new(odd_request());
    let outcome = with(odd_settle(queued, node), |settle| {
        settle.status = DeliveryStatus::Received;
        settle.due_at = Some(due_at);
    });
    settle(stores, with(outcome, |settle| settle.processed = Some(processed.clone()))).await;
    let delivery = log(stores, queued).await.delivery;
    assert_eq!((delivery.status, delivery.due_at), (DeliveryStatus::Received, Some(due_at)));

    let early = Timestamp::from_millis(due_at.as_millis() - 1);
    assert!(claim_due(stores, node, output, early).await.is_empty());
    let claim = Claim::new(node, output, due_at, 9);
    let again = claim_as(stores, claim).await;
    assert_eq!(ids_of(&again), [queued.id]);
    let pending = &again.deliveries[0];
    assert_eq!((pending.attempts, pending.due_at), (5, due_at));
    assert_eq!(pending.created_at, NOW);
    assert_eq!(pending.processed.as_ref(), Some(&processed));
    assert_eq!(pending.history, odd_history(), "who attempts it next adds to the attempts");
    assert_eq!(log(stores, queued).await.delivery.status, DeliveryStatus::Preparing);
}

/// After a settle any node may claim the next attempt, though the lease lasts.
pub async fn settled_delivery_is_held_no_longer(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    let queued = claimed(stores, output, first).await;
    settle(stores, retry(queued, first, NOW, after(1))).await;
    assert_eq!(claim_due(stores, second, output, after(1)).await, [queued.id]);
    expect_conflict(stores.deliveries.settle(sent(queued, first, after(2))).await);
    settle(stores, sent(queued, second, after(2))).await;
}

/// What is final is never attempted again, in no order and at no time.
pub async fn final_delivery_is_never_claimed_again(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    for status in [DeliveryStatus::Sent, DeliveryStatus::Failed, DeliveryStatus::Rejected] {
        let queued = claimed(stores, output, node).await;
        settle(stores, with(sent(queued, node, NOW), |settle| settle.status = status)).await;
        let delivery = log(stores, queued).await.delivery;
        assert_eq!((delivery.status, delivery.due_at), (status, None));
    }
    let now = after(900_000);
    for order in [ClaimOrder::Due, ClaimOrder::Receipt] {
        let claim = with(Claim::new(node, output, now, 9), |claim| claim.order = order);
        let claimed = claim_as(stores, claim).await;
        assert!(claimed.deliveries.is_empty());
        assert_eq!(claimed.next_due_at, None);
    }
    assert_eq!(backlogs(stores, now).await, []);
}

/// Attempts in which the function did not run keep what it made before.
pub async fn later_attempt_keeps_the_processed_request(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = claimed(stores, output, node).await;
    let (processed, run) = (odd_request(), ExecutionId::generate());
    let first = with(retry(queued, node, NOW, NOW), |settle| {
        settle.processed = Some(Arc::new(processed.clone()));
        settle.output_execution_id = Some(run);
    });
    settle(stores, first).await;
    assert_eq!(claim_due(stores, node, output, NOW).await, [queued.id]);
    settle(stores, with(retry(queued, node, after(1), after(1)), |settle| settle.attempts = 2))
        .await;
    assert_eq!(claim_due(stores, node, output, after(1)).await, [queued.id]);
    settle(stores, with(sent(queued, node, after(2)), |settle| settle.attempts = 3)).await;

    let delivery = log(stores, queued).await.delivery;
    assert_eq!(delivery.processed, Some(processed));
    assert_eq!(delivery.output_execution_id, Some(run));
    assert_eq!(delivery.attempts, 3);
}

/// An outcome that was no attempt leaves the attempts as they are; one that was replaces them.
pub async fn later_outcome_keeps_the_attempts(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = claimed(stores, output, node).await;
    assert_eq!(log(stores, queued).await.delivery.history, History::default());
    let first = odd_history();
    settle(stores, with(retry(queued, node, NOW, NOW), |it| it.history = Some(first.clone())))
        .await;
    assert_eq!(take_due(stores, node, output, NOW).await.deliveries[0].history, first);
    settle(stores, retry(queued, node, after(1), after(1))).await;
    assert_eq!(log(stores, queued).await.delivery.history, first);
    assert_eq!(claim_due(stores, node, output, after(1)).await, [queued.id]);
    let short = History::from_bytes(Bytes::from_static(&[1, 0, 0xff]));
    let last = with(sent(queued, node, after(2)), |it| it.history = Some(short.clone()));
    settle(stores, last).await;
    assert_eq!(log(stores, queued).await.delivery.history, short);
}

/// An attempt in which the function ran again replaces what it made before, whole.
pub async fn later_attempt_replaces_the_processed_request(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = claimed(stores, output, node).await;
    let first = with(retry(queued, node, NOW, NOW), |settle| {
        settle.processed = Some(Arc::new(odd_request()));
        settle.output_execution_id = Some(ExecutionId::generate());
    });
    settle(stores, first).await;
    assert_eq!(claim_due(stores, node, output, NOW).await, [queued.id]);
    let (second, run) = (webhook(queued.origin.account_id).request, ExecutionId::generate());
    let second = Request { body: Bytes::new(), raw_query: String::new(), ..second };
    let outcome = with(sent(queued, node, after(1)), |settle| {
        settle.processed = Some(Arc::new(second.clone()));
        settle.output_execution_id = Some(run);
    });
    settle(stores, outcome).await;
    let delivery = log(stores, queued).await.delivery;
    assert_eq!((delivery.processed, delivery.output_execution_id), (Some(second), Some(run)));
}

/// A second outcome is refused and changes nothing.
pub async fn settle_twice_is_a_conflict(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = claimed(stores, output, node).await;
    settle(stores, sent(queued, node, after(1))).await;
    let settled = log(stores, queued).await;
    expect_conflict(stores.deliveries.settle(sent(queued, node, after(1))).await);
    expect_conflict(stores.deliveries.settle(odd_settle(queued, node)).await);
    expect_conflict(stores.deliveries.settle(retry(queued, node, after(2), after(3))).await);
    assert_eq!(log(stores, queued).await, settled);
    assert_eq!(backlogs(stores, after(10)).await, []);
}

/// Neither an unknown delivery, nor one that is final, nor one that waits for clients is settled.
pub async fn settle_of_what_is_not_pending_is_a_conflict(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let (never, stored) = (webhook(AccountId::generate()), new_delivery(output, NOW));
    expect_conflict(stores.deliveries.settle(sent((&never, &stored), node, NOW)).await);
    let waiting = with(new_delivery(output, NOW), |delivery| {
        delivery.internal = true;
        delivery.due_at = None;
    });
    for delivery in [rejected(output), waiting] {
        let webhook = webhook(AccountId::generate());
        accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
        let stored = super::logs_of(stores, &webhook).await;
        expect_conflict(stores.deliveries.settle(sent((&webhook, &delivery), node, NOW)).await);
        assert_eq!(super::logs_of(stores, &webhook).await, stored);
    }
}

/// An outcome from a node that lost the delivery is refused; that of its new holder counts.
pub async fn settle_while_another_node_holds_is_a_conflict(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
    let queued = claimed(stores, output, first).await;
    assert_eq!(claim_due(stores, second, output, after(10)).await, [queued.id]);
    let held = log(stores, queued).await;
    // Being alive again gives nothing back.
    extend(stores, first, after(1_000)).await;
    expect_conflict(stores.deliveries.settle(sent(queued, first, after(11))).await);
    expect_conflict(stores.deliveries.settle(retry(queued, first, after(11), after(12))).await);
    expect_conflict(stores.deliveries.settle(sent(queued, NodeId::generate(), after(11))).await);
    assert_eq!(log(stores, queued).await, held);
    settle(stores, sent(queued, second, after(12))).await;
    assert_eq!(log(stores, queued).await.delivery.status, DeliveryStatus::Sent);
}

/// A late outcome counts as long as nobody else took the delivery.
pub async fn settle_after_own_lease_lapsed_succeeds(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node_until(stores, after(10)).await);
    let queued = claimed(stores, output, node).await;
    settle(stores, sent(queued, node, after(500))).await;
    let delivery = log(stores, queued).await.delivery;
    assert_eq!((delivery.status, delivery.updated_at), (DeliveryStatus::Sent, after(500)));
}

/// A node whose lease has lapsed keeps nobody from settling.
pub async fn settle_after_the_other_lease_lapsed_succeeds(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) =
        (node_until(stores, after(10)).await, node_until(stores, after(20)).await);
    let queued = claimed(stores, output, first).await;
    assert_eq!(claim_due(stores, second, output, after(10)).await, [queued.id]);
    let early = Timestamp::from_millis(after(20).as_millis() - 1);
    expect_conflict(stores.deliveries.settle(sent(queued, first, early)).await);
    settle(stores, sent(queued, first, after(20))).await;
    expect_conflict(stores.deliveries.settle(sent(queued, second, after(21))).await);
}

/// Of several outcomes of one attempt at once, one counts.
pub async fn concurrent_settles_succeed_once(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    for _ in 0..5 {
        let queued = claimed(stores, output, node).await;
        let results = race(6, |number| {
            let store = stores.deliveries.clone();
            let attempts = u32::try_from(number).expect("the number is small") + 1;
            let outcome = with(sent(queued, node, after(1)), |settle| settle.attempts = attempts);
            async move { store.settle(outcome).await.map(|()| attempts) }
        })
        .await;
        let winner = results.iter().find_map(|result| result.as_ref().ok()).copied();
        expect_one_winner(results, ErrorKind::Conflict);
        assert_eq!(Some(log(stores, queued).await.delivery.attempts), winner);
    }
}

/// When an outcome comes as the lease lapses and another node claims, one of the two wins, never
/// both.
pub async fn settle_and_takeover_exclude_each_other(stores: &Stores) {
    const DELIVERIES: usize = 24;
    let output = OutputId::generate();
    let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
    let queued = queue_many(stores, output, NOW, DELIVERIES).await;
    let held = take_due(stores, first, output, NOW).await.deliveries;
    assert_eq!(held.len(), DELIVERIES);

    // Half of the tasks settle for the first node, the other half claim for the second.
    let results = race(2 * DELIVERIES, |number| {
        let (stores, held) = (stores.clone(), Queued::from(&held[number / 2]));
        async move {
            if number % 2 == 0 {
                let settled = stores.deliveries.settle(sent(held, first, after(10))).await;
                if let Err(error) = &settled {
                    assert_eq!(error.kind(), ErrorKind::Conflict, "the error was {error:?}");
                }
                (settled.is_ok().then_some(held.id), Vec::new())
            } else {
                let now = after(10);
                let claim = Claim::new(second, output, now, 1);
                (None, ids_of(&claim_as(&stores, claim).await))
            }
        }
    })
    .await;
    let (settled, taken): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let mut outcomes: Vec<_> = settled.into_iter().flatten().collect();
    outcomes.extend(taken.into_iter().flatten());
    outcomes.extend(claim_due(stores, second, output, after(10)).await);
    outcomes.sort();
    assert_eq!(outcomes, queued, "each is either settled or taken over");
}
