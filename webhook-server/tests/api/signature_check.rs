//! `/v1/buckets/{id}/inputs/{detailed}/signature/check`

use ring::hmac;
use serde_json::{Value, json};
use webhook_core::{Clock, SystemClock};

use super::{
    NOBODY,
    harness::{Answer, Server, default_input, id},
};

const OLD: &str = "whsec_the_old_secret_of_the_shop";
const NEW: &str = "whsec_the_new_secret_of_the_shop";
const BODY: &str = r#"{"id":"evt_1"}"#;

fn made(secret: &str, at: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let made = hmac::sign(&key, format!("{at}.{BODY}").as_bytes());
    made.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn signature(secret: &str, at: i64) -> String {
    format!("t={at},v1={}", made(secret, at))
}

fn now() -> i64 {
    SystemClock.now().as_secs()
}

fn given(signature: &str) -> Value {
    json!({"request": {"headers": {"Stripe-Signature": [signature]}, "body": BODY}})
}

/// A bucket whose default input has this `signature`.
async fn bucket_with(server: &Server, signature: Value) -> Value {
    let bucket = server.bucket("b").await;
    let path = format!("/v1/buckets/{}/inputs/{}", id(&bucket), default_input(&bucket));
    let spec = json!({"signature": signature});
    server.request("PUT", &path).json(&spec).send().await.expect(200);
    bucket
}

fn path(bucket: &Value) -> String {
    let (bucket, input) = (id(bucket), default_input(bucket));
    format!("/v1/buckets/{bucket}/inputs/{input}/signature/check")
}

async fn check(server: &Server, bucket: &Value, body: &Value) -> Answer {
    server.request("POST", &path(bucket)).json(body).send().await
}

fn stripe() -> Value {
    json!({"provider": "stripe", "secrets": [{"secret": OLD}, {"secret": NEW}]})
}

#[tokio::test]
async fn a_request_is_verified_by_one_of_the_secrets_or_says_why_not() {
    let server = Server::start().await;
    let bucket = bucket_with(&server, stripe()).await;
    let at = now();
    let signed = format!("{at}.{BODY}");
    for (index, secret) in [OLD, NEW].iter().enumerate() {
        let answer = check(&server, &bucket, &given(&signature(secret, at))).await.expect(200);
        let expected = json!({
            "verified": true, "reason": "", "secret_index": index, "signed_bytes_preview": signed,
        });
        assert_eq!(answer.json(), expected);
    }
    let wrong = |reason: &str, signed: &str| json!({"verified": false, "reason": reason, "signed_bytes_preview": signed});
    let forged = check(&server, &bucket, &given(&signature("another", at))).await.expect(200);
    assert_eq!(forged.json(), wrong("no match", &signed));
    // Neither a secret nor what would have been right.
    for secret in [OLD, NEW] {
        for hidden in [secret, &made(secret, at)] {
            assert!(!forged.text().contains(hidden), "{}", forged.text());
        }
    }
    let late = at - 3600;
    let late = (given(&signature(NEW, late)), format!("{late}.{BODY}"));
    let answer = check(&server, &bucket, &late.0).await.expect(200).json();
    assert_eq!(answer, wrong("timestamp outside of tolerance", &late.1));
    let unsigned = check(&server, &bucket, &json!({"request": {}})).await.expect(200).json();
    assert_eq!(unsigned, wrong("missing header Stripe-Signature", ""));
    let logs = server.get("/v1/logs").await.expect(200).json();
    assert_eq!(logs["total"], 0, "nothing is stored");
}

#[tokio::test]
async fn parameters_are_hidden_and_what_is_not_enabled_can_be_tried() {
    let server = Server::start().await;
    let scheme = json!({
        "signature": {"source": "header", "name": "X-Signature"},
        "algorithm": "hmac-sha256",
        "signed": "{parameter.pepper}.{body}",
    });
    let custom = json!({
        "enabled": false, "provider": "custom", "secrets": [{"secret": OLD}],
        "parameters": {"pepper": "a-pepper-of-ours"}, "scheme": scheme,
    });
    let bucket = bucket_with(&server, custom).await;
    let body = json!({"request": {"headers": {"X-Signature": "00"}, "body": "aGk=", "body_encoding": "base64"}});
    let answer = check(&server, &bucket, &body).await.expect(200).json();
    assert_eq!(
        answer,
        json!({"verified": false, "reason": "no match", "signed_bytes_preview": "….hi"})
    );
    let none = server.bucket("none").await;
    let answer = check(&server, &none, &body).await.expect(200).json();
    assert_eq!(
        (&answer["verified"], &answer["reason"]),
        (&json!(false), &json!("the input has no signature"))
    );
}

#[tokio::test]
async fn a_log_is_looked_at_however_old_its_signature_is() {
    let server = Server::start().await;
    let bucket = bucket_with(&server, stripe()).await;
    let webhook = format!("/v1/webhooks/{}", default_input(&bucket));
    let late = now() - 3600;
    let request = server.anonymous("POST", &webhook);
    let request = request.header("stripe-signature", &signature(OLD, late)).body(BODY);
    let refused = request.send().await.expect(401);
    assert_eq!(refused.header("www-authenticate"), "");
    let logs = server.get("/v1/logs").await.expect(200).json();
    let log = id(&logs["data"][0]).to_owned();
    let answer = check(&server, &bucket, &json!({"log_id": log})).await.expect(200).json();
    assert_eq!((&answer["verified"], &answer["secret_index"]), (&json!(true), &json!(0)));

    // It is a log of this input only.
    let other = server.bucket("other").await;
    check(&server, &other, &json!({"log_id": log})).await.expect_error(404, "log");
    let own = server.request("POST", &format!("/v1/buckets/{}/inputs", id(&bucket)));
    let own = own.json(&json!({})).send().await.expect(201).json();
    let path = format!("/v1/buckets/{}/inputs/{}/signature/check", id(&bucket), id(&own));
    let answer = server.request("POST", &path).json(&json!({"log_id": log})).send().await;
    answer.expect_error(404, "log");
}

#[tokio::test]
async fn what_is_erased_cannot_be_looked_at() {
    let server = Server::start().await;
    let ephemeral = json!({"name": "brief", "ephemeral": true});
    let bucket = server.request("POST", "/v1/buckets").json(&ephemeral).send().await;
    let bucket = bucket.expect(201).json();
    server.set_default_input(&bucket, json!({"signature": stripe()})).await;
    let webhook = format!("/v1/webhooks/{}", default_input(&bucket));
    for (secret, status) in [(NEW, 200), ("another", 401)] {
        let request = server.anonymous("POST", &webhook);
        let request = request.header("stripe-signature", &signature(secret, now())).body(BODY);
        request.send().await.expect(status);
    }
    let logs = server.get("/v1/logs").await.expect(200).json();
    let logs = logs["data"].as_array().expect("a list");
    assert_eq!(logs.len(), 2);
    for log in logs {
        let answer = check(&server, &bucket, &json!({"log_id": id(log)})).await;
        answer.expect_error(412, "the webhook is ephemeral: its content is erased");
    }
}

#[tokio::test]
async fn what_cannot_be_looked_at_is_refused() {
    let server = Server::start().await;
    let bucket = bucket_with(&server, stripe()).await;
    for (body, said) in [
        (json!({}), "log_id: "),
        (json!({"log_id": NOBODY, "request": {}}), "log_id: "),
        (json!({"log_id": "x"}), "log_id"),
        (json!({"request": []}), "request"),
        (json!({"request": {"method": "a b"}}), "request.method: "),
        (json!({"request": {"path": "a"}}), "request.path: "),
        (json!({"request": {"body": "?", "body_encoding": "base64"}}), "request.body: "),
        (json!({"request": {"body_encoding": "hex"}}), "request.body_encoding: "),
        (json!({"request": {"headers": {"a b": "1"}}}), "request.headers"),
    ] {
        check(&server, &bucket, &body).await.expect_error(400, said);
    }
    check(&server, &bucket, &json!({"log_id": NOBODY})).await.expect_error(404, "log");
    let nobody = format!("/v1/buckets/{}/inputs/{NOBODY}/signature/check", id(&bucket));
    let answer = server.request("POST", &nobody).json(&json!({"request": {}})).send().await;
    answer.expect_error(404, "input");
    let key = format!("Bearer {}", server.account("second").await);
    let foreign = server.anonymous("POST", &path(&bucket)).header("authorization", &key);
    foreign.json(&json!({"request": {}})).send().await.expect_error(404, "bucket");
    server.anonymous("POST", &path(&bucket)).send().await.expect_error(401, "unauthorized");
}
