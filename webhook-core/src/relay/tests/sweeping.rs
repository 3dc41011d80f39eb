//! Nothing waits for a node that does not come back.

use super::*;
use crate::{
    clock::Clock,
    id::{DeliveryId, NodeId, WebhookId},
    model::{Request, Throttle, ThrottleMode, Webhook},
    store::{Accept, Lease, NewDelivery, Pending},
};

const LEASE: Duration = Duration::from_secs(5);

/// A relay that shares its store with others.
struct Shared {
    world: World,
    output: OutputId,
    clock: TokioClock,
    node: NodeId,
}

impl Shared {
    async fn new(throttle: Throttle) -> Self {
        let mut world = World::new().await;
        let (clock, node) = (TokioClock::starting_at(START), NodeId::generate());
        let options = RelayOptions {
            sweep_interval: Some(Duration::from_secs(1)),
            lease: LEASE,
            ..RelayOptions::default()
        };
        world.relay = Webhooks::builder(world.stores.clone())
            .forwarder(world.forwarder.clone())
            .clock(clock)
            .options(options)
            .node(node)
            .build()
            .relay()
            .clone();
        let destination = HOOK.to_owned();
        let spec =
            OutputSpec { name: "hook".into(), destination, throttle, ..OutputSpec::default() };
        let output = world.output(spec).await;
        world.deliver().await;
        // It has a lease from its first look on.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        Self { world, output, clock, node }
    }

    /// Another node that is alive for one lease from now on.
    async fn other(&self) -> NodeId {
        let node = NodeId::generate();
        self.extend(node).await;
        node
    }

    async fn extend(&self, node: NodeId) {
        let until = self.clock.now() + LEASE;
        self.world
            .stores
            .deliveries
            .extend_lease(Lease { node, incarnation: 0, until })
            .await
            .expect("a lease");
    }

    /// Stores a webhook beside the relay, whose delivery `held_by` attempts.
    async fn store(&self, due_in: Duration, held_by: Option<NodeId>) {
        let (now, bucket) = (self.clock.now(), &self.world.bucket);
        let request = Request::new(Method::POST, HeaderMap::new(), Bytes::new());
        let place = (bucket.account_id, bucket.id, self.world.input);
        let webhook = Arc::new(Webhook {
            secure: true,
            ..Webhook::new(WebhookId::generate(), place, request, now)
        });
        let delivery = NewDelivery {
            id: DeliveryId::generate(),
            output_id: Some(self.output),
            internal: false,
            status: DeliveryStatus::Received,
            reason: None,
            detail: None,
            due_at: Some(now + due_in),
            held_by,
        };
        let accept = Accept::new(webhook, vec![delivery]);
        self.world.stores.deliveries.accept(accept).await.expect("it is new");
    }

    fn sent(&self) -> usize {
        self.world.forwarder.requests().len()
    }

    async fn claim(&self, node: NodeId) -> Vec<Pending> {
        let claim = crate::store::Claim {
            node,
            output_id: self.output,
            now: self.clock.now(),
            limit: 100,
            order: crate::store::ClaimOrder::Receipt,
        };
        self.world.stores.deliveries.claim(claim).await.expect("a claim").deliveries
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_node_held_is_taken_over() {
    let mut shared = Shared::new(Throttle::default()).await;
    let dead = shared.other().await;
    for _ in 0..60 {
        shared.store(seconds(0), Some(dead)).await;
    }
    tokio::time::sleep(LEASE - seconds(1)).await;
    assert_eq!(shared.sent(), 0, "its lease lasts");
    tokio::time::sleep(seconds(4)).await;
    assert_eq!(shared.sent(), 60);
    tokio::time::sleep(seconds(60)).await;
    assert_eq!(shared.sent(), 60, "each once");
    shared.world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_a_node_left_behind_is_made() {
    let mut shared = Shared::new(Throttle::default()).await;
    shared.store(seconds(30), None).await;
    tokio::time::sleep(seconds(29)).await;
    assert_eq!(shared.sent(), 0);
    tokio::time::sleep(seconds(5)).await;
    assert_eq!(shared.sent(), 1);
    shared.world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_left_is_found_beside_what_this_node_delivers() {
    let mut shared = Shared::new(Throttle::default()).await;
    shared.world.forwarder.script(HOOK, [Answer::ok().after(seconds(1))]);
    let dead = shared.other().await;
    shared.store(seconds(0), Some(dead)).await;
    for _ in 0..20 {
        assert_eq!(shared.world.post("x").await.status(), 200);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(shared.sent(), 21, "the other one in the midst of them");
    tokio::time::sleep(seconds(5)).await;
    shared.world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_output_that_another_node_attends_to_is_left_to_it() {
    let throttle = Throttle {
        enabled: true,
        mode: ThrottleMode::Concurrency,
        max_concurrent: 1,
        ..Throttle::default()
    };
    let mut shared = Shared::new(throttle).await;
    let other = shared.other().await;
    for _ in 0..3 {
        shared.store(seconds(0), None).await;
    }
    // It has one in flight and leaves the others in the store, for longer than anybody waits.
    shared.store(seconds(0), Some(other)).await;
    for _ in 0..30 {
        tokio::time::sleep(seconds(1)).await;
        shared.extend(other).await;
    }
    assert_eq!(shared.sent(), 0);
    tokio::time::sleep(LEASE + seconds(3)).await;
    assert_eq!(shared.sent(), 4, "it is gone");
    shared.world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_node_holds_and_does_not_know_of_is_freed() {
    let mut shared = Shared::new(Throttle::default()).await;
    shared.store(seconds(0), Some(shared.node)).await;
    shared.store(seconds(0), None).await;
    assert_eq!(shared.claim(shared.node).await.len(), 1, "both are held");
    tokio::time::sleep(seconds(14)).await;
    assert_eq!(shared.sent(), 0);
    tokio::time::sleep(seconds(5)).await;
    assert_eq!(shared.sent(), 2);
    tokio::time::sleep(seconds(60)).await;
    assert_eq!(shared.sent(), 2, "each once");
    shared.world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_in_memory_for_long_is_not_taken_for_lost() {
    let throttle = Throttle {
        enabled: true,
        mode: ThrottleMode::Concurrency,
        max_concurrent: 1,
        ..Throttle::default()
    };
    let mut shared = Shared::new(throttle).await;
    shared.world.forwarder.script(HOOK, [Answer::ok().after(seconds(20))]);
    for _ in 0..5 {
        assert_eq!(shared.world.post("x").await.status(), 200);
    }
    shared.world.forwarder.finished(5).await;
    tokio::time::sleep(seconds(60)).await;
    assert_eq!((shared.sent(), shared.world.forwarder.most_in_flight()), (5, 1));
    shared.world.stop().await;
}
