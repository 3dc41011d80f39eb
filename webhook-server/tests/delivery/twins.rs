//! Webhooks that come twice, and those that nobody sent who may.

use std::{collections::BTreeSet, time::Duration};

use tokio::task::JoinSet;

use super::*;
use crate::harness::{
    Client, default_input,
    postgres::{Schema, node, skipped},
};

/// Twins of one webhook that are sent at once, to two nodes in turn.
const TWINS: usize = 1_000;
/// Forged webhooks; `relay::tests` of `webhook-core` sends a hundred thousand.
const FORGED: usize = 5_000;

async fn logs(server: &Server, query: &str) -> Value {
    server.get(&format!("/v1/logs?{query}")).await.expect(200).json()
}

/// The unique index decides between processes, too.
#[tokio::test]
async fn a_thousand_twins_at_two_nodes_are_delivered_once() {
    let Some(schema) = Schema::create("twins").await else { return skipped() };
    let sink = Sink::start().await;
    let (first, second) = (node(&schema).await, node(&schema).await);
    let bucket = first.bucket("events").await;
    first.output(&bucket, json!({ "name": "sink", "destination": sink.base })).await;
    let key = json!([{"source": "header", "name": "X-Id"}]);
    first.set_default_input(&bucket, json!({ "deduplication": { "key": key } })).await;

    let urls = [&first, &second].map(|node| format!("{}{}", node.base, input_path(&bucket)));
    let client = Client::default();
    let mut sending = JoinSet::new();
    for twin in 0..TWINS {
        let (client, url) = (client.clone(), urls[twin % 2].clone());
        sending.spawn(async move {
            loop {
                let twin = client.request("POST", &url).header("x-id", "7").body("twin");
                match twin.send().await {
                    // As senders do: a slow machine cannot take all at once.
                    busy if busy.status == 503 => {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                    answer => return drop(answer.expect(200)),
                }
            }
        });
    }
    sending.join_all().await;
    sink.received(1).await;
    // A sink has a webhook before the node has written that it is delivered.
    second.ended_logs(21).await;
    let sent = logs(&second, "status=sent").await;
    let told = &sent["data"][0];
    assert_eq!((&sent["total"], &told["duplicates"]), (&json!(1), &json!(TWINS - 1)));
    let duplicates = logs(&first, "status=rejected&limit=100").await;
    assert_eq!(duplicates["total"], 20, "the others are counted");
    for log in duplicates["data"].as_array().expect("a list") {
        assert_eq!(log["duplicate_of"], told["id"]);
    }
    // Another one is delivered, and nothing of the twins is still on its way before it.
    let other = second.anonymous("POST", &input_path(&bucket)).header("x-id", "8");
    other.body("other").send().await.expect(200);
    let arrived = sink.received(2).await;
    let bodies: BTreeSet<_> = arrived.iter().map(|arrived| arrived.body.clone()).collect();
    assert_eq!((arrived.len(), bodies.len()), (2, 2));
    drop((first, second));
    schema.remove().await;
}

/// The example of docs/deduplication.md, with `curl`.
#[tokio::test]
async fn the_example_of_the_page_delivers_once() {
    let sink = Sink::start().await;
    let (server, bucket) = relay_to(&sink.base).await;
    let names = [("BUCKET", id(&bucket)), ("INPUT", default_input(&bucket))];
    let Some(answer) = example_of("deduplication.md", &server, &names).await else { return };
    let input: Value = serde_json::from_slice(&answer).expect("the input is answered");
    assert_eq!(input["deduplication"]["window"], 86_400_000_000_000_u64, "{input}");
    for delivery in ["one", "one", "two"] {
        let request = server.anonymous("POST", &input_path(&bucket));
        let request = request.header("x-github-delivery", delivery).body(delivery);
        request.send().await.expect(200);
    }
    let arrived = sink.received(2).await;
    let bodies: BTreeSet<_> = arrived.iter().map(|arrived| &arrived.body[..]).collect();
    assert_eq!(bodies, BTreeSet::from([&b"one"[..], &b"two"[..]]));
    let ended = server.ended_logs(3).await;
    assert_eq!(ended.iter().filter(|log| log["reason"] == "duplicate").count(), 1, "{ended:?}");
}

#[tokio::test]
async fn a_flood_of_forged_webhooks_leaves_a_hundred_rows() {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let signature = json!({"provider": "github", "secrets": [{"secret": "a-secret-of-ours"}]});
    server.set_default_input(&bucket, json!({ "signature": signature })).await;
    let url = format!("{}{}", server.base, input_path(&bucket));
    let mut sending = JoinSet::new();
    for _ in 0..10 {
        let url = url.clone();
        sending.spawn(async move {
            let (client, forged) = (Client::default(), format!("sha256={:064}", 0));
            for _ in 0..FORGED / 10 {
                let request = client.request("POST", &url).header("x-hub-signature-256", &forged);
                request.body("{}").send().await.expect(401);
            }
        });
    }
    sending.join_all().await;
    let kept = logs(&server, "status=rejected").await;
    assert_eq!((&kept["total"], &kept["data"][0]["reason"]), (&json!(100), &json!("signature")));
    assert_eq!(logs(&server, "").await["total"], 100);
}
