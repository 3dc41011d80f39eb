//! `/v1/functions`, `/v1/exec-logs` and `/v1/functions-generate`

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Client, Server, id},
};

const PATH: &str = "/v1/functions";
const SOURCE: &str = "if r.RequestMethod ~= \"POST\" then\n  r:StopForwarding()\nend\n";

fn path_of(function: &Value) -> String {
    format!("{PATH}/{}", id(function))
}

#[tokio::test]
async fn make_read_change_and_delete() {
    let server = Server::start().await;
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
    let spec = json!({
        "id": "", "name": "only posts", "payload": SOURCE, "metadata": {"team": "ci"},
        "created": -62135596800_i64, "unknown": 1,
    });
    let made = server.function_of(spec).await;
    for (field, value) in [
        ("name", json!("only posts")),
        ("driver", json!("lua")),
        ("payload", json!(SOURCE)),
        ("payload_size", json!(SOURCE.len())),
        ("metadata", json!({"team": "ci"})),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    assert!(made["created"].as_i64().is_some_and(|secs| secs > 1_700_000_000));
    assert_eq!(made["created"], made["updated"]);
    let path = path_of(&made);
    assert_eq!(server.get(&path).await.expect(200).json(), made);
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([made]));

    // An update replaces; an absent name stays.
    let spec = json!({"driver": "js", "payload": "r.stopForwarding()", "metadata": null});
    let changed = server.request("PUT", &path).json(&spec).send().await.expect(200).json();
    assert_eq!((&changed["name"], &changed["driver"]), (&made["name"], &json!("js")));
    assert_eq!((&changed["metadata"], &changed["id"]), (&json!({}), &made["id"]));
    assert_eq!(server.get(&path).await.expect(200).json(), changed);

    let deleted = server.request("DELETE", &path).send().await.expect(200);
    assert_eq!(deleted.json(), json!({}));
    server.get(&path).await.expect_error(400, "function not found");
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
}

#[tokio::test]
async fn a_payload_may_be_base64_and_is_answered_as_the_source() {
    let server = Server::start().await;
    let mut lines = STANDARD.encode(SOURCE);
    lines.insert(40, '\n');
    let js = "// ünïcode\nr.setBody('x')";
    for (driver, payload, source) in [
        ("lua", SOURCE.to_owned(), SOURCE),
        ("", STANDARD.encode(SOURCE), SOURCE),
        ("lua", lines, SOURCE),
        ("js", js.to_owned(), js),
        ("js", STANDARD.encode(js), js),
        // Without a sign that only base64 has, it is a name in JavaScript.
        ("js", STANDARD.encode("r.setBody('abcd');"), "r.setBody('abcd');"),
        ("lua", "return".to_owned(), "return"),
    ] {
        let spec = json!({"name": "f", "driver": driver, "payload": payload,
            "sent_in_base64": payload == source});
        let made = server.function_of(spec).await;
        assert_eq!(made["payload"], source);
        let sent_in_base64 = Value::Bool(payload != source);
        assert_eq!(made.get("sent_in_base64").unwrap_or(&json!(false)), &sent_in_base64);
        assert_eq!(made["payload_size"], source.len());
    }
}

#[tokio::test]
async fn refusals_name_the_field_and_the_line() {
    let server = Server::start().await;
    let wrong = "local a = 1\nlocal b =\n";
    let too_long = format!("-- {}", "x".repeat(64 << 10));
    for (spec, said) in [
        (json!({"payload": SOURCE}), "name: must not be empty"),
        (json!({"name": "f"}), "payload: must not be empty"),
        (json!({"name": "f", "payload": ""}), "payload: must not be empty"),
        (json!({"name": "f", "payload": 7}), "payload: invalid type"),
        (json!({"name": "f", "payload": wrong}), "payload: line "),
        (json!({"name": "f", "payload": STANDARD.encode(wrong)}), "payload: line "),
        (
            json!({"name": "f", "payload": "let a = 1;\nlet = ;", "driver": "js"}),
            "payload: line 2: ",
        ),
        (json!({"name": "f", "payload": too_long}), "payload: limit exceeded: source"),
        (json!({"name": "f", "payload": SOURCE, "driver": "python"}), "driver: "),
        (
            json!({"name": "f", "payload": SOURCE, "driver": "wasm"}),
            "driver: the driver wasm is not",
        ),
        (json!({"name": "f", "payload": SOURCE, "metadata": {"a": 1}}), "metadata"),
        (
            json!({"name": "f", "payload": SOURCE, "metadata": {"a": "x".repeat(20_000)}}),
            "metadata: ",
        ),
        (json!([]), "body: "),
    ] {
        let refused = server.request("POST", PATH).json(&spec).send().await;
        refused.expect_error(400, said);
    }
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
    let made = server.function(SOURCE).await;
    let path = path_of(&made);
    for (spec, said) in [
        (json!({"name": "g"}), "payload: must not be empty"),
        (json!({"payload": wrong}), "payload: line "),
        (json!({"payload": SOURCE, "name": " "}), "name: "),
    ] {
        server.request("PUT", &path).json(&spec).send().await.expect_error(400, said);
    }
    assert_eq!(server.get(&path).await.expect(200).json(), made);
}

#[tokio::test]
async fn what_is_missing_is_400_everywhere() {
    let server = Server::start().await;
    let spec = json!({"payload": SOURCE, "key": "k", "value": "v"});
    for missing in [NOBODY, "not-an-id"] {
        for (method, path) in [
            ("GET", format!("{PATH}/{missing}")),
            ("PUT", format!("{PATH}/{missing}")),
            ("DELETE", format!("{PATH}/{missing}")),
            ("GET", format!("{PATH}/{missing}/config")),
            ("PUT", format!("{PATH}/{missing}/config")),
            ("DELETE", format!("{PATH}/{missing}/config/k")),
            ("POST", format!("{PATH}/{missing}/invoke")),
            ("GET", format!("{PATH}/{missing}/logs")),
            ("GET", format!("{PATH}/{missing}/logs/{NOBODY}")),
            ("GET", format!("/v1/exec-logs/{missing}")),
        ] {
            let answer = server.request(method, &path).json(&spec).send().await;
            assert_eq!(answer.status, 400, "{method} {path}: {}", answer.text());
            answer.expect_error(400, "not found");
        }
    }
    let function = server.function(SOURCE).await;
    let path = format!("{}/logs/{NOBODY}", path_of(&function));
    server.get(&path).await.expect_error(400, "not found");
    let path = format!("{}/config/NONE", path_of(&function));
    server.request("DELETE", &path).send().await.expect_error(400, "variable not found");
    server.anonymous("GET", PATH).send().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn one_that_is_in_use_is_not_deleted() {
    let server = Server::start().await;
    let function = server.function(SOURCE).await;
    let bucket = server.bucket("orders").await;
    let spec = json!({"name": "shop", "internal": true, "function_id": id(&function)});
    let output = server.output(&bucket, spec).await;
    assert_eq!(output["function_id"], function["id"]);
    let path = path_of(&function);
    let refused = server.request("DELETE", &path).send().await;
    refused.expect_error(400, "the output \"shop\" of the bucket \"orders\"");
    let detach = json!({"name": "shop", "internal": true});
    let output = format!("/v1/buckets/{}/outputs/{}", id(&bucket), id(&output));
    server.request("PUT", &output).json(&detach).send().await.expect(200);
    server.request("DELETE", &path).send().await.expect(200);
}

#[tokio::test]
async fn variables_and_escaped_slashes() {
    let server = Server::start().await;
    let function = server.function("print(cfg:GetValue('A/B'), cfg:GetValue('gone'))").await;
    let path = format!("{}/config", path_of(&function));
    assert_eq!(server.get(&path).await.expect(200).json(), json!([]));
    let put = async |key: &str, value: &str| {
        let variable = json!({"key": key, "value": value});
        server.request("PUT", &path).json(&variable).send().await
    };
    let variable = put("A/B", "1").await.expect(200).json();
    assert_eq!((&variable["key"], &variable["value"]), (&json!("A/B"), &json!("1")));
    assert_eq!(variable["function_id"], function["id"]);
    let created = variable["created_at"].as_str().expect("RFC 3339");
    assert!(created.starts_with("20") && created.ends_with('Z'), "{created}");
    let again = put("A/B", "2").await.expect(200).json();
    assert_eq!((&again["value"], &again["created_at"]), (&json!("2"), &variable["created_at"]));
    assert_eq!(server.get(&path).await.expect(200).json(), json!([again]));
    let answer = server.invoke(&function, json!({})).await;
    assert_eq!(answer["logs"], json!(["2\tnil"]));

    for (variable, said) in [
        (json!({"value": "x"}), "key"),
        (json!({"key": "", "value": "x"}), "key: must not be empty"),
        (json!({"key": "a\nb", "value": "x"}), "key: "),
        (json!({"key": "a", "value": 7}), "value: "),
        (json!({"key": "a", "value": "x".repeat(17 << 10)}), "value: must be at most"),
    ] {
        server.request("PUT", &path).json(&variable).send().await.expect_error(400, said);
    }

    let id = id(&function);
    for delete in [
        format!("{path}/A/B"),
        format!("{path}/A%2FB"),
        format!("/v1/functions%2F{id}%2Fconfig%2FA%2FB"),
        format!("/v1/functions/{id}%2Fconfig%2FA/B"),
    ] {
        put("A/B", "1").await.expect(200);
        let deleted = server.request("DELETE", &delete).send().await;
        assert_eq!(deleted.expect(200).json(), json!({}), "{delete}");
        assert_eq!(server.get(&path).await.expect(200).json(), json!([]));
    }
    put("with blank", "1").await.expect(200);
    server.request("DELETE", &format!("{path}/with%20blank")).send().await.expect(200);
}

#[tokio::test]
async fn invoke_says_how_long_a_call_took() {
    let server = Server::start().await;
    let function = server.function("local n = 0 for i = 1, 100000 do n = n + i end print(n)").await;
    let answer = server.invoke(&function, json!({})).await;
    let took = answer["duration_ms"].as_f64().expect("a number");
    assert!(took > 0.0 && took < 5_000.0, "{answer}");
    let runs = server.runs(&function).await;
    assert_eq!(
        (took * 1e6).round(),
        (runs[0]["duration"].as_f64().expect("a number") / 1e3).floor() * 1e3
    );
}

#[tokio::test]
async fn a_source_is_tried_before_it_is_saved() {
    let server = Server::start().await;
    let attempt =
        async |body: Value| server.request("POST", "/v1/functions-invoke").json(&body).send().await;
    let source = "print(r.RequestBody, cfg:GetValue('KEY')) r:SetRequestBody('left')";
    let request = json!({"method": "PUT", "body": STANDARD.encode("body")});
    let given = json!({"payload": source, "driver": "lua", "request": request});
    let answer = attempt(given).await.expect(200).json();
    assert_eq!(answer["logs"], json!(["body\tnil"]));
    assert_eq!(answer["request"]["body"], STANDARD.encode("left"));
    assert_eq!((&answer["function_id"], &answer["error"]), (&json!(""), &json!("")));
    assert!(answer["duration_ms"].as_f64().is_some_and(|took| took > 0.0), "{answer}");
    let encoded = json!({"payload": STANDARD.encode("print(r.ResponseStatusCode)"),
        "response": {"status": 404}});
    assert_eq!(attempt(encoded).await.expect(200).json()["logs"], json!(["404"]));
    let failing = attempt(json!({"payload": "error('no')"})).await.expect(200).json();
    assert!(failing["error"].as_str().is_some_and(|error| error.contains("no")), "{failing}");
    // Nothing of it is saved, also not what it keeps, and it sends nothing.
    let keeps = "local kv = require('kv') print(kv.get('a'), kv.set('a', 'b'), kv.get('a'))";
    for _ in 0..2 {
        let kept = attempt(json!({"payload": keeps})).await.expect(200).json();
        assert_eq!(kept["logs"], json!(["nil\ttrue\tb"]), "{kept}");
    }
    let sends = json!({"payload": format!("assert(require('http').get('{}'))", server.base)});
    let refused = attempt(sends).await.expect(200).json();
    let error = refused["error"].as_str().expect("a reason");
    assert!(error.contains("only tried sends no requests"), "{error}");
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));

    for (body, field) in [
        (json!({}), "payload"),
        (json!({"payload": "a ="}), "payload"),
        (json!({"payload": "", "driver": "lua"}), "payload"),
        (json!({"payload": "x", "driver": "wasm"}), "driver"),
        (json!({"payload": "print(1)", "request": {"method": "a b"}}), "request.method"),
    ] {
        attempt(body).await.expect_error(400, field);
    }
}

#[tokio::test]
async fn invoke_takes_three_forms() {
    let server = Server::start().await;
    let source = r#"
        print(r.RequestMethod, r.RequestPath, r.RequestRawQuery, r.RequestHeader["X-A"], r.RequestBody)
        print(r.Metadata["k"], r.ResponseStatusCode, r.ResponseBody)
        r:SetRequestBody("\255left")
        r:SetRequestHeader("X-B", "b")
        r:SetResponseStatusCode(418)
        r:StopForwarding()
    "#;
    let function = server.function(source).await;
    let path = format!("{}/invoke", path_of(&function));
    let nothing = server.request("POST", &path).send().await.expect(200).json();
    assert_eq!(nothing["logs"][0], "POST\t\t\tnil\t");
    let nested = json!({"request": {"method": "PUT", "path": "/p", "raw_query": "q=1",
        "headers": {"X-A": ["a"]}, "body": STANDARD.encode("body"), "metadata": {"k": "v"}},
        "response": {"status": 404, "body": STANDARD.encode("gone")}});
    let answer = server.invoke(&function, nested).await;
    assert_eq!(answer["logs"], json!(["PUT\t/p\tq=1\ta\tbody", "v\t404\tgone"]));
    let raw = json!({"request": {"body": "{\"plain\":true}"}});
    let raw = server.invoke(&function, raw).await;
    assert_eq!(raw["logs"][0], "POST\t\t\tnil\t{\"plain\":true}");
    let flat = json!({"method": "GET", "headers": {"X-A": "a"}, "raw_query": "q=2",
        "request_body": "aGk="});
    let flat = server.invoke(&function, flat).await;
    assert_eq!(flat["logs"][0], "GET\t\tq=2\ta\taGk=");

    let request = &answer["request"];
    assert_eq!(request["body"], STANDARD.encode(b"\xffleft"));
    assert_eq!(request["header"]["X-A"], json!({"values": ["a"]}));
    assert_eq!(request["header"]["X-B"], json!({"values": ["b"]}));
    for (field, value) in [
        ("method", json!("PUT")),
        ("path", json!("/p")),
        ("raw_query", json!("q=1")),
        ("body_modified", json!(true)),
        ("header_modified", json!(true)),
        ("method_modified", json!(false)),
        ("path_modified", json!(false)),
        ("raw_query_modified", json!(false)),
        ("metadata", json!({"k": "v"})),
    ] {
        assert_eq!(request[field], value, "{field}");
    }
    assert_eq!(answer["response"]["status"], 418);
    assert_eq!(answer["function_id"], function["id"]);
    for field in ["request_modified", "response_modified", "stop_forwarding"] {
        assert_eq!(answer[field], true, "{field}");
    }
    assert_eq!(answer["error"], "");

    // What is recorded can be invoked as it is.
    let run = server.runs(&function).await[2].clone();
    assert_eq!(run["id"], answer["request_id"]);
    let again = server.invoke(&function, run["execute_request"].clone()).await;
    assert_eq!(again["logs"], answer["logs"]);

    for (body, said) in [
        (&b"[]"[..], "body: "),
        (b"{\"request\":{\"method\":\"a b\"}}", "request.method: "),
        (b"{\"request\":{\"path\":\"p\"}}", "request.path: "),
        (b"{\"request\":{\"headers\":{\"a b\":\"c\"}}}", "request.headers"),
    ] {
        let refused = server.request("POST", &path).body(body.to_vec()).send().await;
        refused.expect_error(400, said);
    }
}

#[tokio::test]
async fn failing_is_an_answer_and_runs_are_logged() {
    let server = Server::start().await;
    let function = server.function("print('before')\nlocal t = {}\nt.x.y = 1").await;
    for body in ["1", "2", "3"] {
        let answer = server.invoke(&function, json!({"request_body": body})).await;
        let error = answer["error"].as_str().expect("text");
        assert!(error.starts_with("function:3: attempt to index"), "{error}");
        assert_eq!(answer["logs"], json!(["before"]));
        assert_eq!(answer["stop_forwarding"], false);
    }
    let path = format!("{}/logs", path_of(&function));
    let page = server.get(&format!("{path}?limit=2&offset=1")).await.expect(200).json();
    assert_eq!(
        (&page["total"], &page["limit"], &page["offset"]),
        (&json!(3), &json!(2), &json!(1))
    );
    let runs = page["execute_logs"].as_array().expect("a list");
    let bodies: Vec<_> =
        runs.iter().map(|run| &run["execute_request"]["request"]["body"]).collect();
    assert_eq!(bodies, [&json!(STANDARD.encode("2")), &json!(STANDARD.encode("1"))]);
    let run = &runs[0];
    assert_eq!((&run["status"], &run["function_id"]), (&json!("error"), &function["id"]));
    assert!(run["created"].as_i64() <= run["updated"].as_i64());
    for path in [format!("{path}/{}", id(run)), format!("/v1/exec-logs/{}", id(run))] {
        assert_eq!(server.get(&path).await.expect(200).json(), *run);
    }
    let other = server.function(SOURCE).await;
    let foreign = format!("{}/logs/{}", path_of(&other), id(run));
    server.get(&foreign).await.expect_error(400, "not found");
    for query in ["limit=0", "limit=101", "offset=-1", "limit=x"] {
        let field = query.split('=').next().expect("a name");
        server.get(&format!("{path}?{query}")).await.expect_error(400, &format!("{field}: "));
    }
    server.request("DELETE", &path_of(&function)).send().await.expect(200);
    server.get(&format!("/v1/exec-logs/{}", id(run))).await.expect_error(400, "not found");
}

#[tokio::test]
async fn generate_writes_and_runs_a_function() {
    let server = Server::start().await;
    let generate = async |sample: &Value| {
        server.request("POST", "/v1/functions-generate").json(sample).send().await
    };
    let input =
        json!({"order": {"id": 71, "customer": {"name": "Ada"}}, "total": 12.5}).to_string();
    let output = json!({"text": "Order 71 for Ada", "amount": 12.5}).to_string();
    for (info, driver) in [(Value::Null, "lua"), (json!("in JavaScript, please"), "js")] {
        let sample =
            json!({"input_payload": input, "output_payload": output, "additional_info": info});
        let written = generate(&sample).await.expect(200).json();
        assert_eq!(
            (&written["validation_ok"], &written["validation_err"]),
            (&json!(true), &json!(""))
        );
        assert_eq!(written["driver"], driver);
        // It can be saved and does the same with another order.
        let spec = json!({"name": "made", "driver": driver, "payload": written["code"]});
        let function = server.function_of(spec).await;
        let other = input.replace("Ada", "Grace").replace("71", "8").replace("12.5", "99");
        let answer = server.invoke(&function, json!({"request_body": other})).await;
        let body = answer["request"]["body"].as_str().expect("base64");
        let body = STANDARD.decode(body).expect("base64");
        let made: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(made, json!({"text": "Order 8 for Grace", "amount": 99}));
    }
    assert_eq!(
        server.get(PATH).await.json().as_array().map(Vec::len),
        Some(2),
        "only what was saved"
    );
    for (sample, said) in [
        (json!({"input_payload": "x".repeat(300 << 10), "output_payload": "y"}), "input_payload: "),
        (json!({"input_payload": {}, "output_payload": "y"}), "input_payload: "),
        (json!([]), "body: "),
        (json!({"examples": 7}), "examples: "),
        (json!({"examples": vec![json!({"input": "1", "output": "2"}); 5]}), "examples: 5 samples"),
    ] {
        generate(&sample).await.expect_error(400, said);
    }
    // The language is the driver's, whatever the wishes say.
    for (driver, info) in [("js", ""), ("lua", "in JavaScript")] {
        let sample = json!({"input_payload": input, "output_payload": output,
            "driver": driver, "additional_info": info});
        let written = generate(&sample).await.expect(200).json();
        let wanted = (&json!(driver), &json!(true));
        assert_eq!((&written["driver"], &written["validation_ok"]), wanted, "{written}");
    }
    for (driver, said) in
        [("wasm", "driver: functions are written in lua and js"), ("python", "driver: unknown")]
    {
        let sample = json!({"input_payload": "1", "output_payload": "2", "driver": driver});
        generate(&sample).await.expect_error(400, said);
    }
    // The sample that would decide is named.
    let pair = |id: u32, name: &str| {
        let input = json!({"id": id, "user": {"name": name}}).to_string();
        json!({"input": input, "output": json!({"name": name, "weight": 40}).to_string()})
    };
    let guessed = generate(&json!({"examples": [pair(1, "Ada")]})).await.expect(200).json();
    let told = "out.weight: always 40? Any second sample would decide";
    assert_eq!(guessed["validation_err"], told);
    assert_eq!(guessed["validation_ok"], false);
    let shown = generate(&json!({"examples": [pair(1, "Ada"), pair(2, "Bea")]})).await;
    assert_eq!(shown.expect(200).json()["validation_ok"], true);
}

#[tokio::test]
async fn without_javascript_nothing_is_in_it() {
    let server = Server::start_with(&[("WEBHOOK_FUNCTION_JAVASCRIPT", "false")]).await;
    let spec = json!({"name": "f", "driver": "js", "payload": "r.setBody('x')"});
    let refused = server.request("POST", PATH).json(&spec).send().await;
    refused.expect_error(400, "driver: the driver js is not available on this server");
    let sample = json!({"input_payload": "{\"a\":1}", "output_payload": "{\"b\":1}",
        "additional_info": "in JavaScript"});
    let request = server.request("POST", "/v1/functions-generate").json(&sample);
    let written = request.send().await.expect(200).json();
    assert_eq!(written["validation_ok"], false);
    let error = written["validation_err"].as_str().expect("text");
    assert!(error.contains("js is not available"), "{error}");
}

#[tokio::test]
async fn the_operators_limits_hold() {
    let server = Server::start_with(&[
        ("WEBHOOK_MAX_FUNCTIONS", "2"),
        ("WEBHOOK_FUNCTION_SOURCE_BYTES", "1KiB"),
        ("WEBHOOK_FUNCTION_TOTAL_TIME", "500ms"),
        ("WEBHOOK_FUNCTION_LOG_BYTES", "10"),
        ("WEBHOOK_FUNCTION_HTTP_CALLS", "0"),
        ("WEBHOOK_FUNCTION_KEPT_RUNS", "2"),
        ("WEBHOOK_FUNCTION_RECORDED_BODY_BYTES", "6"),
        ("WEBHOOK_FUNCTION_THREADS", "1"),
    ])
    .await;
    let long = format!("-- {}", "x".repeat(1 << 10));
    let spec = json!({"name": "f", "payload": long});
    let refused = server.request("POST", PATH).json(&spec).send().await;
    refused.expect_error(400, "payload: limit exceeded: source of 1027 bytes");
    let function = server.function("require('time').sleep(60)").await;
    let answer = server.invoke(&function, json!({"request_body": "long body"})).await;
    assert!(answer["error"].as_str().is_some_and(|error| error.starts_with("limit exceeded: ")));
    assert_eq!(answer["request"]["body"], STANDARD.encode("long body"), "the answer has all of it");
    let run = server.runs(&function).await.remove(0);
    let kept = &run["execute_response"]["request"];
    assert_eq!(
        (&kept["body"], &kept["body_truncated"]),
        (&json!(STANDARD.encode("long b")), &json!(true))
    );
    server.change_function(&function, "print(('x'):rep(100))").await;
    for _ in 0..3 {
        let answer = server.invoke(&function, json!({})).await;
        let printed = answer["logs"][0].as_str().unwrap_or_default().len();
        assert!(printed <= 10, "{answer}");
    }
    assert_eq!(server.runs(&function).await.len(), 2);
    server.change_function(&function, "print(require('http').get('http://example.com/'))").await;
    let answer = server.invoke(&function, json!({})).await;
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("limit")), "{answer}");
    server.function(SOURCE).await;
    let spec = json!({"name": "f", "payload": SOURCE});
    let refused = server.request("POST", PATH).json(&spec).send().await;
    refused.expect_error(400, "all of its 2 functions");
}

#[tokio::test]
async fn one_account_does_not_take_every_request() {
    let server = Server::start().await;
    let function = server.function("require('time').sleep(3)").await;
    let url = format!("{}{}/invoke", server.base, path_of(&function));
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (client, url) = (Client::default(), url.clone());
        let authorization = format!("Bearer {}", server.key);
        running.spawn(async move {
            let request = client.request("POST", &url).header("authorization", &authorization);
            let answer = request.send().await;
            (answer.status.as_u16(), answer.header("retry-after").to_owned())
        });
    }
    let ended = running.join_all().await;
    let refused: Vec<_> = ended.iter().filter(|(status, _)| *status == 429).collect();
    assert!(refused.iter().all(|(_, after)| after == "1"), "{ended:?}");
    assert!(!refused.is_empty(), "{ended:?}");
    assert!(ended.iter().filter(|(status, _)| *status == 200).count() >= 16, "{ended:?}");
    server.invoke(&server.function(SOURCE).await, json!({})).await;
}
