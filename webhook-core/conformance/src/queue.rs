//! What every store of the owners of queues does.

use webhook_core::{
    NodeId, OutputId, Timestamp,
    store::{OwnQueue, OwnedQueue, Stores},
};

use crate::{
    delivery::{claim_due, extend, node, node_until, queue, sent, settle},
    sample::{NOW, after, race, with},
};

async fn own(stores: &Stores, node: NodeId, output: OutputId, now: Timestamp) -> OwnedQueue {
    stores.queues.own_queue(OwnQueue::new(node, output, now)).await.expect("an answer")
}

async fn go_on(stores: &Stores, node: NodeId, output: OutputId, at: &[Timestamp]) -> OwnedQueue {
    let own = OwnQueue::new(node, output, after(1));
    let own = with(own, |own| own.started = Some(at.to_vec()));
    stores.queues.own_queue(own).await.expect("an answer")
}

async fn leave(stores: &Stores, node: NodeId, output: OutputId, started: &[Timestamp]) {
    stores.queues.leave_queue(node, output, started).await.expect("left");
}

/// The first node that asks is the owner for as long as its lease lasts, of this queue only.
pub async fn a_queue_has_one_owner(stores: &Stores) {
    let (output, other) = (OutputId::generate(), OutputId::generate());
    let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
    assert_eq!(own(stores, first, output, NOW).await, OwnedQueue::own(Vec::new(), false, 0));
    assert_eq!(own(stores, second, output, after(9)).await, OwnedQueue::of_another(0));
    assert!(own(stores, second, other, NOW).await.is_owner);
    // It may have been another process of its name.
    assert_eq!(own(stores, first, output, after(9)).await, OwnedQueue::own(Vec::new(), true, 0));
}

/// What an owner has left is the next one's at once, with what was started.
pub async fn a_queue_passes_on_when_its_owner_leaves(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    assert!(own(stores, first, output, NOW).await.is_owner);
    let started = [NOW, after(1)];
    leave(stores, first, output, &started).await;
    let owned = own(stores, second, output, after(1)).await;
    assert_eq!(owned, OwnedQueue::own(started.to_vec(), false, 0));
    assert!(!own(stores, first, output, after(1)).await.is_owner);
    leave(stores, second, output, &[]).await;
    assert_eq!(own(stores, first, output, NOW).await, OwnedQueue::own(Vec::new(), false, 0));
}

/// An owner whose lease is over is no owner; what it may have started is not known.
pub async fn a_queue_passes_on_with_the_lease_of_its_owner(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
    assert!(own(stores, first, output, NOW).await.is_owner);
    assert!(go_on(stores, first, output, &[after(1)]).await.is_owner);
    let owned = own(stores, second, output, after(10)).await;
    assert_eq!(owned, OwnedQueue::own(vec![after(1)], true, 0));
    assert!(!own(stores, first, output, after(10)).await.is_owner);

    // What the owner before held is free, though its lease begins anew.
    let output = OutputId::generate();
    let (first, third) = (node_until(stores, after(20)).await, node(stores).await);
    let queued = queue(stores, output, NOW).await;
    assert!(own(stores, first, output, after(11)).await.is_owner);
    assert_eq!(claim_due(stores, first, output, after(11)).await, [queued.id]);
    assert!(own(stores, third, output, after(20)).await.is_owner);
    extend(stores, first, after(90)).await;
    assert_eq!(claim_due(stores, third, output, after(21)).await, [queued.id]);

    // A node that was released has no lease.
    let output = OutputId::generate();
    let third = node(stores).await;
    assert!(own(stores, third, output, NOW).await.is_owner);
    stores.deliveries.release(third, None).await.expect("released");
    assert!(own(stores, second, output, NOW).await.was_lost);
}

/// The latest that an owner says is what the next one gets.
pub async fn owners_say_what_they_have_started(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node_until(stores, after(10)).await, node(stores).await);
    own(stores, first, output, NOW).await;
    let many: Vec<_> = (0..4_096).map(|at| Timestamp::from_millis(NOW.as_millis() + at)).collect();
    for started in [&many[..], &many[..3], &[]] {
        let goes_on = go_on(stores, first, output, started).await;
        assert_eq!(goes_on, OwnedQueue::own(Vec::new(), false, 0));
    }
    go_on(stores, first, output, &many).await;
    assert_eq!(own(stores, second, output, after(10)).await.started, many);
}

/// A node that goes on without owning the queue, and one that leaves it, change nothing.
pub async fn who_is_not_the_owner_changes_nothing(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    assert!(!go_on(stores, second, output, &[NOW]).await.is_owner);
    leave(stores, second, output, &[NOW]).await;
    assert_eq!(own(stores, first, output, NOW).await, OwnedQueue::own(Vec::new(), false, 0));
    assert!(!go_on(stores, second, output, &[NOW]).await.is_owner);
    leave(stores, second, output, &[NOW]).await;
    assert!(!own(stores, second, output, NOW).await.is_owner);
    assert_eq!(own(stores, first, output, NOW).await.started, []);
}

/// Both are told how many deliveries wait or are held.
pub async fn owners_and_others_know_what_waits(stores: &Stores) {
    let output = OutputId::generate();
    let (first, second) = (node(stores).await, node(stores).await);
    let queued = queue(stores, output, NOW).await;
    queue(stores, output, after(5)).await;
    assert_eq!(own(stores, first, output, NOW).await.pending, 2);
    assert_eq!(claim_due(stores, first, output, NOW).await, [queued.id]);
    assert_eq!(own(stores, second, output, NOW).await, OwnedQueue::of_another(2));
    settle(stores, sent(queued, first, after(1))).await;
    assert_eq!(go_on(stores, first, output, &[]).await.pending, 1);
}

/// Of nodes that ask at once, one owns the queue.
pub async fn concurrent_nodes_get_one_owner(stores: &Stores) {
    for _ in 0..5 {
        let output = OutputId::generate();
        let mut nodes = Vec::new();
        for _ in 0..8 {
            nodes.push(node(stores).await);
        }
        let owned = race(nodes.len(), |number| {
            let (stores, node) = (stores.clone(), nodes[number]);
            async move { own(&stores, node, output, NOW).await.is_owner }
        });
        assert_eq!(owned.await.into_iter().filter(|is_owner| *is_owner).count(), 1);
    }
}
