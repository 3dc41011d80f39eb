//! Throttles hold over all nodes on one PostgreSQL database, also when one of them is killed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::*;
use crate::{
    harness::postgres::{Schema, node, skipped},
    sink::Reply,
};

/// How many webhooks are sent, to each node in turn.
const WEBHOOKS: usize = 60;
/// After how many of them a node is killed.
const KILLED_AFTER: usize = 30;
/// How long the destination takes to answer.
const TAKES: Duration = Duration::from_millis(60);
/// How far apart two servers read the database's clock at most, which they do each second, with
/// answers that take at most a quarter of the lease.
const CLOCKS: Duration = Duration::from_millis(700);
/// How much closer two requests may come than they were sent.
const JITTER: Duration = Duration::from_millis(40);

/// When what came to which path.
type Arrivals = Arc<Mutex<BTreeMap<String, Vec<(Instant, usize)>>>>;

async fn sink(arrivals: &Arrivals) -> Sink {
    let arrivals = arrivals.clone();
    Sink::answering(move |arrived| {
        let number = String::from_utf8_lossy(&arrived.body).parse().expect("a number");
        let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let path = arrived.head.uri.path().to_owned();
        arrivals.entry(path).or_default().push((Instant::now(), number));
        Reply::Hang(TAKES)
    })
    .await
}

/// Waits until each webhook has come to each of so many outputs.
async fn wait_for(arrivals: &Arrivals, outputs: usize) {
    let started = Instant::now();
    loop {
        let missing: Vec<_> = {
            let arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
            let is_there =
                |of: &Vec<(Instant, usize)>, number| of.iter().any(|(_, n)| *n == number);
            let of = |of: &Vec<_>| (0..WEBHOOKS).filter(|number| !is_there(of, *number)).count();
            arrivals.iter().map(|(path, all)| (path.clone(), of(all))).collect()
        };
        if missing.len() == outputs && missing.iter().all(|(_, missing)| *missing == 0) {
            return;
        }
        assert!(started.elapsed() < harness::PATIENCE, "missing: {missing:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn throttles_hold_over_three_nodes_of_which_one_is_killed() {
    let Some(schema) = Schema::create("throttled").await else { return skipped() };
    let arrivals = Arrivals::default();
    let sink = sink(&arrivals).await;
    let mut nodes = [node(&schema).await, node(&schema).await, node(&schema).await];
    let bucket = nodes[0].bucket("throttled").await;
    let throttles = [
        ("strict", json!({ "enabled": true, "mode": "concurrency", "max_concurrent": 1 })),
        ("four", json!({ "enabled": true, "mode": "concurrency", "max_concurrent": 4 })),
        ("rate", json!({ "enabled": true, "mode": "rate", "rate": 10, "interval": "second" })),
    ];
    for (name, throttle) in &throttles {
        let destination = format!("{}/{name}", sink.base);
        let output = json!({ "name": name, "destination": destination, "throttle": throttle });
        nodes[0].output(&bucket, output).await;
    }

    let (mut killed_at, mut posted) = (None, Vec::new());
    for number in 0..WEBHOOKS {
        if number == KILLED_AFTER {
            nodes[0].kill().await;
            killed_at = Some(Instant::now());
        }
        let to = if number < KILLED_AFTER { number % 3 } else { 1 + number % 2 };
        let request = nodes[to].anonymous("POST", &input_path(&bucket)).body(number.to_string());
        let sent = Instant::now();
        request.send().await.expect(200);
        posted.push((sent, Instant::now()));
        tokio::time::sleep(TAKES / 2).await;
    }
    let killed_at = killed_at.expect("killed");
    wait_for(&arrivals, throttles.len()).await;

    let arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for (path, all) in &arrivals {
        // What the dead node had sent is out beside what comes after it.
        let is_out = |at: Instant, moment: Instant| {
            at < moment && at + TAKES > moment + JITTER && !(at < killed_at && moment > killed_at)
        };
        let at_once = |moment| all.iter().filter(|(at, _)| is_out(*at, moment)).count() + 1;
        let most = all.iter().map(|(moment, _)| at_once(*moment)).max();
        println!("{path}: {} requests, {most:?} at once", all.len());
        match path.as_str() {
            "/strict" => {
                assert_eq!(most, Some(1), "{all:?}");
                let mut first: Vec<_> = Vec::new();
                for (_, number) in all {
                    if !first.contains(number) {
                        first.push(*number);
                    }
                }
                for (place, later) in first.iter().enumerate() {
                    let acknowledged_before =
                        |earlier: &&usize| posted[**earlier].1 + CLOCKS < posted[*later].0;
                    let overtaken = first[place + 1..].iter().find(acknowledged_before);
                    assert_eq!(overtaken, None, "by {later}: {first:?}");
                }
                // At most what was out when the node was killed comes twice.
                assert!(all.len() <= WEBHOOKS + 1, "{all:?}");
            }
            "/four" => assert!(most <= Some(4), "{most:?}: {all:?}"),
            _ => {
                for eleven in all.windows(11) {
                    let took = eleven[10].0.duration_since(eleven[0].0);
                    assert!(took + JITTER >= Duration::from_secs(1), "{took:?}: {eleven:?}");
                }
            }
        }
    }
    drop(nodes);
    schema.remove().await;
}
