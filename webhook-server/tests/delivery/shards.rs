//! Webhooks over several databases.

use super::*;
use crate::harness::postgres::{Schema, node_with, skipped};

async fn post(server: &Server, bucket: &Value, count: usize) {
    for number in 0..count {
        let request = server.anonymous("POST", &input_path(bucket)).body(number.to_string());
        request.send().await.expect(200);
    }
}

/// What `shards` prints: by number, the slots and the logs.
async fn shown(server: &Server) -> Vec<(u64, u64, u64)> {
    let output = server.command(&["shards"]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("SHARD "), "{text}");
    let row = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let number = |place: usize| words[place].parse().expect("a number");
        (number(0), number(1), number(4))
    };
    text.lines().skip(1).map(row).collect()
}

#[tokio::test]
async fn webhooks_are_spread_over_databases_and_go_on_when_slots_move() {
    let mut schemas = Vec::new();
    for what in ["control", "shard_a", "shard_b"] {
        let Some(schema) = Schema::create(what).await else { return skipped() };
        schemas.push(schema);
    }
    let urls = format!("{},{}", schemas[1].url, schemas[2].url);
    let shards = [("WEBHOOK_SHARDS", &*urls)];
    let (server, other) =
        (node_with(&schemas[0], &shards).await, node_with(&schemas[0], &shards).await);
    assert_eq!(shown(&server).await, [(1, 2_048, 0), (2, 2_048, 0)]);

    let sink = Sink::start().await;
    let mut buckets = Vec::new();
    for number in 0..8 {
        let bucket = server.bucket(&format!("bucket-{number}")).await;
        server.output(&bucket, json!({ "name": "sink", "destination": sink.base })).await;
        post(if number % 2 == 0 { &server } else { &other }, &bucket, 3).await;
        buckets.push(bucket);
    }
    sink.received(24).await;
    let logs: u64 = shown(&other).await.iter().map(|(_, _, logs)| logs).sum();
    assert_eq!(logs, 24);

    let bucket = &buckets[0];
    let id = bucket["id"].as_str().expect("an id");
    let before = shown(&server).await;
    for to in ["1", "2"] {
        let moved = server.command(&["shards", "move", "--bucket", id, "--to", to]).await;
        assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    }
    let wrong = server.command(&["shards", "move", "--slots", "7", "--to", "9"]).await;
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && said.contains("there is no shard 9"), "{said}");
    // Servers read the slots each 5 s; whichever they go by, nothing is lost.
    post(&server, bucket, 3).await;
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    post(&other, bucket, 3).await;
    sink.received(30).await;
    let after = shown(&server).await;
    let sum = |rows: &[(u64, u64, u64)]| rows.iter().map(|(_, _, logs)| logs).sum::<u64>();
    assert_eq!((sum(&before), sum(&after)), (24, 30));
    assert!(after[1].2 >= before[1].2 + 3, "what came last is in shard 2: {before:?} {after:?}");
    let page = server.get("/v1/logs?bucket=bucket-0").await.expect(200).json();
    assert_eq!(page["total"], 9, "{page}");

    drop((server, other));
    // One shard is not named any more.
    let mut alone = harness::command(tempfile::tempdir().expect("a folder").path());
    alone.args(["shards"]).env("WEBHOOK_DATABASE_URL", &schemas[0].url);
    alone.env("WEBHOOK_SHARDS", &schemas[1].url);
    alone.env("WEBHOOK_SECRET_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    let refused = alone.output().await.expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("not named: shard 2"), "{said}");
    for schema in schemas {
        schema.remove().await;
    }
}
