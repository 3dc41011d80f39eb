//! Outputs that are deleted while many deliveries wait for them.

use tokio::task::JoinSet;

use super::*;
use crate::{
    harness::{
        Client, PATIENCE,
        postgres::{Schema, node, skipped},
    },
    sink::Sink,
};

/// Waiting deliveries: more than four steps of the sweep.
const WAITING: usize = 1_200;

/// An output that is disabled and keeps what comes; and its path.
async fn backlog(server: &Server, bucket: &Value, sink: &Sink) -> String {
    let parked = json!({
        "name": "parked", "destination": sink.base, "disabled": true, "on_disabled": "park",
    });
    let output = server.output(bucket, parked).await;
    let mut sending = JoinSet::new();
    for _ in 0..12 {
        let url = format!("{}{}", server.base, input_path(bucket));
        sending.spawn(async move {
            let client = Client::default();
            for _ in 0..WAITING / 12 {
                client.request("POST", &url).body("waits").send().await.expect(200);
            }
        });
    }
    sending.join_all().await;
    format!("/v1/buckets/{}/outputs/{}", id(bucket), id(&output))
}

/// The number of logs in a status.
async fn count(server: &Server, query: &str) -> usize {
    let page = server.get(&format!("/v1/logs?limit=1&{query}")).await.expect(200).json();
    page["total"].as_u64().expect("a total") as usize
}

/// Waits until every delivery has failed.
async fn all_failed(server: &Server) {
    let failed = async {
        while count(server, "status=failed").await < WAITING {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, failed).await.expect("they are cancelled in time");
    assert_eq!(count(server, "status=received").await, 0);
    let page = server.get("/v1/logs?status=failed&limit=100").await.expect(200).json();
    for log in page["data"].as_array().expect("a list") {
        assert_eq!(
            (&log["reason"], &log["error"]),
            (&json!("cancelled"), &json!("the output was deleted"))
        );
    }
}

#[tokio::test]
async fn the_cancelling_of_a_backlog_continues_after_kill_9() {
    let sink = Sink::start().await;
    let mut server = Server::start().await;
    let bucket = server.bucket("events").await;
    let output = backlog(&server, &bucket, &sink).await;
    server.request("DELETE", &output).send().await.expect(200);
    server.kill().await;
    let server = server.restart().await;
    all_failed(&server).await;
    // A webhook that comes later has no output.
    server.anonymous("POST", &input_path(&bucket)).body("later").send().await.expect(200);
    assert_eq!(sink.so_far().len(), 0, "nothing was delivered");
    assert_eq!(count(&server, "status=failed").await, WAITING);
}

#[tokio::test]
async fn a_forced_deletion_of_a_bucket_is_continued_by_another_node() {
    let Some(schema) = Schema::create("deleting").await else { return skipped() };
    let sink = Sink::start().await;
    let (mut first, second) = (node(&schema).await, node(&schema).await);
    let bucket = first.bucket("events").await;
    backlog(&first, &bucket, &sink).await;
    let path = format!("/v1/buckets/{}?force=true", id(&bucket));
    first.request("DELETE", &path).send().await.expect(200);
    first.kill().await;
    all_failed(&second).await;
    assert_eq!(sink.so_far().len(), 0, "nothing was delivered");
    drop((first, second));
    schema.remove().await;
}
