//! Functions on the way of a webhook.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::*;
use crate::{
    harness::{Client, id},
    sink::Reply,
};

/// The example of the interface: only POST passes.
const ONLY_POST: &str = r#"
if r.RequestMethod ~= "POST" then
    r:StopForwarding()
    return
end
"#;

/// A server with a bucket, whose outputs go to one sink each.
async fn with_sinks(specs: &[Value]) -> (Server, Value, Vec<Sink>) {
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let mut sinks = Vec::new();
    for (number, spec) in specs.iter().enumerate() {
        let sink = Sink::start().await;
        let mut spec = spec.clone();
        spec["name"] = json!(format!("sink-{number}"));
        spec["destination"] = json!(sink.base);
        server.output(&bucket, spec).await;
        sinks.push(sink);
    }
    (server, bucket, sinks)
}

async fn set_output(server: &Server, bucket: &Value, number: usize, mut spec: Value) {
    let path = format!("/v1/buckets/{}", id(bucket));
    let output = server.get(&path).await.expect(200).json()["outputs"][number].clone();
    spec["destination"] = output["destination"].clone();
    let path = format!("{path}/outputs/{}", id(&output));
    server.request("PUT", &path).json(&spec).send().await.expect(200);
}

async fn post(server: &Server, bucket: &Value, body: &str) -> harness::Answer {
    server.anonymous("POST", &input_path(bucket)).body(body.to_owned()).send().await
}

fn body_of(side: &Value) -> String {
    let bytes = STANDARD.decode(side["body"].as_str().expect("base64")).expect("base64");
    String::from_utf8(bytes).expect("text")
}

#[tokio::test]
async fn an_input_function_changes_the_webhook_for_all_and_sets_the_answer() {
    let (server, bucket, sinks) = with_sinks(&[json!({}), json!({})]).await;
    let function = server
        .function(
            r#"
            local order = require("json").decode(r.RequestBody)
            r:SetRequestBody("order " .. order.id)
            r:SetRequestMethod("PUT")
            r:SetRequestPath("/added")
            r:SetRequestRawQuery("by=" .. r.Metadata["input_name"]:sub(1, 7))
            r:SetRequestHeader("X-Bucket", r.Metadata["bucket_name"])
            r:DeleteRequestHeader("X-Secret")
            r:SetResponseStatusCode(202)
            r:SetResponseHeader("X-Answer", "yes")
            r:SetResponseBody("thanks for " .. order.id)
            print("seen", order.id)
            "#,
        )
        .await;
    server.set_default_input(&bucket, json!({ "function_id": id(&function) })).await;
    let request = server.anonymous("POST", &input_path(&bucket)).header("x-secret", "s");
    let answer = request.body(r#"{"id":7}"#).send().await.expect(202);
    assert_eq!((answer.text().as_str(), answer.header("x-answer")), ("thanks for 7", "yes"));
    for sink in &sinks {
        let arrived = sink.received(1).await.remove(0);
        assert_eq!((arrived.head.method.as_str(), &arrived.body[..]), ("PUT", &b"order 7"[..]));
        assert_eq!(arrived.head.uri, "/added?by=Default");
        assert_eq!(arrived.head.headers["x-bucket"], "events");
        assert!(!arrived.head.headers.contains_key("x-secret"));
    }
    let logs = server.ended_logs(2).await;
    assert_eq!(logs[0]["body"], "order 7");
    let run = logs[0]["input_function_execution_id"].as_str().expect("an ID");
    assert_eq!(logs[1]["input_function_execution_id"], run, "it ran once");
    let run = server.get(&format!("/v1/exec-logs/{run}")).await.expect(200).json();
    assert_eq!((&run["status"], &run["function_id"]), (&json!("success"), &function["id"]));
    assert!(run["duration"].as_i64().is_some_and(|nanoseconds| nanoseconds > 0));
    let (before, after) = (&run["execute_request"], &run["execute_response"]);
    assert_eq!(body_of(&before["request"]), r#"{"id":7}"#);
    assert_eq!(body_of(&after["request"]), "order 7");
    assert_eq!(
        (&after["request_modified"], &after["response_modified"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(after["response"]["status"], 202);
    assert_eq!(after["logs"], json!(["seen\t7"]));
    assert_eq!(after["error"], "");
}

#[tokio::test]
async fn an_input_function_stops_everything() {
    let (server, bucket, sinks) = with_sinks(&[json!({}), json!({})]).await;
    let function = server.function(ONLY_POST).await;
    let spec = json!({ "function_id": id(&function), "status_code": 204 });
    server.set_default_input(&bucket, spec).await;
    server.anonymous("GET", &input_path(&bucket)).send().await.expect(204);
    let logs = server.ended_logs(2).await;
    for log in &logs {
        assert_eq!((&log["status"], &log["method"]), (&json!("rejected"), &json!("GET")));
        assert_eq!(log["error"], "stopped by the input function");
    }
    assert_eq!(server.runs(&function).await[0]["execute_response"]["stop_forwarding"], true);
    // What passes comes after it, and alone.
    post(&server, &bucket, "passes").await.expect(204);
    for sink in &sinks {
        assert_eq!(sink.received(1).await[0].body, "passes");
    }
    // Its owner may send it anyway.
    server.resend(&logs[0], "skip").await.expect(200);
    server.ended_logs(5).await;
    let all: Vec<_> = sinks.iter().flat_map(Sink::so_far).collect();
    assert_eq!(all.iter().filter(|arrived| arrived.head.method == "GET").count(), 1);
}

#[tokio::test]
async fn an_output_function_is_its_outputs_own() {
    let (server, bucket, sinks) = with_sinks(&[json!({}), json!({}), json!({})]).await;
    let only_post = server.function(ONLY_POST).await;
    let marks = r#"r:SetRequestBody(r.Metadata["output_name"] .. ": " .. r.RequestBody)"#;
    let marks = server.function(marks).await;
    set_output(&server, &bucket, 0, json!({ "function_id": id(&only_post) })).await;
    set_output(&server, &bucket, 1, json!({ "function_id": id(&marks) })).await;
    server.anonymous("PUT", &input_path(&bucket)).body("a").send().await.expect(200);
    post(&server, &bucket, "b").await.expect(200);
    let bodies = async |number: usize, count: usize| {
        let arrived = sinks[number].received(count).await;
        let mut bodies: Vec<_> = arrived.into_iter().map(|arrived| arrived.body).collect();
        bodies.sort();
        bodies
    };
    assert_eq!(bodies(0, 1).await, ["b"]);
    assert_eq!(bodies(1, 2).await, ["sink-1: a", "sink-1: b"]);
    assert_eq!(bodies(2, 2).await, ["a", "b"]);
    let logs = server.ended_logs(6).await;
    let rejected: Vec<_> = logs.iter().filter(|log| log["status"] == "rejected").collect();
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["error"], "stopped by the output's function");
    let run = rejected[0]["output_function_execution_id"].as_str().expect("an ID");
    let run = server.get(&format!("/v1/exec-logs/{run}")).await.expect(200).json();
    assert_eq!(run["execute_response"]["stop_forwarding"], true);
    assert_eq!(run["execute_request"]["request"]["metadata"]["output_name"], "sink-0");
    assert_eq!(sinks[0].so_far().len(), 1, "what was stopped did not come late");
}

#[tokio::test]
async fn retries_send_the_same_bytes_and_resends_as_they_are_told() {
    let sink = Sink::scripted(|number| Reply::Status([503, 503, 200][number.min(2)])).await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let source = r#"r:SetRequestBody(r.RequestBody .. " " .. math.random(1, 2 ^ 53 // 1))"#;
    let function = server.function(source).await;
    let (second, function_id) = (1_000_000_000_u64, id(&function));
    let durability = json!({
        "enabled": true, "schedule": "custom", "custom_delays": [second], "deadline": 3600 * second,
    });
    let spec = json!({
        "name": "sink", "destination": sink.base, "durability": durability,
        "function_id": function_id,
    });
    server.output(&bucket, spec).await;
    post(&server, &bucket, "dice").await.expect(200);
    let arrived = sink.received(3).await;
    let body = arrived[0].body.clone();
    assert!(body.starts_with(b"dice ") && arrived.iter().all(|arrived| arrived.body == body));
    let log = server.ended_logs(1).await.remove(0);
    assert_eq!((&log["status"], &log["retries"]), (&json!("sent"), &json!(2)));
    assert_eq!(log["body"], String::from_utf8_lossy(&body).into_owned());
    assert_eq!(server.runs(&function).await.len(), 1, "it ran once");

    server.resend(&log, "skip").await.expect(200);
    assert_eq!(sink.received(4).await[3].body, body);
    assert_eq!(server.runs(&function).await.len(), 1, "what was sent is sent again");
    server.resend(&log, "force").await.expect(200);
    let again = sink.received(5).await[4].body.clone();
    assert!(again.starts_with(b"dice ") && again != body, "{again:?}");
    server.ended_logs(3).await;
    assert_eq!(server.runs(&function).await.len(), 2);
}

#[tokio::test]
async fn a_response_function_changes_what_is_recorded() {
    let answer = http::Response::builder().status(200).header("x-from", "sink");
    let answer = answer.body("card 4111".into()).expect("an answer");
    let sink = Sink::scripted(move |_| Reply::With(answer.clone())).await;
    let server = Server::start().await;
    let bucket = server.bucket("events").await;
    let source = r#"
        local from = r.ResponseHeader["X-From"] .. " " .. r.ResponseStatusCode
        r:SetResponseBody(from .. ": " .. r.ResponseBody:gsub("%d", "*"))
        r:SetResponseHeader("X-Seen", r.RequestBody)
        r:SetResponseStatusCode(299)
    "#;
    let function = server.function(source).await;
    let spec = json!({
        "name": "sink", "destination": sink.base, "response_function_id": id(&function),
    });
    server.output(&bucket, spec).await;
    post(&server, &bucket, "asked").await.expect(200);
    let log = server.ended_logs(1).await.remove(0);
    assert_eq!((&log["status"], &log["status_code"]), (&json!("sent"), &json!(299)));
    assert_eq!(log["response_body"], STANDARD.encode("sink 200: card ****"));
    assert_eq!(log["response_headers"]["X-Seen"], json!(["asked"]));
    let run = server.runs(&function).await.remove(0);
    assert_eq!(body_of(&run["execute_request"]["response"]), "card 4111");

    // One that fails says so; the webhook has been sent nevertheless.
    server.change_function(&function, "error('no good')").await;
    post(&server, &bucket, "again").await.expect(200);
    let log = server.ended_logs(2).await.remove(0);
    assert_eq!((&log["status"], &log["status_code"]), (&json!("sent"), &json!(200)));
    let error = log["error"].as_str().expect("text");
    assert!(error.starts_with("the response function failed: ") && error.contains("no good"));
}

#[tokio::test]
async fn an_input_function_that_fails_keeps_the_webhook() {
    let (server, bucket, sinks) = with_sinks(&[json!({})]).await;
    let source = "local body = r.RequestBody\nerror('broken ' .. body)";
    let function = server.function(source).await;
    server.set_default_input(&bucket, json!({ "function_id": id(&function) })).await;
    let answer = post(&server, &bucket, "kept").await;
    let answer = answer.expect_error(500, "the input's function failed");
    assert!(!answer.text().contains("broken"), "the reason is the account's");
    let failed = server.ended_logs(1).await.remove(0);
    assert_eq!((&failed["status"], &failed["body"]), (&json!("failed"), &json!("kept")));
    let error = failed["error"].as_str().expect("text");
    assert_eq!(error, "the input's function failed: function:2: broken kept");
    let run = server.runs(&function).await.remove(0);
    assert_eq!(
        (&run["status"], &run["id"]),
        (&json!("error"), &failed["input_function_execution_id"])
    );
    assert_eq!(run["execute_response"]["error"], "function:2: broken kept");

    // Through the function again, which still fails, and then does not.
    server.resend(&failed, "force").await.expect_error(412, "broken kept");
    assert_eq!(server.ended_logs(1).await.len(), 1, "it is kept already");
    server.change_function(&function, "r:SetRequestBody('mended ' .. r.RequestBody)").await;
    server.resend(&failed, "force").await.expect(200);
    assert_eq!(sinks[0].received(1).await[0].body, "mended kept");
    let sent = server.ended_logs(2).await.remove(0);
    assert_eq!((&sent["status"], &sent["body"]), (&json!("sent"), &json!("mended kept")));
    // As it came, if its owner wants that.
    server.resend(&failed, "skip").await.expect(200);
    assert_eq!(sinks[0].received(2).await[1].body, "kept");
    // A function that answered well is not run again.
    let runs = server.runs(&function).await.len();
    server.resend(&sent, "force").await.expect(200);
    assert_eq!(sinks[0].received(3).await[2].body, "mended kept");
    assert_eq!(server.runs(&function).await.len(), runs);
}

#[tokio::test]
async fn an_output_function_that_fails_fails_its_delivery() {
    let (server, bucket, sinks) = with_sinks(&[json!({}), json!({})]).await;
    let function = server.function("return").await;
    set_output(&server, &bucket, 0, json!({ "function_id": id(&function) })).await;
    for (number, (source, reason)) in [
        ("local t = nil\nreturn t.field", "function:2: attempt to index"),
        ("while true do end", "limit exceeded: "),
        ("return ('x'):rep(2 ^ 40 // 1)", "limit exceeded: "),
    ]
    .into_iter()
    .enumerate()
    {
        server.change_function(&function, source).await;
        post(&server, &bucket, source).await.expect(200);
        sinks[1].received(number + 1).await;
        // Each round leaves three: failed, its other output's, and the one sent again.
        let logs = server.ended_logs(3 * number + 2).await;
        let failed = logs[..2].iter().find(|log| log["status"] == "failed").expect("it failed");
        let error = failed["error"].as_str().expect("text");
        let said = format!("the output's function failed: {reason}");
        assert!(error.starts_with(&said), "{source}: {error}");
        assert_eq!((&failed["body"], &failed["retries"]), (&json!(source), &json!(0)));
        let run = server.runs(&function).await.remove(0);
        assert_eq!(run["id"], failed["output_function_execution_id"]);
        assert_eq!(run["status"], "error");
        assert_eq!(body_of(&run["execute_response"]["request"]), source);
        assert_eq!(sinks[0].so_far().len(), number, "nothing was sent");

        server.change_function(&function, "r:SetRequestHeader('X-Mended', 'yes')").await;
        server.resend(failed, "force").await.expect(200);
        let arrived = sinks[0].received(number + 1).await.remove(number);
        assert_eq!(arrived.body, source);
        assert_eq!(arrived.head.headers["x-mended"], "yes");
        assert_eq!(server.ended_logs(3 * number + 3).await[0]["status"], "sent");
    }
}

#[tokio::test]
async fn variables_are_read_fresh_and_logged_nowhere() {
    let (mut server, bucket, sinks) = with_sinks(&[json!({})]).await;
    let function = server.function("r:SetRequestHeader('X-Token', cfg:GetValue('TOKEN'))").await;
    set_output(&server, &bucket, 0, json!({ "function_id": id(&function) })).await;
    let path = format!("/v1/functions/{}/config", id(&function));
    for (number, value) in ["first-secret-value", "second-secret-value"].iter().enumerate() {
        let variable = json!({ "key": "TOKEN", "value": value });
        server.request("PUT", &path).json(&variable).send().await.expect(200);
        post(&server, &bucket, "x").await.expect(200);
        let arrived = sinks[0].received(number + 1).await.remove(number);
        assert_eq!(arrived.head.headers["x-token"], *value);
    }
    assert!(server.terminate().await.success());
    let log = server.log();
    assert!(!log.contains("-secret-value"), "{log}");
    let server = server.restart().await;
    let variables = server.get(&path).await.expect(200).json();
    assert_eq!(variables[0]["value"], "second-secret-value");
}

#[tokio::test]
async fn of_ephemeral_webhooks_runs_keep_no_content() {
    let server = Server::start().await;
    let spec = json!({ "name": "events", "ephemeral": true });
    let bucket = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();
    let function = server.function("print(r.RequestBody) r:SetRequestHeader('X-A', 'b')").await;
    server.set_default_input(&bucket, json!({ "function_id": id(&function) })).await;
    let path = format!("{}/path?private=query", input_path(&bucket));
    let request = server.anonymous("POST", &path).header("x-private", "header");
    request.body("private body").send().await.expect(200);
    let run = server.runs(&function).await.remove(0);
    let text = run.to_string();
    let body = STANDARD.encode("private body");
    for content in ["private body", "private=query", "X-Private", &body] {
        assert!(!text.contains(content), "{text}");
    }
    assert_eq!(run["execute_request"]["request"]["path"], "/path");
    assert_eq!(run["execute_response"]["request"]["header_modified"], true);
}

#[tokio::test]
async fn bodies_as_long_as_the_bucket_takes_pass_unchanged() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let spec = json!({ "name": "events", "large_webhooks": true });
    let bucket = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();
    server.output(&bucket, json!({ "name": "sink", "destination": sink.base })).await;
    for (number, spec) in [
        json!({ "name": "lua", "payload": ONLY_POST }),
        json!({ "name": "js", "driver": "js",
            "payload": "if (r.method !== 'POST') { r.stopForwarding(); }" }),
    ]
    .into_iter()
    .enumerate()
    {
        let function = server.function_of(spec).await;
        server.set_default_input(&bucket, json!({ "function_id": id(&function) })).await;
        let body = vec![0xfe; 6 << 20];
        let request = server.anonymous("POST", &input_path(&bucket)).body(body.clone());
        request.send().await.expect(200);
        let arrived = sink.received(number + 1).await.remove(number);
        assert!(arrived.body == body, "{} bytes arrived", arrived.body.len());
        let run = server.runs(&function).await.remove(0);
        let given = &run["execute_request"]["request"];
        assert_eq!(given["body_truncated"], true, "the log of a run keeps a part");
        assert!(given["body"].as_str().is_some_and(|text| text.len() < 100_000));
    }
}

#[tokio::test]
async fn what_functions_send_goes_past_the_same_guard() {
    let sink = Sink::start().await;
    let source = format!(
        r#"local response, problem = require("http").get("{}/asked")
        print(response and response.status_code or problem)"#,
        sink.base
    );
    let open = Server::start().await;
    let function = open.function(&source).await;
    assert_eq!(open.invoke(&function, json!({})).await["logs"], json!(["200"]));
    assert_eq!(sink.received(1).await[0].head.uri, "/asked");
    let guarded = Server::start_with(&[("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "false")]).await;
    let script = format!("console.log(http.get('{}/asked').statusCode)", sink.base);
    for spec in [
        json!({ "name": "lua", "payload": source }),
        json!({ "name": "js", "payload": script, "driver": "js" }),
    ] {
        let function = guarded.function_of(spec).await;
        let answer = guarded.invoke(&function, json!({})).await;
        let said = format!("{} {}", answer["logs"], answer["error"]);
        assert!(said.contains("refused"), "{said}");
    }
    assert_eq!(sink.so_far().len(), 1);
}

#[tokio::test]
async fn accounts_have_functions_of_their_own_and_do_not_wait_for_each_other() {
    let (mut server, bucket, _sinks) = with_sinks(&[json!({})]).await;
    let function = server.function("while true do end").await;
    server.set_default_input(&bucket, json!({ "function_id": id(&function) })).await;
    // Only one process at a time has the database.
    assert!(server.terminate().await.success());
    let key = server.account("other").await;
    let mut server = server.restart().await;
    let first_key = std::mem::replace(&mut server.key, key);

    let others = server.bucket("others").await;
    let input = format!("/v1/buckets/{}/inputs/{}", id(&others), harness::default_input(&others));
    let foreign = json!({ "function_id": id(&function) });
    let refused = server.request("PUT", &input).json(&foreign).send().await;
    refused.expect_error(400, "function_id: ");
    let path = format!("/v1/functions/{}", id(&function));
    server.get(&path).await.expect_error(400, "function not found");
    server.request("DELETE", &path).send().await.expect_error(400, "function not found");
    let invoke = format!("{path}/invoke");
    server.request("POST", &invoke).send().await.expect_error(400, "function not found");
    assert_eq!(server.get("/v1/functions").await.expect(200).json(), json!([]));

    // The first account keeps every thread busy, and its queue full.
    let mut busy = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (client, url) = (Client::default(), format!("{}{}", server.base, input_path(&bucket)));
        busy.spawn(async move { client.request("POST", &url).send().await.status.as_u16() });
    }
    let quick = server.function("r:SetResponseBody('quick')").await;
    server.set_default_input(&others, json!({ "function_id": id(&quick) })).await;
    for _ in 0..5 {
        assert_eq!(post(&server, &others, "x").await.expect(200).text(), "quick");
    }
    assert!(busy.try_join_next().is_none_or(|first| first.is_ok()));
    assert!(!busy.is_empty(), "the others did not wait for all of it");
    let ended = busy.join_all().await;
    assert!(ended.iter().all(|status| [500, 503].contains(status)), "{ended:?}");
    server.key = first_key;
    let runs = server.runs(&function).await;
    let error = runs[0]["execute_response"]["error"].as_str().expect("text");
    assert!(error.contains("limit exceeded") || error.contains("too many"), "{error}");
}

/// The cookbook's answers to the question of a browser.
#[tokio::test]
async fn a_cors_preflight_is_answered() {
    let (server, bucket, sinks) = with_sinks(&[json!({})]).await;
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cookbook/handshakes.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (_, recipe) = page.split_once("## Answer a CORS preflight").expect("the recipe");
    let block = |language: &str| {
        let (_, block) = recipe.split_once(&format!("```{language}\n")).expect("a block");
        block.split_once("```").expect("its end").0.to_owned()
    };
    let allowed = "https://shop.example.com";
    let path = input_path(&bucket);
    let preflight = async || {
        let request = server.anonymous("OPTIONS", &path).header("origin", allowed);
        let request = request.header("access-control-request-method", "POST");
        let request = request.header("access-control-request-headers", "content-type");
        let answer = request.send().await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), allowed);
        assert_eq!(answer.header("access-control-allow-headers"), "content-type");
    };
    // The static headers alone: the question is forwarded.
    let mut spec: Value = serde_json::from_str(&block("json")).expect("JSON");
    server.set_default_input(&bucket, spec.clone()).await;
    preflight().await;
    assert_eq!(sinks[0].received(1).await[0].head.method, "OPTIONS");
    for (number, driver) in ["lua", "js"].into_iter().enumerate() {
        let function = json!({"name": driver, "driver": driver, "payload": block(driver)});
        spec["function_id"] = server.function_of(function).await["id"].clone();
        server.set_default_input(&bucket, spec.clone()).await;
        preflight().await;
        let answer = post(&server, &bucket, "{}").await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), allowed);
        // The question that the function stopped would have come before this webhook.
        assert_eq!(sinks[0].received(2 + number).await[1 + number].head.method, "POST");
    }
    assert_eq!(sinks[0].so_far().len(), 3);
}

/// Faults of an account are told to the account.
#[tokio::test]
async fn a_failing_function_or_output_is_no_error_of_the_operator() {
    let (server, bucket, _sinks) = with_sinks(&[]).await;
    let output = json!({"name": "gone", "destination": "http://127.0.0.1:1", "retries": -1});
    server.output(&bucket, output).await;
    post(&server, &bucket, "x").await.expect(200);
    server.ended_logs(1).await;
    let function = server.function("error(\"a fault of the script\")").await;
    server.set_default_input(&bucket, json!({"function_id": id(&function)})).await;
    post(&server, &bucket, "y").await.expect(500);
    let logs = server.ended_logs(2).await;
    assert!(logs[0]["error"].as_str().expect("text").contains("a fault of the script"), "{logs:?}");
    let request = server.anonymous("POST", &input_path(&bucket));
    request.header("x-webhook-relay-hops", "999").body("z").send().await.expect(508);
    let log = server.log();
    assert!(log.contains("INFO") && log.contains("the input's function failed"), "{log}");
    assert!(!log.contains("ERROR") && !log.contains("a fault of the script"), "{log}");
}
