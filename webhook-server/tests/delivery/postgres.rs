//! The same through PostgreSQL, when `TEST_POSTGRES_URL` names a server and
//! `psql` is there to make a schema on it.

use super::*;
use crate::{
    harness::postgres::{Schema, node, skipped},
    sink::Reply,
};

#[tokio::test]
async fn what_was_acknowledged_arrives_after_kill_9_and_the_node_goes_on_at_once() {
    let Some(schema) = Schema::create("crash").await else { return skipped() };
    let sink = Sink::scripted(|number| Reply::Status(if number == 0 { 503 } else { 200 })).await;
    let mut server = Server::start_with(&[("WEBHOOK_DATABASE_URL", &schema.url)]).await;
    let bucket = server.bucket("events").await;
    server.output(&bucket, json!({ "name": "sink", "destination": sink.base })).await;
    let bodies: Vec<_> = (0..50).map(|number| number.to_string()).collect();
    for body in &bodies {
        let request = server.anonymous("POST", &input_path(&bucket));
        request.body(body.clone()).send().await.expect(200);
    }
    server.kill().await;
    let mut server = server.restart().await;
    server.anonymous("POST", &input_path(&bucket)).body("after").send().await.expect(200);
    let arrived = async {
        loop {
            let arrived = sink.so_far();
            let came = |body: &String| arrived.iter().any(|arrived| arrived.body == *body);
            if bodies.iter().all(came) && came(&"after".to_owned()) {
                return;
            }
            sink.received(arrived.len() + 1).await;
        }
    };
    let in_time = tokio::time::timeout(std::time::Duration::from_secs(12), arrived).await;
    assert!(in_time.is_ok(), "{} of 51 arrived", sink.so_far().len());
    assert!(server.terminate().await.success());
    schema.remove().await;
}

#[tokio::test]
async fn no_command_works_on_the_database_of_a_former_shard() {
    let Some(schema) = Schema::create("former_shard").await else { return skipped() };
    let mut server = node(&schema).await;
    assert!(server.terminate().await.success());
    let name = "INSERT INTO meta SELECT 'control_id', value FROM meta WHERE name = 'min_reader'";
    schema.run(name).await;
    for command in [&["serve"][..], &["migrate"], &["account", "list"], &["nodes"], &["check"]] {
        let output = server.command(command).await;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(!output.status.success(), "{command:?}: {said}");
        let line = "webhooks are in 1 other databases: with the version before, move all slots";
        assert_eq!(said.matches(line).count(), 1, "{command:?}: {said}");
    }
    schema.remove().await;
}
