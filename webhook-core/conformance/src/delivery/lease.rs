//! Holding deliveries, and losing them.

use webhook_core::{
    AccountId, NodeId, OutputId, Timestamp,
    store::{Claim, ClaimOrder, Lease, Stores, Sweep},
};

use super::{
    Queued, accept, backlogs, claim_as, claim_due, extend, ids_of, log, new_delivery, node,
    node_until, queue, queue_many, retry, sent, settle, sweep, take_due,
};
use crate::sample::{NOW, after, expect_conflict, race, webhook, with};

/// Releases what `node` holds.
async fn release(stores: &Stores, node: NodeId) {
    stores.deliveries.release(node, None).await.expect("the node can be released");
}

/// Stores a webhook whose one delivery `node` holds from the start.
async fn queue_held(stores: &Stores, output: OutputId, node: NodeId) -> Queued {
    let delivery = with(new_delivery(output, NOW), |delivery| delivery.held_by = Some(node));
    let webhook = webhook(AccountId::generate());
    accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    (&webhook, &delivery).into()
}

/// The moment a millisecond before `moment`.
fn just_before(moment: Timestamp) -> Timestamp {
    Timestamp::from_millis(moment.as_millis() - 1)
}

/// A node that stores a webhook to attempt it itself holds it without a claim, and settles it.
pub async fn delivery_is_held_from_accept(stores: &Stores) {
    let output = OutputId::generate();
    let (holder, other) = (node_until(stores, after(10)).await, node(stores).await);
    let held = queue_held(stores, output, holder).await;
    for node in [holder, other] {
        assert!(claim_due(stores, node, output, just_before(after(10))).await.is_empty());
    }
    assert_eq!(backlogs(stores, just_before(after(10))).await, []);
    expect_conflict(stores.deliveries.settle(sent(held, other, after(1))).await);
    settle(stores, sent(held, holder, after(1))).await;

    let lapsed = queue_held(stores, output, holder).await;
    assert_eq!(backlogs(stores, after(10)).await, [(output, NOW, 1)]);
    assert_eq!(claim_due(stores, other, output, after(10)).await, [lapsed.id]);
}

/// A lease lasts up to its end and not at it, by the moment that is handed in.
pub async fn lease_ends_at_its_moment(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
    let queued = queue(stores, output, NOW).await;
    assert_eq!(claim_due(stores, first, output, NOW).await, [queued.id]);

    let last = just_before(after(10));
    assert_eq!(backlogs(stores, last).await, []);
    let claim = Claim::new(second, output, last, 9);
    let claimed = claim_as(stores, claim).await;
    assert!(claimed.deliveries.is_empty());
    assert_eq!(claimed.next_due_at, None);
    expect_conflict(stores.deliveries.settle(sent(queued, second, last)).await);

    assert_eq!(backlogs(stores, after(10)).await, [(output, NOW, 1)]);
    assert_eq!(claim_due(stores, second, output, after(10)).await, [queued.id]);
}

/// What a lapsed node held passes on whole: its moment, its attempts, and in both orders.
pub async fn lapsed_delivery_passes_to_another_node(stores: &Stores) {
    for order in [ClaimOrder::Due, ClaimOrder::Receipt] {
        let output = OutputId::generate();
        let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
        let queued = queue_many(stores, output, NOW, 3).await;
        let held = take_due(stores, first, output, NOW).await.deliveries;
        settle(stores, retry(&held[1], first, after(1), after(5))).await;
        assert_eq!(claim_due(stores, first, output, after(5)).await, [queued[1]]);

        let claim = with(Claim::new(second, output, after(10), 2), |claim| claim.order = order);
        let mut taken = claim_as(stores, claim).await;
        assert_eq!(taken.deliveries.len(), 2);
        let rest = claim_as(stores, with(claim, |claim| claim.limit = 9)).await;
        assert_eq!(rest.deliveries.len(), 1);
        taken.deliveries.extend(rest.deliveries);
        taken.deliveries.sort_by_key(|pending| pending.id);
        assert_eq!(ids_of(&taken), queued);
        assert_eq!((taken.deliveries[1].attempts, taken.deliveries[1].due_at), (1, after(5)));
        assert_eq!((taken.deliveries[2].attempts, taken.deliveries[2].due_at), (0, NOW));
    }
}

/// A node that says it is alive keeps what it holds.
pub async fn extended_lease_holds_longer(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
    let queued = queue(stores, output, NOW).await;
    assert_eq!(claim_due(stores, first, output, NOW).await, [queued.id]);
    for until in [20, 30] {
        extend(stores, first, after(until)).await;
        assert!(claim_due(stores, second, output, just_before(after(until))).await.is_empty());
    }
    assert_eq!(claim_due(stores, second, output, after(30)).await, [queued.id]);
}

/// One lease covers all that a node holds, whenever it took it.
pub async fn lease_covers_what_was_claimed_before(stores: &Stores) {
    let (a, b) = (OutputId::generate(), OutputId::generate());
    let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
    let early = queue(stores, a, NOW).await.id;
    assert_eq!(claim_due(stores, first, a, NOW).await, [early]);
    extend(stores, first, after(20)).await;
    let late = queue(stores, b, NOW).await.id;
    assert_eq!(claim_due(stores, first, b, after(11)).await, [late]);
    let accepted = queue_held(stores, b, first).await.id;
    for output in [a, b] {
        assert!(claim_due(stores, second, output, just_before(after(20))).await.is_empty());
    }
    assert_eq!(backlogs(stores, after(20)).await, [(a, NOW, 1), (b, NOW, 2)]);
    let mut taken = claim_due(stores, second, a, after(20)).await;
    taken.extend(claim_due(stores, second, b, after(20)).await);
    taken.sort();
    assert_eq!(taken, [early, late, accepted]);
}

/// The end of one node's lease frees nothing of another node.
pub async fn leases_of_nodes_are_independent(stores: &Stores) {
    let output = OutputId::generate();
    let (short, long) = (node_until(stores, after(10)).await, node_until(stores, after(20)).await);
    let other = node(stores).await;
    let of_short = queue(stores, output, NOW).await.id;
    assert_eq!(claim_due(stores, short, output, NOW).await, [of_short]);
    let of_long = queue(stores, output, NOW).await.id;
    assert_eq!(claim_due(stores, long, output, NOW).await, [of_long]);
    extend(stores, other, after(500)).await;
    assert_eq!(backlogs(stores, after(10)).await, [(output, NOW, 1)]);
    assert_eq!(claim_due(stores, other, output, after(10)).await, [of_short]);
    assert_eq!(claim_due(stores, other, output, after(20)).await, [of_long]);
}

/// What a lapsed node held counts in its backlog beside what was free all along.
pub async fn lanes_count_what_a_lapsed_node_held(stores: &Stores) {
    let output = OutputId::generate();
    let node = node_until(stores, after(10)).await;
    let held = [after(1), after(3)];
    for due_at in held {
        queue(stores, output, due_at).await;
    }
    assert_eq!(claim_due(stores, node, output, after(3)).await.len(), 2);
    assert_eq!(backlogs(stores, after(10)).await, [(output, after(1), 2)]);
    queue(stores, output, after(2)).await;
    assert_eq!(backlogs(stores, just_before(after(10))).await, [(output, after(2), 1)]);
    assert_eq!(backlogs(stores, after(10)).await, [(output, after(1), 3)]);
    queue(stores, output, NOW).await;
    assert_eq!(backlogs(stores, after(10)).await, [(output, NOW, 4)]);
}

/// A sweep says where another node is at work whose lease lasts, and only of outputs of which
/// something is free.
pub async fn sweep_tells_where_another_node_is_at_work(stores: &Stores) {
    let (ours, theirs) = (OutputId::generate(), OutputId::generate());
    let (node, other) = (node(stores).await, node_until(stores, after(10)).await);
    queue_held(stores, ours, node).await;
    queue_held(stores, theirs, other).await;
    assert_eq!(backlogs(stores, NOW).await, []);
    for output in [ours, theirs] {
        queue(stores, output, after(1)).await;
    }
    let found = async |now| {
        let found = sweep(stores, Sweep::new(node, now, NOW)).await.into_iter();
        found.map(|found| (found.output_id, found.is_attended, found.pending)).collect::<Vec<_>>()
    };
    let mut expected = [(ours, false, 1), (theirs, true, 1)];
    expected.sort();
    assert_eq!(found(just_before(after(10))).await, expected);
    let mut expected = [(ours, false, 1), (theirs, false, 2)];
    expected.sort();
    assert_eq!(found(after(10)).await, expected);
}

/// A sweep counts what the node that looks has held for long, and nothing of other nodes.
pub async fn sweep_counts_what_the_node_holds_for_long(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    let accepted = queue_held(stores, output, first).await;
    let claimed = queue(stores, output, NOW).await;
    assert_eq!(claim_due(stores, first, output, after(5)).await, [claimed.id]);
    let held = async |node, held_before| {
        let found = sweep(stores, Sweep::new(node, after(9), held_before)).await;
        assert!(found.iter().all(|found| found.output_id == output && found.due_at.is_none()));
        found.iter().map(|found| found.held).sum::<u64>()
    };
    assert_eq!(held(first, NOW).await, 0);
    assert_eq!(held(first, after(5)).await, 1, "it is held from its receipt");
    assert_eq!(held(first, after(6)).await, 2, "the other one from its claim");
    assert_eq!(held(second, after(6)).await, 0);
    settle(stores, sent(accepted, first, after(6))).await;
    assert_eq!(held(first, after(6)).await, 1);
    settle(stores, retry(claimed, first, after(6), after(7))).await;
    assert_eq!(backlogs(stores, after(9)).await, [(output, after(7), 1)]);
}

/// The store's own clock, if it has one, goes on from call to call.
pub async fn clock_of_the_store_goes_on(stores: &Stores) {
    let mut shown = Vec::new();
    for _ in 0..3 {
        let extended =
            stores.deliveries.extend_lease(Lease::new(NodeId::generate(), 0, after(10))).await;
        shown.push(extended.expect("the lease can be extended").now);
    }
    assert!(shown.is_sorted(), "{shown:?}");
    assert!(shown.iter().all(|now| now.is_some() == shown[0].is_some()), "{shown:?}");
}

/// Another process of the same name gets no lease before the first one's is released.
pub async fn lease_of_another_incarnation_is_left(stores: &Stores) {
    let (node, output) = (NodeId::generate(), OutputId::generate());
    let extend = async |incarnation, until| {
        let extended = stores.deliveries.extend_lease(Lease::new(node, incarnation, until)).await;
        extended.expect("the store answers").taken_until
    };
    assert_eq!(extend(1, after(10)).await, None);
    queue_held(stores, output, node).await;
    assert_eq!(extend(2, after(20)).await, Some(after(10)));
    assert_eq!(backlogs(stores, just_before(after(10))).await, []);
    assert_eq!(backlogs(stores, after(10)).await, [(output, NOW, 1)], "it was not extended");
    assert_eq!(extend(1, after(15)).await, None);
    assert_eq!(extend(2, after(20)).await, Some(after(15)));
    release(stores, node).await;
    assert_eq!(extend(2, after(20)).await, None);
    assert_eq!(extend(1, after(30)).await, Some(after(20)));
}

/// Deliveries in the name of a node that never said it was alive are free.
pub async fn node_without_a_lease_holds_nothing(stores: &Stores) {
    let (output, other) = (OutputId::generate(), node(stores).await);
    let id = queue_held(stores, output, NodeId::generate()).await.id;
    assert_eq!(backlogs(stores, NOW).await, [(output, NOW, 1)]);
    assert_eq!(claim_due(stores, other, output, NOW).await, [id]);
    assert_eq!(backlogs(stores, NOW).await, []);
}

/// Release frees what was claimed and what was held from the start, at once and for all.
pub async fn release_frees_everything_of_a_node(stores: &Stores) {
    let (a, b) = (OutputId::generate(), OutputId::generate());
    let (first, second) = (node(stores).await, node(stores).await);
    let claimed = queue_many(stores, a, NOW, 3).await;
    assert_eq!(claim_due(stores, first, a, NOW).await.len(), 3);
    let accepted = queue_held(stores, b, first).await;
    assert_eq!(backlogs(stores, NOW).await, []);

    release(stores, first).await;
    assert_eq!(backlogs(stores, NOW).await, [(a, NOW, 3), (b, NOW, 1)]);
    let mut taken = claim_due(stores, second, a, NOW).await;
    taken.sort();
    assert_eq!(taken, claimed);
    assert_eq!(claim_due(stores, second, b, NOW).await, [accepted.id]);
    expect_conflict(stores.deliveries.settle(sent(accepted, first, NOW)).await);
}

/// Release frees nothing that another node holds.
pub async fn release_leaves_other_nodes_alone(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    let of_first = queue(stores, output, NOW).await.id;
    assert_eq!(claim_due(stores, first, output, NOW).await, [of_first]);
    let of_second = queue(stores, output, NOW).await;
    assert_eq!(claim_due(stores, second, output, NOW).await, [of_second.id]);
    release(stores, first).await;
    assert_eq!(backlogs(stores, NOW).await, [(output, NOW, 1)]);
    assert_eq!(claim_due(stores, second, output, NOW).await, [of_first]);
    release(stores, first).await;
    assert_eq!(backlogs(stores, NOW).await, []);
    settle(stores, sent(of_second, second, NOW)).await;
}

/// What a node holds of one output is freed without what it holds of others.
pub async fn release_of_an_output_leaves_others_held(stores: &Stores) {
    let (meant, other) = (OutputId::generate(), OutputId::generate());
    let (first, second) = (node(stores).await, node(stores).await);
    let freed = queue_held(stores, meant, first).await;
    queue_held(stores, other, first).await;
    let theirs = queue_held(stores, meant, second).await;
    stores.deliveries.release(first, Some(meant)).await.expect("it can be released");
    assert_eq!(claim_due(stores, first, meant, NOW).await, [freed.id]);
    assert_eq!(claim_due(stores, first, other, NOW).await, []);
    settle(stores, sent(theirs, second, after(1))).await;
}

/// A node that released its former life's deliveries goes on as any other.
pub async fn released_node_holds_again_what_it_claims(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    let queued = queue(stores, output, NOW).await;
    assert_eq!(claim_due(stores, first, output, NOW).await, [queued.id]);
    release(stores, first).await;
    extend(stores, first, after(100)).await;
    assert_eq!(claim_due(stores, first, output, NOW).await, [queued.id]);
    assert!(claim_due(stores, second, output, after(99)).await.is_empty());
    settle(stores, sent(queued, first, after(99))).await;
    assert_eq!(log(stores, queued).await.delivery.due_at, None);
}

/// There is nothing wrong with a node that holds nothing.
pub async fn release_of_an_unknown_node_succeeds(stores: &Stores) {
    release(stores, NodeId::generate()).await;
    let idle = node(stores).await;
    release(stores, idle).await;
    release(stores, idle).await;
}

/// When many nodes take over from a lapsed one, each delivery passes to one of them.
pub async fn concurrent_takeovers_never_share(stores: &Stores) {
    let output = OutputId::generate();
    let lapsed = node_until(stores, after(10)).await;
    let queued = queue_many(stores, output, NOW, 40).await;
    assert_eq!(claim_due(stores, lapsed, output, NOW).await.len(), 40);
    let mut nodes = Vec::new();
    for _ in 0..8 {
        nodes.push(node(stores).await);
    }
    let taken = race(nodes.len(), |number| {
        let (stores, node, now) = (stores.clone(), nodes[number], after(10));
        async move {
            let claim = Claim::new(node, output, now, 5);
            ids_of(&claim_as(&stores, claim).await)
        }
    })
    .await;
    let mut taken: Vec<_> = taken.into_iter().flatten().collect();
    // A claim may come back short while others hold locks, so one more takes the rest.
    taken.extend(claim_due(stores, nodes[0], output, after(10)).await);
    taken.sort();
    assert_eq!(taken, queued);
}
