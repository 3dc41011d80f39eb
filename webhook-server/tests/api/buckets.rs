//! `/v1/buckets`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Server, default_input, id},
};

#[tokio::test]
async fn create_answers_the_whole_bucket() {
    let server = Server::start().await;
    let spec = json!({
        "name": "orders",
        "description": "from the shop",
        "stream": false,
        "ephemeral": true,
        "auth": {"type": "basic", "username": "shop", "password": "secret"},
    });
    let bucket = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();

    for field in ["name", "description", "stream", "ephemeral"] {
        assert_eq!(bucket[field], spec[field], "{field}");
    }
    for field in ["type", "username", "password"] {
        assert_eq!(bucket["auth"][field], spec["auth"][field], "auth.{field}");
    }
    assert_eq!(bucket["suspended"], false);
    assert_eq!(bucket["outputs"], json!([]));
    let inputs = bucket["inputs"].as_array().expect("inputs");
    assert_eq!(inputs.len(), 1);
    assert_eq!(inputs[0]["name"], "Default public endpoint");
    assert_eq!(inputs[0]["bucket_id"], bucket["id"]);

    let path = format!("/v1/buckets/{}", id(&bucket));
    assert_eq!(server.get(&path).await.expect(200).json(), bucket);
}

#[tokio::test]
async fn defaults_and_what_clients_send_beside() {
    let server = Server::start().await;
    // What official clients send: empty and zero read-only fields, null maps.
    let spec = json!({
        "name": "junk",
        "id": "",
        "account_id": "someone",
        "created_at": -62_135_596_800_i64,
        "suspended": true,
        "auth": null,
        "inputs": null,
        "outputs": [{"name": "ignored"}],
        "unknown": {"deep": [1, 2]},
    });
    let bucket = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();
    assert_eq!(bucket["stream"], true);
    assert_eq!(bucket["suspended"], false);
    assert_eq!(bucket["auth"]["type"], "none");
    assert_eq!(bucket["auth"]["id"], bucket["id"]);
    assert_eq!(bucket["outputs"], json!([]));
    assert!(bucket["created_at"].as_i64().is_some_and(|seconds| seconds > 1_700_000_000));
}

#[tokio::test]
async fn create_refuses() {
    let server = Server::start().await;
    server.bucket("taken").await;
    let post = |spec: Value| server.request("POST", "/v1/buckets").json(&spec).send();
    post(json!({"name": "taken"})).await.expect_error(412, "taken");
    post(json!({})).await.expect_error(400, "name: ");
    post(json!({"name": "n".repeat(256)})).await.expect_error(400, "name: ");
    let buckets = server.get("/v1/buckets").await.expect(200).json();
    assert_eq!(buckets.as_array().map(Vec::len), Some(1), "nothing half-made");
}

#[tokio::test]
async fn create_stops_at_the_bound() {
    let server = Server::start_with(&[("WEBHOOK_MAX_BUCKETS", "2")]).await;
    server.bucket("one").await;
    server.bucket("two").await;
    let request = server.request("POST", "/v1/buckets").json(&json!({"name": "three"}));
    request.send().await.expect_error(412, "2 buckets");
}

#[tokio::test]
async fn list_is_in_the_order_of_making() {
    let server = Server::start().await;
    assert_eq!(server.get("/v1/buckets").await.expect(200).json(), json!([]));
    let made = [server.bucket("b").await, server.bucket("a").await, server.bucket("c").await];
    assert_eq!(server.get("/v1/buckets").await.expect(200).json(), json!(made));
}

#[tokio::test]
async fn update_replaces() {
    let server = Server::start().await;
    let spec = json!({"name": "old", "description": "text", "stream": false, "ephemeral": true});
    let bucket = server.request("POST", "/v1/buckets").json(&spec).send().await.expect(201).json();
    let output = server.output(&bucket, json!({"destination": "http://127.0.0.1:9"})).await;
    let path = format!("/v1/buckets/{}", id(&bucket));

    let body = json!({"auth": {"type": 2, "token": "t0ken"}});
    let updated = server.request("PUT", &path).json(&body).send().await.expect(200).json();
    assert_eq!(updated["name"], "old", "an absent name keeps the old one");
    assert_eq!(updated["description"], "");
    assert_eq!(updated["stream"], true);
    assert_eq!(updated["ephemeral"], false);
    assert_eq!(updated["auth"]["type"], "token");
    assert_eq!(updated["auth"]["token"], "t0ken");
    assert_eq!(updated["id"], bucket["id"]);
    assert_eq!(updated["created_at"], bucket["created_at"]);
    assert_eq!(updated["inputs"], bucket["inputs"]);
    assert_eq!(updated["outputs"], json!([output]));
    assert_eq!(server.get(&path).await.expect(200).json(), updated);

    let renamed = json!({"name": "new"});
    let updated = server.request("PUT", &path).json(&renamed).send().await.expect(200).json();
    assert_eq!(updated["name"], "new");
    assert_eq!(updated["auth"]["type"], "none");
    let same = server.request("PUT", &path).json(&renamed).send().await.expect(200).json();
    assert_eq!(same["name"], "new", "its own name is no duplicate");
}

#[tokio::test]
async fn update_refuses() {
    let server = Server::start().await;
    server.bucket("taken").await;
    let path = format!("/v1/buckets/{}", id(&server.bucket("mine").await));
    let put = |path: String, spec: Value| server.request("PUT", &path).json(&spec).send();
    put(path.clone(), json!({"name": "taken"})).await.expect_error(412, "taken");
    put(path, json!({"auth": {"type": "token"}})).await.expect_error(400, "auth.token: ");
    put(format!("/v1/buckets/{NOBODY}"), json!({})).await.expect_error(404, "bucket not found");
    put("/v1/buckets/orders".into(), json!({})).await.expect_error(404, "not found");
}

#[tokio::test]
async fn get_refuses() {
    let server = Server::start().await;
    server.get(&format!("/v1/buckets/{NOBODY}")).await.expect_error(404, "bucket not found");
    server.get("/v1/buckets/mine").await.expect_error(404, "not found");
    server.get("/v1/buckets/%ff").await.expect_error(404, "not found");
}

#[tokio::test]
async fn delete_spares_the_default_input_only() {
    let server = Server::start().await;
    let delete = |path: String| server.request("DELETE", &path).send();

    let bare = server.bucket("bare").await;
    let path = format!("/v1/buckets/{}", id(&bare));
    let answer = delete(path.clone()).await.expect(200).json();
    assert_eq!(answer, json!({"id": bare["id"], "status": "deleted"}));
    server.get(&path).await.expect_error(404, "bucket not found");
    delete(path).await.expect_error(404, "bucket not found");

    let with_input = server.bucket("with input").await;
    let path = format!("/v1/buckets/{}", id(&with_input));
    let input = json!({"name": "second"});
    server.request("POST", &format!("{path}/inputs")).json(&input).send().await.expect(201);
    for query in ["", "?force=false", "?force=maybe", "?forced=true"] {
        let refused = delete(format!("{path}{query}")).await;
        refused.expect_error(412, "still has inputs or outputs");
    }
    delete(format!("{path}?force=true")).await.expect(200);
    server.get(&path).await.expect_error(404, "bucket not found");

    let with_output = server.bucket("with output").await;
    server.output(&with_output, json!({"internal": true})).await;
    let path = format!("/v1/buckets/{}", id(&with_output));
    delete(path.clone()).await.expect_error(412, "still has inputs or outputs");
    delete(format!("{path}?force=true")).await.expect(200);
}

#[tokio::test]
async fn deleting_a_bucket_ends_its_inputs() {
    let server = Server::start().await;
    let bucket = server.bucket("gone").await;
    let webhook = format!("/v1/webhooks/{}", default_input(&bucket));
    server.anonymous("POST", &webhook).body("x").send().await.expect(200);
    let path = format!("/v1/buckets/{}", id(&bucket));
    server.request("DELETE", &path).send().await.expect(200);
    server.anonymous("POST", &webhook).body("x").send().await.expect_error(404, "input");
}

#[tokio::test]
async fn another_accounts_bucket() {
    let mut server = Server::start().await;
    let bucket = server.bucket("mine").await;
    server.terminate().await;
    let mut server = server.restart().await;
    server.terminate().await;
    let other = server.account("second").await;
    let server = server.restart().await;

    let path = format!("/v1/buckets/{}", id(&bucket));
    let request = |method: &str, path: &str| {
        server.anonymous(method, path).header("authorization", &format!("Bearer {other}"))
    };
    request("GET", &path).send().await.expect_error(403, "another account");
    request("DELETE", &path).send().await.expect_error(403, "another account");
    request("PUT", &path).json(&json!({})).send().await.expect_error(404, "bucket not found");
    let spec = json!({"destination": "http://127.0.0.1:9"});
    let inputs = format!("{path}/inputs");
    request("POST", &inputs).json(&json!({})).send().await.expect_error(400, "bucket");
    let outputs = format!("{path}/outputs");
    request("POST", &outputs).json(&spec).send().await.expect_error(404, "bucket not found");
    let input = format!("{path}/inputs/{}", default_input(&bucket));
    request("PUT", &input).json(&json!({})).send().await.expect_error(404, "not found");
    request("DELETE", &input).send().await.expect_error(404, "not found");
    assert_eq!(request("GET", "/v1/buckets").send().await.expect(200).json(), json!([]));

    // The name is free in the other account.
    let same = json!({"name": "mine"});
    request("POST", "/v1/buckets").json(&same).send().await.expect(201);
    assert_eq!(server.get(&path).await.expect(200).json(), bucket, "nothing has changed");
}
