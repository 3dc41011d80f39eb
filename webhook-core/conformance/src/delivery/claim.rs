//! Taking pending deliveries.

use std::collections::HashSet;

use webhook_core::{
    AccountId, DeliveryId, NodeId, OutputId, Timestamp,
    model::DeliveryStatus,
    store::{Claim, ClaimOrder, Stores},
};

use super::{
    ALL, accept, backlogs, claim_as, claim_due, ids_of, log, new_delivery, node, queue, queue_many,
    rejected, retry, sent, settle, try_accept,
};
use crate::sample::{NOW, after, odd_webhook, race, webhook, with};

fn due(node: NodeId, output_id: OutputId, limit: usize) -> Claim {
    Claim::new(node, output_id, NOW, limit)
}

fn receipt(node: NodeId, output_id: OutputId, limit: usize) -> Claim {
    with(due(node, output_id, limit), |claim| claim.order = ClaimOrder::Receipt)
}

/// A claim hands out everything that an attempt needs.
pub async fn claimed_delivery_is_complete(stores: &Stores) {
    let (webhook, output) = (odd_webhook(AccountId::generate()), OutputId::generate());
    let due_at = Timestamp::from_millis(NOW.as_millis() - 7);
    let delivery = new_delivery(output, due_at);
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    let claimed = claim_as(stores, due(node(stores).await, output, ALL)).await;
    assert_eq!(claimed.deliveries.len(), 1);
    let pending = &claimed.deliveries[0];
    assert_eq!(pending.id, delivery.id);
    assert_eq!(pending.output_id, output);
    assert_eq!(pending.due_at, due_at);
    assert_eq!(pending.created_at, webhook.received_at);
    assert_eq!(pending.attempts, 0);
    assert_eq!(pending.processed, None);
    assert_eq!(*pending.webhook, webhook);
}

/// The log of a claimed delivery says that it is being delivered, and is otherwise as before.
pub async fn claimed_delivery_is_preparing(stores: &Stores) {
    for order in [ClaimOrder::Due, ClaimOrder::Receipt] {
        let output = OutputId::generate();
        let queued = queue(stores, output, NOW).await;
        let mut expected = log(stores, queued).await;
        assert_eq!(expected.delivery.status, DeliveryStatus::Received);
        claim_as(stores, with(due(node(stores).await, output, ALL), |claim| claim.order = order))
            .await;
        let found = log(stores, queued).await;
        expected.delivery.status = DeliveryStatus::Preparing;
        expected.delivery.updated_at = found.delivery.updated_at;
        assert_eq!(found, expected);
    }
}

/// What is due now or was due before is taken; what is due a millisecond later is not.
pub async fn claim_takes_what_is_due(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let before = queue(stores, output, Timestamp::from_millis(NOW.as_millis() - 1)).await.id;
    let now = queue(stores, output, NOW).await.id;
    let later_at = Timestamp::from_millis(NOW.as_millis() + 1);
    let later = queue(stores, output, later_at).await.id;
    assert_eq!(claim_due(stores, node, output, NOW).await, [before, now]);
    assert!(claim_due(stores, node, output, NOW).await.is_empty());
    assert_eq!(claim_due(stores, node, output, later_at).await, [later]);
}

/// The longest due comes first, whatever the order of receipt.
pub async fn claim_takes_the_longest_due_first(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let mut queued = Vec::new();
    for secs in [4, 1, 5, 3, 2] {
        queued.push((secs, queue(stores, output, after(secs)).await.id));
    }
    queued.sort();
    let by_due: Vec<_> = queued.into_iter().map(|(_, id)| id).collect();
    let first = with(due(node, output, 2), |claim| claim.now = after(5));
    assert_eq!(ids_of(&claim_as(stores, first).await), by_due[..2]);
    assert_eq!(claim_due(stores, node, output, after(5)).await, by_due[2..]);
}

/// A claim takes no more than its limit, and nothing twice.
pub async fn claim_takes_at_most_its_limit(stores: &Stores) {
    for order in [ClaimOrder::Due, ClaimOrder::Receipt] {
        let (output, node) = (OutputId::generate(), node(stores).await);
        let queued = queue_many(stores, output, NOW, 7).await;
        let mut claimed = Vec::new();
        for expected in [3, 3, 1, 0] {
            let part =
                claim_as(stores, with(due(node, output, 3), |claim| claim.order = order)).await;
            assert_eq!(part.deliveries.len(), expected);
            claimed.extend(ids_of(&part));
        }
        claimed.sort();
        assert_eq!(claimed, queued);
    }
}

/// No limit is too small or too great.
pub async fn claim_takes_any_limit(stores: &Stores) {
    for order in [ClaimOrder::Due, ClaimOrder::Receipt] {
        let (output, node) = (OutputId::generate(), node(stores).await);
        let queued = queue(stores, output, NOW).await;
        let none = claim_as(stores, with(due(node, output, 0), |claim| claim.order = order)).await;
        assert!(none.deliveries.is_empty());
        assert_eq!(none.next_due_at, Some(NOW));
        assert_eq!(log(stores, queued).await.delivery.status, DeliveryStatus::Received);
        let all =
            claim_as(stores, with(due(node, output, usize::MAX), |claim| claim.order = order))
                .await;
        assert_eq!(ids_of(&all), [queued.id]);
    }
}

/// In order of receipt a claim takes what is not due yet as well.
pub async fn claim_in_receipt_order_takes_undue_ones(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let mut queued = Vec::new();
    for secs in [900, 0, 100, 50] {
        queued.push(queue(stores, output, after(secs)).await.id);
    }
    let first = claim_as(stores, receipt(node, output, 3)).await;
    assert_eq!(ids_of(&first), queued[..3]);
    assert_eq!(first.deliveries[0].due_at, after(900));
    assert_eq!(first.next_due_at, Some(after(50)));

    // One that is tried again keeps its place: before all that came after it.
    settle(stores, retry(&first.deliveries[0], node, NOW, after(2_000))).await;
    let second = claim_as(stores, receipt(node, output, ALL)).await;
    assert_eq!(ids_of(&second), [queued[0], queued[3]]);
    assert_eq!(second.next_due_at, None);
}

/// A claim takes nothing of other outputs, not even of the same webhook.
pub async fn claim_is_of_one_output(stores: &Stores) {
    let (first, second) = (OutputId::generate(), OutputId::generate());
    let deliveries = [first, second].map(|output| new_delivery(output, NOW));
    accept(stores, &webhook(AccountId::generate()), &deliveries).await;
    let node = node(stores).await;
    assert_eq!(claim_due(stores, node, first, NOW).await, [deliveries[0].id]);
    let left = claim_as(stores, receipt(node, second, ALL)).await;
    assert_eq!(ids_of(&left), [deliveries[1].id]);
}

/// What the relay never attempts is never claimed: what is final, and what waits for clients.
pub async fn claim_takes_only_pending_ones(stores: &Stores) {
    let output = OutputId::generate();
    let waiting = with(new_delivery(output, NOW), |delivery| {
        delivery.internal = true;
        delivery.due_at = None;
    });
    for delivery in [rejected(output), waiting] {
        accept(stores, &webhook(AccountId::generate()), &[delivery]).await;
    }
    let node = node(stores).await;
    for claim in [due(node, output, ALL), receipt(node, output, ALL)] {
        let claimed = claim_as(stores, claim).await;
        assert!(claimed.deliveries.is_empty());
        assert_eq!(claimed.next_due_at, None);
    }
    assert_eq!(backlogs(stores, after(1_000)).await, []);
}

/// An output that has nothing pending has nothing to claim.
pub async fn claim_of_an_unknown_output_is_empty(stores: &Stores) {
    let node = node(stores).await;
    for claim in [due(node, OutputId::generate(), ALL), receipt(node, OutputId::generate(), ALL)] {
        let claimed = claim_as(stores, claim).await;
        assert!(claimed.deliveries.is_empty());
        assert_eq!(claimed.next_due_at, None);
    }
}

/// A claim says when the first of what it left is due: later, now or in the past.
pub async fn next_due_at_is_of_the_first_left(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    for secs in [30, 10, 20] {
        queue(stores, output, after(secs)).await;
    }
    let steps = [
        (0, ALL, 0, Some(after(10))),
        (10, ALL, 1, Some(after(20))),
        (1_000, 1, 1, Some(after(30))),
        (1_000, ALL, 1, None),
        (1_000, ALL, 0, None),
    ];
    for (secs, limit, taken, next_due_at) in steps {
        let claim = with(due(node, output, limit), |claim| claim.now = after(secs));
        let claimed = claim_as(stores, claim).await;
        assert_eq!((claimed.deliveries.len(), claimed.next_due_at), (taken, next_due_at));
    }
}

/// What a node holds counts for nobody's next moment, until it is tried again.
pub async fn next_due_at_leaves_out_what_is_held(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    let queued = queue(stores, output, NOW).await;
    queue(stores, output, after(50)).await;
    assert_eq!(claim_due(stores, first, output, NOW).await, [queued.id]);
    for node in [first, second] {
        let claimed = claim_as(stores, due(node, output, ALL)).await;
        assert!(claimed.deliveries.is_empty());
        assert_eq!(claimed.next_due_at, Some(after(50)));
    }
    settle(stores, retry(queued, first, NOW, after(20))).await;
    let claimed = claim_as(stores, due(second, output, ALL)).await;
    assert_eq!(claimed.next_due_at, Some(after(20)));
}

/// Neither another node nor the same one gets a delivery that is held.
pub async fn two_claims_never_share(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    let queued = queue_many(stores, output, NOW, 4).await;
    assert_eq!(ids_of(&claim_as(stores, receipt(first, output, 2)).await), queued[..2]);
    assert_eq!(ids_of(&claim_as(stores, receipt(second, output, ALL)).await), queued[2..]);
    for node in [first, second] {
        for claim in [due(node, output, ALL), receipt(node, output, ALL)] {
            assert!(claim_as(stores, claim).await.deliveries.is_empty());
        }
    }
}

async fn assert_claimers_never_share(stores: &Stores, order: ClaimOrder) {
    const DELIVERIES: usize = 60;
    let output = OutputId::generate();
    let queued = queue_many(stores, output, NOW, DELIVERIES).await;
    let mut nodes = Vec::new();
    for _ in 0..6 {
        nodes.push(node(stores).await);
    }
    // Two tasks per node: a node's own claims do not share either.
    let claimed = race(12, |number| {
        let (stores, node) = (stores.clone(), nodes[number / 2]);
        async move {
            let mut mine = Vec::new();
            // A claim may come back short while others hold locks, so that it takes more
            // rounds than there are deliveries; a store that never gives them out must not
            // keep the case from failing.
            for _ in 0..1_000 {
                let claim = with(due(node, output, 3), |claim| claim.order = order);
                let claimed = claim_as(&stores, claim).await;
                mine.extend(ids_of(&claimed));
                if claimed.deliveries.is_empty() && claimed.next_due_at.is_none() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            mine
        }
    })
    .await;
    let mut claimed: Vec<DeliveryId> = claimed.into_iter().flatten().collect();
    claimed.sort();
    assert_eq!(claimed, queued, "each delivery is claimed exactly once");
}

/// Many claimers of one output get each delivery once.
pub async fn concurrent_claimers_never_share(stores: &Stores) {
    assert_claimers_never_share(stores, ClaimOrder::Due).await;
}

/// Many claimers of one output in order of receipt get each delivery once.
pub async fn concurrent_claimers_in_receipt_order_never_share(stores: &Stores) {
    assert_claimers_never_share(stores, ClaimOrder::Receipt).await;
}

/// While webhooks are stored, claimed and settled at once, each is claimed exactly once.
pub async fn concurrent_accepts_and_claims_lose_nothing(stores: &Stores) {
    const WRITERS: usize = 4;
    const EACH: usize = 20;
    let output = OutputId::generate();
    let node = node(stores).await;
    let results = race(WRITERS + 2, |number| {
        let stores = stores.clone();
        async move {
            let mut ids = Vec::new();
            if number < WRITERS {
                for _ in 0..EACH {
                    let delivery = new_delivery(output, NOW);
                    ids.push(delivery.id);
                    let webhook = webhook(AccountId::generate());
                    try_accept(&stores, &webhook, &[delivery]).await.expect("it is new");
                }
            } else {
                while ids.len() < WRITERS * EACH / 2 {
                    let want = (WRITERS * EACH / 2 - ids.len()).min(7);
                    for pending in &claim_as(&stores, due(node, output, want)).await.deliveries {
                        settle(&stores, sent(pending, node, after(1))).await;
                        ids.push(pending.id);
                    }
                    tokio::task::yield_now().await;
                }
            }
            ids
        }
    })
    .await;
    let (written, claimed) = results.split_at(WRITERS);
    let written: HashSet<_> = written.iter().flatten().collect();
    let claimed: Vec<_> = claimed.iter().flatten().collect();
    assert_eq!(claimed.len(), WRITERS * EACH);
    assert_eq!(claimed.into_iter().collect::<HashSet<_>>(), written);
    assert_eq!(backlogs(stores, after(1_000)).await, []);
}

/// Lanes tell for each output how many deliveries wait, due or not, and when the first is due.
pub async fn lanes_are_the_outputs_with_free_deliveries(stores: &Stores) {
    assert_eq!(backlogs(stores, NOW).await, []);
    let (first, second) = (OutputId::generate(), OutputId::generate());
    for secs in [30, 10, 20] {
        queue(stores, first, after(secs)).await;
    }
    queue(stores, second, NOW).await;
    let final_from_the_start = rejected(OutputId::generate());
    accept(stores, &webhook(AccountId::generate()), &[final_from_the_start]).await;
    for now in [NOW, after(15), after(1_000)] {
        assert_eq!(backlogs(stores, now).await, [(first, after(10), 3), (second, NOW, 1)]);
    }
}

/// What a node holds is in no backlog; what was settled for a retry is again.
pub async fn lanes_leave_out_what_is_held(stores: &Stores) {
    let (output, node) = (OutputId::generate(), node(stores).await);
    let queued = queue_many(stores, output, NOW, 3).await;
    let held = claim_as(stores, receipt(node, output, 2)).await.deliveries;
    assert_eq!(backlogs(stores, NOW).await, [(output, NOW, 1)]);
    settle(stores, retry(&held[0], node, NOW, after(60))).await;
    assert_eq!(backlogs(stores, NOW).await, [(output, NOW, 2)]);
    settle(stores, sent(&held[1], node, NOW)).await;
    assert_eq!(backlogs(stores, NOW).await, [(output, NOW, 2)]);
    assert_eq!(claim_due(stores, node, output, NOW).await, [queued[2]]);
    assert_eq!(backlogs(stores, NOW).await, [(output, after(60), 1)]);
    claim_as(stores, receipt(node, output, 1)).await;
    assert_eq!(backlogs(stores, NOW).await, []);
}
