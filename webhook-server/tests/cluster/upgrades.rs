//! Another version of the program works on the same database.

use super::*;
use crate::{
    counted::{Seen, Senders, statuses},
    harness::postgres::{KEY, SECRET, Schema, node, skipped},
};

/// Within which time a node learns that the schema is not its own any more: it is told when it
/// renews its lease, and then ends.
const LEARNT: Duration = LEASE.saturating_add(Duration::from_secs(1));
/// How long a webhook waits when the node that left it has the lease of 5 s: an earlier version
/// has no option for a shorter lease.
const LEFT_BY_EARLIER: Duration = Duration::from_secs(8);

async fn asks_for(schema: &Schema, number: u32) {
    let ask = "UPDATE meta SET value = convert_to('NUMBER', 'UTF8') WHERE name = 'min_reader'";
    schema.run(&ask.replace("NUMBER", &number.to_string())).await;
}

/// A newer version, which is not written yet, has added a step: this one goes on, and starts. It
/// has dropped something: nodes of this one end in order, and do not start.
#[tokio::test]
async fn a_schema_that_is_too_new_ends_nodes_in_order_and_one_that_only_grew_does_not() {
    let Some(schema) = Schema::create("newer").await else { return skipped() };
    let mut running = node(&schema).await;
    schema.run("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9998_next', 0)").await;
    drop(node(&schema).await);

    let (seen, sink) = Seen::sink(|_, _| Reply::Hang(Duration::from_millis(500))).await;
    let bucket = bucket_with(&running, &sink.base, json!(null)).await;
    let senders = Senders::start(&[input_url(&running, &bucket)], 2, Duration::from_millis(50));
    senders.acknowledged(10).await;
    asks_for(&schema, 9_999).await;
    let asked = Instant::now();
    let ended = running.ended().await;
    let took = asked.elapsed();
    let sent = senders.stop().await;
    println!("ended {took:?} after the change, {:?}", statuses(&sent));
    assert!(!ended.success() && took < LEARNT, "{ended} after {took:?}");
    let log = running.log();
    let said = "its schema asks for a newer version of this program: one that knows step 9999";
    assert!(log.contains(said) && log.contains("the server had to end"), "{log}");
    // Webhooks that were in flight are finished, and come once. A webhook that the node received
    // while it ended waits in the database.
    assert!(seen.times().values().all(|count| *count == 1), "{:?}", seen.times());
    let acknowledged = sent.iter().filter(|sent| sent.is_acknowledged());
    let waiting = acknowledged.filter(|sent| seen.first(sent.number).is_none()).count();
    let waits = format!("(SELECT COUNT(*) FROM delivery WHERE due_at IS NOT NULL) >= {waiting}");
    schema.run(&format!("DO $$ BEGIN ASSERT {waits}, 'what did not come waits'; END $$")).await;

    let folder = tempfile::tempdir().expect("a folder");
    let mut command = harness::command(folder.path());
    command.env("WEBHOOK_DATABASE_URL", &schema.url).env("WEBHOOK_LOG", "error");
    command.env("WEBHOOK_API_KEY", KEY).env("WEBHOOK_SECRET_KEY", SECRET);
    let output = tokio::time::timeout(harness::PATIENCE, command.kill_on_drop(true).output()).await;
    let output = output.expect("it ends").expect("it starts");
    let refused = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && refused.lines().count() == 1, "{refused}");
    assert!(refused.contains(said), "{refused}");
    schema.remove().await;
}

/// By hand: `CLUSTER_OLD_SERVER` names the program of an earlier version. Nodes of both receive
/// and deliver, and are ended and started in turn.
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn an_earlier_version_and_this_one_take_turns_on_one_database() {
    let Ok(old) = std::env::var("CLUSTER_OLD_SERVER") else {
        println!("skipped: CLUSTER_OLD_SERVER does not name the program of an earlier version");
        return;
    };
    let Some(schema) = Schema::create("versions").await else { return skipped() };
    let options = [
        ("WEBHOOK_DATABASE_URL", &*schema.url),
        ("WEBHOOK_API_KEY", KEY),
        ("WEBHOOK_SECRET_KEY", SECRET),
    ];
    let mut earlier = Server::start_of(&old, &options).await;
    let (seen, sink) = Seen::sink(|number, before| match (number % 10, before) {
        (0, 0) => Reply::Status(503),
        _ => Reply::Status(200),
    })
    .await;
    let bucket = bucket_with(&earlier, &sink.base, json!(null)).await;
    let mut later = node(&schema).await;
    let (mut acknowledged, mut turns) = (0, 0);
    let ends = Instant::now() + Duration::from_secs(chosen("CLUSTER_UPGRADE_SECONDS", 30));
    while Instant::now() < ends {
        let urls = [input_url(&earlier, &bucket), input_url(&later, &bucket)];
        let senders = Senders::start(&urls, 2, Duration::from_millis(20));
        senders.acknowledged(200).await;
        let sent = senders.stop().await;
        assert_eq!(statuses(&sent).into_keys().collect::<Vec<_>>(), [200], "{:?}", statuses(&sent));
        acknowledged += sent.len() as u64;
        // One ends with retries under way, which are the other one's; then it is started again.
        turns += 1;
        match turns % 2 {
            0 => {
                assert!(later.terminate().await.success());
                later = later.restart().await;
            }
            _ => {
                assert!(earlier.terminate().await.success());
                earlier = earlier.restart().await;
            }
        }
        seen.all(&sent, LEFT_BY_EARLIER).await;
        // Numbers begin again.
        until_logs(&later, &bucket, "sent", acknowledged).await;
        seen.forget();
    }
    println!("{turns} turns, {acknowledged} acknowledged, none lost");
    drop((earlier, later));
    schema.remove().await;
}
