//! What requests carry so that destinations know who sent them.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Response};
use webhook_core::credentials::{Message, SigningSpec};

use super::*;
use crate::sink::{Arrived, Reply};

const OLD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW: &str = "whsec_bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3";

/// Each retry after a second.
fn every_second() -> Value {
    let second = 1_000_000_000_u64;
    json!({
        "enabled": true, "schedule": "custom", "custom_delays": [second], "deadline": 3600 * second,
    })
}

fn header<'a>(arrived: &'a Arrived, name: &str) -> &'a str {
    arrived.head.headers.get(name).map_or("", |value| value.to_str().expect("text"))
}

/// Whether the signature is that of the secrets, whose making the vectors of
/// webhook_core::credentials hold.
fn expect_signed_by(arrived: &Arrived, secrets: &[&str]) {
    let secrets: Vec<_> = secrets.iter().map(|secret| json!({ "secret": secret })).collect();
    let spec: SigningSpec = serde_json::from_value(json!({ "secrets": secrets })).expect("a spec");
    let id = header(arrived, "webhook-id");
    let timestamp = header(arrived, "webhook-timestamp").parse().expect("a moment");
    let mut headers = HeaderMap::new();
    spec.sign(&Message { id, timestamp, body: &arrived.body }, &mut headers).expect("it signs");
    assert_eq!(headers["webhook-signature"], header(arrived, "webhook-signature"));
}

#[tokio::test]
async fn retries_and_resends_are_signed_anew_under_the_same_id() {
    let sink = Sink::scripted(|number| Reply::Status([503, 200][number.min(1)])).await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let signing = json!({ "secrets": [{ "secret": OLD }] });
    // A retry comes up to a tenth earlier, and a signature has whole seconds.
    let mut retries = every_second();
    retries["custom_delays"] = json!([2_000_000_000_i64]);
    let spec = json!({
        "name": "sink", "destination": sink.base, "durability": retries, "signing": signing,
    });
    server.output(&bucket, spec).await;
    let request = server.anonymous("POST", &input_path(&bucket)).body("{\"a\": 1}");
    request.header("webhook-id", "msg_of_the_sender").send().await.expect(200);
    sink.received(2).await;
    let logs = server.ended_logs(1).await;
    server.resend(&logs[0], "skip").await.expect(200);
    let arrived = sink.received(3).await;

    let ids: HashSet<_> = arrived.iter().map(|arrived| header(arrived, "webhook-id")).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert!(!ids.contains("msg_of_the_sender") && !ids.contains(""));
    let moments: Vec<_> = arrived.iter().map(|it| header(it, "webhook-timestamp")).collect();
    assert!(moments[0] < moments[1], "each attempt has a time of its own: {moments:?}");
    arrived.iter().for_each(|arrived| expect_signed_by(arrived, &[OLD]));
}

#[tokio::test]
async fn two_secrets_sign_during_a_rotation_and_a_restart_keeps_them_sealed() {
    let sink = Sink::start().await;
    let mut server = Server::start().await;
    let bucket = server.bucket("events").await;
    let spec = json!({
        "name": "sink", "destination": sink.base, "signing": { "secrets": [{ "secret": OLD }] },
    });
    let output = server.output(&bucket, spec).await;
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    let mask = output["signing"]["secrets"][0]["secret"].clone();
    assert_eq!(mask, "********LaSw");
    let expires_at = 4_102_444_800_i64;
    let rotating = json!({
        "destination": sink.base,
        "signing": { "secrets": [{ "secret": NEW }, { "secret": mask, "expires_at": expires_at }] },
    });
    server.request("PUT", &path).json(&rotating).send().await.expect(200);
    server.anonymous("POST", &input_path(&bucket)).body("one").send().await.expect(200);
    expect_signed_by(&sink.received(1).await[0], &[NEW, OLD]);

    server.terminate().await;
    let server = server.restart().await;
    server.anonymous("POST", &input_path(&bucket)).body("two").send().await.expect(200);
    expect_signed_by(&sink.received(2).await[1], &[NEW, OLD]);
    let folder = server.data_dir().read_dir().expect("the data");
    let mut read = 0;
    for file in folder.flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).expect("a file");
        read += bytes.len();
        let found = bytes.windows(24).any(|part| part == &OLD.as_bytes()[6..30]);
        assert!(!found, "{} has the secret", file.path().display());
    }
    assert!(read > 10_000, "there is data");

    let finished = json!({
        "destination": sink.base,
        "signing": { "secrets": [{ "secret": "********bmV3" }] },
    });
    server.request("PUT", &path).json(&finished).send().await.expect(200);
    server.anonymous("POST", &input_path(&bucket)).body("three").send().await.expect(200);
    expect_signed_by(&sink.received(3).await[2], &[NEW]);
    assert!(!server.log().contains(&OLD[6..30]) && !server.log().contains(&NEW[6..30]));
}

/// An OAuth2 server that grants `t1`, `t2`, … for so many seconds.
async fn token_server(expires_in: i64) -> Sink {
    let granted = AtomicUsize::new(0);
    Sink::answering(move |arrived| {
        if header(arrived, "authorization") != "Basic bWU6czNjcmV0" {
            let refusal = json!({ "error": "invalid_client", "error_description": "who is s3cret?" });
            return answer(401, &refusal);
        }
        let number = granted.fetch_add(1, Ordering::Relaxed) + 1;
        answer(200, &json!({
            "access_token": format!("t{number}"), "token_type": "bearer", "expires_in": expires_in,
        }))
    })
    .await
}

fn answer(status: u16, body: &Value) -> Reply {
    let response = Response::builder().status(status).body(Bytes::from(body.to_string()));
    Reply::With(response.expect("an answer"))
}

fn oauth2(token_server: &Sink, client_id: &str) -> Value {
    json!({
        "type": "oauth2_client_credentials", "token_url": format!("{}/token", token_server.base),
        "client_id": client_id, "client_secret": "s3cret", "scope": "write",
    })
}

#[tokio::test]
async fn of_many_webhooks_at_once_one_gets_the_token() {
    let tokens = token_server(3_600).await;
    let sink = Sink::start().await;
    let mut server = Server::start().await;
    let bucket = server.bucket("events").await;
    let auth = oauth2(&tokens, "me");
    let spec = json!({ "name": "sink", "destination": sink.base, "auth": auth });
    let output = server.output(&bucket, spec).await;
    assert_eq!(output["auth"]["client_secret"], "********");
    let path = input_path(&bucket);
    let sending =
        (0..50).map(|number| server.anonymous("POST", &path).body(number.to_string()).send());
    for answer in futures_util::future::join_all(sending).await {
        answer.expect(200);
    }
    let arrived = sink.received(50).await;
    assert!(arrived.iter().all(|arrived| header(arrived, "authorization") == "Bearer t1"));
    let asked = tokens.so_far();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].body, "grant_type=client_credentials&scope=write");
    // An input would refuse it: a webhook that it became would need a token as well.
    assert_eq!(header(&asked[0], "x-webhook-relay-hops"), "999");

    // The server forgets its tokens with its process, and gets another one.
    server.terminate().await;
    let server = server.restart().await;
    server.anonymous("POST", &path).body("again").send().await.expect(200);
    assert_eq!(header(&sink.received(51).await[50], "authorization"), "Bearer t2");
}

#[tokio::test]
async fn a_token_that_expires_is_replaced() {
    let tokens = token_server(1).await;
    let sink = Sink::start().await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let spec = json!({ "name": "sink", "destination": sink.base, "auth": oauth2(&tokens, "me") });
    server.output(&bucket, spec).await;
    let path = input_path(&bucket);
    server.anonymous("POST", &path).body("1").send().await.expect(200);
    sink.received(1).await;
    // The server's own clock decides, which no test of the whole program can move.
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    server.anonymous("POST", &path).body("2").send().await.expect(200);
    let arrived = sink.received(2).await;
    let sent: Vec<_> = arrived.iter().map(|it| header(it, "authorization")).collect();
    assert_eq!(sent, ["Bearer t1", "Bearer t2"]);
}

#[tokio::test]
async fn a_refused_token_is_replaced_within_the_attempt() {
    let tokens = token_server(3_600).await;
    let sink = Sink::answering(|arrived| match header(arrived, "authorization") {
        "Bearer t1" => Reply::Status(401),
        _ => Reply::Status(200),
    })
    .await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let spec = json!({ "name": "sink", "destination": sink.base, "auth": oauth2(&tokens, "me") });
    server.output(&bucket, spec).await;
    server.anonymous("POST", &input_path(&bucket)).body("1").send().await.expect(200);
    let logs = server.ended_logs(1).await;
    assert_eq!((&logs[0]["status"], &logs[0]["status_code"]), (&json!("sent"), &json!(200)));
    let arrived = sink.received(2).await;
    let sent: Vec<_> = arrived.iter().map(|it| header(it, "authorization")).collect();
    assert_eq!(sent, ["Bearer t1", "Bearer t2"]);
    assert_eq!(
        header(&arrived[0], "x-webhook-relay-id"),
        header(&arrived[1], "x-webhook-relay-id")
    );
    assert_eq!(tokens.so_far().len(), 2);
}

#[tokio::test]
async fn a_token_that_is_not_granted_is_an_attempt_that_says_so() {
    let tokens = token_server(3_600).await;
    let sink = Sink::start().await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let spec = json!({
        "name": "sink", "destination": sink.base, "durability": every_second(),
        "auth": oauth2(&tokens, "nobody"),
    });
    let output = server.output(&bucket, spec).await;
    server.anonymous("POST", &input_path(&bucket)).body("1").send().await.expect(200);
    // It is tried again like any other, and sent as soon as the account has mended it.
    tokens.received(2).await;
    assert!(sink.so_far().is_empty());
    let said = "credentials: the token server answered 401: invalid_client";
    assert!(server.log().contains(said), "{}", server.log());
    assert!(!server.log().contains("s3cret"), "{}", server.log());
    let mended = json!({
        "destination": sink.base, "durability": every_second(),
        "auth": { "type": "bearer", "token": "b" },
    });
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    server.request("PUT", &path).json(&mended).send().await.expect(200);
    assert_eq!(header(&sink.received(1).await[0], "authorization"), "Bearer b");
}

#[tokio::test]
async fn credentials_come_after_the_function_and_what_aws_would_sign_is_not_the_senders() {
    let sink = Arc::new(Sink::start().await);
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let function = r#"r:SetRequestBody("changed")
        r:SetRequestHeader("Authorization", "of the function")"#;
    let function = server.function(function).await;
    let auth = json!({
        "type": "aws_sigv4", "access_key_id": "AKIDEXAMPLE", "secret_access_key": "s3cret",
        "region": "eu-central-1", "service": "sqs",
    });
    let spec = json!({
        "name": "sink", "destination": sink.base, "auth": auth, "function_id": id(&function),
        "headers": { "X-Amz-Target": ["AmazonSQS.SendMessage"] },
        "signing": { "secrets": [{ "secret": OLD }] },
    });
    server.output(&bucket, spec).await;
    server
        .anonymous("POST", &input_path(&bucket))
        .header("x-amz-target", "AmazonSQS.DeleteQueue")
        .header("x-amz-acl", "public-read")
        .body("original")
        .send()
        .await
        .expect(200);
    let arrived = sink.received(1).await.remove(0);
    assert_eq!(arrived.body, "changed");
    expect_signed_by(&arrived, &[OLD]);
    assert_eq!(header(&arrived, "x-amz-target"), "AmazonSQS.SendMessage");
    assert_eq!(header(&arrived, "x-amz-acl"), "");
    let authorization = header(&arrived, "authorization");
    let begin = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/";
    assert!(authorization.starts_with(begin), "{authorization}");
    assert!(authorization.contains("/eu-central-1/sqs/aws4_request, SignedHeaders="));
    // What is stored of the webhook has no credentials in it.
    let log = server.ended_logs(1).await.remove(0);
    assert!(!log.to_string().contains("AKIDEXAMPLE"), "{log}");
}
