use super::*;
use crate::model::{Durability, RetrySchedule};

#[tokio::test(start_paused = true)]
async fn it_is_tried_until_it_succeeds_with_one_id() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [unavailable(), Answer::connection_refused(), Answer::ok()]);
    world.deliver().await;
    world.post("again").await;
    world.forwarder.finished(3).await;
    let log = world.outcome_of_request(0).await;
    assert_eq!(log.delivery.status, DeliveryStatus::Sent);
    assert_eq!(log.delivery.attempts, 3);
    let requests = world.forwarder.requests();
    assert!(requests.iter().all(|sent| sent.body == "again"));
    assert!(requests.windows(2).all(|pair| pair[0].headers == pair[1].headers));
    let took = log.delivery.updated_at.since(START);
    assert!((5..9).contains(&took.as_secs()), "1 s and 5 s, give or take the jitter: {took:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_final_and_so_is_the_last_attempt() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [Answer::status(StatusCode::GONE).body("no more")]);
    world.deliver().await;
    world.post("x").await;
    world.forwarder.finished(1).await;
    let log = world.outcome_of_request(0).await;
    assert_eq!(log.delivery.status, DeliveryStatus::Failed);
    let last = log.delivery.last.expect("an attempt");
    assert_eq!((last.status_code, &last.response_body[..]), (410, &b"no more"[..]));

    world.forwarder.script(HOOK, [unavailable()]);
    world.post("y").await;
    world.forwarder.finished(4).await;
    let log = world.outcome_of_request(3).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Failed, 3));
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(world.forwarder.requests().len(), 4, "given up is given up");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_hanging_output_delays_no_other() {
    let mut world = World::new().await;
    world.output_to("https://slow.example/").await;
    world.output_to(HOOK).await;
    world.forwarder.script("https://slow.example/", [Answer::ok().held()]);
    world.deliver().await;
    for _ in 0..1_000 {
        world.post("x").await;
    }
    let quick = || world.forwarder.requests_to(HOOK).len();
    while quick() < 1_000 {
        tokio::task::yield_now().await;
    }
    let in_flight = RelayOptions::default().output_concurrency;
    world.forwarder.received(1_000 + in_flight).await;
    assert_eq!(world.relay.functions.clock.now(), START, "nobody has waited");
    let slow = world.forwarder.requests_to("https://slow.example/").len();
    assert_eq!(slow, in_flight, "bounded in flight");
    world.forwarder.script("https://slow.example/", [Answer::ok()]);
    world.forwarder.release();
    world.forwarder.finished(2_000).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_received_before_is_delivered_at_the_start() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    for body in ["a", "b", "c"] {
        assert_eq!(world.post(body).await.status(), 200);
    }
    assert!(world.forwarder.requests().is_empty(), "nothing delivers yet");
    world.relay.run_until_idle().await.expect("a clean run");
    let bodies: Vec<_> = world.forwarder.requests().into_iter().map(|sent| sent.body).collect();
    assert_eq!(bodies, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_finishes_what_is_in_flight_and_leaves_the_rest() {
    let options = RelayOptions { output_concurrency: 1, ..RelayOptions::default() };
    let mut world = World::with(BucketSpec::default(), InputSpec::default(), options).await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(5))]);
    world.deliver().await;
    world.post("first").await;
    world.post("second").await;
    world.forwarder.received(1).await;
    world.stop().await;
    assert_eq!(world.forwarder.requests().len(), 1);
    assert_eq!(world.log_of_request(0).await.delivery.status, DeliveryStatus::Sent);
    world.relay.run_until_idle().await.expect("a clean run");
    assert_eq!(world.forwarder.requests()[1].body, "second");
}

#[tokio::test(start_paused = true)]
async fn more_than_the_memory_budget_waits_in_the_store_and_arrives() {
    let options = RelayOptions {
        memory_budget_bytes: 64 << 10,
        output_queue: 20,
        output_concurrency: 4,
        ..RelayOptions::default()
    };
    let mut world = World::with(BucketSpec::default(), InputSpec::default(), options).await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_millis(10))]);
    world.deliver().await;
    for number in 0..500 {
        assert_eq!(world.post(&format!("{number:>1000}")).await.status(), 200);
    }
    world.forwarder.finished(500).await;
    let mut bodies: Vec<_> = world.forwarder.requests().into_iter().map(|sent| sent.body).collect();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), 500, "each once");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_output_gets_nothing_more() {
    let mut world = World::new().await;
    let output = world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [unavailable()]);
    world.deliver().await;
    world.post("x").await;
    world.forwarder.finished(1).await;
    let account = world.bucket.account_id;
    world.stores.documents.delete_output(account, output).await.expect("deleted");
    world.relay.bucket_changed(&world.bucket);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(world.forwarder.requests().len(), 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_output_without_a_schedule_has_the_default_one() {
    let options =
        RelayOptions { default_schedule: Some(RetrySchedule::Medium), ..RelayOptions::default() };
    let mut world = World::with(BucketSpec::default(), InputSpec::default(), options).await;
    let [plain, once, own] =
        ["plain", "once", "own"].map(|name| format!("https://{name}.example/"));
    let mut spec = OutputSpec::new("plain", &plain);
    world.output(spec.clone()).await;
    (spec.name, spec.destination, spec.retries) = ("once".into(), once.clone(), -1);
    world.output(spec.clone()).await;
    (spec.name, spec.destination, spec.retries) = ("own".into(), own.clone(), 0);
    spec.durability = Durability::once_after(&[Duration::from_secs(1)]);
    world.output(spec).await;
    for destination in [&plain, &once, &own] {
        world.forwarder.script(destination, [unavailable()]);
    }
    world.deliver().await;
    assert_eq!(world.post("x").await.status(), 200);
    tokio::time::sleep(Duration::from_secs(17 * 3_600)).await;
    let attempts = |destination: &str| world.forwarder.requests_to(destination).len();
    assert_eq!([&once, &own].map(|it| attempts(it)), [1, 2]);
    assert!(attempts(&plain) >= 20, "{} attempts in 16 hours", attempts(&plain));
    world.stop().await;
}
