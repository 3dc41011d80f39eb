//! A log of many days is purged by dropping the tables of days, while webhooks come.

use super::*;
use crate::{
    counted::{Seen, Senders, statuses},
    harness::postgres::{SECRET, Schema, node_with, skipped},
};

/// Days that are full when the test begins, up to yesterday.
const DAYS: u64 = 40;
/// How many of them are kept.
const KEPT: u64 = 30;

/// What the others name moments by.
const MOMENTS: &str = include_str!("growth/moments.sql");
/// The parts of a log that was divided long ago.
const PARTS: &str = include_str!("growth/parts.sql");
/// Webhooks of [`DAYS`] days, with their counts.
const ROWS: &str = include_str!("growth/rows.sql");

async fn fill(schema: &Schema, bucket: &Value, from: u64, to: u64) {
    let rows = ROWS.replace("$from", &from.to_string()).replace("$to", &to.to_string());
    let rows = rows.replace("$bytes", "900");
    schema.run(&rows.replace("$bucket", id(bucket))).await;
}

/// What the slowest of a hundred lists takes but for one.
async fn list(server: &Server, bucket: &Value) -> Duration {
    let path = format!("/v1/logs?limit=20&bucket_id={}", id(bucket));
    let mut took = Vec::new();
    for _ in 0..100 {
        let since = Instant::now();
        let page = server.get(&path).await.expect(200).json();
        took.push(since.elapsed());
        assert_eq!(page["data"].as_array().map(Vec::len), Some(20));
    }
    took.sort_unstable();
    took[98]
}

/// As long as it takes to keep what came since ten minutes after the midnight before the days
/// that are kept: nothing came in the first hour of a day.
fn retention() -> String {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    format!("{}s", KEPT * 86_400 + now % 86_400 - 600)
}

async fn total(server: &Server, bucket: &Value) -> u64 {
    logs(server, bucket, "sent").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_days_are_dropped_while_webhooks_come() {
    let Some(schema) = Schema::create("growth").await else { return skipped() };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut migrate = harness::command(folder.path());
    migrate.args(["migrate", "--by-day"]).env("WEBHOOK_DATABASE_URL", &schema.url);
    let migrated = migrate.env("WEBHOOK_SECRET_KEY", SECRET).output().await.expect("it starts");
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    schema.run(MOMENTS).await;
    schema.run(PARTS).await;

    let keep = [("WEBHOOK_LOG_RETENTION", "forever")];
    let first = node_with(&schema, &keep).await;
    let (seen, sink) = Seen::sink(|_, _| Reply::Status(200)).await;
    let bucket = bucket_with(&first, &sink.base, json!(null)).await;
    let rows = chosen("CLUSTER_GROWTH_ROWS", 20_000) / DAYS * DAYS;
    fill(&schema, &bucket, 0, rows / 20 - 1).await;
    let few = list(&first, &bucket).await;
    fill(&schema, &bucket, rows / 20, rows - 1).await;
    let many = list(&first, &bucket).await;
    assert_eq!(total(&first, &bucket).await, rows);

    let urls = [input_url(&first, &bucket)];
    let senders = Senders::start(&urls, 8, Duration::from_millis(5));
    senders.acknowledged(100).await;
    let since = Instant::now();
    let second = node_with(&schema, &[("WEBHOOK_LOG_RETENTION", &*retention())]).await;
    let kept = rows / DAYS * KEPT;
    let mut left = total(&second, &bucket).await;
    while left > kept + seen.times().len() as u64 {
        assert!(since.elapsed() < harness::PATIENCE * 4, "{left} are left");
        tokio::time::sleep(Duration::from_millis(100)).await;
        left = total(&second, &bucket).await;
    }
    let took = since.elapsed();
    let sent = senders.stop().await;
    let twice = seen.all(&sent, TAKEN_OVER).await;
    let acknowledged = sent.iter().filter(|sent| sent.is_acknowledged()).count() as u64;
    println!(
        "{rows} rows: lists took {few:?} with a twentieth and {many:?} with all; {} days went in \
         {took:?} beside {acknowledged} webhooks, {twice} twice, {:?}",
        DAYS - KEPT,
        statuses(&sent)
    );
    assert_eq!(acknowledged, sent.len() as u64, "nobody was turned away");
    let all = kept + acknowledged;
    until_logs(&second, &bucket, "sent", all).await;
    assert_eq!(total(&second, &bucket).await, all);
    let counted =
        format!("ASSERT (SELECT COUNT(*) FROM delivery) = {all}, 'what is counted is there'");
    schema.run(&format!("DO $$ BEGIN {counted}; END $$")).await;
    drop((first, second));
    schema.remove().await;
}
