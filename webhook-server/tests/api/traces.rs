//! `/v1/logs/{id}/trace` and `/v1/logs/{id}/explain`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, another_millisecond, default_input, id},
    send,
    sink::{Reply, Sink},
};

fn opened() -> Value {
    json!({"match": {"type": "value", "value": "opened",
        "parameter": {"source": "payload", "name": "action"}}})
}

async fn trace(server: &Server, log: &Value) -> Value {
    server.get(&format!("/v1/logs/{}/trace", id(log))).await.expect(200).json()
}

async fn explain(server: &Server, log: &Value, body: Value) -> Value {
    let path = format!("/v1/logs/{}/explain", id(log));
    server.request("POST", &path).json(&body).send().await.expect(200).json()
}

#[tokio::test]
async fn the_rule_that_decided_is_told_with_the_value_that_it_saw() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let (to, rules) = ("http://127.0.0.1:1", opened());
    let spec = json!({"name": "o", "destination": to, "rules": rules, "retries": -1});
    let output = server.output(&bucket, spec).await;
    send(&server, &bucket, r#"{"action":"closed","token":"t0p"}"#).await;
    let log = server.ended_logs(1).await.remove(0);

    let told = trace(&server, &log).await;
    assert_eq!(told["verdict"], r#"rejected: payload action is "closed", wanted "opened""#);
    assert_eq!((&told["status"], &told["reason"]), (&json!("rejected"), &json!("rules")));
    let rules = &told["rules"];
    assert_eq!((&rules["matched"], &rules["changed_since"]), (&json!(false), &json!(false)));
    assert_eq!(rules["tree"]["actual"], json!(["closed"]));
    assert_eq!(rules["tree"]["decided"], true);
    assert_eq!((&told["attempts"], &told["functions"]), (&json!([]), &json!([])));
    assert_eq!(told["received"]["bytes"], 33);
    let checks = told["checks"].as_array().expect("a list");
    let names: Vec<_> = checks.iter().filter_map(|check| check["check"].as_str()).collect();
    let all = ["bucket_auth", "challenge", "signature", "deduplication", "throttle"];
    assert_eq!(names, all);
    assert!(checks.iter().all(|check| check["outcome"] == "skipped"), "{checks:?}");

    // What other rules would do, and that nothing comes of asking.
    let same = explain(&server, &log, json!({})).await;
    assert_eq!(
        same["verdict"],
        r#"would be rejected: payload action is "closed", wanted "opened""#
    );
    assert_eq!(same["forwarded"], false);
    let other = explain(&server, &log, json!({"rules": {}})).await;
    assert_eq!((&other["forwarded"], &other["output_id"]), (&json!(true), &output["id"]));
    assert!(
        other["verdict"].as_str().is_some_and(|it| it.starts_with("would be sent to the output o"))
    );
    assert_eq!(server.ended_logs(1).await.len(), 1, "nothing was sent");

    assert_eq!(rules["version"], 1);

    // Rules that were changed since are not those that decided, which are still told.
    let path = format!("/v1/buckets/{}/outputs/{}/rules", id(&bucket), id(&output));
    another_millisecond().await;
    server.request("DELETE", &path).send().await.expect(200);
    let later = trace(&server, &log).await;
    assert_eq!(later["verdict"], told["verdict"]);
    assert_eq!(later["rules"]["changed_since"], true);
    for part in ["version", "matched", "text", "tree"] {
        assert_eq!(later["rules"][part], told["rules"][part], "{part}");
    }
    let today = explain(&server, &log, json!({})).await;
    assert_eq!(today["forwarded"], true, "explaining asks today's rules");

    another_millisecond().await;
    send(&server, &bucket, r#"{"action":"closed"}"#).await;
    let logs = server.ended_logs(2).await;
    let newest = logs.iter().find(|other| other["id"] != log["id"]).expect("another");
    let told = trace(&server, newest).await;
    assert_eq!((&told["rules"]["version"], &told["rules"]["matched"]), (&json!(2), &json!(true)));
    assert_eq!(told["rules"]["changed_since"], false);
}

#[tokio::test]
async fn attempts_tell_where_the_time_went_and_why_the_next_is_when_it_is() {
    let sink = Sink::scripted(|number| match number {
        0 => {
            let answer = http::Response::builder().status(503).header("retry-after", "2");
            Reply::With(answer.body(bytes::Bytes::new()).expect("an answer"))
        }
        _ => Reply::Status(200),
    })
    .await;
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    server.output(&bucket, json!({"name": "o", "destination": sink.base})).await;
    send(&server, &bucket, "x").await;
    sink.received(2).await;
    let log = server.ended_logs(1).await.remove(0);
    let told = trace(&server, &log).await;
    assert_eq!(told["verdict"], "sent: the answer was 200 at attempt 2");
    let attempts = told["attempts"].as_array().expect("a list");
    let [first, second] = &attempts[..] else { panic!("two attempts: {told:#}") };
    let address = sink.base.trim_start_matches("http://");
    assert_eq!((&first["number"], &first["trigger"]), (&json!(1), &json!("first")));
    assert_eq!((&first["status_code"], &first["address"]), (&json!(503), &json!(address)));
    assert!(first["connect_ms"].is_f64() && first["tls_ms"].is_null(), "{first}");
    let (total, byte) = (first["total_ms"].as_f64(), first["first_byte_ms"].as_f64());
    assert!(total.zip(byte).is_some_and(|(total, byte)| total >= byte && byte > 0.0), "{first}");
    assert!(first["next_at"].as_f64() > first["at"].as_f64());
    assert_eq!(first["next_because"], "retry_after");
    assert_eq!((&second["trigger"], &second["status_code"]), (&json!("retry"), &json!(200)));
    assert!(second["next_at"].is_null() && told["next_at"].is_null());

    // A failure says in which part.
    let spec = json!({"name": "gone", "destination": "http://127.0.0.1:1/", "retries": -1});
    let gone = server.bucket("gone").await;
    server.output(&gone, spec).await;
    send(&server, &gone, "x").await;
    let logs = server.ended_logs(2).await;
    let log = logs.iter().find(|log| log["status"] == "failed").expect("it failed");
    let told = trace(&server, log).await;
    let last = &told["attempts"][0];
    assert_eq!((&last["error_kind"], &last["address"]), (&json!("connect"), &json!("127.0.0.1:1")));
    assert_eq!(last["error"], "connection failed: connection refused");
    assert_eq!(told["verdict"], "failed after 1 attempts: connection failed: connection refused");
}

#[tokio::test]
async fn what_functions_changed_is_told_as_a_difference() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let input = server.function(r#"r:SetRequestBody('{"id":7,"by":"input"}')"#).await;
    let output = server
        .function(
            r#"r:SetRequestHeader("X-Source", "shop") r:SetRequestBody('{"id":8,"by":"input"}')"#,
        )
        .await;
    server.set_default_input(&bucket, json!({"function_id": id(&input)})).await;
    let spec = json!({"name": "o", "destination": sink.base, "function_id": id(&output)});
    server.output(&bucket, spec).await;
    send(&server, &bucket, r#"{"id":7}"#).await;
    sink.received(1).await;
    let log = server.ended_logs(1).await.remove(0);
    let told = trace(&server, &log).await;
    let functions = told["functions"].as_array().expect("a list");
    let [first, second] = &functions[..] else { panic!("two functions: {told:#}") };
    assert_eq!((&first["at"], &first["function_id"]), (&json!("input"), &input["id"]));
    assert_eq!(first["changes"], json!([{"part": "body", "name": "by", "to": "\"input\""}]));
    assert_eq!((&second["at"], &second["outcome"]), (&json!("output"), &json!("success")));
    let changes = second["changes"].as_array().expect("a list");
    let header = json!({"part": "header", "name": "x-source", "to": "shop"});
    let body = json!({"part": "body", "name": "id", "from": "7", "to": "8"});
    assert!(changes.contains(&header) && changes.contains(&body), "{changes:?}");

    // Another function on the same webhook.
    let stops = server.function("r:StopForwarding()").await;
    let asked = json!({"function_id": id(&stops)});
    let would = explain(&server, &log, asked).await;
    assert_eq!(would["verdict"], "would be rejected: stopped by the output's function");
    assert_eq!(would["function"]["outcome"], "stopped");
    assert_eq!(sink.so_far().len(), 1, "nothing was sent");
}

#[tokio::test]
async fn a_run_without_a_record_is_told_of_without_one() {
    let sink = Sink::start().await;
    let server = Server::start_with(&[("WEBHOOK_FUNCTION_RECORDED_RUNS", "0")]).await;
    let bucket = server.bucket("b").await;
    let input = server.function("local unchanged = r.RequestBody").await;
    let output = server.function(r#"r:SetRequestHeader("X-Source", "shop")"#).await;
    let told_of = async |number: usize| {
        send(&server, &bucket, r#"{"id":7}"#).await;
        sink.received(number).await;
        let log = server.ended_logs(number).await.remove(0);
        (trace(&server, &log).await, log)
    };
    server.set_default_input(&bucket, json!({"function_id": id(&input)})).await;
    let spec = json!({"name": "o", "destination": sink.base, "function_id": id(&output)});
    server.output(&bucket, spec).await;
    another_millisecond().await;
    let (told, log) = told_of(1).await;
    for field in ["input_function_execution_id", "output_function_execution_id"] {
        assert_eq!(log[field], "", "{log:#}");
    }
    let functions = told["functions"].as_array().expect("a list");
    let [first, second] = &functions[..] else { panic!("two functions: {told:#}") };
    for (run, function) in [(first, &input), (second, &output)] {
        assert_eq!(run["note"], "this run was not recorded");
        assert_eq!(run["function_id"], function["id"]);
        assert!(run["execution_id"].is_null(), "{run:#}");
    }
    assert_eq!((&first["outcome"], &second["outcome"]), (&json!("unknown"), &json!("success")));
    let header = json!({"part": "header", "name": "x-source", "to": "shop"});
    assert_eq!(second["changes"], json!([header]));
    let runs = server.get(&format!("/v1/functions/{}/logs", id(&output))).await.expect(200);
    assert_eq!(runs.json()["total"], 0);
    let metrics = server.get("/metrics").await.expect(200).text();
    for line in [
        r#"webhook_function_runs_total{outcome="Success"} 1"#,
        r#"webhook_function_runs_total{outcome="Unmodified"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }

    // A delivery that is sent again has its record.
    let again = json!({"action": "resend", "process_policy": "force"});
    let path = format!("/v1/logs/{}/action", id(&log));
    server.request("POST", &path).json(&again).send().await.expect(200);
    sink.received(2).await;
    let logs = server.ended_logs(2).await;
    let ran = |log: &&Value| log["output_function_execution_id"] != "";
    assert_eq!(logs.iter().filter(ran).count(), 1, "{logs:#?}");
}

#[tokio::test]
async fn of_ephemeral_webhooks_no_values_are_told() {
    let server = Server::start().await;
    let bucket = json!({"name": "e", "ephemeral": true});
    let bucket =
        server.request("POST", "/v1/buckets").json(&bucket).send().await.expect(201).json();
    let spec = json!({"name": "i", "internal": true, "rules": {"not": opened()}});
    server.output(&bucket, spec).await;
    send(&server, &bucket, r#"{"action":"hush-hush"}"#).await;
    let logs = server.get("/v1/logs").await.expect(200).json();
    let log = &logs["data"][0];
    let told = trace(&server, log).await;
    assert_eq!(told["received"]["ephemeral"], true);
    assert_eq!(told["rules"]["tree"]["not"][0]["masked"], true);
    let would = explain(&server, log, json!({"rules": opened()})).await;
    for told in [told.to_string(), would.to_string()] {
        assert!(!told.contains("hush"), "{told}");
    }
    let path = format!("/v1/logs/{}", id(log));
    server.request("PUT", &path).json(&json!({"status": "sent"})).send().await.expect(200);
    let told = trace(&server, log).await;
    assert!(told["rules"].is_null() && told["verdict"] == "sent: a client took it", "{told}");
    let asked = server.request("POST", &format!("{path}/explain")).json(&json!({})).send().await;
    asked.expect_error(412, "erased");
}

#[tokio::test]
async fn refusals_name_what_is_wrong_and_other_accounts_see_nothing() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    send(&server, &bucket, "x").await;
    let logs = server.get("/v1/logs").await.expect(200).json();
    let log = &logs["data"][0];
    let told = trace(&server, log).await;
    assert_eq!(told["verdict"], "waits for a client: the bucket had no output that was enabled");
    let path = format!("/v1/logs/{}/explain", id(log));
    for (body, status, said) in [
        (json!({}), 400, "output: "),
        (json!({"output": "x"}), 400, "output: "),
        (json!({"output": NOBODY}), 404, "output"),
        (json!({"function_id": NOBODY}), 400, "function_id: "),
        (json!({"rules": {"match": {}}}), 400, "rules"),
        (json!([]), 400, ""),
    ] {
        let answer = server.request("POST", &path).json(&body).send().await;
        answer.expect_error(status, said);
    }
    let other = server.account("second").await;
    let other = format!("Bearer {other}");
    let read = format!("/v1/logs/{}/trace", id(log));
    let asked = server.anonymous("GET", &read).header("authorization", &other).send().await;
    asked.expect_error(404, "log");
    let asked = server.anonymous("POST", &path).header("authorization", &other).json(&json!({}));
    asked.send().await.expect_error(404, "log");
    server.get(&format!("/v1/logs/{NOBODY}/trace")).await.expect_error(404, "log");
}

#[tokio::test]
async fn a_pause_is_why_it_waits() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let spec = json!({"name": "shop", "destination": "http://127.0.0.1:1"});
    let output = server.output(&bucket, spec).await;
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    let pause =
        server.request("PUT", &format!("{path}/pause")).json(&json!({"reason": "a deploy"}));
    pause.send().await.expect(200);
    send(&server, &bucket, "x").await;
    let log = server.get("/v1/logs").await.expect(200).json()["data"][0].clone();
    let verdict = async || trace(&server, &log).await["verdict"].as_str().expect("text").to_owned();
    let told = verdict().await;
    assert!(told.starts_with("waits: the output shop is paused since 20"), "{told}");
    assert!(told.ends_with("Z: a deploy"), "{told}");
    // Nobody knows when somebody resumes it; a pause with an end is over then.
    assert_eq!(trace(&server, &log).await["next_at"], Value::Null);
    let ends = log["created_at"].as_i64().expect("a time") + 2 * 24 * 3_600;
    let pause = server.request("PUT", &format!("{path}/pause")).json(&json!({"until": ends}));
    pause.send().await.expect(200);
    assert_eq!(trace(&server, &log).await["next_at"].as_f64(), Some(ends as f64));
    let disabled = json!({"destination": "http://127.0.0.1:1", "disabled": true});
    server.request("PUT", &path).json(&disabled).send().await.expect(200);
    assert_eq!(verdict().await, "waits: the output shop is disabled");
}

/// The status of the answer to a webhook, and what its newest log's trace says of it.
async fn told_of(server: &Server, bucket: &Value, headers: &[(&str, &str)]) -> (u16, Value) {
    let path = format!("/v1/webhooks/{}", default_input(bucket));
    let mut request = server.anonymous("POST", &path).body(r#"{"action":"opened"}"#);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let answer = request.send().await;
    let logs = server.get(&format!("/v1/logs?bucket={}", id(bucket))).await.expect(200).json();
    (answer.status.as_u16(), trace(server, &logs["data"][0]).await)
}

fn check<'a>(told: &'a Value, name: &str) -> &'a Value {
    let mut checks = told["checks"].as_array().expect("a list").iter();
    checks.find(|check| check["check"] == name).expect(name)
}

#[tokio::test]
async fn what_the_sender_got_is_told_with_where_it_came_from() {
    let sink = Sink::scripted(|_| Reply::Status(201)).await;
    let server = Server::start().await;
    let sets = server.function("r:SetResponseStatusCode(218)").await;
    let fails = server.function("error('no')").await;
    let stops = server.function("r:StopForwarding()").await;
    let signature = json!({"provider": "github", "secrets": [{"secret": "s3cret"}]});
    let soon = json!({"enabled": true, "schedule": "seconds", "handoff_after": 300_000_000});
    let gone = json!({"name": "gone", "destination": "http://127.0.0.1:1", "durability": soon});
    let there = json!({"name": "there", "destination": sink.base});
    let any = "anyOutput";
    for (name, input, output, status, from) in [
        ("own", json!({"status_code": 202}), &there, 202, "static"),
        ("function", json!({"function_id": id(&sets)}), &there, 218, "function"),
        ("fails", json!({"function_id": id(&fails)}), &there, 500, "refusal"),
        (
            "stops",
            json!({"function_id": id(&stops), "response_from_output": any}),
            &there,
            200,
            "static",
        ),
        ("output", json!({"response_from_output": any}), &there, 201, "output"),
        ("late", json!({"response_from_output": any}), &gone, 200, "timeout"),
        ("unsigned", json!({"signature": signature}), &there, 401, "refusal"),
    ] {
        let bucket = server.bucket(name).await;
        server.output(&bucket, output.clone()).await;
        server.set_default_input(&bucket, input).await;
        let (got, told) = told_of(&server, &bucket, &[]).await;
        let received = &told["received"];
        assert_eq!(got, status, "{name}");
        assert_eq!(received["answered"], status, "{name}: {told:#}");
        assert_eq!(received["answer_from"], from, "{name}: {told:#}");
        if name == "stops" {
            assert_eq!(told["functions"][0]["outcome"], "stopped", "{told:#}");
        }
        if name == "unsigned" {
            assert_eq!(check(&told, "signature")["outcome"], "failed", "{told:#}");
            assert!(received.get("verified_by").is_none(), "{told:#}");
        }
        // What an input was that is another now is not known.
        another_millisecond().await;
        server.set_default_input(&bucket, json!({"status_code": 299})).await;
        let log = json!({"id": told["log_id"]});
        let later = trace(&server, &log).await["received"].clone();
        assert!(later.get("answered").is_none() && later.get("answer_from").is_none(), "{later}");
    }
}

#[tokio::test]
async fn checks_tell_what_was_asked_before_it_was_sent() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let auth = json!({"type": "token", "token": "t0p"});
    let spec = json!({"name": "b", "auth": auth});
    let bucket = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();
    let throttle = json!({"enabled": true, "mode": "rate", "rate": 5, "interval": "second"});
    let output = json!({"name": "o", "destination": sink.base, "throttle": throttle});
    server.output(&bucket, output).await;
    let signature = json!({"provider": "github", "secrets": [{"secret": "s3cret"}]});
    let spec = json!({"signature": signature, "deduplication": {"content": true}});
    server.set_default_input(&bucket, spec).await;
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"s3cret");
    let tag = ring::hmac::sign(&key, br#"{"action":"opened"}"#);
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let signed = format!("sha256={hex}");
    let headers = [("authorization", "Bearer t0p"), ("x-hub-signature-256", &*signed)];
    let (got, _) = told_of(&server, &bucket, &headers).await;
    assert_eq!(got, 200);
    sink.received(1).await;
    let log = server.ended_logs(1).await.remove(0);
    let told = trace(&server, &log).await;
    assert_eq!(told["received"]["verified_by"], "github");
    for (name, outcome, detail) in [
        ("bucket_auth", "passed", "the sender had the bucket's credentials"),
        ("challenge", "skipped", "the input answers no handshakes"),
        ("signature", "passed", "the signature is the sender's"),
        ("deduplication", "passed", "no duplicate has come"),
    ] {
        let check = check(&told, name);
        assert_eq!((&check["outcome"], &check["detail"]), (&json!(outcome), &json!(detail)));
    }
    let throttle = check(&told, "throttle");
    assert_eq!(throttle["outcome"], "passed");
    assert!(
        throttle["detail"].as_str().is_some_and(|it| it.ends_with(" s for its turn")),
        "{throttle}"
    );
}
