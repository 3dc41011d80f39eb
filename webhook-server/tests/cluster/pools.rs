//! Connections to PostgreSQL as the operator sets them, and databases that are refused.

use super::*;
use crate::harness::postgres::{Schema, node, node_with, skipped};

/// Lists have the one connection that reads, and a lock keeps them: webhooks of a bucket that the
/// server does not know yet are received all the same.
#[tokio::test]
async fn webhooks_do_not_wait_for_lists() {
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
    let locking = "BEGIN; LOCK TABLE cron IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(4); COMMIT";
    let lists = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let (first, second) = tokio::join!(server.get("/v1/crons"), server.get("/v1/crons"));
        (first.status.as_u16(), second.status.as_u16())
    };
    let webhook = async {
        tokio::time::sleep(Duration::from_millis(800)).await;
        let since = Instant::now();
        let url = format!("/v1/webhooks/{}", default_input(&bucket));
        server.anonymous("POST", &url).body("x").send().await.expect(200);
        since.elapsed()
    };
    let ((), (first, second), took) = tokio::join!(schema.run(locking), lists, webhook);
    println!("received after {took:?}, while lists were answered {first} and {second}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    // One had the connection and waited for the lock, the other one for the connection.
    let mut answers = [first, second];
    answers.sort_unstable();
    assert_eq!(answers, [200, 503]);
    drop((other, server));
    schema.remove().await;
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
