//! Credentials that are withdrawn at another server on the same PostgreSQL database.

use std::time::{Duration, Instant};

use super::{client::Client, *};
use crate::harness::postgres::{Schema, node, skipped};

/// How long a client may go on with a credential that was withdrawn.
const STILL_OPEN: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_token_that_another_server_withdraws_gets_nothing_after_five_seconds() {
    let Some(schema) = Schema::create("withdrawn").await else { return skipped() };
    let (here, there) = (node(&schema).await, node(&schema).await);
    let bucket = here.bucket("events").await;
    let token = here.request("POST", "/v1/tokens").json(&json!({})).send().await.expect(201).json();
    let mut withdrawn = Client::connect(&there).await;
    let (key, secret) = (&token["key"], &token["secret"]);
    withdrawn.auth(key.as_str().expect("text"), secret.as_str().expect("text")).await;
    withdrawn.expect_status("authenticated").await;
    withdrawn.send(json!({"action": "subscribe", "buckets": []})).await;
    withdrawn.expect_status("subscribed").await;
    let mut other = Client::subscribed(&there, json!([])).await;

    // What both get shows that they listen.
    post(&there, &bucket, "first").await;
    assert_eq!(withdrawn.webhook().await["body"], "first");
    assert_eq!(other.webhook().await["body"], "first");
    let path = format!("/v1/tokens/{}", key.as_str().expect("text"));
    here.request("DELETE", &path).send().await.expect(200);
    let since = Instant::now();
    withdrawn.expect_status("unauthorized").await;
    assert_eq!(withdrawn.closed().await, 1008);
    assert!(since.elapsed() < STILL_OPEN, "{:?}", since.elapsed());
    post(&there, &bucket, "second").await;
    assert_eq!(other.webhook().await["body"], "second", "who shows another one stays");

    // A key that was replaced.
    here.request("POST", "/v1/account/api-key").send().await.expect(200);
    let since = Instant::now();
    other.expect_status("unauthorized").await;
    assert_eq!(other.closed().await, 1008);
    assert!(since.elapsed() < STILL_OPEN, "{:?}", since.elapsed());
    drop((here, there));
    schema.remove().await;
}
