//! Connections to PostgreSQL as the operator sets them, and databases that are refused.

use super::*;
use crate::{
    counted::Senders,
    harness::{
        postgres::{Schema, node, node_with, skipped},
        turns,
    },
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
pub(crate) async fn refused(url: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = harness::command(folder.path());
    command.env("WEBHOOK_DATABASE_URL", url).env("WEBHOOK_LOG", "error").kill_on_drop(true);
    command.env("WEBHOOK_DATABASE_CONNECTION_TIMEOUT", "1s");
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

/// Which hosts there may be, and what is wrong with each when none is right.
#[tokio::test]
async fn hosts_that_cannot_be_used_are_refused_in_one_line() {
    let Some(schema) = Schema::create("hosts").await else { return skipped() };
    let said = refused(&format!("{}&target_session_attrs=standby", schema.url)).await;
    assert!(said.contains("target_session_attrs must be read-write, primary or any"), "{said}");
    let (through, port) = schema.through_port();
    let nobody = harness::lasting_port();
    let read_only = "%20-cdefault_transaction_read_only%3Don&target_session_attrs=read-write";
    let url = format!("{}{read_only}", through(port));
    let here = format!("127.0.0.1:{port}");
    let said = refused(&url.replace(&here, &format!("127.0.0.1:{nobody},{here}"))).await;
    let expected = format!(
        "no host is as target_session_attrs=read-write asks: 127.0.0.1:{nobody}: Connection \
         refused (os error 111); {here}: is read-only"
    );
    assert!(said.contains(&expected), "{said}");
    schema.remove().await;
}

/// Nothing is opened but what a server needs to begin with.
const ONE_EACH: [(&str, &str); 4] = [
    ("WEBHOOK_DATABASE_READ_CONNECTIONS", "1"),
    ("WEBHOOK_DATABASE_WRITE_CONNECTIONS", "1"),
    ("WEBHOOK_DATABASE_ROUTE_CONNECTIONS", "1"),
    ("WEBHOOK_DATABASE_SEARCH_CONNECTIONS", "1"),
];

#[tokio::test]
async fn connections_that_are_missing_are_counted() {
    let Some(schema) = Schema::create("missing").await else { return skipped() };
    let (role, url) = schema.role().await;
    schema.run(&format!("ALTER ROLE {role} CONNECTION LIMIT 2")).await;
    let said = refused(&url).await;
    let expected = "wants up to 13 connections, got 2, and 11 are missing: raise max_connections";
    assert!(said.contains(expected), "{said}");

    // With some room it starts, and says what is missing later.
    schema.run(&format!("ALTER ROLE {role} CONNECTION LIMIT 5")).await;
    let server =
        node_with(&schema, &[&ONE_EACH[..], &[("WEBHOOK_DATABASE_URL", &url)]].concat()).await;
    let log = server.log();
    // Connections of the first one may not be gone yet.
    assert!(log.contains("connections more, and this server may want 2 more: "), "{log}");
    drop(server);
    schema.remove().await;
}

/// All writers but one wait in vain for a connection, and none of them keeps a webhook waiting.
#[tokio::test]
async fn no_webhook_waits_for_a_writer_without_a_connection() {
    let _alone = turns::alone().await;
    let Some(schema) = Schema::create("starving").await else { return skipped() };
    let (role, url) = schema.role().await;
    let options = [("WEBHOOK_DATABASE_URL", &*url), ("WEBHOOK_DATABASE_WRITERS", "16")];
    let server = node_with(&schema, &[&ONE_EACH[..], &options].concat()).await;
    let bucket = server.bucket("events").await;
    // The connections that the server has opened stay open.
    schema.run(&format!("ALTER ROLE {role} CONNECTION LIMIT 1")).await;
    let senders = Senders::start(&[input_url(&server, &bucket)], 32, Duration::ZERO);
    senders.acknowledged(2_000).await;
    let sent = senders.stop().await;
    assert_eq!(sent.iter().find(|sent| !sent.is_acknowledged()).map(|it| it.status), None);
    drop(server);
    schema.remove().await;
}

/// A server is stopped in the middle of a transaction, and its locks do not stay.
#[tokio::test]
async fn the_transaction_of_a_paused_server_ends() {
    const LOCK: &str = "LOCK TABLE delivery IN ACCESS EXCLUSIVE MODE";
    let Some(schema) = Schema::create("idle").await else { return skipped() };
    // Less than a server asks for by itself, so that the test waits less.
    let url = format!("{}%20-cidle_in_transaction_session_timeout%3D1s", schema.url);
    let server = node_with(&schema, &[("WEBHOOK_DATABASE_URL", &url)]).await;
    let bucket = server.bucket("events").await;
    let webhook = || {
        let url = format!("/v1/webhooks/{}", default_input(&bucket));
        server.anonymous("POST", &url).body("x").send()
    };
    webhook().await.expect(200);
    schema.run("CREATE TABLE may_go (yes boolean)").await;
    let locking = format!("BEGIN; {LOCK}; {}; COMMIT", until("EXISTS (SELECT FROM may_go)"));
    let freezing = async {
        let waits = "relation = to_regclass('delivery') AND mode = 'RowExclusiveLock'";
        schema
            .run(&until(&format!("EXISTS (SELECT FROM pg_locks WHERE {waits} AND NOT granted)")))
            .await;
        server.freeze().await;
        schema.run("INSERT INTO may_go VALUES (true)").await;
        // The statement of the server continues, and only PostgreSQL can end the transaction.
        schema.run(&format!("BEGIN; SET LOCAL lock_timeout = '30s'; {LOCK}; COMMIT")).await;
        server.signal("CONT").await;
    };
    let refused = async {
        let granted = "relation = to_regclass('delivery') AND mode = 'AccessExclusiveLock'";
        schema
            .run(&until(&format!("EXISTS (SELECT FROM pg_locks WHERE {granted} AND granted)")))
            .await;
        webhook().await
    };
    let ((), refused, ()) = tokio::join!(schema.run(&locking), refused, freezing);
    refused.expect(503);
    webhook().await.expect(200);
    drop(server);
    schema.remove().await;
}
