//! `/v1/functions/{id}/versions` and `/v1/functions/{id}/duplicate`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, another_millisecond, id},
    send,
    sink::Sink,
};

const FIRST: &str = "r:SetRequestBody(\"first\")";
const SECOND: &str = "r:SetRequestBody(\"second\")";

async fn save(server: &Server, path: &str, payload: &str) -> Value {
    another_millisecond().await;
    let spec = json!({ "payload": payload, "metadata": {"team": "ci"} });
    server.request("PUT", path).json(&spec).send().await.expect(200).json()
}

async fn versions(server: &Server, path: &str) -> Vec<Value> {
    let listed = server.get(&format!("{path}/versions")).await.expect(200).json();
    listed.as_array().expect("a list").clone()
}

async fn restore(server: &Server, path: &str, version: u32) -> Value {
    let path = format!("{path}/versions/{version}/restore");
    server.request("POST", &path).send().await.expect(200).json()
}

#[tokio::test]
async fn a_source_comes_back() {
    let server = Server::start().await;
    let spec = json!({ "name": "f", "payload": FIRST, "metadata": {"team": "ci"} });
    let made = server.function_of(spec).await;
    let path = format!("/v1/functions/{}", id(&made));
    let only = versions(&server, &path).await;
    assert_eq!(only.len(), 1);
    assert_eq!(
        (&only[0]["version"], &only[0]["current"], &only[0]["created"]),
        (&json!(1), &json!(true), &made["created"]),
    );
    assert_eq!(
        (&only[0]["driver"], &only[0]["payload_size"]),
        (&json!("lua"), &json!(FIRST.len()))
    );
    assert!(only[0].get("payload").is_none(), "{only:?}");

    save(&server, &path, SECOND).await;
    let restored = restore(&server, &path, 1).await;
    for field in ["id", "name", "payload", "payload_size", "driver", "metadata", "created"] {
        assert_eq!(restored[field], made[field], "{field}");
    }
    let listed = versions(&server, &path).await;
    let numbers: Vec<_> = listed.iter().map(|version| version["version"].clone()).collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert_eq!(listed[0]["hash"], only[0]["hash"]);
    assert_ne!(listed[1]["hash"], only[0]["hash"]);
    let current: Vec<_> = listed.iter().map(|version| version["current"].clone()).collect();
    assert_eq!(current, [true, false, false]);
    let second = server.get(&format!("{path}/versions/2")).await.expect(200).json();
    assert_eq!(second["payload"], SECOND);

    // What it has already is no version of its own.
    assert_eq!(restore(&server, &path, 3).await["payload"], FIRST);
    assert_eq!(versions(&server, &path).await, listed);
    server.request("DELETE", &path).send().await.expect(200);
    server.get(&format!("{path}/versions")).await.expect_error(400, "function not found");
}

#[tokio::test]
async fn wrong_versions_are_refused_and_others_see_none() {
    let server = Server::start().await;
    let made = server.function_of(json!({ "name": "f", "payload": FIRST })).await;
    let path = format!("/v1/functions/{}", id(&made));
    let missing = "version: the function has no such version";
    let range = "version: must be a whole number from 1 to 4294967295";
    for (version, error) in [
        ("2", missing),
        ("4294967295", missing),
        ("0", range),
        ("-1", range),
        ("4294967296", range),
        ("first", range),
    ] {
        let one = format!("{path}/versions/{version}");
        server.get(&one).await.expect_error(400, error);
        let restored = server.request("POST", &format!("{one}/restore")).send().await;
        restored.expect_error(400, error);
    }
    let nobody = format!("/v1/functions/{NOBODY}");
    for (method, path) in [
        ("GET", format!("{nobody}/versions")),
        ("GET", format!("{nobody}/versions/1")),
        ("POST", format!("{nobody}/versions/1/restore")),
    ] {
        server.request(method, &path).send().await.expect_error(400, "function not found");
    }
    let copy = server.request("POST", &format!("{nobody}/duplicate")).json(&json!({"name": "g"}));
    copy.send().await.expect_error(400, "function not found");

    let other = format!("Bearer {}", server.account("second").await);
    for (method, rest) in [
        ("GET", "versions"),
        ("GET", "versions/1"),
        ("POST", "versions/1/restore"),
        ("POST", "duplicate"),
    ] {
        let asked = server.anonymous(method, &format!("{path}/{rest}"));
        let asked = asked.header("authorization", &other).json(&json!({ "name": "g" }));
        asked.send().await.expect_error(400, "function not found");
    }
}

#[tokio::test]
async fn a_copy_has_the_source_and_the_variables() {
    let server = Server::start().await;
    let spec = json!({ "name": "f", "payload": FIRST, "metadata": {"team": "ci"} });
    let made = server.function_of(spec).await;
    let path = format!("/v1/functions/{}", id(&made));
    let variable = json!({ "key": "KEY", "value": "a value" });
    server.request("PUT", &format!("{path}/config")).json(&variable).send().await.expect(200);
    save(&server, &path, SECOND).await;

    let duplicate = format!("{path}/duplicate");
    for (body, error) in [
        (json!({}), "name: "),
        (json!({ "name": "" }), "name: "),
        (json!({ "name": "x".repeat(300) }), "name: "),
        (json!({ "name": 7 }), "name: "),
        (json!([]), "body: "),
    ] {
        let refused = server.request("POST", &duplicate).json(&body).send().await;
        refused.expect_error(400, error);
    }
    let copy = server.request("POST", &duplicate).json(&json!({ "name": "g" })).send().await;
    let copy = copy.expect(201).json();
    assert_eq!((&copy["name"], &copy["payload"]), (&json!("g"), &json!(SECOND)));
    assert_eq!((&copy["driver"], &copy["metadata"]), (&json!("lua"), &json!({"team": "ci"})));
    assert_ne!(copy["id"], made["id"]);
    let of_copy = format!("/v1/functions/{}", id(&copy));
    let variables = server.get(&format!("{of_copy}/config")).await.expect(200).json();
    assert_eq!((&variables[0]["key"], &variables[0]["value"]), (&json!("KEY"), &json!("a value")));
    assert_eq!(variables[0]["function_id"], copy["id"]);
    assert_eq!(versions(&server, &of_copy).await.len(), 1);
}

#[tokio::test]
async fn the_trace_tells_which_version_ran() {
    let sink = Sink::start().await;
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let function = server.function_of(json!({ "name": "f", "payload": FIRST })).await;
    let path = format!("/v1/functions/{}", id(&function));
    let spec = json!({ "name": "o", "destination": sink.base, "function_id": function["id"] });
    server.output(&bucket, spec).await;
    send(&server, &bucket, "x").await;
    let first = server.ended_logs(1).await.remove(0);
    save(&server, &path, SECOND).await;
    another_millisecond().await;
    send(&server, &bucket, "x").await;
    for log in server.ended_logs(2).await {
        let told = server.get(&format!("/v1/logs/{}/trace", id(&log))).await.expect(200).json();
        let expected = if log["id"] == first["id"] { 1 } else { 2 };
        assert_eq!(told["functions"][0]["version"], expected, "{told:#}");
    }
}
