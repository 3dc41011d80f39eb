//! A candidate for a function on stored webhooks: the operation and the command.

use serde_json::{Value, json};

use super::harness::{Server, command, default_input, id};

const SAVED: &str = r#"local body = require("json").decode(r.RequestBody)
if body.test then r:StopForwarding() return end
body.email = "***"
r:SetRequestBody(require("json").encode(body))"#;

/// A server with a function at an output. Four webhooks came to it.
async fn world() -> (Server, Value, Value) {
    world_with(&[("WEBHOOK_DEV", "true")]).await
}

async fn world_with(variables: &[(&str, &str)]) -> (Server, Value, Value) {
    let server = Server::start_with(variables).await;
    let function = server.function(SAVED).await;
    let bucket = server.bucket("compared").await;
    let inbox = format!("{}/dev/inbox", server.base);
    let spec = json!({"destination": inbox, "function_id": function["id"]});
    let output = server.output(&bucket, spec).await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    for number in 1..=4 {
        let body = json!({"email": "a@b.c", "number": number, "test": number == 4});
        server.anonymous("POST", &path).json(&body).send().await.expect(200);
        server.ended_logs(number).await;
    }
    (server, function, output)
}

async fn compare(server: &Server, function: &Value, request: Value) -> Value {
    let path = format!("/v1/functions/{}/compare", id(function));
    server.request("POST", &path).json(&request).send().await.expect(200).json()
}

/// The same until one call has compared everything: on a busy machine a call ends earlier.
async fn compare_all(server: &Server, function: &Value, request: Value) -> Value {
    loop {
        let told = compare(server, function, request.clone()).await;
        if told["next_cursor"] == "" {
            return told;
        }
    }
}

#[tokio::test]
async fn it_says_what_a_candidate_does_otherwise() {
    let (server, function, output) = world().await;
    let runs = server.runs(&function).await.len();
    let same = json!({"payload": SAVED, "driver": "lua"});
    let told = compare_all(&server, &function, same).await;
    let expected = json!({"compared": 4, "changed": 3, "unmodified": 0, "stopped": 1, "failed": 0,
        "different": 0, "differences": [], "next_cursor": ""});
    assert_eq!(told, expected);

    // It forgets the e-mail address of the first, fails on the second, and lets the last pass.
    let source = r#"const body = JSON.parse(r.body);
        if (body.number === 2) throw new Error("not two");
        body.email = body.number === 1 ? undefined : "***";
        r.body = JSON.stringify(body);"#;
    let told = compare_all(&server, &function, json!({"payload": source, "driver": "js"})).await;
    assert_eq!(told["compared"], 4, "{told}");
    assert_eq!(
        (&told["changed"], &told["stopped"], &told["failed"]),
        (&json!(3), &json!(0), &json!(1))
    );
    assert_eq!(told["different"], 3, "{told}");
    let [last, second, first] = &told["differences"].as_array().expect("a list")[..] else {
        panic!("the newest first: {told}")
    };
    let outcomes =
        |it: &Value| (it["saved"]["outcome"].clone(), it["candidate"]["outcome"].clone());
    assert_eq!(outcomes(last), (json!("stopped"), json!("success")), "{told}");
    assert_eq!(outcomes(second), (json!("success"), json!("error")), "{told}");
    let error = second["candidate"]["error"].as_str().expect("a reason");
    assert!(error.contains("not two"), "{error}");
    assert_eq!(outcomes(first), (json!("success"), json!("success")), "{told}");
    let change = json!({"part": "body", "name": "email", "from": "\"***\""});
    assert_eq!(first["changes"], json!([change]), "{told}");
    assert_eq!(first["output_id"], output["id"]);
    server.get(&format!("/v1/logs/{}", first["log_id"].as_str().expect("an ID"))).await.expect(200);

    // Nothing of it is recorded or saved.
    assert_eq!(server.runs(&function).await.len(), runs);
    let saved = server.get(&format!("/v1/functions/{}", id(&function))).await.expect(200).json();
    assert_eq!(saved["payload"], SAVED);
}

#[tokio::test]
async fn it_goes_on_where_a_call_has_ended() {
    let (server, function, _) = world().await;
    // A counter. Each call begins with the stored value, which is none.
    let source = r#"r:SetRequestBody(tostring(require("kv").incr("calls")))"#;
    let mut cursor = json!("");
    for compared in [3, 1] {
        let request = json!({"payload": source, "last": 3, "cursor": cursor});
        let told = compare(&server, &function, request).await;
        assert_eq!((&told["compared"], &told["changed"]), (&json!(compared), &json!(compared)));
        assert_eq!(told["differences"][0]["changes"][0]["to"], "1", "{told}");
        cursor = told["next_cursor"].clone();
    }
    assert_eq!(cursor, "");
    let told = compare(&server, &function, json!({"payload": source, "last": 1})).await;
    assert_eq!(told["differences"][0]["changes"][0]["to"], "1", "nothing was kept: {told}");
    let sends = r#"assert(require("http").get("http://127.0.0.1:9"))"#;
    let told = compare(&server, &function, json!({"payload": sends})).await;
    assert_eq!(told["failed"], 4, "{told}");
    let error = told["differences"][0]["candidate"]["error"].as_str().expect("a reason");
    assert!(error.contains("only tried sends no requests"), "{error}");
}

#[tokio::test]
async fn a_call_that_takes_long_goes_on_with_the_next() {
    let variables = [("WEBHOOK_DEV", "true"), ("WEBHOOK_MAX_SEARCH_TIME", "1ms")];
    let (server, function, _) = world_with(&variables).await;
    let slow = "for i = 1, 1000000 do end r:SetRequestBody('{}')";
    let (mut cursor, mut compared) = (json!(""), Vec::new());
    while compared.is_empty() || cursor != "" {
        let told = compare(&server, &function, json!({"payload": slow, "cursor": cursor})).await;
        compared.push(told["compared"].as_u64().expect("a count"));
        cursor = told["next_cursor"].clone();
        assert!(compared.len() <= 10, "it ends: {compared:?}");
    }
    assert_eq!(compared.iter().sum::<u64>(), 4, "{compared:?}");
    assert!(compared.len() >= 4 && compared.iter().all(|count| *count <= 1), "{compared:?}");
}

#[tokio::test]
async fn it_runs_on_all_outputs_of_the_function_and_on_no_erased_webhook() {
    let (server, function, _) = world().await;
    let spec = json!({"destination": format!("{}/dev/inbox", server.base),
        "function_id": function["id"]});
    for (number, ephemeral) in [(5, false), (6, true)] {
        let bucket = json!({"name": format!("bucket {number}"), "ephemeral": ephemeral});
        let made = server.request("POST", "/v1/buckets").json(&bucket).send().await;
        let bucket = made.expect(201).json();
        server.output(&bucket, spec.clone()).await;
        let path = format!("/v1/webhooks/{}", default_input(&bucket));
        server.anonymous("POST", &path).body(r#"{"email":"a@b.c"}"#).send().await.expect(200);
        server.ended_logs(number).await;
    }
    let told = compare(&server, &function, json!({"payload": "r:SetRequestBody('')"})).await;
    assert_eq!((&told["compared"], &told["changed"]), (&json!(5), &json!(5)), "{told}");
}

#[tokio::test]
async fn what_cannot_be_compared_is_refused() {
    let server = Server::start().await;
    let function = server.function(SAVED).await;
    let path = format!("/v1/functions/{}/compare", id(&function));
    for (request, says) in [
        (json!({"payload": "local ="}), "payload"),
        (json!({"payload": SAVED, "last": 0}), "last"),
        (json!({"payload": SAVED, "last": 1001}), "last"),
        (json!({"payload": SAVED, "cursor": "x"}), "cursor"),
        (json!({"payload": SAVED, "driver": "wasm"}), "wasm"),
    ] {
        let answer = server.request("POST", &path).json(&request).send().await;
        answer.expect_error(400, says);
    }
    let nothing = compare(&server, &function, json!({"payload": SAVED})).await;
    assert_eq!(nothing["compared"], 0, "it is attached to no output");
    let none = "/v1/functions/018f2a4c-1f3b-7a10-9c2e-2f1f6f0a8b3d/compare";
    let answer = server.request("POST", none).json(&json!({"payload": SAVED})).send().await;
    answer.expect_error(400, "function");
}

#[tokio::test]
async fn a_file_is_tried_in_the_terminal() {
    let (server, function, _) = world().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = function["name"].as_str().expect("a name");
    let tried = async |source: &str, last: &str| {
        let file = folder.path().join("candidate.lua");
        std::fs::write(&file, source).expect("it can be written");
        let mut command = command(folder.path());
        command.env("WEBHOOK_SERVER_URL", &server.base).env("WEBHOOK_API_KEY", &server.key);
        command.args(["functions", "try"]).arg(&file).args(["--name", name, "--last", last]);
        let output = command.output().await.expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let (well, said, _) = tried(SAVED, "100").await;
    let expected = "4 webhooks: 3 changed, 0 left as they came, 1 stopped, 0 failed\n\
        the saved function does the same with all of them\n";
    assert_eq!((well, &*said), (true, expected));
    let (well, said, error) = tried("error('no')", "2").await;
    assert!(!well && error.contains("it fails on 2 of 2 webhooks"), "{error}");
    assert!(said.contains("  saved: stopped\n  this: error: "), "{said}");
    let (well, said, _) = tried("r:SetRequestBody('{}')", "100").await;
    assert!(well && said.contains("  body email: \"***\" -> nothing\n"), "{said}");
}
