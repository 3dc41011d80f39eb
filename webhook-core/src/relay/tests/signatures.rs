//! Webhooks that are verified.

use ring::hmac;
use serde_json::{Value, json};

use super::*;
use crate::model::{Extension, ProcessPolicy, Reason, Resend};

const SECRET: &str = "whsec_0123456789abcdef";

fn input(signature: Value) -> InputSpec {
    let secrets = json!([{"secret": SECRET}]);
    let mut spec = json!({"signature": signature});
    if spec["signature"]["secrets"].is_null() {
        spec["signature"]["secrets"] = secrets;
    }
    serde_json::from_value(spec).expect("a spec")
}

async fn world(signature: Value) -> World {
    let options = RelayOptions::default();
    let mut world = World::with(BucketSpec::default(), input(signature), options).await;
    world.output_to(HOOK).await;
    world.deliver().await;
    world
}

fn mac(text: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    hmac::sign(&key, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl World {
    async fn post_github(&self, body: &str, signature: &str) -> Response<Bytes> {
        let request = http::Request::post(self.address())
            .header("x-hub-signature-256", format!("sha256={signature}"))
            .header("x-github-event", "push")
            .header("x-github-delivery", "d-1");
        self.send(request, body).await
    }

    async fn post_stripe(&self, body: &str, at: i64) -> Response<Bytes> {
        let signature = mac(&format!("{at}.{body}"));
        let request = http::Request::post(self.address())
            .header("stripe-signature", format!("t={at},v1={signature}"));
        self.send(request, body).await
    }

    async fn log_of(&self, answer: &Response<Bytes>) -> Option<Log> {
        let id = answer.headers()["request-id"].to_str().expect("text").parse().expect("an id");
        let logs = self.stores.deliveries.logs_of(self.bucket.account_id, id).await;
        logs.expect("readable").pop()
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_verified_is_forwarded_and_says_so() {
    let mut world = world(json!({"provider": "github"})).await;
    let answer = world.post_github("{}", &mac("{}")).await;
    assert_eq!(answer.status(), 200);
    world.forwarder.finished(1).await;
    let log = world.log_of(&answer).await.expect("a log");
    assert_eq!(log.webhook.checks.verified, Some(true));
    assert_eq!(log.webhook.checks.event.as_deref(), Some("push"));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_forged_is_401_and_kept_with_its_reason() {
    let mut world = world(json!({"provider": "github"})).await;
    let forged = world.post_github("{}", &mac("{ }")).await;
    assert_eq!((forged.status().as_u16(), &forged.body()[..]), (401, &b"signature: no match"[..]));
    assert!(!forged.headers().contains_key("www-authenticate"), "no password would mend it");
    let log = world.log_of(&forged).await.expect("a log");
    assert_eq!(log.delivery.status, DeliveryStatus::Rejected);
    assert_eq!(log.delivery.reason, Some(Reason::Signature));
    assert_eq!(log.webhook.checks.verified, Some(false));
    assert_eq!(log.webhook.request.body, "{}");
    let unsigned = world.post("{}").await;
    assert_eq!(unsigned.status(), 401);
    assert!(unsigned.body().starts_with(b"signature: missing"), "{:?}", unsigned.body());
    world.stop().await;
    assert!(world.forwarder.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_marked_is_forwarded() {
    let mut world = world(json!({"provider": "github", "on_failure": "mark"})).await;
    let answer = world.post_github("{}", &mac("{ }")).await;
    assert_eq!(answer.status(), 200);
    world.forwarder.finished(1).await;
    let log = world.log_of(&answer).await.expect("a log");
    assert_eq!(log.webhook.checks.verified, Some(false));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_forged_webhooks_leaves_a_hundred_rows_an_hour() {
    let mut world = world(json!({"provider": "github"})).await;
    let wrong = mac("other");
    let mut kept = 0;
    for _ in 0..100_000 {
        let forged = world.post_github("{}", &wrong).await;
        assert_eq!(forged.status(), 401);
        kept += u32::from(kept < 101 && world.log_of(&forged).await.is_some());
    }
    assert_eq!(kept, 100);
    let query = crate::store::LogQuery::new(1);
    let page = world.stores.logs.logs(world.bucket.account_id, &query).await.expect("a page");
    assert_eq!(page.total, 100);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_captured_request_is_not_forwarded_again() {
    let mut world = world(json!({"provider": "stripe"})).await;
    let now = START.as_secs();
    for _ in 0..2 {
        assert_eq!(world.post_stripe("{}", now).await.status(), 200);
    }
    // Signed anew, it is another webhook.
    assert_eq!(world.post_stripe("{}", now + 1).await.status(), 200);
    world.forwarder.finished(2).await;
    tokio::time::sleep(Duration::from_secs(301)).await;
    let late = world.post_stripe("{}", now).await;
    assert_eq!(late.status(), 401);
    assert_eq!(late.body(), "signature: timestamp outside of tolerance");
    world.stop().await;
    assert_eq!(world.forwarder.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_providers_identifier_tells_duplicates() {
    let mut spec = input(json!({"provider": "github"}));
    spec.deduplication = Extension::Set(Default::default());
    let mut world = World::with(BucketSpec::default(), spec, RelayOptions::default()).await;
    world.output_to(HOOK).await;
    world.deliver().await;
    for body in ["{}", "{\"other\":1}"] {
        assert_eq!(world.post_github(body, &mac(body)).await.status(), 200);
    }
    world.forwarder.finished(1).await;
    world.stop().await;
    assert_eq!(world.forwarder.requests().len(), 1, "it is one delivery of GitHub's");
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_is_received_when_the_secret_is_right() {
    let wrong = json!([{"secret": "whsec_this_is_the_wrong_one"}]);
    let mut world = world(json!({"provider": "stripe", "secrets": wrong})).await;
    let refused = world.post_stripe("{\"n\":1}", START.as_secs()).await;
    assert_eq!(refused.status(), 401);
    let log = world.log_of(&refused).await.expect("a log").delivery.id;
    let account = world.bucket.account_id;
    let resend = |policy| Resend { policy, log, output: None };
    let error = world.relay.resend(account, resend(ProcessPolicy::Force)).await.expect_err("wrong");
    assert_eq!(error.to_string(), "signature: no match");
    let error = world.relay.resend(account, resend(ProcessPolicy::Skip)).await.expect_err("skip");
    assert!(error.to_string().contains("force"), "{error}");

    tokio::time::sleep(Duration::from_secs(24 * 60 * 60)).await;
    let mut corrected = world.bucket.inputs[0].clone();
    corrected.spec.signature = input(json!({"provider": "stripe"})).signature;
    world.stores.documents.update_input(account, &corrected).await.expect("updated");
    world.relay.bucket_changed(&world.bucket);
    world.relay.resend(account, resend(ProcessPolicy::Force)).await.expect("it is verified");
    world.forwarder.finished(1).await;
    assert_eq!(world.forwarder.requests()[0].body, "{\"n\":1}");
    assert_eq!(world.log_of_request(0).await.webhook.checks.verified, Some(true));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn handshakes_are_answered_and_go_no_further() {
    let mut world = world(json!({"provider": "slack"})).await;
    let body = r#"{"type":"url_verification","challenge":"abc123"}"#;
    let at = START.as_secs();
    let signature = mac(&format!("v0:{at}:{body}"));
    let signed = |signature: &str| {
        http::Request::post(world.address())
            .header("content-type", "application/json")
            .header("x-slack-request-timestamp", at.to_string())
            .header("x-slack-signature", format!("v0={signature}"))
    };
    let answer = world.send(signed(&signature), body).await;
    assert_eq!(answer.status(), 200);
    assert!(answer.body().windows(6).any(|part| part == b"abc123"), "{:?}", answer.body());
    assert!(world.log_of(&answer).await.is_none());
    // No oracle: what Slack has not signed is not answered.
    let forged = world.send(signed(&mac("other")), body).await;
    assert_eq!(forged.status(), 401);
    world.stop().await;
    assert!(world.forwarder.requests().is_empty());
}
