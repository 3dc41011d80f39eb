//! Connections to PostgreSQL as the operator sets them, and databases that are refused.

use super::*;
use crate::harness::{
    postgres::{Schema, node, node_with, skipped},
    turns,
};

/// Lists have the one connection that reads, and a lock keeps them: webhooks of a bucket that the
/// server does not know yet are received all the same.
#[tokio::test]
async fn webhooks_do_not_wait_for_lists() {
    let _alone = turns::alone().await;
    let Some(schema) = Schema::create("pools").await else { return skipped() };
    let options = [
        ("WEBHOOK_DATABASE_READ_CONNECTIONS", "1"),
        ("WEBHOOK_DATABASE_WRITE_CONNECTIONS", "1"),
        ("WEBHOOK_DATABASE_ROUTE_CONNECTIONS", "1"),
        ("WEBHOOK_DATABASE_WRITERS", "1"),
        ("WEBHOOK_DATABASE_SEARCH_CONNECTIONS", "1"),
        ("WEBHOOK_DATABASE_CONNECTION_TIMEOUT", "1s"),
    ];
    let (other, server) = (node(&schema).await, node_with(&schema, &options).await);
    let bucket = other.bucket("events").await;
    // Another program locks the table until a row says that it may go.
    schema.run("CREATE TABLE may_go (yes boolean)").await;
    let lock = "BEGIN; LOCK TABLE cron_state IN ACCESS EXCLUSIVE MODE;";
    let locking = format!("{lock} {}; COMMIT", until("EXISTS (SELECT FROM may_go)"));
    let lists = async {
        schema.run(&until(&locks(true))).await;
        let lists = [server.get("/v1/crons"), server.get("/v1/crons")].map(Box::pin);
        let (refused, _, waiting) = futures_util::future::select_all(lists).await;
        (refused.status.as_u16(), waiting)
    };
    let webhook = async {
        schema.run(&until(&locks(false))).await;
        let since = Instant::now();
        let url = format!("/v1/webhooks/{}", default_input(&bucket));
        server.anonymous("POST", &url).body("x").send().await.expect(200);
        since.elapsed()
    };
    let listing = async {
        let ((refused, mut waiting), took) = tokio::join!(lists, webhook);
        schema.run("INSERT INTO may_go VALUES (true)").await;
        let listed = waiting.remove(0).await.status.as_u16();
        (refused, listed, took)
    };
    let ((), (refused, listed, took)) = tokio::join!(schema.run(&locking), listing);
    println!("received after {took:?}, while lists were answered {refused} and {listed}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    // One had the connection and waited for the lock, the other one for the connection.
    assert_eq!((refused, listed), (503, 200));
    drop((other, server));
    schema.remove().await;
}

/// A statement that ends when this is true.
fn until(condition: &str) -> String {
    format!("DO $$ BEGIN WHILE NOT {condition} LOOP PERFORM pg_sleep(0.01); END LOOP; END $$")
}

/// Whether a connection has the lock of the table of the states of crons, or waits for it.
fn locks(is_granted: bool) -> String {
    let of_table = "relation = to_regclass('cron_state')";
    let granted =
        if is_granted { "mode = 'AccessExclusiveLock' AND granted" } else { "NOT granted" };
    format!("EXISTS (SELECT FROM pg_locks WHERE {of_table} AND {granted})")
}

/// What the program says when it does not start on this database.
async fn refused(url: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = harness::command(folder.path());
    command.env("WEBHOOK_DATABASE_URL", url).env("WEBHOOK_LOG", "error").kill_on_drop(true);
    command.env("WEBHOOK_SECRET_KEY", harness::postgres::SECRET);
    let output = tokio::time::timeout(harness::PATIENCE, command.output()).await;
    let output = output.expect("it ends").expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.lines().count() == 1, "{said}");
    said
}

/// The server is as new as ever; what it says of itself is another function's.
#[tokio::test]
async fn a_server_that_is_too_old_is_refused_in_one_line() {
    let Some(schema) = Schema::create("old").await else { return skipped() };
    schema
        .run(
            "CREATE FUNCTION current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT ''90624'''",
        )
        .await;
    let said = refused(&format!("{},pg_catalog", schema.url)).await;
    assert!(
        said.contains("is PostgreSQL 9, and the schema needs PostgreSQL 10 or later"),
        "{said}"
    );
    schema.remove().await;
}
