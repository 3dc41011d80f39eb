use super::*;
use crate::{
    model::{ProcessPolicy, RateInterval, Resend, Throttle, ThrottleMode},
    store::LogQuery,
};

async fn world(throttle: Throttle) -> World {
    let mut world = World::new().await;
    let throttle = Throttle { enabled: true, ..throttle };
    world.output(OutputSpec { destination: HOOK.into(), throttle, ..OutputSpec::default() }).await;
    world.deliver().await;
    world
}

fn one_at_a_time() -> Throttle {
    Throttle { mode: ThrottleMode::Concurrency, max_concurrent: 1, ..Throttle::default() }
}

#[tokio::test(start_paused = true)]
async fn a_rate_is_kept() {
    let mut world =
        world(Throttle { rate: 5, interval: RateInterval::Minute, ..Throttle::default() }).await;
    for _ in 0..12 {
        world.post("x").await;
    }
    world.forwarder.received(5).await;
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(world.forwarder.requests().len(), 5);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.forwarder.requests().len(), 10);
    world.forwarder.finished(12).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn concurrency_is_kept() {
    let mut world = world(Throttle { max_concurrent: 3, ..one_at_a_time() }).await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(1))]);
    for _ in 0..10 {
        world.post("x").await;
    }
    world.forwarder.finished(10).await;
    assert_eq!(world.forwarder.most_in_flight(), 3);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_at_a_time_is_in_order_of_receipt_through_retries() {
    let mut world = world(one_at_a_time()).await;
    world
        .forwarder
        .script(HOOK, [unavailable(), unavailable(), Answer::ok(), unavailable(), Answer::ok()]);
    for body in ["1", "2", "3"] {
        world.post(body).await;
    }
    world.forwarder.finished(6).await;
    let bodies: Vec<_> = world.forwarder.requests().into_iter().map(|sent| sent.body).collect();
    assert_eq!(bodies, ["1", "1", "1", "2", "2", "3"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn order_survives_a_restart_in_the_middle_of_a_retry() {
    let mut world = world(one_at_a_time()).await;
    world.forwarder.script(HOOK, [unavailable(), Answer::ok()]);
    for body in ["1", "2", "3"] {
        world.post(body).await;
    }
    world.forwarder.finished(1).await;
    world.stop().await;
    world.deliver().await;
    world.forwarder.finished(4).await;
    let bodies: Vec<_> = world.forwarder.requests().into_iter().map(|sent| sent.body).collect();
    assert_eq!(bodies, ["1", "1", "2", "3"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_one_output_refuses_goes_to_none() {
    let mut world = World::new().await;
    let account = world.bucket.account_id;
    world.deliver().await;
    world.post("kept").await;
    let logs = world.stores.logs.logs(account, &LogQuery::new(9)).await;
    let kept = logs.expect("readable").logs.remove(0);
    world.output_to("https://example.com/free").await;
    let throttle = Throttle { enabled: true, max_queue_depth: 1, ..one_at_a_time() };
    let full = OutputSpec { throttle, ..OutputSpec::new("full", HOOK) };
    world.output(full).await;
    world.forwarder.script(HOOK, [Answer::ok().held()]);
    world.post("1").await;
    let resend = Resend { log: kept.delivery.id, output: None, policy: ProcessPolicy::Skip };
    let refused = world.relay.resend(account, resend).await.expect_err("one is full");
    assert_eq!(refused.kind(), crate::ErrorKind::Busy);
    let logs = async || world.stores.deliveries.logs_of(account, kept.webhook.id).await;
    assert_eq!(logs().await.expect("readable").len(), 1, "none was added");

    world.forwarder.script(HOOK, [Answer::ok()]);
    world.forwarder.release();
    world.forwarder.finished(2).await;
    world.outcome_of_request(0).await;
    world.outcome_of_request(1).await;
    world.relay.resend(account, resend).await.expect("there is room");
    world.forwarder.finished(4).await;
    assert_eq!(logs().await.expect("readable").len(), 3);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_is_429_with_retry_after() {
    let mut world = world(Throttle { max_queue_depth: 2, ..one_at_a_time() }).await;
    world.forwarder.script(HOOK, [Answer::ok().held()]);
    assert_eq!(world.post("1").await.status(), 200);
    assert_eq!(world.post("2").await.status(), 200);
    let full = world.post("3").await;
    assert_eq!(full.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(full.headers()["retry-after"], "1");
    world.forwarder.script(HOOK, [Answer::ok()]);
    world.forwarder.release();
    world.forwarder.finished(2).await;
    world.outcome_of_request(1).await;
    assert_eq!(world.post("4").await.status(), 200);
    world.forwarder.finished(3).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_past_the_deadline_fails_though_every_worker_is_busy() {
    let deadline = Duration::from_secs(4);
    let mut world = world(Throttle { deadline, ..one_at_a_time() }).await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(20))]);
    world.post("in time").await;
    let late = world.post("too late").await;
    world.forwarder.received(1).await;
    tokio::time::sleep(Duration::from_millis(4_100)).await;
    let webhook = late.headers()["request-id"].to_str().expect("text").parse().expect("an id");
    let account = world.bucket.account_id;
    let log = world.stores.deliveries.logs_of(account, webhook).await.expect("readable").remove(0);
    assert_eq!(log.delivery.status, DeliveryStatus::Failed);
    let reason = log.delivery.last.and_then(|last| last.error).expect("a reason");
    assert!(reason.contains("deadline"), "{reason}");
    world.forwarder.finished(1).await;
    assert_eq!(world.outcome_of_request(0).await.delivery.status, DeliveryStatus::Sent);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn each_deadline_counts_though_one_timer_is_set() {
    let deadline = Duration::from_secs(10);
    let mut world = world(Throttle { deadline, ..one_at_a_time() }).await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(60))]);
    for _ in 0..4 {
        world.post("x").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let account = world.bucket.account_id;
    let query = LogQuery { status: Some(DeliveryStatus::Failed), ..LogQuery::new(10) };
    let failed = async || world.stores.logs.logs(account, &query).await.expect("readable").total;
    // The first is attempted. The others came 1, 2 and 3 seconds after it.
    tokio::time::sleep(Duration::from_millis(6_500)).await;
    for expected in [0, 1, 2, 3] {
        assert_eq!(failed().await, expected);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_leaves_no_timer() {
    let deadline = Duration::from_secs(24 * 3_600);
    let mut world = world(Throttle { deadline, ..one_at_a_time() }).await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_millis(10))]);
    for _ in 0..100 {
        world.post("x").await;
    }
    world.forwarder.finished(100).await;
    assert!(world.relay.deliverer.timers() <= 2, "{}", world.relay.deliverer.timers());
    world.stop().await;
}
