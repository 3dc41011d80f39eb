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

/// The parts of a log that was divided long ago, the first of which has gone.
const PARTS: &str = "DO $$ DECLARE t text; BEGIN
  FOR d IN -40..0 LOOP
    FOREACH t IN ARRAY ARRAY['webhook', 'delivery'] LOOP
      IF d = -40 THEN
        EXECUTE format('ALTER TABLE %1$s DETACH PARTITION %1$s_before', t);
        EXECUTE format('DROP TABLE %s_before', t);
      END IF;
      EXECUTE format('CREATE TABLE %1$s_d%2$s PARTITION OF %1$s FOR VALUES FROM (%3$L) TO (%4$L)',
        t, to_char(day(d), 'YYYYMMDD'), key(millis(day(d)), ''), key(millis(day(d + 1)), ''));
    END LOOP;
  END LOOP;
END $$";

/// A day by its distance from today, its first millisecond, and a key of a millisecond.
const FUNCTIONS: &str = "
CREATE FUNCTION day(n int) RETURNS timestamp LANGUAGE sql STABLE AS
  $$ SELECT date_trunc('day', now() AT TIME ZONE 'UTC') + n * interval '1 day' $$;
CREATE FUNCTION millis(at timestamp) RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT CAST(EXTRACT(EPOCH FROM at) * 1000 AS bigint) $$;
CREATE FUNCTION key(ms bigint, rest text) RETURNS uuid LANGUAGE sql STABLE AS
  $$ SELECT CAST(rpad(lpad(to_hex(ms), 12, '0') || rest, 32, '0') AS uuid) $$";

/// Webhooks of the bucket `$bucket` that were delivered, as many of each day, and their counts.
const ROWS: &str = "
CREATE TABLE filled AS SELECT key(ms, '7001' || substr(md5(n::text), 1, 16)) AS webhook,
    key(ms, '7002' || substr(md5(n::text), 1, 16)) AS delivery, ms
  FROM generate_series($from, $to) n,
    LATERAL (SELECT millis(day(-40 + n % 40)) + 3600000
      + (n / 40 * 82799000::bigint) / ($to / 40 + 1) AS ms) at;
INSERT INTO webhook (id, account_id, bucket_id, input_id, method, extra_path, raw_query, headers,
    secure, ephemeral, received_at, body)
  SELECT f.webhook, b.account_id, b.id, i.id, 'POST', '', '', '', false, false, ms,
    convert_to(repeat('x', 900) || f.webhook, 'UTF8')
  FROM filled f, bucket b JOIN input i ON i.bucket_id = b.id WHERE b.id = '$bucket';
INSERT INTO delivery (id, webhook_id, account_id, bucket_id, output_id, internal, ephemeral, status,
    attempts, created_at, updated_at, status_code, duration_ns)
  SELECT f.delivery, f.webhook, b.account_id, b.id, o.id, false, false, 1, 1, ms, ms, 200, 1000000
  FROM filled f, bucket b JOIN output o ON o.bucket_id = b.id WHERE b.id = '$bucket';
INSERT INTO tally (span, account_id, bucket_id, moment, output_id, status, status_code, retries,
    logs, micros)
  SELECT span, account_id, bucket_id, created_at - created_at % part, output_id, status, 200, 0,
    COUNT(*), SUM(duration_ns / 1000)
  FROM filled f JOIN delivery d ON d.id = f.delivery,
    (VALUES (0, 9000000000000000), (1, 86400000), (2, 60000)) AS spans (span, part)
  GROUP BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (span, account_id, bucket_id, moment, output_id, status, status_code, retries)
    DO UPDATE SET logs = tally.logs + excluded.logs, micros = tally.micros + excluded.micros;
DROP TABLE filled; ANALYZE webhook; ANALYZE delivery";

async fn fill(schema: &Schema, bucket: &Value, from: u64, to: u64) {
    let rows = ROWS.replace("$from", &from.to_string()).replace("$to", &to.to_string());
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
    schema.run(FUNCTIONS).await;
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
    tokio::time::sleep(Duration::from_secs(1)).await;
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
