//! The destinations of `docs/destinations.md`: each output and its function, through the
//! real server, to a destination of the test's own that looks at what comes.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::Path,
    process::Stdio,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Method, Response};

use super::*;
use crate::sink::{Arrived, Reply};

const BODY: &str = r#"{"id": "a/b", "type": "order.paid", "name": "Grüße & Küsse"}"#;
const ACCOUNT_KEY: &str = include_str!("../../../webhook-core/src/credentials/token/test_key.pem");

/// What a section of the page says: the output, and its function.
fn section(title: &str) -> (Value, String) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/destinations.md");
    let page = fs::read_to_string(page).expect("the page");
    let section = page.split("\n## ").find(|section| section.starts_with(title));
    let section = section.unwrap_or_else(|| panic!("no section {title}"));
    let block = |kind: &str| {
        let (_, rest) = section.split_once(&format!("```{kind}\n")).expect("a block");
        rest.split_once("\n```").expect("its end").0.to_owned()
    };
    (serde_json::from_str(&block("json")).expect("JSON"), block("js"))
}

/// Sends a webhook by what a section says, to here instead of there, from a sender who would
/// like to choose what is done.
async fn sent(title: &str) -> Arrived {
    let sink = Sink::answering(|arrived| match arrived.head.uri.path() {
        "/token" => {
            let granted = json!({ "access_token": "granted", "expires_in": 3_599 });
            Reply::With(Response::new(Bytes::from(granted.to_string())))
        }
        _ => Reply::Status(200),
    })
    .await;
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let (mut spec, source) = section(title);
    let function = json!({ "name": "f", "payload": source, "driver": "js" });
    spec["function_id"] = server.function_of(function).await["id"].clone();
    let destination = spec["destination"].as_str().expect("a URL");
    let path = destination.splitn(4, '/').nth(3).expect("a path");
    spec["destination"] = json!(format!("{}/{path}", sink.base));
    if spec["auth"]["type"] == "gcp_service_account" {
        let account = json!({
            "type": "service_account", "client_email": "me@project.iam.gserviceaccount.com",
            "private_key": ACCOUNT_KEY, "token_uri": format!("{}/token", sink.base),
        });
        spec["auth"]["service_account"] = json!(account.to_string());
    }
    server.output(&bucket, spec).await;
    let address = format!("{}/further?Action=Delete", input_path(&bucket));
    let request = server.anonymous("POST", &address).header("x-amz-target", "Delete");
    request.header("x-amz-copy-source", "b/secret").body(BODY).send().await.expect(200);
    let log = server.ended_logs(1).await.remove(0);
    assert_eq!(log["status"], "sent", "{title}: {log}");
    let last = sink.so_far().pop().expect("it was sent");
    assert_eq!(last.head.uri.query(), None, "{title}");
    last
}

fn header<'a>(arrived: &'a Arrived, name: &str) -> &'a str {
    arrived.head.headers.get(name).map_or("", |value| value.to_str().expect("text"))
}

fn json_of(arrived: &Arrived) -> Value {
    serde_json::from_slice(&arrived.body).expect("JSON")
}

/// That AWS's own code signs this request alike; where botocore is not installed, that it is
/// signed at all, whose making AWS's test suite holds in webhook_core::credentials.
fn expect_signed(arrived: &Arrived, service: &str) {
    const CODE: &str = "
import json, sys
try:
    import botocore.auth, botocore.awsrequest, botocore.credentials
except ImportError:
    print('skipped: botocore is not installed'); sys.exit()
sent = json.load(sys.stdin)
given = sent['headers']['authorization']
names = given.split('SignedHeaders=')[1].split(',')[0].split(';')
kind = botocore.auth.S3SigV4Auth if sent['service'] == 's3' else botocore.auth.SigV4Auth
key = botocore.credentials.Credentials('AKIDEXAMPLE', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')
auth = kind(key, sent['service'], 'eu-central-1')
headers = {name: sent['headers'][name] for name in names}
request = botocore.awsrequest.AWSRequest(sent['method'], sent['url'], headers=headers, data=sent['body'].encode())
request.context['timestamp'] = headers['x-amz-date']
request.context['payload_signing_enabled'] = True
canonical = auth.canonical_request(request)
signature = auth.signature(auth.string_to_sign(request, canonical), request)
print(given.endswith('Signature=' + signature) or canonical)
";
    assert!(!arrived.head.headers.contains_key("x-amz-copy-source"));
    let authorization = header(arrived, "authorization");
    let scope = format!("/eu-central-1/{service}/aws4_request, SignedHeaders=");
    assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"));
    assert!(authorization.contains(&scope), "{authorization}");
    let headers = arrived.head.headers.iter();
    let headers: std::collections::BTreeMap<_, _> =
        headers.map(|(name, value)| (name.as_str(), value.to_str().expect("text"))).collect();
    let text = std::str::from_utf8(&arrived.body).expect("text");
    let url = format!("http://{}{}", header(arrived, "host"), arrived.head.uri);
    let sent = json!({
        "method": arrived.head.method.as_str(), "url": url, "headers": headers, "body": text,
        "service": service,
    });
    let python = std::process::Command::new("python3")
        .args(["-c", CODE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut python = match python {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("skipped: python3 is not installed");
            return;
        }
        python => python.expect("it starts"),
    };
    let mut input = python.stdin.take().expect("its input");
    input.write_all(sent.to_string().as_bytes()).expect("it reads");
    drop(input);
    let output = python.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    match said.trim() {
        "True" => {}
        skipped if skipped.starts_with("skipped") => println!("{skipped}"),
        canonical => panic!("{service}: AWS would sign\n{canonical}"),
    }
}

#[tokio::test]
async fn sqs() {
    let arrived = sent("Amazon SQS").await;
    assert_eq!((&arrived.head.method, arrived.head.uri.path()), (&Method::POST, "/"));
    assert_eq!(header(&arrived, "x-amz-target"), "AmazonSQS.SendMessage");
    assert_eq!(header(&arrived, "content-type"), "application/x-amz-json-1.0");
    let queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders";
    assert_eq!(json_of(&arrived), json!({ "QueueUrl": queue, "MessageBody": BODY }));
    expect_signed(&arrived, "sqs");
}

#[tokio::test]
async fn sns() {
    let arrived = sent("Amazon SNS").await;
    assert_eq!((&arrived.head.method, arrived.head.uri.path()), (&Method::POST, "/"));
    assert_eq!(header(&arrived, "content-type"), "application/x-www-form-urlencoded");
    let form: Vec<(String, String)> =
        url::form_urlencoded::parse(&arrived.body).into_owned().collect();
    let expected = [
        ("Action", "Publish"),
        ("Version", "2010-03-31"),
        ("TopicArn", "arn:aws:sns:eu-central-1:123456789012:orders"),
        ("Message", BODY),
    ];
    assert_eq!(form, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    expect_signed(&arrived, "sns");
}

#[tokio::test]
async fn eventbridge() {
    let arrived = sent("Amazon EventBridge").await;
    assert_eq!((&arrived.head.method, arrived.head.uri.path()), (&Method::POST, "/"));
    assert_eq!(header(&arrived, "x-amz-target"), "AWSEvents.PutEvents");
    assert_eq!(header(&arrived, "content-type"), "application/x-amz-json-1.1");
    let entry = json!({
        "EventBusName": "default", "Source": "webhooks.shop", "DetailType": "order.paid",
        "Detail": BODY,
    });
    assert_eq!(json_of(&arrived), json!({ "Entries": [entry] }));
    expect_signed(&arrived, "events");
}

#[tokio::test]
async fn lambda() {
    let arrived = sent("AWS Lambda").await;
    let path = "/2015-03-31/functions/orders/invocations";
    assert_eq!((&arrived.head.method, arrived.head.uri.path()), (&Method::POST, path));
    assert_eq!(header(&arrived, "x-amz-invocation-type"), "Event");
    let payload = json_of(&arrived);
    assert_eq!(payload["body"], serde_json::from_str::<Value>(BODY).expect("JSON"));
    assert!(payload["headers"].is_object(), "{payload}");
    expect_signed(&arrived, "lambda");
}

#[tokio::test]
async fn s3() {
    let arrived = sent("Amazon S3").await;
    assert_eq!((&arrived.head.method, &arrived.body[..]), (&Method::PUT, BODY.as_bytes()));
    let path = arrived.head.uri.path();
    assert!(path.starts_with("/webhooks/20") && path.ends_with("/a_b.json"), "{path}");
    assert_eq!(header(&arrived, "x-amz-content-sha256").len(), 64);
    expect_signed(&arrived, "s3");
}

#[tokio::test]
async fn pubsub() {
    let arrived = sent("Google Cloud Pub/Sub").await;
    let path = "/v1/projects/shop/topics/orders:publish";
    assert_eq!((&arrived.head.method, arrived.head.uri.path()), (&Method::POST, path));
    assert_eq!(header(&arrived, "authorization"), "Bearer granted");
    let message = json!({ "data": STANDARD.encode(BODY), "attributes": { "method": "POST" } });
    assert_eq!(json_of(&arrived), json!({ "messages": [message] }));
}
