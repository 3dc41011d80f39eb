//! What an input found out about a webhook, in rules and functions.

use ring::hmac;

use super::*;

const SECRET: &str = "whsec_the_secret_of_the_repository";
const BODY: &str = r#"{"zen":"Keep it logically awesome."}"#;

fn signature(secret: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let made = hmac::sign(&key, BODY.as_bytes());
    let hex: String = made.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// Makes the bucket's default input verify what GitHub sends.
async fn verify(server: &Server, bucket: &Value, on_failure: &str) {
    let signature = json!({
        "provider": "github", "secrets": [{"secret": SECRET}], "on_failure": on_failure,
    });
    server.set_default_input(bucket, json!({ "signature": signature })).await;
}

async fn post(server: &Server, bucket: &Value, secret: &str, number: usize) -> harness::Answer {
    let request = server.anonymous("POST", &input_path(bucket));
    let request = request.header("x-github-event", "push").header("x-github-delivery", "d-1");
    let request = request.header("x-hub-signature-256", &signature(secret));
    request.header("x-number", &number.to_string()).body(BODY).send().await
}

fn rule(name: &str, value: &str) -> Value {
    let parameter = json!({"source": "webhook", "name": name});
    json!({"match": {"type": "value", "value": value, "parameter": parameter}})
}

#[tokio::test]
async fn rules_ask_what_was_found_out_also_when_a_log_is_sent_again() {
    let (genuine, refuted) = (Sink::start().await, Sink::start().await);
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    verify(&server, &bucket, "mark").await;
    let pushed = json!({"and": [rule("verified", "true"), rule("event", "push")]});
    let genuine_output = json!({"name": "genuine", "destination": genuine.base, "rules": pushed});
    let genuine_output = server.output(&bucket, genuine_output).await;
    let refuted_rule = rule("verified", "false");
    server
        .output(&bucket, json!({"name": "x", "destination": refuted.base, "rules": refuted_rule}))
        .await;
    post(&server, &bucket, SECRET, 1).await.expect(200);
    post(&server, &bucket, "another", 2).await.expect(200);
    assert_eq!(genuine.received(1).await[0].head.headers["x-number"], "1");
    assert_eq!(refuted.received(1).await[0].head.headers["x-number"], "2");

    let logs = server.ended_logs(4).await;
    let sent = |number: &str| {
        let output = genuine_output["id"].clone();
        let own =
            |log: &&Value| log["output_id"] == output && log["headers"]["X-Number"][0] == number;
        logs.iter().find(own).expect("a log").clone()
    };
    // A log of either is asked about again.
    server.resend(&sent("1"), "force").await.expect(200);
    server.resend(&sent("2"), "force").await.expect(200);
    genuine.received(2).await;
    let ended = server.ended_logs(6).await;
    let rejected = ended.iter().filter(|log| log["reason"] == "rules");
    assert_eq!(rejected.count(), 3, "{ended:?}");
    assert_eq!(genuine.so_far().len(), 2);
}

#[tokio::test]
async fn functions_read_what_was_found_out() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let lua = r#"r:SetRequestHeader("X-Lua", tostring(r.Verified) .. " " .. tostring(r.EventType) .. " " .. tostring(r.DuplicateOf))"#;
    let lua = server.function(lua).await;
    let js =
        r#"r.headers["X-Js"] = [r.verified, r.eventType, r.duplicateOf].map(String).join(" ")"#;
    let js = json!({"name": "js", "driver": "js", "payload": js});
    let js = server.function_of(js).await;
    let bucket = server.bucket("events").await;
    verify(&server, &bucket, "mark").await;
    server.set_default_input(&bucket, json!({ "function_id": id(&lua) })).await;
    let output = json!({"name": "o", "destination": sink.base, "function_id": id(&js)});
    server.output(&bucket, output).await;
    let shown = async |number: usize| {
        let arrived = sink.received(number).await.remove(number - 1);
        let header = |name: &str| arrived.head.headers[name].to_str().expect("text").to_owned();
        (header("x-lua"), header("x-js"))
    };
    post(&server, &bucket, SECRET, 1).await.expect(200);
    assert_eq!(shown(1).await, ("true push nil".to_owned(), "true push undefined".to_owned()));
    post(&server, &bucket, "another", 2).await.expect(200);
    assert_eq!(
        shown(2).await,
        ("false nil nil".to_owned(), "false undefined undefined".to_owned())
    );

    // The output's function runs anew on what the log says.
    let logs = server.ended_logs(2).await;
    let first = logs.iter().find(|log| log["headers"]["X-Number"][0] == "1").expect("a log");
    server.resend(first, "force").await.expect(200);
    assert_eq!(shown(3).await.1, "true push undefined");

    // An input that does not verify knows nothing.
    let unverified = json!({ "signature": null, "function_id": id(&lua) });
    server.set_default_input(&bucket, unverified).await;
    post(&server, &bucket, SECRET, 3).await.expect(200);
    assert_eq!(
        shown(4).await,
        ("nil nil nil".to_owned(), "undefined undefined undefined".to_owned())
    );
}

#[tokio::test]
async fn a_function_that_ran_is_tried_with_what_it_read() {
    let server = Server::start().await;
    let source = "print(r.Verified, r.EventType, r.DuplicateOf)";
    let function = server.function(source).await;
    let log = "01890a5d-ac96-774b-bcce-b302099a8057";
    let given = json!({"request": {"verified": false, "event": "push", "duplicate_of": log}});
    let answer = server.invoke(&function, given).await;
    assert_eq!(answer["logs"], json!([format!("false\tpush\t{log}")]));
    let run = server.runs(&function).await[0].clone();
    let again = server.invoke(&function, run["execute_request"].clone()).await;
    assert_eq!(again["logs"], answer["logs"]);
    let nothing = server.invoke(&function, json!({"request": {"verified": null}})).await;
    assert_eq!(nothing["logs"], json!(["nil\tnil\tnil"]));
    let path = format!("/v1/functions/{}/invoke", id(&function));
    for (field, value) in
        [("verified", json!("yes")), ("event", json!(7)), ("duplicate_of", json!("a log"))]
    {
        let request = json!({"request": {field: value}});
        let refused = server.request("POST", &path).json(&request).send().await;
        refused.expect_error(400, field);
    }
}

/// A duplicate goes nowhere by itself; its log is sent again by force only, without the body,
/// which is not kept.
#[tokio::test]
async fn a_duplicate_that_is_sent_again_says_whose_it_is() {
    let (all, ruled) = (Sink::start().await, Sink::start().await);
    let server = Server::start().await;
    let lua = server.function(r#"r:SetRequestHeader("X-Lua", r.DuplicateOf or "none")"#).await;
    let bucket = server.bucket("events").await;
    let deduplication = json!({"key": [{"source": "header", "name": "X-GitHub-Delivery"}]});
    server.set_default_input(&bucket, json!({ "deduplication": deduplication })).await;
    let output = json!({"name": "all", "destination": all.base, "function_id": id(&lua)});
    server.output(&bucket, output).await;
    for number in 1..=2 {
        post(&server, &bucket, SECRET, number).await.expect(200);
    }
    let first = all.received(1).await.remove(0);
    assert_eq!(
        (first.head.headers["x-lua"].to_str().expect("text"), &first.body[..]),
        ("none", BODY.as_bytes())
    );
    let logs = server.ended_logs(2).await;
    let duplicate = logs.iter().find(|log| log["reason"] == "duplicate").expect("a log");
    let told = duplicate["duplicate_of"].as_str().expect("a log").to_owned();
    let output =
        json!({"name": "x", "destination": ruled.base, "rules": rule("duplicate_of", &told)});
    server.output(&bucket, output).await;
    server.resend(duplicate, "skip").await.expect_error(412, "a duplicate");
    server.resend(duplicate, "force").await.expect(200);
    let again = all.received(2).await.remove(1);
    assert_eq!(
        (again.head.headers["x-lua"].to_str().expect("text"), again.body.len()),
        (&*told, 0)
    );
    assert_eq!(ruled.received(1).await[0].head.headers["x-number"], "2");
}
