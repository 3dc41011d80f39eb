//! `/v1/buckets/{id}/inputs`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, default_input, id},
};

fn path(bucket: &Value) -> String {
    format!("/v1/buckets/{}/inputs", id(bucket))
}

#[tokio::test]
async fn create_answers_the_whole_input() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let output = server.output(&bucket, json!({"internal": true})).await;
    let spec = json!({
        "name": "shop",
        "description": "orders",
        "status_code": 202,
        "headers": {"x-one": "1", "X-Two": ["a", "b"]},
        "body": "thanks",
        "response_from_output": output["id"],
        "path_prefix": "/shop",
        "strip_path_prefix": true,
    });
    let input = server.request("POST", &path(&bucket)).json(&spec).send().await.expect(201).json();
    for field in ["name", "description", "status_code", "body", "response_from_output"] {
        assert_eq!(input[field], spec[field], "{field}");
    }
    assert_eq!(input["headers"], json!({"X-One": ["1"], "X-Two": ["a", "b"]}));
    assert_eq!(input["bucket_id"], bucket["id"]);
    assert_eq!(input["function_id"], "");

    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["inputs"], json!([bucket["inputs"][0], input]));
}

#[tokio::test]
async fn bytes_are_taken_for_the_body_and_anything_for_the_answer() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let spec = json!({"body": [104, 105], "response_from_output": "anyOutput", "id": ""});
    let input = server.request("POST", &path(&bucket)).json(&spec).send().await.expect(201).json();
    assert_eq!(input["body"], "hi");
    assert_eq!(input["response_from_output"], "anyOutput");
}

#[tokio::test]
async fn the_static_answer_is_what_senders_get() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let spec = json!({"status_code": 202, "headers": {"X-A": "1"}, "body": "thanks"});
    let input = server.request("POST", &path(&bucket)).json(&spec).send().await.expect(201).json();
    let webhook = format!("/v1/webhooks/{}", id(&input));
    let answer = server.anonymous("POST", &webhook).body("x").send().await.expect(202);
    assert_eq!((answer.header("x-a"), &*answer.text()), ("1", "thanks"));

    // A change is seen by the next webhook.
    let path = format!("{}/{}", path(&bucket), id(&input));
    server.request("PUT", &path).json(&json!({"body": "new"})).send().await.expect(200);
    let answer = server.anonymous("POST", &webhook).body("x").send().await.expect(200);
    assert_eq!((answer.header("x-a"), &*answer.text()), ("", "new"));

    server.request("DELETE", &path).send().await.expect(200);
    server.anonymous("POST", &webhook).body("x").send().await.expect_error(404, "input");
}

#[tokio::test]
async fn an_answer_cannot_set_the_cookie_of_a_session() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let names = ["webhook-session", "__Secure-webhook-session", "__Host-webhook-session", "own"];
    let cookies = names.map(|name| format!("{name}=x; Path=/"));
    let spec = json!({"headers": {"Set-Cookie": cookies}});
    let input = server.request("POST", &path(&bucket)).json(&spec).send().await.expect(201).json();
    let webhook = format!("/v1/webhooks/{}", id(&input));
    let answer = server.anonymous("POST", &webhook).body("x").send().await.expect(200);
    let set: Vec<_> = answer.headers.get_all("set-cookie").iter().collect();
    assert_eq!(set, ["own=x; Path=/"]);
}

#[tokio::test]
async fn create_refuses() {
    let server = Server::start_with(&[("WEBHOOK_MAX_INPUTS", "2")]).await;
    let bucket = server.bucket("b").await;
    let post = |path: String, spec: Value| server.request("POST", &path).json(&spec).send();
    let missing = format!("/v1/buckets/{NOBODY}/inputs");
    post(missing, json!({})).await.expect_error(400, "bucket");
    post("/v1/buckets/b/inputs".into(), json!({})).await.expect_error(400, "not found");
    post(path(&bucket), json!({"status_code": 600})).await.expect_error(400, "status_code: ");
    post(path(&bucket), json!({})).await.expect(201);
    post(path(&bucket), json!({})).await.expect_error(412, "2 inputs");
}

#[tokio::test]
async fn references_must_be_there() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let other = server.bucket("other").await;
    let foreign = server.output(&other, json!({"internal": true})).await;
    let existing = format!("{}/{}", path(&bucket), default_input(&bucket));
    for (spec, said) in [
        (json!({"function_id": NOBODY}), "function_id: "),
        (json!({"function_id": "transform"}), "function_id: "),
        (json!({"response_from_output": NOBODY}), "response_from_output: "),
        (json!({"response_from_output": foreign["id"]}), "response_from_output: "),
        (json!({"response_from_output": "any"}), "response_from_output: "),
        (json!({"custom_domain": "hooks.example.com"}), "custom_domain: "),
    ] {
        let created = server.request("POST", &path(&bucket)).json(&spec).send().await;
        created.expect_error(400, said);
        let updated = server.request("PUT", &existing).json(&spec).send().await;
        updated.expect_error(400, said);
    }
}

#[tokio::test]
async fn update_replaces() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let spec = json!({"name": "old", "body": "text", "status_code": 204});
    let input = server.request("POST", &path(&bucket)).json(&spec).send().await.expect(201).json();
    let path = format!("{}/{}", path(&bucket), id(&input));
    let body = json!({"description": "new"});
    let updated = server.request("PUT", &path).json(&body).send().await.expect(200).json();
    assert_eq!(updated["name"], "old", "an absent name keeps the old one");
    assert_eq!(updated["description"], "new");
    assert_eq!(updated["body"], "");
    assert_eq!(updated["status_code"], 0);
    assert_eq!(updated["id"], input["id"]);
    assert_eq!(updated["created_at"], input["created_at"]);
}

#[tokio::test]
async fn update_and_delete_refuse_what_is_missing() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let other = server.bucket("other").await;
    let input = default_input(&bucket);
    for path in [
        format!("{}/{NOBODY}", path(&bucket)),
        format!("{}/default", path(&bucket)),
        format!("{}/{input}", path(&other)),
        format!("/v1/buckets/{NOBODY}/inputs/{input}"),
        format!("/v1/buckets/b/inputs/{input}"),
    ] {
        let update = server.request("PUT", &path).json(&json!({})).send().await;
        update.expect_error(404, "not found");
        server.request("DELETE", &path).send().await.expect_error(404, "not found");
    }
}

#[tokio::test]
async fn delete_answers_what_was_deleted() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let input = default_input(&bucket);
    let path = format!("{}/{input}", path(&bucket));
    let answer = server.request("DELETE", &path).send().await.expect(200).json();
    assert_eq!(answer, json!({"id": input, "status": "deleted"}));
    let stored = server.get(&format!("/v1/buckets/{}", id(&bucket))).await.expect(200).json();
    assert_eq!(stored["inputs"], json!([]));
}
