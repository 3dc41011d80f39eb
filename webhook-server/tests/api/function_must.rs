//! `function_must`: a function that changes nothing by mistake lets nothing through.

use serde_json::{Value, json};

use super::harness::{Server, default_input, id};

/// Sends `{"email":"a@b.c"}`: what the sender gets.
async fn send(server: &Server, bucket: &Value) -> u16 {
    let path = format!("/v1/webhooks/{}", default_input(bucket));
    server.anonymous("POST", &path).body(r#"{"email":"a@b.c"}"#).send().await.status.as_u16()
}

/// Sends it as the webhook of this number: its log when that has ended.
async fn sent(server: &Server, bucket: &Value, number: usize) -> Value {
    assert_eq!(send(server, bucket).await, 200);
    server.ended_logs(number).await.remove(0)
}

async fn trace(server: &Server, log: &Value) -> Value {
    server.get(&format!("/v1/logs/{}/trace", id(log))).await.expect(200).json()
}

#[tokio::test]
async fn a_redaction_that_does_nothing_is_not_delivered() {
    let server = Server::start_with(&[("WEBHOOK_DEV", "true")]).await;
    let bucket = server.bucket("redacting").await;
    let inbox = format!("{}/dev/inbox", server.base);
    let function = server.function("local body = r.RequestBody").await;
    let spec = json!({"destination": inbox, "function_id": function["id"]});
    let output = server.output(&bucket, spec.clone()).await;
    assert!(output.get("function_must").is_none(), "{output}");

    // It passes as it came, and everything says so.
    let log = sent(&server, &bucket, 1).await;
    assert_eq!(log["status"], "sent", "{log}");
    let run = server.runs(&function).await.remove(0);
    assert_eq!(run["execute_response"]["unmodified"], true, "{run}");
    assert_eq!(trace(&server, &log).await["functions"][0]["outcome"], "unmodified");

    // An update that does not name it keeps it.
    let path = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    let update = async |fields: Value| {
        let mut whole = spec.clone();
        whole.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("too"));
        server.request("PUT", &path).json(&whole).send().await
    };
    update(json!({"function_must": "change"})).await.expect(200);
    assert_eq!(update(json!({})).await.expect(200).json()["function_must"], "change");
    let log = sent(&server, &bucket, 2).await;
    assert_eq!(log["status"], "failed", "{log}");
    let told = trace(&server, &log).await;
    assert_eq!(told["functions"][0]["outcome"], "error", "{told}");
    let error = told["functions"][0]["error"].as_str().expect("a reason");
    assert!(error.contains("changed nothing") && error.contains("function_must"), "{error}");
    let explained = server.request("POST", &format!("/v1/logs/{}/explain", id(&log)));
    let explained = explained.json(&json!({})).send().await.expect(200).json();
    assert_eq!(explained["function"]["outcome"], "error", "{explained}");

    // One that does what it is for, and one that stops the webhook, are as they should be.
    let others = [("r:SetRequestBody('{}')", "sent"), ("r:StopForwarding()", "rejected")];
    for (number, (source, status)) in (3..).zip(others) {
        server.change_function(&function, source).await;
        assert_eq!(sent(&server, &bucket, number).await["status"], status, "{source}");
    }
    update(json!({"function_must": "anything"})).await.expect(200);
    update(json!({"function_must": "nothing"})).await.expect_error(400, "function_must");
}

#[tokio::test]
async fn at_an_input_the_sender_gets_500_and_the_webhook_is_kept() {
    let server = Server::start().await;
    let bucket = server.bucket("redacting").await;
    let function = server.function("local body = r.RequestBody").await;
    let must = json!({"function_id": function["id"], "function_must": "change"});
    server.set_default_input(&bucket, must).await;
    assert_eq!(send(&server, &bucket).await, 500);
    let log = server.ended_logs(1).await.remove(0);
    assert_eq!(log["status"], "failed", "{log}");
    assert_eq!(log["body"], r#"{"email":"a@b.c"}"#);

    // Setting the sender's answer is a change.
    server.change_function(&function, "r:SetResponseStatusCode(202)").await;
    assert_eq!(send(&server, &bucket).await, 202);
}
