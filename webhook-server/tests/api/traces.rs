//! `/v1/logs/{id}/trace` and `/v1/logs/{id}/explain`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, id},
    second_account, send,
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
    let spec = json!({"name": "o", "destination": "http://127.0.0.1:1", "rules": opened()});
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
    assert_eq!(told["checks"][0]["outcome"], "skipped");

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

    // Rules that were changed since may not be those that decided.
    let path = format!("/v1/buckets/{}/outputs/{}/rules", id(&bucket), id(&output));
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    server.request("DELETE", &path).send().await.expect(200);
    let told = trace(&server, &log).await;
    assert_eq!(told["verdict"], "rejected: stopped by the output's rules");
    assert_eq!(told["rules"]["changed_since"], true);
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
    let other = second_account(&server).await;
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
    let disabled = json!({"destination": "http://127.0.0.1:1", "disabled": true});
    server.request("PUT", &path).json(&disabled).send().await.expect(200);
    assert_eq!(verdict().await, "waits: the output shop is disabled");
}
