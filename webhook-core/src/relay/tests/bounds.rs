use async_trait::async_trait;

use super::{failing::Faulty, *};
use crate::{
    id::{DeliveryId, NodeId, OutputId, WebhookId},
    store::{
        Accept, Accepted, Backlog, Claim, Claimed, DeliveryStore, Extended, Lease, Redeliver,
        Settle, Sweep,
    },
};

#[tokio::test(start_paused = true)]
async fn a_body_over_the_limit_is_413_and_large_buckets_have_a_larger_one() {
    let options =
        RelayOptions { max_body_bytes: 10, max_large_body_bytes: 20, ..RelayOptions::default() };
    let world = World::with(BucketSpec::default(), InputSpec::default(), options.clone()).await;
    assert_eq!(world.post("0123456789").await.status(), 200);
    let refused = world.post("0123456789!").await;
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(refused.body(), "the body is longer than 10 bytes");
    let large = BucketSpec { large_webhooks: true, ..BucketSpec::default() };
    let world = World::with(large, InputSpec::default(), options).await;
    assert_eq!(world.post("0123456789!").await.status(), 200);
    assert_eq!(world.post("012345678901234567890").await.status(), 413);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_keep_up_is_503_and_what_it_stored_is_delivered() {
    let mut world = World::new().await;
    let (stores, _) = Faulty::accepting_in(&world.stores, Duration::from_secs(8));
    world.relay = Webhooks::builder(stores)
        .forwarder(world.forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .build()
        .relay()
        .clone();
    world.output_to(HOOK).await;
    world.deliver().await;
    let refused = world.post("late").await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(
        world.relay.functions.clock.now().since(START),
        RelayOptions::default().accept_timeout
    );
    // The commit came through after all: the delivery must not be forgotten.
    world.forwarder.finished(1).await;
    assert_eq!(world.forwarder.requests()[0].body, "late");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_backlog_over_the_limit_is_503() {
    let options = RelayOptions { output_backlog: 3, ..RelayOptions::default() };
    let mut world = World::with(BucketSpec::default(), InputSpec::default(), options).await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [unavailable()]);
    world.deliver().await;
    for _ in 0..3 {
        assert_eq!(world.post("x").await.status(), 200);
    }
    assert_eq!(world.post("x").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    world.forwarder.finished(9).await;
    world.outcome_of_request(8).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_relay_asks_its_store_nothing() {
    #[derive(Debug)]
    struct Untouchable;
    #[async_trait]
    impl DeliveryStore for Untouchable {
        async fn accept(&self, _: Accept) -> Result<Accepted, Error> {
            panic!("idle")
        }
        async fn claim(&self, _: Claim) -> Result<Claimed, Error> {
            panic!("idle")
        }
        async fn settle(&self, _: Settle) -> Result<(), Error> {
            panic!("idle")
        }
        async fn redeliver(&self, _: AccountId, _: Redeliver) -> Result<(), Error> {
            panic!("idle")
        }
        async fn extend_lease(&self, _: Lease) -> Result<Extended, Error> {
            panic!("idle")
        }
        async fn release(&self, _: NodeId, _: Option<OutputId>) -> Result<(), Error> {
            Ok(())
        }
        async fn backlogs(&self, _: Sweep) -> Result<Vec<Backlog>, Error> {
            Ok(Vec::new())
        }
        async fn log(&self, _: AccountId, _: DeliveryId) -> Result<Option<Log>, Error> {
            panic!("idle")
        }
        async fn logs_of(&self, _: AccountId, _: WebhookId) -> Result<Vec<Log>, Error> {
            panic!("idle")
        }
    }
    let mut world = World::new().await;
    let stores = Stores { deliveries: Arc::new(Untouchable), ..world.stores.clone() };
    world.relay = Webhooks::builder(stores)
        .forwarder(world.forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .build()
        .relay()
        .clone();
    world.deliver().await;
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    world.stop().await;
}
