//! A node is stopped past its lease with deliveries in hand, and goes on.

use tokio::sync::watch;

use super::*;
use crate::{
    counted::Seen,
    harness::postgres::{Schema, node, node_with, skipped},
};

/// Webhooks of a round.
const WEBHOOKS: u64 = 60;
/// Of them in flight at the most.
const IN_FLIGHT: u64 = 20;

/// Stops a node that has all webhooks in its hands, lets the other one deliver them, and lets
/// the first one go on. Returns what came.
async fn pause(name: &str, throttle: Value, in_flight: u64) -> Option<Seen> {
    let schema = Schema::create(name).await?;
    // They are answered while the node that waits for it is stopped.
    let answers = watch::Sender::new(false);
    let answering = answers.subscribe();
    let (seen, sink) = Seen::sink(move |number, before| match before {
        0 if number < in_flight => Reply::HangUntil(answering.clone()),
        _ => Reply::Status(200),
    })
    .await;
    let concurrency = IN_FLIGHT.to_string();
    let (first, second) = (
        node_with(&schema, &[("WEBHOOK_OUTPUT_CONCURRENCY", &concurrency)]).await,
        node(&schema).await,
    );
    let bucket = bucket_with(&first, &sink.base, throttle).await;
    for number in 0..WEBHOOKS {
        let url = format!("/v1/webhooks/{}", default_input(&bucket));
        first.anonymous("POST", &url).body(number.to_string()).send().await.expect(200);
    }
    sink.received(in_flight as usize).await;
    first.freeze().await;
    let stopped = Instant::now();
    answers.send_replace(true);
    until_logs(&second, &bucket, "sent", WEBHOOKS).await;
    let took = stopped.elapsed();
    // They go one after the other where order counts.
    assert!(took < TAKEN_OVER + Duration::from_secs(4), "{took:?}");
    let lasts = Duration::from_secs(chosen("CLUSTER_PAUSE_SECONDS", LEASE.as_secs() + 2));
    tokio::time::sleep(lasts.saturating_sub(stopped.elapsed())).await;
    first.signal("CONT").await;

    // What comes back from before the pause is refused, and nothing is sent for it.
    let resumed = Instant::now();
    while metric(&first, "webhook_settle_conflicts_total").await < in_flight as f64 {
        assert!(resumed.elapsed() < harness::PATIENCE, "late outcomes were not refused");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The node takes part again.
    let body = WEBHOOKS.to_string();
    let url = format!("/v1/webhooks/{}", default_input(&bucket));
    first.anonymous("POST", &url).body(body).send().await.expect(200);
    until_logs(&second, &bucket, "sent", WEBHOOKS + 1).await;
    // Each node looks several times for deliveries that are left.
    tokio::time::sleep(LEASE).await;
    let times = seen.times();
    let twice = times.values().filter(|count| **count > 1).count() as u64;
    println!("{name}: taken over in {took:?}, {twice} came twice, {in_flight} were in flight");
    assert_eq!(times.len() as u64, WEBHOOKS + 1);
    assert!(twice <= in_flight && times.values().all(|count| *count <= 2), "{times:?}");
    assert_eq!(logs(&first, &bucket, "failed").await, 0);
    drop((first, second));
    schema.remove().await;
    Some(seen)
}

#[tokio::test]
async fn what_a_paused_node_brings_late_is_refused_and_what_it_had_not_begun_it_leaves() {
    if pause("paused", json!(null), IN_FLIGHT).await.is_none() {
        skipped();
    }
}

#[tokio::test]
async fn a_pause_leaves_the_order_as_it_is() {
    let one = json!({ "enabled": true, "mode": "concurrency", "max_concurrent": 1 });
    match pause("paused_in_order", one, 1).await {
        Some(seen) => assert_eq!(seen.order(), (0..=WEBHOOKS).collect::<Vec<_>>()),
        None => skipped(),
    }
}
