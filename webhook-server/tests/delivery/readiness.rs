//! `/readyz` when the database answers and nothing can be stored, and what the
//! log says of the webhooks that are refused then.

use std::time::{Duration, Instant};

use tokio::process::Command;

use super::*;
use crate::harness::postgres::{Schema, skipped};

/// Sends webhooks until one is refused.
async fn send_until_refused(server: &Server, path: &str, body_bytes: usize) {
    let body = "x".repeat(body_bytes);
    for _ in 0..200 {
        let answer = server.anonymous("POST", path).body(body.clone()).send().await;
        if answer.status == 503 {
            return;
        }
        answer.expect(200);
    }
    panic!("200 webhooks of {body_bytes} bytes were stored");
}

async fn ready(server: &Server) -> u16 {
    server.anonymous("GET", "/readyz").send().await.status.as_u16()
}

/// Waits until it is so, for as long as a few tries may take.
async fn expect_ready(server: &Server, status: u16) {
    let until = Instant::now() + harness::PATIENCE;
    while ready(server).await != status {
        assert!(Instant::now() < until, "/readyz is not {status}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// No file may grow over 2 MiB, which stands for a disk that is full.
#[tokio::test]
async fn a_full_disk_is_not_ready_and_does_not_fill_the_log() {
    let server = Server::start_after("trap '' XFSZ && ulimit -S -f 4096").await;
    let bucket = server.bucket("events").await;
    let path = input_path(&bucket);
    assert_eq!(ready(&server).await, 200);
    send_until_refused(&server, &path, 256 << 10).await;
    // What is left may still be enough for small ones, which differ in their pages.
    for _ in 0..10 {
        send_until_refused(&server, &path, 100).await;
    }
    expect_ready(&server, 503).await;

    let lines = || server.log().matches("not taken").count();
    let (before, started) = (lines(), Instant::now());
    for _ in 0..100 {
        server.anonymous("POST", &path).body("x".repeat(100)).send().await.expect(503);
        assert_eq!(ready(&server).await, 503);
    }
    let most = usize::try_from(started.elapsed().as_secs()).expect("few") + 2;
    assert!(lines() - before <= most, "{} lines for 100 refusals", lines() - before);
    while !server.log().contains("more webhooks not taken count=") {
        assert!(started.elapsed() < harness::PATIENCE, "the others are not counted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    let id = server.process_id().to_string();
    let more = Command::new("prlimit").args(["--pid", &id, "--fsize=unlimited"]).status().await;
    if !more.is_ok_and(|status| status.success()) {
        return println!("skipped the rest: there is no prlimit to give the room back");
    }
    // Without a webhook: whoever asks has it tried.
    expect_ready(&server, 200).await;
    server.anonymous("POST", &path).body("x").send().await.expect(200);
}

#[tokio::test]
async fn an_end_on_a_full_disk_is_an_error() {
    let mut server = Server::start_after("trap '' XFSZ && ulimit -S -f 4096").await;
    let bucket = server.bucket("events").await;
    let path = input_path(&bucket);
    send_until_refused(&server, &path, 256 << 10).await;
    for _ in 0..10 {
        send_until_refused(&server, &path, 100).await;
    }
    let ended = server.terminate().await;
    assert_eq!(ended.code(), Some(1), "{}", server.log());
    let said = "webhook-server: the database takes no changes: ";
    assert!(server.log().contains(said), "{}", server.log());
}

/// The server can be read and takes no webhooks.
#[tokio::test]
async fn a_database_without_room_is_not_ready() {
    let Some(schema) = Schema::create("ready").await else { return skipped() };
    let server = Server::start_with(&[("WEBHOOK_DATABASE_URL", &schema.url)]).await;
    let bucket = server.bucket("events").await;
    let path = input_path(&bucket);
    server.anonymous("POST", &path).body("x").send().await.expect(200);
    assert_eq!(ready(&server).await, 200);

    let full = "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS \
        $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = '53100'; END $$; \
        CREATE TRIGGER no_room BEFORE INSERT ON webhook EXECUTE FUNCTION no_room(); \
        CREATE TRIGGER no_room BEFORE INSERT ON meta EXECUTE FUNCTION no_room()";
    schema.run(full).await;
    server.anonymous("POST", &path).body("x").send().await.expect(503);
    for _ in 0..3 {
        assert_eq!(ready(&server).await, 503);
    }
    schema.run("DROP FUNCTION no_room CASCADE").await;
    expect_ready(&server, 200).await;
    server.anonymous("POST", &path).body("x").send().await.expect(200);
    drop(server);
    schema.remove().await;
}
