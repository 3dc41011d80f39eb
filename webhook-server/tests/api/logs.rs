//! `/v1/logs`

use std::{collections::HashSet, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, default_input, id},
    send,
    sink::{Reply, Sink},
};

/// The logs that this query finds, and the whole answer.
async fn list(server: &Server, query: &str) -> (Vec<Value>, Value) {
    let page = server.get(&format!("/v1/logs?{query}")).await.expect(200).json();
    (page["data"].as_array().expect("data").clone(), page)
}

fn bodies(logs: &[Value]) -> Vec<&str> {
    logs.iter().map(|log| log["body"].as_str().expect("text")).collect()
}

/// The newest log once it is final.
async fn settled(server: &Server, count: usize) -> Value {
    for _ in 0..600 {
        let (logs, _) = list(server, "").await;
        let last = logs.first().cloned().unwrap_or_default();
        let waits = |log: &Value| log["status"] == "received" || log["status"] == "preparing";
        if logs.len() == count && !logs.iter().any(waits) {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the deliveries were not settled in time");
}

#[tokio::test]
async fn pages_follow_one_another_newest_first() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    for body in ["1", "2", "3", "4", "5"] {
        send(&server, &bucket, body).await;
    }
    let (logs, page) = list(&server, "").await;
    assert_eq!(bodies(&logs), ["5", "4", "3", "2", "1"]);
    let mut fields: Vec<_> = page.as_object().expect("an object").keys().cloned().collect();
    fields.sort();
    assert_eq!(fields, ["data", "limit", "next_cursor", "offset", "total"]);
    assert_eq!(
        (&page["total"], &page["limit"], &page["offset"], &page["next_cursor"]),
        (&json!(5), &json!(25), &json!(0), &json!(""))
    );

    let (mut seen, mut query) = (Vec::new(), "limit=2".to_owned());
    loop {
        let (logs, page) = list(&server, &query).await;
        assert_eq!((&page["total"], &page["limit"]), (&json!(5), &json!(2)));
        assert!(logs.len() <= 2);
        seen.extend(logs.iter().map(|log| log["body"].as_str().expect("text").to_owned()));
        // What comes in between does not move the pages.
        send(&server, &server.bucket(&format!("between-{}", seen.len())).await, "x").await;
        match page["next_cursor"].as_str().expect("text") {
            "" => break,
            cursor => query = format!("limit=2&bucket={}&cursor={cursor}", id(&bucket)),
        }
        if seen.len() == 2 {
            query = query.replace("limit=2&", "limit=2&offset=0&");
        }
    }
    assert_eq!(seen, ["5", "4", "3", "2", "1"]);
    let (logs, page) = list(&server, &format!("bucket={}&offset=3&limit=9", id(&bucket))).await;
    assert_eq!(bodies(&logs), ["2", "1"]);
    assert_eq!((&page["offset"], &page["total"]), (&json!(3), &json!(5)));
}

#[tokio::test]
async fn filters() {
    let server = Server::start().await;
    let (first, second) = (server.bucket("first").await, server.bucket("second").await);
    send(&server, &first, "a").await;
    send(&server, &second, "b").await;
    let (logs, _) = list(&server, "").await;
    let path = format!("/v1/logs/{}", id(&logs[0]));
    server.request("PUT", &path).json(&json!({"status": "failed"})).send().await.expect(200);

    let created = logs[0]["created_at"].as_i64().expect("unix seconds");
    for (query, expected) in [
        (format!("bucket={}", id(&first)), &["a"][..]),
        ("bucket=second".to_owned(), &["b"]),
        ("status=failed".to_owned(), &["b"]),
        ("status=2".to_owned(), &["b"]),
        ("status=received".to_owned(), &["a"]),
        ("status=4&bucket=second".to_owned(), &[]),
        (format!("from={}", created - 60), &["b", "a"]),
        (format!("from={}&to={created}", created - 60), &["b", "a"]),
        (format!("from={}", created + 60), &[]),
        (format!("to={}", created - 60), &[]),
        ("from=2020-01-01&to=2099-12-31".to_owned(), &["b", "a"]),
        ("to=2020-01-01T00:00:00Z".to_owned(), &[]),
        ("bucket=&status=&from=&to=&cursor=&limit=&offset=".to_owned(), &["b", "a"]),
    ] {
        let (logs, page) = list(&server, &query).await;
        assert_eq!(bodies(&logs), expected, "{query}");
        assert_eq!(page["total"], expected.len(), "{query}");
    }
    let (none, page) = list(&server, "offset=10000").await;
    assert_eq!((none.len(), &page["total"]), (0, &json!(2)), "the most that can be skipped");
}

#[tokio::test]
async fn bad_queries_are_refused_by_name() {
    let server = Server::start().await;
    for (query, said) in [
        ("limit=0", "limit: "),
        ("limit=101", "limit: "),
        ("limit=ten", "limit: "),
        ("offset=-1", "offset: "),
        ("offset=10001", "offset: must be a whole number from 0 to 10000; further on use cursor"),
        ("cursor=yesterday", "cursor: "),
        ("status=lost", "status: "),
        ("status=6", "status: "),
        ("from=tomorrow", "from: "),
        ("to=2024-02-31", "to: "),
        ("limit=1&limit=2", "query: "),
    ] {
        server.get(&format!("/v1/logs?{query}")).await.expect_error(400, said);
    }
    for bucket in ["nobody", NOBODY] {
        let path = format!("/v1/logs?bucket={bucket}");
        server.get(&path).await.expect_error(404, "bucket: ");
    }
    for (path, said) in [
        ("/v1/logs-stats?from=x", "from: "),
        ("/v1/logs-stats?from=2020-01-01&to=2024-01-01", "from: "),
        ("/v1/logs-stats?from=2024-01-02&to=2024-01-01", "from: "),
        ("/v1/logs/histogram?to=x", "to: "),
        ("/v1/logs/histogram?output_id=x", "output_id: "),
        ("/v1/logs/histogram?status=x", "status: "),
        ("/v1/logs/histogram?status_code=1000", "status_code: "),
        ("/v1/logs/histogram?from=2024-01-01&to=2024-01-31", "from: "),
    ] {
        server.get(path).await.expect_error(400, said);
    }
    server.get("/v1/logs-stats?bucketId=nobody").await.expect_error(404, "bucketId: ");
    server.get("/v1/logs/histogram?bucket_id=nobody").await.expect_error(404, "bucket_id: ");
}

#[tokio::test]
async fn a_log_has_every_field() {
    let sink = Sink::scripted(|_| {
        let answer = http::Response::builder().status(201).header("x-answer", "yes");
        Reply::With(answer.body(bytes::Bytes::from_static(b"\xff\x00")).expect("an answer"))
    })
    .await;
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"name": "o", "destination": sink.base})).await;
    let path = format!("/v1/webhooks/{}/extra/path?q=1", default_input(&bucket));
    let webhook = server.anonymous("PUT", &path).header("x-asked", "a").body(vec![0xfe, 0xff]);
    webhook.send().await.expect(200);
    let listed = settled(&server, 1).await;

    let log = server.get(&format!("/v1/logs/{}", id(&listed))).await.expect(200).json();
    assert_eq!(log, listed);
    let in_bucket = format!("/v1/buckets/{}/logs/{}", id(&bucket), id(&listed));
    assert_eq!(server.get(&in_bucket).await.expect(200).json(), log);
    for (field, expected) in [
        ("account_id", bucket["account_id"].clone()),
        ("bucket_id", bucket["id"].clone()),
        ("input_id", json!(default_input(&bucket))),
        ("output_id", output["id"].clone()),
        ("internal", json!(false)),
        ("status", json!("sent")),
        ("status_code", json!(201)),
        ("method", json!("PUT")),
        ("extra_path", json!("/extra/path")),
        ("raw_query", json!("q=1")),
        ("body", json!(STANDARD.encode([0xfe, 0xff]))),
        ("body_encoding", json!("base64")),
        ("ip_address", json!("127.0.0.1")),
        ("response_body", json!(STANDARD.encode([0xff, 0x00]))),
        ("retries", json!(0)),
        ("ephemeral", json!(false)),
        ("input_function_execution_id", json!("")),
        ("output_function_execution_id", json!("")),
    ] {
        assert_eq!(log[field], expected, "{field}");
    }
    assert_eq!(log["headers"]["X-Asked"], json!(["a"]));
    assert_eq!(log["response_headers"]["X-Answer"], json!(["yes"]));
    for field in ["duration_ms", "created_at", "updated_at"] {
        assert!(log[field].is_u64(), "{field}");
    }
    // And no field that the document does not know.
    let document = server.anonymous("GET", "/openapi.json").send().await.expect(200).json();
    let known = document["components"]["schemas"]["Log"]["properties"].as_object().expect("Log");
    let found: HashSet<_> = log.as_object().expect("an object").keys().collect();
    assert!(found.iter().all(|field| known.contains_key(*field)), "{found:?}");
}

#[tokio::test]
async fn what_is_missing_or_somebody_elses_is_404() {
    let mut server = Server::start().await;
    let (bucket, other) = (server.bucket("b").await, server.bucket("other").await);
    send(&server, &bucket, "mine").await;
    let (logs, _) = list(&server, "").await;
    let log = id(&logs[0]);
    server.terminate().await;
    let second = server.account("second").await;
    let server = server.restart().await;
    let report = json!({"status": "sent"});
    let action = json!({"action": "resend"});
    for (key, log, bucket) in [
        (&server.key, NOBODY, id(&bucket)),
        (&server.key, "no-id", id(&bucket)),
        (&second, log, id(&bucket)),
    ] {
        let bearer = format!("Bearer {key}");
        for (method, path, body) in [
            ("GET", format!("/v1/logs/{log}"), &Value::Null),
            ("GET", format!("/v1/buckets/{bucket}/logs/{log}"), &Value::Null),
            ("PUT", format!("/v1/logs/{log}"), &report),
            ("POST", format!("/v1/logs/{log}/action"), &action),
        ] {
            let request = server.anonymous(method, &path).header("authorization", &bearer);
            request.json(body).send().await.expect_error(404, "not found");
        }
    }
    let path = format!("/v1/buckets/{}/logs/{log}", id(&other));
    server.get(&path).await.expect_error(404, "log not found");
    for path in ["/v1/logs", "/v1/logs-stats", "/v1/logs/histogram", "/v1/events"] {
        let request = server.anonymous("GET", path);
        let answer = request.header("authorization", &format!("Bearer {second}")).send().await;
        let answer = answer.expect(200);
        assert!(!answer.text().contains(log), "{path}");
        server.anonymous("GET", path).send().await.expect_error(401, "unauthorized");
    }
    let (logs, _) = list(&server, "").await;
    assert_eq!(logs[0]["status"], "received", "nobody touched it");
}

#[tokio::test]
async fn reports_are_kept_once() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    server.output(&bucket, json!({"name": "laptop", "internal": true})).await;
    for (report, status, code) in [
        (json!({"status_code": 200}), "sent", 200),
        (json!({"status_code": 300}), "sent", 300),
        (json!({"status_code": 301}), "failed", 301),
        (json!({"status": "", "status_code": 503}), "failed", 503),
        (json!({}), "failed", 0),
        (json!({"status": "sent", "status_code": 500}), "sent", 500),
        (json!({"status": 2, "response_headers": null, "response_body": null}), "failed", 0),
        (json!({"status": "stalled"}), "stalled", 0),
        (json!({"status": "rejected"}), "rejected", 0),
    ] {
        send(&server, &bucket, "x").await;
        let (logs, _) = list(&server, "limit=1").await;
        assert_eq!((&logs[0]["status"], &logs[0]["internal"]), (&json!("received"), &json!(true)));
        let path = format!("/v1/logs/{}", id(&logs[0]));
        let answer = server.request("PUT", &path).json(&report).send().await.expect(200).json();
        assert_eq!((&answer["status"], &answer["status_code"]), (&json!(status), &json!(code)));
        assert_eq!(server.get(&path).await.expect(200).json(), answer);
    }

    send(&server, &bucket, "x").await;
    let (logs, _) = list(&server, "limit=1").await;
    let path = format!("/v1/logs/{}", id(&logs[0]));
    let report = json!({
        "status_code": 202,
        "response_body": STANDARD.encode("done"),
        "response_headers": {"x-one": ["a", "b"], "x-two": "c"},
        "retries": 3,
        "duration_ms": 41,
    });
    let first = server.request("PUT", &path).json(&report).send().await.expect(200).json();
    assert_eq!(first["response_body"], report["response_body"]);
    assert_eq!(first["response_headers"], json!({"X-One": ["a", "b"], "X-Two": ["c"]}));
    assert_eq!((&first["retries"], &first["duration_ms"]), (&json!(3), &json!(41)));
    // A second final report is ignored, and that is no error.
    let again = json!({"status": "failed", "status_code": 500});
    let second = server.request("PUT", &path).json(&again).send().await.expect(200).json();
    assert_eq!(second, first);

    for (report, said) in [
        ("[]", "body: "),
        (r#"{"status":"lost"}"#, "status: "),
        (r#"{"status":6}"#, "status: "),
        (r#"{"status_code":1000}"#, "status_code: "),
        (r#"{"status_code":"200"}"#, "status_code: "),
        (r#"{"response_body":"%"}"#, "response_body: "),
        (r#"{"response_headers":{"a b":"c"}}"#, "response_headers"),
        (r#"{"retries":-1}"#, "retries: "),
        (r#"{"duration_ms":1.5}"#, "duration_ms: "),
    ] {
        server.request("PUT", &path).body(report).send().await.expect_error(400, said);
    }
    // As long an answer as a waiting sender could get.
    let long = json!({"status_code": 200, "response_body": STANDARD.encode(vec![0; 3 << 20])});
    server.request("PUT", &path).json(&long).send().await.expect(200);
    let too_long = vec![b' '; 6 << 20];
    server.request("PUT", &path).body(too_long).send().await.expect_error(413, "body: ");
}

#[tokio::test]
async fn a_report_answers_the_sender_that_waits() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    server.output(&bucket, json!({"name": "laptop", "internal": true})).await;
    let path = format!("/v1/buckets/{}/inputs", id(&bucket));
    let input = json!({"name": "asking", "response_from_output": "anyOutput"});
    let input = server.request("POST", &path).json(&input).send().await.expect(201).json();
    let path = format!("/v1/webhooks/{}", id(&input));
    let sender = server.anonymous("POST", &path).body("ask").send();
    let client = async {
        loop {
            let (logs, _) = list(&server, "").await;
            if let Some(log) = logs.first() {
                let path = format!("/v1/logs/{}", id(log));
                let body = STANDARD.encode("from the laptop");
                let headers = json!({"X-From": ["laptop"]});
                let report = json!({"status_code": 418, "status": "sent", "response_body": body,
                    "response_headers": headers});
                server.request("PUT", &path).json(&report).send().await.expect(200);
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (answer, ()) = tokio::join!(sender, client);
    let answer = answer.expect(418);
    assert_eq!((answer.text().as_str(), answer.header("x-from")), ("from the laptop", "laptop"));
}

#[tokio::test]
async fn resend_skips_or_forces_the_rules() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"name": "o", "destination": sink.base})).await;
    send(&server, &bucket, "again").await;
    sink.received(1).await;
    let log = settled(&server, 1).await;
    let action = format!("/v1/logs/{}/action", id(&log));

    // Rules that let nothing pass from now on.
    let rules = json!({"match": {"type": "value", "value": "never",
        "parameter": {"source": "raw-request-body"}}});
    let path = format!("/v1/buckets/{}/outputs/{}/rules", id(&bucket), id(&output));
    server.request("PUT", &path).json(&rules).send().await.expect(200);
    let skip = json!({"action": "resend", "process_policy": "skip"});
    let answer = server.request("POST", &action).json(&skip).send().await.expect(200).json();
    assert_eq!(answer["id"], log["id"]);
    let arrived = sink.received(2).await;
    assert_eq!((&arrived[1].body[..], arrived[1].head.method.as_str()), (&b"again"[..], "POST"));
    let relay_id = "x-webhook-relay-id";
    assert_ne!(arrived[0].head.headers[relay_id], arrived[1].head.headers[relay_id]);
    let second = settled(&server, 2).await;
    assert_eq!(second["status"], "sent");

    let force = json!({"action": "resend", "process_policy": "force"});
    server.request("POST", &action).json(&force).send().await.expect(200);
    assert_eq!(settled(&server, 3).await["status"], "rejected");
    assert_eq!(sink.so_far().len(), 2);

    // To another output.
    let elsewhere = Sink::start().await;
    let spec = json!({"name": "else", "destination": elsewhere.base});
    let other = server.output(&bucket, spec.clone()).await;
    let to_other = json!({"action": "resend", "output": id(&other)});
    server.request("POST", &action).json(&to_other).send().await.expect(200);
    assert_eq!(elsewhere.received(1).await[0].body, "again");

    for (body, said) in [
        (json!({}), "action: "),
        (json!({"action": "delete"}), "action: "),
        (json!({"action": "resend", "process_policy": "maybe"}), "process_policy: "),
        (json!({"action": "resend", "output": "no-id"}), "output: "),
    ] {
        server.request("POST", &action).json(&body).send().await.expect_error(400, said);
    }
    let nowhere = json!({"action": "resend", "output": NOBODY});
    server.request("POST", &action).json(&nowhere).send().await.expect_error(404, "output");
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&other));
    let disabled = json!({"destination": elsewhere.base, "disabled": true});
    server.request("PUT", &path).json(&disabled).send().await.expect(200);
    server.request("POST", &action).json(&to_other).send().await.expect_error(412, "disabled");
}

#[tokio::test]
async fn ephemeral_content_is_gone_after_the_outcome() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let spec = json!({"name": "b", "ephemeral": true});
    let bucket = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();
    server.output(&bucket, json!({"name": "o", "destination": sink.base})).await;
    let path = format!("/v1/webhooks/{}?secret=query", default_input(&bucket));
    let webhook = server.anonymous("POST", &path).header("x-secret", "header").body("secret body");
    webhook.send().await.expect(200);
    assert_eq!(sink.received(1).await[0].body, "secret body");
    let log = settled(&server, 1).await;
    assert_eq!(log["ephemeral"], true);
    assert_eq!(
        (&log["body"], &log["raw_query"], &log["headers"]),
        (&json!(""), &json!(""), &json!({}))
    );
    let action = format!("/v1/logs/{}/action", id(&log));
    let resend = json!({"action": "resend"});
    server.request("POST", &action).json(&resend).send().await.expect_error(412, "erased");
}

#[tokio::test]
async fn days_and_minutes_are_counted() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"name": "laptop", "internal": true})).await;
    for report in [
        json!({"status_code": 200, "duration_ms": 10}),
        json!({"status_code": 500, "retries": 2, "duration_ms": 30}),
    ] {
        send(&server, &bucket, "x").await;
        let (logs, _) = list(&server, "limit=1").await;
        let path = format!("/v1/logs/{}", id(&logs[0]));
        server.request("PUT", &path).json(&report).send().await.expect(200);
    }
    send(&server, &bucket, "waits").await;
    send(&server, &server.bucket("other").await, "elsewhere").await;

    // The test may run over midnight or the end of a minute: sums do not.
    let sum = |entries: &Value, field: &str| -> u64 {
        let entries = entries.as_array().expect("a list");
        entries.iter().map(|entry| entry[field].as_u64().expect(field)).sum()
    };
    let days = server.get(&format!("/v1/logs-stats?bucketId={}", id(&bucket))).await;
    let days = days.expect(200).json();
    for (field, expected) in [
        ("received", 3),
        ("success", 1),
        ("failures", 1),
        ("retried", 1),
        ("retry_count", 2),
        ("max_retries", 2),
    ] {
        assert_eq!(sum(&days, field), expected, "{field}");
    }
    let day = days[0]["day"].as_str().expect("a day");
    assert!(day.len() == 10 && day.starts_with("20"), "{day}");
    let all = server.get("/v1/logs-stats").await.expect(200).json();
    assert_eq!(sum(&all, "received"), 4);
    let past = server.get("/v1/logs-stats?from=2020-01-01&to=2020-02-01").await.expect(200);
    assert_eq!(past.json(), json!([]));

    let path = format!("/v1/logs/histogram?bucket_id=b&output_id={}", id(&output));
    let minutes = server.get(&path).await.expect(200).json();
    assert_eq!(minutes["resolution"], "1m");
    let entries = &minutes["buckets"];
    assert_eq!(sum(entries, "total"), 3);
    let count = |status: &str| -> u64 {
        let entries = entries.as_array().expect("a list");
        entries.iter().filter_map(|entry| entry["counts"][status].as_u64()).sum()
    };
    assert_eq!((count("sent"), count("failed"), count("received")), (1, 1, 1));
    assert_eq!(sum(entries, "retry_count"), 2);
    let minute = entries[0]["minute"].as_i64().expect("unix seconds");
    assert!(minute > 1_700_000_000 && minute % 60 == 0, "{minute}");
    assert!(entries[0]["latency_ms_avg"].as_f64().is_some_and(|ms| (10.0..=30.0).contains(&ms)));
    for (filter, expected) in [("status=failed", 1), ("status_code=200", 1), ("status=1", 1)] {
        let path = format!("/v1/logs/histogram?{filter}");
        let minutes = server.get(&path).await.expect(200).json();
        assert_eq!(sum(&minutes["buckets"], "total"), expected, "{filter}");
    }
}

#[tokio::test]
async fn old_logs_go_by_themselves() {
    let server = Server::start_with(&[("WEBHOOK_LOG_RETENTION", "1s")]).await;
    let bucket = server.bucket("b").await;
    send(&server, &bucket, "old").await;
    for _ in 0..600 {
        let (logs, page) = list(&server, "").await;
        if page["total"] == 0 {
            assert_eq!(logs, [] as [Value; 0]);
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the log was not removed in time");
}

#[tokio::test]
async fn a_bucket_keeps_its_logs_for_a_shorter_time() {
    // Of logs that are kept for so long the server looks once an hour, unless it is woken.
    let server = Server::start_with(&[("WEBHOOK_LOG_RETENTION", "40000s")]).await;
    let (short, long) = (server.bucket("short").await, server.bucket("long").await);
    let sink = Sink::scripted(|_| Reply::Status(400)).await;
    let spec = json!({"destination": sink.base, "retries": -1});
    server.output(&short, spec).await;
    let path = format!("/v1/buckets/{}", id(&short));
    let second = 1_000_000_000_i64;
    let put = async |retention: Value| {
        let spec = json!({"name": "short", "retention": retention});
        server.request("PUT", &path).json(&spec).send().await
    };
    for (retention, named) in [
        (json!([]), "retention"),
        (json!({}), "retention: "),
        (json!({"logs": 0, "failed": 0}), "retention: "),
        (json!({"days": 1}), "retention"),
        (json!({"logs": "1d"}), "retention"),
        (json!({"logs": -1}), "retention"),
        (json!({"logs": second - 1}), "retention.logs: "),
        (json!({"logs": 40_000 * second + 1}), "retention.logs: "),
        (json!({"failed": 40_001 * second}), "retention.failed: "),
    ] {
        put(retention).await.expect_error(400, named);
    }
    let kept = json!({"logs": second, "failed": 99 * second});
    assert_eq!(put(kept.clone()).await.expect(200).json()["retention"], kept);
    // Official clients write whole buckets, without what they do not know.
    let renamed = server.request("PUT", &path).json(&json!({"description": "d"})).send().await;
    assert_eq!(renamed.expect(200).json()["retention"], kept);

    send(&server, &short, "fails").await;
    settled(&server, 1).await;
    send(&server, &long, "stays").await;
    // Of what did not fail, too: a webhook without an output waits for clients.
    let outputs = server.get(&path).await.expect(200).json();
    let output = id(&outputs["outputs"][0]).to_owned();
    server.request("DELETE", &format!("{path}/outputs/{output}")).send().await.expect(200);
    send(&server, &short, "goes").await;
    for _ in 0..200 {
        let (logs, _) = list(&server, "").await;
        if logs.len() == 2 {
            assert_eq!(bodies(&logs), ["stays", "fails"]);
            let reset = put(Value::Null).await.expect(200).json();
            assert!(reset.get("retention").is_none(), "{reset}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the log was not removed in time");
}

/// Stores three webhooks that differ in everything a search asks for.
async fn searchable(server: &Server) -> Value {
    let bucket = server.bucket("searched").await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    for (method, rest, event, body) in [
        ("POST", "/orders?page=2", "push", r#"{"action": "Opened", "id": 4711}"#),
        ("PUT", "/orders/items", "ping", r#"{"action": "closed", "id": 4712}"#),
        ("POST", "", "push", "plain text"),
    ] {
        let request = server.anonymous(method, &format!("{path}{rest}"));
        let request = request.header("X-Event", event).header("Content-Type", "application/json");
        request.body(body.to_owned()).send().await.expect(200);
    }
    bucket
}

#[tokio::test]
async fn a_search_finds_what_passes_every_filter() {
    let server = Server::start().await;
    let bucket = searchable(&server).await;
    let input = default_input(&bucket);
    let [opened, closed, plain] = [
        r#"{"action": "Opened", "id": 4711}"#,
        r#"{"action": "closed", "id": 4712}"#,
        "plain text",
    ];
    for (query, expected) in [
        ("method=put", vec![closed]),
        ("path=/ORDERS", vec![closed, opened]),
        ("header=x-event:pus", vec![plain, opened]),
        ("header=X-Event:", vec![plain, closed, opened]),
        ("payload=action:open", vec![opened]),
        ("search=page%3D2", vec![opened]),
        ("search=PLAIN", vec![plain]),
        ("search=x-event:%20ping", vec![closed]),
        ("search=471", vec![closed, opened]),
        ("search=471&method=POST", vec![opened]),
        ("search=471&bucket=searched&status=received", vec![closed, opened]),
        ("search=nowhere", vec![]),
        ("status_code=5xx", vec![]),
        ("min_duration=1s", vec![]),
        ("verified=true", vec![]),
        ("verified=false&reason=signature", vec![]),
        (&*format!("input={input}"), vec![plain, closed, opened]),
        (&*format!("output={input}"), vec![]),
    ] {
        let (logs, page) = list(&server, query).await;
        assert_eq!(bodies(&logs), expected, "{query}");
        assert_eq!(
            (&page["complete"], &page["next_cursor"]),
            (&json!(true), &json!("")),
            "{query}"
        );
        assert_eq!(page["total"], expected.len(), "{query}");
    }

    let (first, page) = list(&server, "search=471&limit=1").await;
    assert_eq!((bodies(&first), &page["complete"]), (vec![closed], &json!(false)));
    assert_eq!(page["scanned_until"], first[0]["created_at"]);
    let cursor = page["next_cursor"].as_str().expect("text");
    let (second, _) = list(&server, &format!("search=471&limit=1&cursor={cursor}")).await;
    assert_eq!(bodies(&second), [opened]);
}

#[tokio::test]
async fn a_filter_that_cannot_be_read_is_named() {
    let server = Server::start().await;
    for (query, named) in [
        ("method=GE%20T", "method: "),
        ("status_code=6xx", "status_code: "),
        ("status_code=ok", "status_code: "),
        ("input=here", "input: "),
        ("output=there", "output: "),
        ("min_duration=long", "min_duration: "),
        ("reason=sent", "reason: must be one of rules, "),
        ("verified=yes", "verified: must be true or false"),
        ("header=X-Event", "header: must be Name:text"),
        ("header=X%20Y:z", "header: "),
        ("payload=action", "payload: must be path:text"),
        (&*format!("payload={}:x", "a.".repeat(100)), "payload: "),
        ("search=ab", "search: must be 3 to 256 bytes long"),
        (&*format!("search={}", "a".repeat(257)), "search: "),
        ("search=abc&offset=1", "offset: "),
        ("search=abc&limit=0", "limit: "),
        ("search=abc&search=def", "query: "),
    ] {
        let answer = server.get(&format!("/v1/logs?{query}")).await.expect(400);
        assert!(answer.text().contains(named), "{query}: {}", answer.text());
    }
    // What is empty says nothing.
    let (_, page) = list(&server, "search=&method=&status_code=").await;
    assert!(page.get("complete").is_none());
}

#[tokio::test]
async fn a_search_that_stops_early_goes_on_until_it_is_complete() {
    let server = Server::start_with(&[("WEBHOOK_MAX_SEARCH_BYTES", "1")]).await;
    searchable(&server).await;
    let (mut found, mut calls, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let (logs, page) = list(&server, &format!("search=471&cursor={cursor}")).await;
        found.extend(bodies(&logs).into_iter().map(str::to_owned));
        calls += 1;
        if page["complete"] == true {
            break;
        }
        cursor = page["next_cursor"].as_str().expect("text").to_owned();
    }
    assert_eq!((found.len(), calls), (2, 4));
}
