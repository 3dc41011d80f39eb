//! NATS loses, doubles and delays messages: the same comes, later.

use super::*;
use crate::{
    client::Client,
    harness::postgres::{Schema, node_with, skipped},
    nats::{Lossy, Nats},
    proxy::Proxy,
};

/// Webhooks that a client of another server waits for.
const WEBHOOKS: u64 = 200;

#[tokio::test]
async fn what_nats_loses_comes_from_the_database_and_what_it_doubles_comes_once() {
    let Some(schema) = Schema::create("lossy").await else { return skipped() };
    let Some(nats) = Nats::start().await else { return schema.remove().await };
    let (here, there) = (
        Proxy::to_nats(nats.port, Lossy::new(1)).await,
        Proxy::to_nats(nats.port, Lossy::new(2)).await,
    );
    let url = |proxy: &Proxy| format!("nats://127.0.0.1:{}", proxy.port);
    let receives = node_with(&schema, &[("WEBHOOK_NATS_URL", &url(&here))]).await;
    let serves = node_with(&schema, &[("WEBHOOK_NATS_URL", &url(&there))]).await;
    let bucket = receives.bucket("events").await;
    let output = json!({ "name": "agent", "internal": true, "destination": "http://localhost/" });
    receives.output(&bucket, output).await;
    let mut client = Client::subscribed(&serves, json!(null)).await;
    // A message that says so may get lost: then the next one says it.
    let since = Instant::now();
    loop {
        let clients = receives.get("/v1/connected-clients").await.expect(200).json();
        if clients["webhook_clients"].as_array().is_some_and(|clients| !clients.is_empty()) {
            break;
        }
        assert!(since.elapsed() < harness::PATIENCE, "{clients}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let sending = async {
        for number in 0..WEBHOOKS {
            let url = format!("/v1/webhooks/{}", default_input(&bucket));
            receives.anonymous("POST", &url).body(number.to_string()).send().await.expect(200);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let since = Instant::now();
    let receiving = async {
        let mut bodies = Vec::new();
        while bodies.len() < WEBHOOKS as usize {
            bodies.push(client.webhook().await["body"].as_str().expect("text").to_owned());
        }
        bodies
    };
    let ((), mut bodies) = tokio::join!(sending, receiving);
    let took = since.elapsed();
    bodies.sort_unstable_by_key(|body| body.parse::<u64>().expect("a number"));
    let all: Vec<_> = (0..WEBHOOKS).map(|number| number.to_string()).collect();
    assert_eq!(bodies, all, "each once");
    println!("{WEBHOOKS} webhooks in {took:?}, {:?}", there.losses());
    let (dropped, doubled) = there.losses().expect("it loses");
    assert!(dropped > 0 && doubled > 0, "nothing got lost");

    // A change is seen all the same, at the latest when what is in memory is read anew.
    let path = format!("/v1/buckets/{}?force=true", id(&bucket));
    serves.request("DELETE", &path).send().await.expect(200);
    let since = Instant::now();
    let url = format!("/v1/webhooks/{}", default_input(&bucket));
    while receives.anonymous("POST", &url).body("late").send().await.status != 404 {
        assert!(since.elapsed() < Duration::from_secs(7), "the bucket is still there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop((receives, serves));
    schema.remove().await;
}
