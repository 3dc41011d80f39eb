//! Two processes with the name of one node, because a data folder was copied.

use super::*;
use crate::{ErrorKind, id::NodeId};

const LEASE: Duration = Duration::from_secs(5);

/// A relay over the stores of `world` with the name `node`.
fn named(world: &World, node: NodeId) -> World {
    let options = RelayOptions {
        sweep_interval: Some(Duration::from_secs(1)),
        lease: LEASE,
        ..RelayOptions::default()
    };
    let builder = Webhooks::builder(world.stores.clone()).forwarder(world.forwarder.clone());
    let clock = TokioClock::starting_at(START);
    World {
        stores: world.stores.clone(),
        relay: builder.clock(clock).options(options).node(node).build().relay().clone(),
        forwarder: world.forwarder.clone(),
        bucket: world.bucket.clone(),
        input: world.input,
        dispatcher: None,
        began: tokio::time::Instant::now(),
        _checked: world.forwarder.checked_on_drop(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_process_of_a_node_is_refused_and_the_first_goes_on() {
    let (mut world, node) = (World::new().await, NodeId::generate());
    world.output_to(HOOK).await;
    let (mut first, mut second) = (named(&world, node), named(&world, node));
    first.deliver().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    second.deliver().await;
    let (_, task) = second.dispatcher.take().expect("it began");
    let refused = tokio::time::timeout(LEASE, task).await.expect("soon").expect("no panic");
    let error = refused.expect_err("it is refused");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().starts_with("node: another process has this node's name"), "{error}");
    for number in 1..=20 {
        assert_eq!(first.post("x").await.status(), 200);
        world.forwarder.finished(number).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(world.forwarder.requests().len(), 20, "each once");
    first.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_died_is_replaced_and_one_that_ended_at_once() {
    for (dies, within) in
        [(true, Duration::from_millis(2_500)), (false, Duration::from_millis(100))]
    {
        let (mut world, node) = (World::new().await, NodeId::generate());
        world.output_to(HOOK).await;
        let (mut first, mut second) = (named(&world, node), named(&world, node));
        first.deliver().await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        if dies {
            let (_stop, task) = first.dispatcher.take().expect("it runs");
            task.abort();
        } else {
            first.stop().await;
        }
        second.deliver().await;
        let receipt = tokio::time::timeout(Duration::from_millis(100), second.post("x")).await;
        assert_eq!(receipt.expect("it receives meanwhile").status(), 200);
        let delivered = tokio::time::timeout(within, world.forwarder.finished(1)).await;
        assert!(delivered.is_ok(), "dies: {dies}");
        tokio::time::sleep(Duration::from_secs(60)).await;
        second.stop().await;
    }
}
