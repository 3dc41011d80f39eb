use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::{HeaderName, HeaderValue, StatusCode};
use webhook_core::{
    forward::{Answer, ScriptedForwarder},
    function::{FunctionError, FunctionRuntime, ScriptLimits},
};

use super::fixture::{complete, invocation, runtime};
use crate::js::JsRuntime;

fn sending(forwarder: &ScriptedForwarder) -> JsRuntime {
    sending_within(Duration::from_secs(20), forwarder)
}

fn sending_within(total_time: Duration, forwarder: &ScriptedForwarder) -> JsRuntime {
    let mut limits = ScriptLimits::default();
    (limits.total_time, limits.http_response_bytes) = (total_time, 100);
    let builder = JsRuntime::builder().limits(limits).computing(2);
    builder.forwarder(Arc::new(forwarder.clone())).build().expect("threads")
}

#[tokio::test]
async fn requests_are_sent_and_answers_read() {
    let forwarder = ScriptedForwarder::new();
    let answer = Answer::status(StatusCode::CREATED)
        .body("h\u{e9}")
        .header(HeaderName::from_static("x-a"), HeaderValue::from_static("1"))
        .header(HeaderName::from_static("set-cookie"), HeaderValue::from_static("c=d; Path=/"));
    forwarder.script("http://example.com/a?q=x+y", [answer]);
    let left = complete(
        &sending(&forwarder),
        r#"
        const a = http.post("http://example.com/a", { query: { q: "x y" }, headers: { "X-T": 1 }, body: { n: 1 },
            auth: { user: "me", pass: "pw" }, timeout: "500ms" });
        const b = await http.get("http://example.com/b");
        r.body = JSON.stringify([a.status_code, a.statusCode, a.body, a.body_size, a.headers["X-A"], a.headers["x-a"],
            a.cookies.c, a.url, [...a.bodyBytes], b.statusCode, b.body]);
        "#,
    )
    .await;
    let expected = "[201,201,\"h\u{e9}\",3,\"1\",\"1\",\"d\",\"http://example.com/a?q=x+y\",[104,195,169],200,\"\"]";
    assert_eq!(left.result.expect("answers").request.body, expected);
    let requests = forwarder.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[0].method.as_str(), &requests[0].body[..]), ("POST", &br#"{"n":1}"#[..]));
    assert_eq!(requests[0].headers["x-t"], "1");
    assert_eq!(requests[0].headers["authorization"], "Basic bWU6cHc=");
    assert_eq!(requests[0].timeout, Duration::from_millis(500));
}

#[tokio::test]
async fn a_batch_is_sent_at_once_and_each_entry_has_its_answer() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script("http://example.com/1", [Answer::ok().body("one")]);
    forwarder.script("http://example.com/2", [Answer::connection_refused()]);
    let script = r#"
        const answers = http.requestBatch([["GET", "http://example.com/1"], ["GET", "http://example.com/2"],
            ["GET", "ftp://example.com"], { method: "PUT", url: "http://example.com/1", body: "x" }]);
        r.body = answers.map((a) => a.error ?? a.body).join("|");"#;
    let left = complete(&sending(&forwarder), script).await.result.expect("answers");
    let body = String::from_utf8_lossy(&left.request.body).into_owned();
    assert!(body.starts_with("one|http: connection failed: connection refused|http: "), "{body}");
    assert!(body.ends_with("|one"), "{body}");
}

#[tokio::test]
async fn what_fails_throws() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script("http://example.com/no", [Answer::connection_refused()]);
    forwarder.script("http://example.com/long", [Answer::ok().body("x".repeat(101))]);
    let runtime = sending(&forwarder);
    for (source, expected) in [
        ("http.get('http://example.com/no')", "connection refused"),
        ("http.get('http://example.com/long')", "over the limit of 100 bytes"),
        ("http.get('nowhere')", "http: "),
        ("http.get()", "expected a text"),
    ] {
        let error = complete(&runtime, source).await.result.expect_err(source).to_string();
        assert!(error.starts_with("function:1: ") && error.contains(expected), "{error}");
    }
    let many = "for (let i = 0; i < 11; i++) http.get('http://example.com')";
    let error = complete(&runtime, many).await.result;
    assert_eq!(error, Err(FunctionError::Limit("http calls, at most 10".to_owned())));
    let none = complete(&self::runtime(), "http.get('http://example.com')").await.result;
    assert!(none.expect_err("no forwarder").to_string().contains("may not send requests"));
}

#[tokio::test]
async fn who_waits_keeps_nobody_from_computing() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script("http://example.com/slow", [Answer::ok().held()]);
    let runtime = sending(&forwarder);
    let waiting = invocation("http.get('http://example.com/slow')");
    let waits = (0..8).map(|_| runtime.run(waiting.clone()));
    let others = async {
        forwarder.received(8).await;
        let mut own = invocation("time.sleep(0.01); r.body = 'x'");
        own.account_id = waiting.account_id;
        let started = Instant::now();
        for _ in 0..5 {
            runtime.run(own.clone()).await.result.expect("runs");
        }
        let took = started.elapsed();
        forwarder.release();
        took
    };
    let (waited, took) = futures_util::join!(futures_util::future::join_all(waits), others);
    assert!(took < Duration::from_secs(10), "{took:?}");
    for completion in waited {
        completion.result.expect("answered after all");
    }
}

#[tokio::test]
async fn waiting_ends_at_the_deadline() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script("http://example.com/never", [Answer::ok().held()]);
    let runtime = sending_within(Duration::from_millis(1500), &forwarder);
    for source in
        ["try { http.get('http://example.com/never') } catch {} r.body = 'x'", "time.sleep(60)"]
    {
        let started = Instant::now();
        let result = complete(&runtime, source).await.result;
        assert_eq!(
            result,
            Err(FunctionError::Limit("total time of 1500 ms".to_owned())),
            "{source}"
        );
        assert!(started.elapsed() < Duration::from_millis(2500), "{source}");
    }
}
