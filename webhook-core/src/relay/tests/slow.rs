//! Outputs whose destinations fail each time.

use std::collections::BTreeMap;

use super::*;
use crate::{
    admin::{Admin, Caller},
    model::{Extension, Health, Reason},
};

const MINUTE: Duration = Duration::from_secs(60);

fn to_hook() -> OutputSpec {
    OutputSpec { name: "hook".into(), destination: HOOK.into(), ..OutputSpec::default() }
}

/// A relay with one output that fails each time, and so many webhooks for it.
async fn failing(spec: OutputSpec, webhooks: usize) -> (World, OutputId) {
    let options = RelayOptions { output_concurrency: 10, ..RelayOptions::default() };
    let mut world = World::with(BucketSpec::default(), InputSpec::default(), options).await;
    let output = world.output(spec).await;
    world.forwarder.script(HOOK, [unavailable()]);
    world.deliver().await;
    for number in 0..webhooks {
        assert_eq!(world.post(&number.to_string()).await.status(), 200);
    }
    (world, output)
}

/// The logs of all deliveries of the account, by their number.
async fn logs(world: &World) -> BTreeMap<usize, Log> {
    let query = crate::store::LogQuery::new(1_000);
    let page = world.stores.logs.logs(world.bucket.account_id, &query).await.expect("readable");
    let number =
        |log: &Log| std::str::from_utf8(&log.webhook.request.body).ok()?.parse::<usize>().ok();
    page.logs.into_iter().map(|log| (number(&log).expect("a number"), log)).collect()
}

#[tokio::test(start_paused = true)]
async fn it_is_attempted_twice_a_second_oldest_first_until_an_attempt_succeeds() {
    let mut spec = to_hook();
    spec.durability.enabled = true;
    let (mut world, output) = failing(spec, 100).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = world.forwarder.requests().len();
    // Those in flight when the bound began are over it.
    assert!((50..=70).contains(&before), "{before}");
    assert!(world.relay.deliverer.slow_since(output).is_some());
    assert_eq!(world.relay.slow_outputs(), 1);
    tokio::time::sleep(5 * MINUTE).await;
    let made = world.forwarder.requests().len() - before;
    assert!(made <= 2 * 300 + 1, "{made} attempts in 300 seconds");
    assert!(made >= 100, "{made} attempts in 300 seconds");
    // New webhooks wait behind the older ones.
    for number in 100..120 {
        world.post(&number.to_string()).await;
    }
    tokio::time::sleep(MINUTE).await;
    world.forwarder.script(HOOK, [Answer::ok()]);
    tokio::time::sleep(10 * MINUTE).await;
    assert_eq!(world.relay.slow_outputs(), 0);
    assert_eq!(world.relay.deliverer.slow_since(output), None);
    let logs = logs(&world).await;
    assert_eq!(logs.len(), 120);
    for (number, log) in logs {
        assert_eq!(log.delivery.status, DeliveryStatus::Sent, "webhook {number}");
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_delivery_without_durability_waits_ten_minutes() {
    let (mut world, _) = failing(to_hook(), 1_000).await;
    tokio::time::sleep(9 * MINUTE).await;
    let waiting = logs(&world).await.into_values();
    let waiting = waiting.filter(|log| log.delivery.status == DeliveryStatus::Received).count();
    assert!(waiting > 0, "some wait behind the bound");
    tokio::time::sleep(11 * MINUTE).await;
    let mut given_up = 0;
    for (number, log) in logs(&world).await {
        let delivery = log.delivery;
        assert_eq!(delivery.status, DeliveryStatus::Failed, "webhook {number}");
        match delivery.reason {
            Some(Reason::Destination) => given_up += 1,
            reason => assert_eq!(reason, Some(Reason::AttemptsExhausted), "webhook {number}"),
        }
    }
    assert!(given_up > 0, "some have waited for ten minutes");
    // Behind the bound the first attempts begin in the order of receipt.
    let number = |request: &crate::forward::ForwardRequest| -> usize {
        let body = std::str::from_utf8(&request.body).expect("text");
        body.parse().expect("a number")
    };
    let requests: Vec<_> = world.forwarder.requests().iter().map(number).collect();
    let (before, behind) = requests.split_at(60);
    let mut numbers = Vec::new();
    for number in behind {
        if !before.contains(number) && !numbers.contains(number) {
            numbers.push(*number);
        }
    }
    assert!(numbers.len() > 30, "{numbers:?} of {}", requests.len());
    assert!(numbers.is_sorted(), "{numbers:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_delivery_with_durability_ends_at_its_deadline() {
    let mut spec = to_hook();
    spec.durability.enabled = true;
    spec.durability.deadline = 20 * MINUTE;
    let (mut world, _) = failing(spec, 1_000).await;
    tokio::time::sleep(19 * MINUTE).await;
    let open = |log: &Log| log.delivery.status == DeliveryStatus::Received;
    assert!(logs(&world).await.values().any(open));
    tokio::time::sleep(3 * MINUTE).await;
    let mut at_deadline = 0;
    for (number, log) in logs(&world).await {
        assert_eq!(log.delivery.status, DeliveryStatus::Failed, "webhook {number}");
        let ends = [Some(Reason::Deadline), Some(Reason::AttemptsExhausted)];
        assert!(ends.contains(&log.delivery.reason), "{:?}", log.delivery.reason);
        at_deadline += usize::from(log.delivery.reason == Some(Reason::Deadline));
    }
    assert!(at_deadline > 0, "some waited for an attempt until their deadline");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_circuit_of_health_takes_the_place_of_the_bound() {
    let mut spec = to_hook();
    spec.durability.enabled = true;
    spec.health = Extension::Set(Health::default());
    let (mut world, output) = failing(spec, 100).await;
    tokio::time::sleep(MINUTE).await;
    assert_eq!(world.relay.deliverer.slow_since(output), None);
    assert_eq!(world.relay.slow_outputs(), 0);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_state_of_the_output_shows_it() {
    let forwarder = ScriptedForwarder::new();
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
        .forwarder(forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .build();
    let admin: &Admin = webhooks.admin();
    let (account, _) = admin.create_account("first", None).await.expect("an account");
    let caller = Caller::for_account(account.id);
    let bucket = admin.create_bucket(&caller, BucketSpec::new("orders")).await.expect("a bucket");
    let output = admin.create_output(&caller, bucket.id, to_hook()).await.expect("an output");
    forwarder.script(HOOK, [unavailable()]);
    let (stop, stopped) = oneshot::channel::<()>();
    let run = tokio::spawn({
        let webhooks = webhooks.clone();
        async move { webhooks.run(async { drop(stopped.await) }).await }
    });
    for _ in 0..100 {
        let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id));
        let request = request.body(Full::from("{}")).expect("a request");
        assert_eq!(webhooks.ingest().call(request).await.expect("infallible").status(), 200);
    }
    tokio::time::sleep(MINUTE).await;
    let state = admin.output_state(&caller, bucket.id, output.id).await.expect("a state");
    assert!(state.slow_since.is_some_and(|since| since >= START), "{state:?}");
    drop(stop);
    run.await.expect("no panic").expect("a clean stop");
}
