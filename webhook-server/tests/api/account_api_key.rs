//! `/v1/account/api-key`

use serde_json::json;

use super::harness::Server;

const PATH: &str = "/v1/account/api-key";

#[tokio::test]
async fn get_answers_the_same_key_each_time() {
    let server = Server::start().await;
    let key = server.get(PATH).await.expect(200).json();
    assert_eq!(key["api_key"], server.key.as_str());
    assert_eq!(key["enabled"], true);
    assert!(key["created_at"].as_i64().is_some_and(|seconds| seconds > 1_700_000_000));
    assert_eq!(server.get(PATH).await.expect(200).json(), key);
}

#[tokio::test]
async fn a_key_has_32_random_bytes() {
    let server = Server::start().await;
    let random = server.key.strip_prefix("sk-").expect("a key starts with sk-");
    assert_eq!(random.len(), 43, "32 bytes in base64url");
    assert!(random.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
}

#[tokio::test]
async fn post_replaces_the_key() {
    let server = Server::start().await;
    let new = server.request("POST", PATH).send().await.expect(200).json();
    let new = new["api_key"].as_str().expect("a key");
    assert_ne!(new, server.key);

    server.get(PATH).await.expect_error(401, "unknown API key");
    let request = server.anonymous("GET", PATH).header("authorization", &format!("Bearer {new}"));
    assert_eq!(request.send().await.expect(200).json()["api_key"], new);
}

#[tokio::test]
async fn put_disables_the_key_everywhere() {
    let server = Server::start().await;
    let enabled = json!({"enabled": true});
    let answer = server.request("PUT", PATH).json(&enabled).send().await.expect(200);
    assert_eq!(answer.json(), enabled);

    let disabled = json!({"enabled": false});
    let answer = server.request("PUT", PATH).json(&disabled).send().await.expect(200);
    assert_eq!(answer.json(), disabled);
    for (method, path) in [("GET", PATH), ("PUT", PATH), ("POST", PATH), ("GET", "/v1/buckets")] {
        let request = server.request(method, path).json(&enabled);
        request.send().await.expect_error(401, "the API key is disabled");
    }
}

#[tokio::test]
async fn put_wants_to_know_whether() {
    let server = Server::start().await;
    for (body, said) in [
        ("", "body: "),
        ("{}", "enabled"),
        (r#"{"enabled":"yes"}"#, "enabled: invalid type"),
        (r#"{"enabled":null}"#, "enabled: "),
    ] {
        server.request("PUT", PATH).body(body).send().await.expect_error(400, said);
    }
    server.get(PATH).await.expect(200);
}

#[tokio::test]
async fn every_method_wants_credentials() {
    let server = Server::start().await;
    for method in ["GET", "PUT", "POST"] {
        server.anonymous(method, PATH).send().await.expect_error(401, "unauthorized");
    }
}
