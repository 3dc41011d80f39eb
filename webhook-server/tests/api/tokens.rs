//! `/v1/tokens`

use serde_json::{Value, json};

use super::{
    NOBODY, basic,
    harness::{PATIENCE, Request, Server, default_input, id},
    send, token,
};

const PATH: &str = "/v1/tokens";

fn with<'a>(server: &'a Server, credential: &str, method: &str, path: &str) -> Request<'a> {
    server.anonymous(method, path).header("authorization", credential)
}

#[tokio::test]
async fn a_token_is_made_listed_changed_and_deleted() {
    let server = Server::start().await;
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
    let spec = json!({
        "description": "CI",
        "scopes": {"buckets": ["orders"], "tunnels": ["t"]},
        "api_access": "enabled",
    });
    let answer = server.request("POST", PATH).json(&spec).send().await.expect(201).json();
    let mut fields: Vec<_> = answer.as_object().expect("an object").keys().collect();
    fields.sort();
    assert_eq!(fields, ["key", "secret"]);
    let (key, secret) = (answer["key"].as_str().expect("text"), answer["secret"].as_str());
    let secret = secret.expect("text");
    assert_eq!(secret.len(), 43, "32 bytes in base64url");

    let listed = server.get(PATH).await.expect(200);
    assert!(!listed.text().contains(secret), "it is shown once");
    let listed = listed.json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!((&listed[0]["id"], &listed[0]["key"]), (&answer["key"], &answer["key"]));
    for field in ["description", "scopes", "api_access"] {
        assert_eq!(listed[0][field], spec[field], "{field}");
    }
    for field in ["created_at", "updated_at"] {
        assert!(listed[0][field].as_i64().is_some_and(|s| s > 1_700_000_000), "{listed}");
    }
    assert_eq!((&listed[0]["active"], listed[0].get("last_login")), (&json!(true), None));

    let path = format!("{PATH}/{key}");
    let junk = json!({"description": "CI 2", "id": "", "scopes": null, "api_access": 1});
    let changed = server.request("PUT", &path).json(&junk).send().await.expect(200).json();
    assert_eq!(changed["id"], answer["key"]);
    assert_eq!(
        (&changed["description"], &changed["api_access"]),
        (&json!("CI 2"), &json!("disabled"))
    );
    assert_eq!(changed["scopes"], json!({"buckets": [], "tunnels": []}));
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([changed]));

    let deleted = server.request("DELETE", &path).send().await.expect(200).json();
    assert_eq!(deleted, json!({"id": key, "status": "deleted"}));
    server.request("DELETE", &path).send().await.expect_error(404, "access token not found");
    with(&server, &basic(&answer), "GET", "/v1/events")
        .send()
        .await
        .expect_error(401, "unknown access token");
}

#[tokio::test]
async fn a_login_is_seen_and_access_is_enabled_unless_said_otherwise() {
    let server = Server::start().await;
    let credential = token(&server, json!({"api_access": "none"})).await;
    token(&server, json!({})).await;
    let listed = server.get(PATH).await.expect(200).json();
    for token in [&listed[0], &listed[1]] {
        assert_eq!((&token["api_access"], token.get("last_login")), (&json!("enabled"), None));
    }
    with(&server, &credential, "GET", "/v1/buckets").send().await.expect(200);
    // It is noted beside the request.
    let seen = async {
        loop {
            let listed = server.get(PATH).await.expect(200).json();
            if let Some(at) = listed[0]["last_login"].as_str() {
                assert_eq!(listed[1].get("last_login"), None);
                break at.to_owned();
            }
        }
    };
    let seen = tokio::time::timeout(PATIENCE, seen).await.expect("the login is noted");
    let at: jiff::Timestamp = seen.parse().expect("RFC 3339");
    assert!(at.as_second() >= listed[0]["created_at"].as_i64().expect("unix seconds"), "{seen}");
    // A change does not make it forgotten.
    let path = format!("{PATH}/{}", listed[0]["key"].as_str().expect("text"));
    let changed = server.request("PUT", &path).json(&json!({})).send().await.expect(200).json();
    assert_eq!((&changed["last_login"], &changed["active"]), (&json!(seen), &json!(true)));
}

#[tokio::test]
async fn bad_input_and_what_is_missing() {
    let server = Server::start().await;
    let path = format!("{PATH}/{NOBODY}");
    for (body, said) in [
        ("[]", "body: "),
        (r#"{"api_access":"some"}"#, "api_access: "),
        (r#"{"api_access":3}"#, "api_access: "),
        (r#"{"scopes":{"buckets":"b"}}"#, "scopes.buckets: "),
        (r#"{"scopes":{"buckets":[""]}}"#, "scopes.buckets[0]: "),
        (r#"{"scopes":{"tunnels":[" t"]}}"#, "scopes.tunnels[0]: "),
        (r#"{"description":"\u0000"}"#, "description: "),
    ] {
        server.request("POST", PATH).body(body).send().await.expect_error(400, said);
        server.request("PUT", &path).body(body).send().await.expect_error(400, said);
    }
    for path in [path.as_str(), "/v1/tokens/no-id"] {
        let request = server.request("PUT", path).json(&json!({}));
        request.send().await.expect_error(404, "not found");
        server.request("DELETE", path).send().await.expect_error(404, "not found");
    }
    for method in ["GET", "POST"] {
        server.anonymous(method, PATH).send().await.expect_error(401, "unauthorized");
    }
}

#[tokio::test]
async fn tokens_are_the_accounts_own() {
    let mut server = Server::start().await;
    let first = server.request("POST", PATH).json(&json!({})).send().await.expect(201).json();
    server.terminate().await;
    let second = format!("Bearer {}", server.account("second").await);
    let server = server.restart().await;
    let listed = with(&server, &second, "GET", PATH).send().await.expect(200).json();
    assert_eq!(listed, json!([]));
    let path = format!("{PATH}/{}", first["key"].as_str().expect("text"));
    let request = with(&server, &second, "PUT", &path).json(&json!({}));
    request.send().await.expect_error(404, "not found");
    with(&server, &second, "DELETE", &path).send().await.expect_error(404, "not found");
    with(&server, &basic(&first), "GET", PATH).send().await.expect(200);
}

#[tokio::test]
async fn wrong_credentials_are_401() {
    let server = Server::start().await;
    let one = server.request("POST", PATH).json(&json!({})).send().await.expect(201).json();
    let two = server.request("POST", PATH).json(&json!({})).send().await.expect(201).json();
    for credential in [
        json!({"key": one["key"], "secret": two["secret"]}),
        json!({"key": one["key"], "secret": ""}),
        json!({"key": NOBODY, "secret": one["secret"]}),
        json!({"key": "", "secret": ""}),
        json!({"key": "whr", "secret": one["secret"]}),
    ] {
        let request = with(&server, &basic(&credential), "GET", "/v1/buckets");
        request.send().await.expect_error(401, "unauthorized");
    }
    with(&server, &basic(&one), "GET", "/v1/buckets").send().await.expect(200);
    let key = json!({"key": "whr", "secret": server.key});
    with(&server, &basic(&key), "GET", "/v1/buckets").send().await.expect(200);
}

#[tokio::test]
async fn secrets_are_nowhere_on_the_disk() {
    let mut server = Server::start().await;
    let one = server.request("POST", PATH).json(&json!({})).send().await.expect(201).json();
    with(&server, &basic(&one), "GET", PATH).send().await.expect(200);
    assert!(server.terminate().await.success());
    let secret = one["secret"].as_str().expect("text").as_bytes();
    let (mut files, mut known) = (0, false);
    for entry in std::fs::read_dir(server.data_dir()).expect("the data folder") {
        let bytes = std::fs::read(entry.expect("an entry").path()).unwrap_or_default();
        let holds = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        assert!(!holds(secret));
        known |= holds(b"access_token");
        files += 1;
    }
    assert!(files > 1 && known, "the database was among the {files} files");
}

#[tokio::test]
async fn outside_of_its_scope_a_token_gets_403() {
    let server = Server::start().await;
    let (mine, other) = (server.bucket("mine").await, server.bucket("other").await);
    let output = server.output(&other, json!({"name": "o", "internal": true})).await;
    send(&server, &mine, "mine").await;
    send(&server, &other, "other").await;
    let logs = server.get("/v1/logs?bucket=other").await.expect(200).json();
    let log = id(&logs["data"][0]);
    let by_name = token(&server, json!({"scopes": {"buckets": ["mine"]}})).await;
    let by_id = token(&server, json!({"scopes": {"buckets": [id(&mine)]}})).await;
    let (bucket, output, input) = (id(&other), id(&output), default_input(&other));
    for scoped in [&by_name, &by_id] {
        let seen = with(&server, scoped, "GET", "/v1/buckets").send().await.expect(200).json();
        assert_eq!(seen.as_array().map(Vec::len), Some(1));
        assert_eq!(seen[0]["id"], mine["id"]);
        let path = format!("/v1/buckets/{}", id(&mine));
        with(&server, scoped, "GET", &path).send().await.expect(200);
        let own = with(&server, scoped, "GET", "/v1/logs").send().await.expect(200).json();
        assert_eq!((&own["total"], &own["data"][0]["body"]), (&json!(1), &json!("mine")));

        let body = json!({"name": "new", "internal": true, "action": "resend"});
        for (method, path) in [
            ("GET", format!("/v1/buckets/{bucket}")),
            ("PUT", format!("/v1/buckets/{bucket}")),
            ("DELETE", format!("/v1/buckets/{bucket}?force=true")),
            ("POST", "/v1/buckets".to_owned()),
            ("POST", format!("/v1/buckets/{bucket}/inputs")),
            ("PUT", format!("/v1/buckets/{bucket}/inputs/{input}")),
            ("DELETE", format!("/v1/buckets/{bucket}/inputs/{input}")),
            ("POST", format!("/v1/buckets/{bucket}/outputs")),
            ("PUT", format!("/v1/buckets/{bucket}/outputs/{output}")),
            ("DELETE", format!("/v1/buckets/{bucket}/outputs/{output}")),
            ("DELETE", format!("/v1/buckets/{bucket}/outputs/{output}/rules")),
            ("GET", format!("/v1/buckets/{bucket}/logs/{log}")),
            ("GET", "/v1/logs?bucket=other".to_owned()),
            ("GET", format!("/v1/logs/{log}")),
            ("PUT", format!("/v1/logs/{log}")),
            ("POST", format!("/v1/logs/{log}/action")),
            ("GET", "/v1/logs-stats?bucketId=other".to_owned()),
            ("GET", "/v1/logs/histogram?bucket_id=other".to_owned()),
            ("GET", "/v1/events?bucket=other".to_owned()),
            ("GET", "/v1/tokens".to_owned()),
            ("POST", "/v1/tokens".to_owned()),
            ("GET", "/v1/account/api-key".to_owned()),
            ("POST", "/v1/account/api-key".to_owned()),
            ("GET", "/v1/connected-clients".to_owned()),
            ("GET", "/v1/functions".to_owned()),
            ("POST", "/v1/functions".to_owned()),
            ("GET", format!("/v1/functions/{NOBODY}")),
            ("PUT", format!("/v1/functions/{NOBODY}")),
            ("DELETE", format!("/v1/functions/{NOBODY}")),
            ("GET", format!("/v1/functions/{NOBODY}/config")),
            ("DELETE", format!("/v1/functions/{NOBODY}/config/k")),
            ("POST", format!("/v1/functions/{NOBODY}/invoke")),
            ("GET", format!("/v1/functions/{NOBODY}/logs")),
            ("GET", format!("/v1/exec-logs/{NOBODY}")),
            ("POST", "/v1/functions-generate".to_owned()),
            ("POST", "/v1/functions-invoke".to_owned()),
            ("POST", format!("/v1/functions/{NOBODY}/compare")),
        ] {
            let answer = with(&server, scoped, method, &path).json(&body).send().await;
            assert_eq!(answer.status, 403, "{method} {path}: {}", answer.text());
            answer.expect_error(403, "forbidden");
        }
    }
    assert_eq!(
        server.get(&format!("/v1/buckets/{bucket}")).await.expect(200).json()["name"],
        "other"
    );

    // What its scope names, it may make.
    let later = token(&server, json!({"scopes": {"buckets": ["later", "mine"]}})).await;
    let request = with(&server, &later, "POST", "/v1/buckets").json(&json!({"name": "later"}));
    request.send().await.expect(201);
    let seen = with(&server, &later, "GET", "/v1/buckets").send().await.expect(200).json();
    assert_eq!(seen.as_array().map(Vec::len), Some(2));
    let request = with(&server, &later, "GET", "/v1/logs");
    request.send().await.expect_error(400, "bucket: ");
}

#[tokio::test]
async fn without_api_access_it_may_only_subscribe() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    server.output(&bucket, json!({"name": "laptop", "internal": true})).await;
    send(&server, &bucket, "x").await;
    let logs = server.get("/v1/logs").await.expect(200).json();
    let log = id(&logs["data"][0]);
    let silent = token(&server, json!({"api_access": "disabled"})).await;
    let (bucket, body) = (id(&bucket), Value::String("not even read".to_owned()));
    for (method, path) in [
        ("GET", "/v1/buckets".to_owned()),
        ("POST", "/v1/buckets".to_owned()),
        ("GET", format!("/v1/buckets/{bucket}")),
        ("PUT", format!("/v1/buckets/{bucket}")),
        ("DELETE", format!("/v1/buckets/{bucket}")),
        ("POST", format!("/v1/buckets/{bucket}/inputs")),
        ("POST", format!("/v1/buckets/{bucket}/outputs")),
        ("GET", "/v1/logs".to_owned()),
        ("GET", format!("/v1/logs/{log}")),
        ("POST", format!("/v1/logs/{log}/action")),
        ("GET", "/v1/logs-stats".to_owned()),
        ("GET", "/v1/logs/histogram".to_owned()),
        ("GET", "/v1/tokens".to_owned()),
        ("POST", "/v1/tokens".to_owned()),
        ("GET", "/v1/account/api-key".to_owned()),
        ("PUT", "/v1/account/api-key".to_owned()),
        ("GET", "/v1/connected-clients".to_owned()),
        ("GET", "/v1/functions".to_owned()),
        ("POST", "/v1/functions".to_owned()),
        ("PUT", format!("/v1/functions/{NOBODY}/config")),
        ("POST", format!("/v1/functions/{NOBODY}/invoke")),
        ("GET", format!("/v1/exec-logs/{NOBODY}")),
        ("POST", "/v1/functions-generate".to_owned()),
        ("POST", "/v1/functions-invoke".to_owned()),
        ("POST", format!("/v1/functions/{NOBODY}/compare")),
    ] {
        let answer = with(&server, &silent, method, &path).json(&body).send().await;
        assert_eq!(answer.status, 403, "{method} {path}: {}", answer.text());
        answer.expect_error(403, "may only subscribe");
    }
    let report = json!({"status_code": 200});
    let path = format!("/v1/logs/{log}");
    let log = with(&server, &silent, "PUT", &path).json(&report).send().await.expect(200).json();
    assert_eq!(log["status"], "sent");
    with(&server, &silent, "GET", "/v1/events").send().await.expect(200);
}

#[tokio::test]
async fn a_token_enables_a_disabled_api_key() {
    let server = Server::start().await;
    let credential = token(&server, json!({})).await;
    let path = "/v1/account/api-key";
    let off = json!({"enabled": false});
    server.request("PUT", path).json(&off).send().await.expect(200);
    server.get("/v1/buckets").await.expect_error(401, "disabled");
    let on = json!({"enabled": true});
    with(&server, &credential, "PUT", path).json(&on).send().await.expect(200);
    server.get("/v1/buckets").await.expect(200);
}
