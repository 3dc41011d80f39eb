//! Several nodes on one PostgreSQL database: the others go on with what one of them leaves.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::*;
use crate::{
    harness::postgres::{LEASE, Schema, node, node_in, skipped},
    sink::Reply,
};

/// How long it may take until what a node left is attempted by another one: a lease, a turn to
/// look, and the attempt on a busy machine.
const TAKEN_OVER: Duration = LEASE.saturating_add(Duration::from_secs(3));

/// How long after a failed attempt the next one is due.
const RETRY: Duration = Duration::from_secs(4);

/// A bucket whose output is the sink.
async fn bucket_to(server: &Server, sink: &Sink) -> Value {
    let bucket = server.bucket("events").await;
    let durability = json!({
        "enabled": true, "schedule": "custom", "custom_delays": [RETRY.as_nanos() as u64],
        "deadline": 3_600_000_000_000_u64,
    });
    let output = json!({ "name": "sink", "destination": sink.base, "durability": durability });
    server.output(&bucket, output).await;
    bucket
}

async fn post(server: &Server, bucket: &Value, number: usize) {
    let request = server.anonymous("POST", &input_path(bucket)).body(number.to_string());
    request.send().await.expect(200);
}

/// How often each webhook has come.
fn arrivals(sink: &Sink) -> HashMap<String, usize> {
    sink.so_far().into_iter().fold(HashMap::new(), |mut counts, arrived| {
        *counts.entry(String::from_utf8_lossy(&arrived.body).into_owned()).or_default() += 1;
        counts
    })
}

/// Waits until each of so many webhooks has come `times`; how long that took.
async fn wait_for(sink: &Sink, webhooks: usize, times: usize) -> Duration {
    let started = Instant::now();
    loop {
        let counts = arrivals(sink);
        let enough = counts.values().filter(|count| **count >= times).count();
        if enough == webhooks {
            return started.elapsed();
        }
        assert!(started.elapsed() < harness::PATIENCE, "{enough} of {webhooks} came {times} times");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A node is killed with 60 deliveries in flight and does not come back; the others are idle.
#[tokio::test]
async fn idle_nodes_take_over_from_a_dead_one() {
    let Some(schema) = Schema::create("dead").await else { return skipped() };
    let sink = Sink::scripted(|number| match number {
        0..60 => Reply::Hang(Duration::from_secs(60)),
        _ => Reply::Status(200),
    })
    .await;
    let (mut first, second, third) =
        (node(&schema).await, node(&schema).await, node(&schema).await);
    let bucket = bucket_to(&first, &sink).await;
    for number in 0..60 {
        post(&first, &bucket, number).await;
    }
    sink.received(60).await;
    first.kill().await;
    let took = wait_for(&sink, 60, 2).await;
    assert!(took < TAKEN_OVER, "{took:?}");
    println!("taken over in {took:?}");
    // Each node looks several times for deliveries that are left.
    tokio::time::sleep(LEASE).await;
    assert!(arrivals(&sink).values().all(|count| *count == 2), "{:?}", arrivals(&sink));
    drop((second, third));
    schema.remove().await;
}

/// Fifty retries wait on a node that is stopped for good.
#[tokio::test]
async fn retries_of_a_node_that_is_removed_are_made() {
    let Some(schema) = Schema::create("removed").await else { return skipped() };
    let sink = Sink::scripted(|number| Reply::Status(if number < 50 { 503 } else { 200 })).await;
    let (mut first, second) = (node(&schema).await, node(&schema).await);
    let bucket = bucket_to(&first, &sink).await;
    for number in 0..50 {
        post(&first, &bucket, number).await;
    }
    sink.received(50).await;
    // Their outcomes are stored by an orderly end.
    assert!(first.terminate().await.success());
    let took = wait_for(&sink, 50, 2).await;
    println!("made {took:?} after the end");
    assert!(took < RETRY + TAKEN_OVER, "{took:?}");
    drop(second);
    schema.remove().await;
}

/// A node is killed and comes back without its folder, under another name.
#[tokio::test]
async fn a_node_that_lost_its_disk_goes_on_with_what_it_held() {
    let Some(schema) = Schema::create("disk").await else { return skipped() };
    let sink = Sink::scripted(|number| match number {
        0..100 => Reply::Hang(Duration::from_secs(60)),
        _ => Reply::Status(200),
    })
    .await;
    let mut first = node(&schema).await;
    let bucket = bucket_to(&first, &sink).await;
    for number in 0..100 {
        post(&first, &bucket, number).await;
    }
    sink.received(100).await;
    first.kill().await;
    let killed = Instant::now();
    let second = node(&schema).await;
    wait_for(&sink, 100, 2).await;
    let took = killed.elapsed();
    println!("taken over in {took:?}");
    assert!(took < TAKEN_OVER + Duration::from_secs(1), "with the start: {took:?}");
    drop(second);
    schema.remove().await;
}

/// A data folder was copied to a second machine.
#[tokio::test]
async fn a_node_whose_folder_is_a_copy_is_refused_and_the_other_goes_on() {
    let Some(schema) = Schema::create("copied").await else { return skipped() };
    let sink = Sink::start().await;
    let first = node(&schema).await;
    let bucket = bucket_to(&first, &sink).await;
    post(&first, &bucket, 0).await;
    sink.received(1).await;

    let copy = tempfile::tempdir().expect("a temporary folder");
    std::fs::copy(first.data_dir().join("node.id"), copy.path().join("node.id")).expect("copied");
    let started = Instant::now();
    let mut second = node_in(copy, &schema).await;
    assert!(!second.ended().await.success());
    println!("refused after {:?}", started.elapsed());
    let log = second.log();
    assert_eq!(
        log.matches("another process has this node's name and is alive").count(),
        1,
        "{log}"
    );
    post(&first, &bucket, 1).await;
    sink.received(2).await;
    // The node looks several times for deliveries that are left.
    tokio::time::sleep(LEASE).await;
    assert!(arrivals(&sink).values().all(|count| *count == 1), "{:?}", arrivals(&sink));
    assert!(!first.log().contains("ERROR"), "{}", first.log());
    drop(first);
    schema.remove().await;
}

/// A server is killed with a delivery in flight and starts again with its folder.
#[tokio::test]
async fn a_node_that_is_killed_starts_again_with_its_folder() {
    let Some(schema) = Schema::create("again").await else { return skipped() };
    let sink = Sink::scripted(|number| match number {
        0 => Reply::Hang(Duration::from_secs(60)),
        _ => Reply::Status(200),
    })
    .await;
    let mut first = node(&schema).await;
    let bucket = bucket_to(&first, &sink).await;
    post(&first, &bucket, 0).await;
    sink.received(1).await;
    first.kill().await;
    let killed = Instant::now();
    let second = first.restart().await;
    post(&second, &bucket, 1).await;
    println!("received {:?} after the end", killed.elapsed());
    sink.received(3).await;
    println!("delivered {:?} after the end", killed.elapsed());
    assert!(killed.elapsed() < TAKEN_OVER, "{:?}", killed.elapsed());
    drop(second);
    schema.remove().await;
}

/// What `nodes` prints of one: its lease, deliveries and queues.
type Shown = (String, u64, u64);

/// What `nodes` prints, by the names of the nodes.
async fn shown(server: &Server) -> HashMap<String, Shown> {
    let output = server.command(&["nodes"]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let row = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [id, _, lease @ .., held, owned] = &words[..] else { panic!("{line}") };
        let count = |word: &str| word.parse().expect("a number");
        ((*id).to_owned(), (lease.join(" "), count(held), count(owned)))
    };
    assert!(text.starts_with("NODE "), "{text}");
    text.lines().skip(1).map(row).collect()
}

#[tokio::test]
async fn the_nodes_are_shown_with_their_leases_and_what_they_hold() {
    let Some(schema) = Schema::create("nodes").await else { return skipped() };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut early = harness::command(folder.path());
    early.arg("nodes").env("WEBHOOK_DATABASE_URL", &schema.url);
    let early = early.output().await.expect("it runs");
    let said = String::from_utf8_lossy(&early.stderr).into_owned();
    assert!(!early.status.success() && said.contains("no server has run"), "{said}");
    let sink = Sink::scripted(|_| Reply::Hang(Duration::from_secs(600))).await;
    let (mut one, mut other) = (node(&schema).await, node(&schema).await);
    let bucket = bucket_to(&one, &sink).await;
    for number in 0..3 {
        post(&one, &bucket, number).await;
    }
    let ordered = one.bucket("ordered").await;
    let throttle = json!({ "enabled": true, "mode": "concurrency", "max_concurrent": 1 });
    let output = json!({ "name": "sink", "destination": sink.base, "throttle": throttle });
    one.output(&ordered, output).await;
    post(&one, &ordered, 3).await;
    sink.received(4).await;
    let name = |server: &Server| {
        let name = std::fs::read_to_string(server.data_dir().join("node.id")).expect("a name");
        name.trim().to_owned()
    };
    let (mine, theirs) = (name(&one), name(&other));
    let nodes = shown(&other).await;
    let has = |node: &String| (nodes[node].1, nodes[node].2);
    assert_eq!((nodes.len(), has(&mine), has(&theirs)), (2, (4, 1), (0, 0)), "{nodes:?}");
    assert!(nodes.values().all(|(lease, ..)| lease.ends_with(" s")), "{nodes:?}");
    // Who ends in order leaves nothing; who is killed is seen until the others have taken over.
    other.terminate().await;
    assert_eq!(shown(&one).await.into_keys().collect::<Vec<_>>(), std::slice::from_ref(&mine));
    one.kill().await;
    let ended = Instant::now();
    loop {
        let nodes = shown(&one).await;
        let (lease, held, owned) = &nodes[&mine];
        assert_eq!((*held, *owned), (4, 1));
        if lease == "over" {
            break;
        }
        assert!(ended.elapsed() < harness::PATIENCE, "{nodes:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    schema.remove().await;
}
