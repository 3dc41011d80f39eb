//! What happens to several servers on one database, with real processes: they are paused, cut off
//! from the database and from NATS, their clocks are set, the database fails over, NATS loses
//! messages, and another version comes. Nothing acknowledged is lost, and each bound of
//! `docs/several-machines.md` is held.
//!
//! The short forms are for the gate; `docs/reliability.md` names the variables of the long ones.

#[allow(dead_code, reason = "each test that has it uses a part of it")]
#[path = "../socket/client.rs"]
mod client;
#[path = "../harness/mod.rs"]
mod harness;
#[allow(dead_code, reason = "each test that has it uses a part of it")]
#[path = "../delivery/sink.rs"]
mod sink;

mod counted;
mod databases;
mod nats;
mod proxy;

mod administrators;
mod cuts;
mod failover;
mod growth;
mod hosts;
mod lossy;
mod pauses;
mod pooler;
mod pools;
mod skew;
mod upgrades;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use harness::{Server, default_input, id, postgres::LEASE};
use serde_json::{Value, json};
use sink::Reply;

/// How long a webhook waits when its node is gone: the lease, a turn to look, and the attempt on a
/// busy machine.
const TAKEN_OVER: Duration = LEASE.saturating_add(Duration::from_secs(3));

/// A number that a variable says, or the one of the gate.
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn chosen(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}: {text:?} is no number")),
        Err(_) => otherwise,
    }
}

/// A bucket with this output, tried again each second for longer than any test.
async fn bucket_with(server: &Server, destination: &str, throttle: Value) -> Value {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let bucket = server.bucket(&format!("events-{}", MADE.fetch_add(1, Ordering::Relaxed))).await;
    let durability = json!({
        "enabled": true, "schedule": "custom", "custom_delays": [1_000_000_000_u64],
        "deadline": 3_600_000_000_000_u64,
    });
    let output = json!({
        "name": "sink", "destination": destination, "durability": durability,
        "throttle": throttle,
    });
    server.output(&bucket, output).await;
    bucket
}

fn input_url(server: &Server, bucket: &Value) -> String {
    format!("{}/v1/webhooks/{}", server.base, default_input(bucket))
}

/// How many logs have this status.
async fn logs(server: &Server, bucket: &Value, status: &str) -> u64 {
    let path = format!("/v1/logs?status={status}&limit=1&bucket_id={}", id(bucket));
    server.get(&path).await.expect(200).json()["total"].as_u64().expect("a number")
}

/// Waits until so many of the bucket's logs have the status; how long that took.
async fn until_logs(server: &Server, bucket: &Value, status: &str, count: u64) -> Duration {
    let since = Instant::now();
    loop {
        let found = logs(server, bucket, status).await;
        if found >= count {
            return since.elapsed();
        }
        assert!(since.elapsed() < harness::PATIENCE, "{found} of {count} are {status}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// What a server's metric of this name, with its labels, says.
async fn metric(server: &Server, name: &str) -> f64 {
    let text = server.anonymous("GET", "/metrics").send().await.expect(200).text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().expect("a number")
}
