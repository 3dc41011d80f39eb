use std::{sync::Arc, time::Duration};

use crate::s3::ObjectStore;
use bytes::Bytes;
use http::{Method, StatusCode};
use webhook_core::{
    Timestamp, TokioClock,
    forward::{Answer, ForwardError, ScriptedForwarder},
    model::Secret,
};

use crate::s3::{S3, S3Options};

const NOW: Timestamp = Timestamp::from_millis(1_760_000_000_123);
const BASE: &str = "http://s3.test:9000/bucket/pre/fix";

/// Of the object `k`.
const KEY_URL: &str = "http://s3.test:9000/bucket/pre/fix/k";

fn s3(forwarder: &ScriptedForwarder) -> S3 {
    let options = S3Options {
        url: BASE.parse().expect("an address"),
        region: "us-east-1".to_owned(),
        access_key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
        secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        session_token: Some(Secret::new("t0ken")),
        timeout: Duration::from_secs(5),
    };
    S3::new(options, Arc::new(forwarder.clone()), Arc::new(TokioClock::starting_at(NOW)))
}

fn error(status: StatusCode, code: &str) -> Answer {
    let xml = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>secret</Message></Error>"
    );
    Answer::status(status).body(xml)
}

#[tokio::test(start_paused = true)]
async fn requests_are_path_style_and_signed() {
    let forwarder = ScriptedForwarder::new();
    s3(&forwarder).put("webhooks/a", Bytes::from_static(b"body")).await.expect("it is put");
    let sent = forwarder.requests();
    assert_eq!((sent.len(), &sent[0].method), (1, &Method::PUT));
    assert_eq!(sent[0].url, format!("{BASE}/webhooks/a").as_str());
    assert_eq!(&sent[0].body[..], b"body");
    let headers = &sent[0].headers;
    let digest = "230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5";
    assert_eq!(headers["x-amz-content-sha256"], digest);
    assert_eq!(headers["x-amz-security-token"], "t0ken");
    let authorization = headers["authorization"].to_str().expect("text");
    assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/"));
    assert!(authorization.contains("/us-east-1/s3/aws4_request, SignedHeaders=content-type;host;"));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_told_from_what_cannot_be_read() {
    let forwarder = ScriptedForwarder::new();
    let s3 = s3(&forwarder);
    forwarder.script(KEY_URL, [Answer::ok().body("0123456789")]);
    assert_eq!(s3.get("k", 4).await.expect("read").as_deref(), Some(&b"0123"[..]));
    forwarder.script(KEY_URL, [error(StatusCode::NOT_FOUND, "NoSuchKey")]);
    assert_eq!(s3.get("k", 4).await.expect("it is not there"), None);
    for (status, code) in [
        (StatusCode::NOT_FOUND, "NoSuchBucket"),
        (StatusCode::NOT_FOUND, ""),
        (StatusCode::FORBIDDEN, "AccessDenied"),
        (StatusCode::MOVED_PERMANENTLY, "PermanentRedirect"),
    ] {
        forwarder.script(KEY_URL, [error(status, code)]);
        let error = s3.get("k", 4).await.expect_err(code).to_string();
        assert!(error.contains(status.as_str()) && error.contains(code), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    forwarder.script(KEY_URL, [Answer::status(StatusCode::NO_CONTENT)]);
    s3.delete("k").await.expect("it is deleted");
    forwarder.script(KEY_URL, [error(StatusCode::NOT_FOUND, "NoSuchKey")]);
    s3.delete("k").await.expect("there is nothing");
    forwarder.script(KEY_URL, [error(StatusCode::FORBIDDEN, "AccessDenied")]);
    s3.delete("k").await.expect_err("it may be there");
    assert_eq!(forwarder.requests().len(), 9, "none of them was tried again");
}

#[tokio::test(start_paused = true)]
async fn what_may_go_better_is_tried_three_times() {
    let forwarder = ScriptedForwarder::new();
    let s3 = s3(&forwarder);
    let broken = Answer::error(|| ForwardError::Broken {
        reason: "closed".to_owned(),
        source: None,
        timings: None,
    });
    let busy = error(StatusCode::SERVICE_UNAVAILABLE, "SlowDown");
    forwarder.script(KEY_URL, [busy, broken, Answer::ok()]);
    s3.put("k", Bytes::from_static(b"x")).await.expect("the third time");
    assert_eq!(forwarder.requests().len(), 3);
    forwarder.script(KEY_URL, [Answer::connection_refused()]);
    s3.put("k", Bytes::from_static(b"x")).await.expect_err("nobody is there");
    assert_eq!(forwarder.requests().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn nothing_tells_the_secrets() {
    let shown = format!("{:?}", s3(&ScriptedForwarder::new()));
    assert!(!shown.contains("wJalr") && !shown.contains("t0ken"), "{shown}");
}

#[test]
fn addresses_have_a_bucket_and_nothing_else() {
    use crate::s3::BucketUrl;
    for (text, path) in [
        ("https://s3.eu-central-1.amazonaws.com/b", "/b/webhooks/x"),
        ("http://[::1]:9000/b/p//", "/b/p/webhooks/x"),
    ] {
        let url: BucketUrl = text.parse().expect(text);
        assert_eq!(url.of("webhooks/x").expect("a url").path(), path);
    }
    for wrong in [
        "",
        "b",
        "s3://b",
        "https://host",
        "https://host/",
        "https://user:pass@host/b",
        "https://host/b?x",
        "https://host/b#x",
        "https://host/b//c",
        "https://host/b c",
    ] {
        let error = wrong.parse::<BucketUrl>().expect_err(wrong).to_string();
        assert!(!error.contains("pass@"), "{error}");
    }
}
