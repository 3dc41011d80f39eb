//! `/v1/domains`

use serde_json::{Value, json};

use super::{
    NOBODY,
    harness::{Answer, Server, id},
    token,
};

const PATH: &str = "/v1/domains";

async fn reserve(server: &Server, domain: &str) -> Answer {
    server.request("POST", PATH).json(&json!({ "domain": domain })).send().await
}

async fn delete(server: &Server, id: &str) -> Answer {
    server.request("DELETE", &format!("{PATH}/{id}")).send().await
}

#[tokio::test]
async fn a_domain_is_reserved_listed_and_deleted() {
    let server = Server::start().await;
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
    let spec = json!({"id": "", "domain": "Bücher.Example.", "created_at": -62_135_596_800_i64});
    let made = server.request("POST", PATH).json(&spec).send().await.expect(201).json();
    let fields: Vec<_> = made.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(fields, ["id", "created_at", "updated_at", "domain"]);
    assert_eq!(made["domain"], "xn--bcher-kva.example");
    assert!(made["created_at"].as_i64().is_some_and(|secs| secs > 1_700_000_000), "{made}");
    let second = reserve(&server, "hooks.example.com").await.expect(201).json();
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([made, second]));

    let deleted = delete(&server, id(&made)).await.expect(200).json();
    assert_eq!(deleted, json!({"id": made["id"], "status": "deleted"}));
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([second]));
    reserve(&server, "bücher.example").await.expect(201);
}

#[tokio::test]
async fn what_is_no_domain_is_400() {
    let server = Server::start().await;
    let too_long = format!("{}.example", ["a"; 130].join("."));
    for domain in [
        json!(""),
        json!(null),
        json!(7),
        json!(["a.example"]),
        json!("localhost"),
        json!("127.0.0.1"),
        json!("[::1]"),
        json!("https://a.example"),
        json!("a.example:443"),
        json!("a.example/hooks"),
        json!("*.a.example"),
        json!("a_b.example"),
        json!("-a.example"),
        json!("a..example"),
        json!("a b.example"),
        json!("a.example\u{0}"),
        json!("xn--a.example"),
        json!(too_long),
    ] {
        let answer = server.request("POST", PATH).json(&json!({ "domain": domain })).send().await;
        answer.expect_error(400, "domain: ");
    }
    server.request("POST", PATH).json(&json!({})).send().await.expect_error(400, "domain: ");
    server.request("POST", PATH).body("[]").send().await.expect_error(400, "body: ");
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([]));
}

#[tokio::test]
async fn a_taken_domain_is_412_for_everybody() {
    let own = ("WEBHOOK_PUBLIC_URL", "https://relay.example.org");
    let mut server = Server::start_with(&[own]).await;
    let made = reserve(&server, "hooks.example.com").await.expect(201).json();
    reserve(&server, "HOOKS.example.com").await.expect_error(412, "is taken");
    server.terminate().await;
    let key = server.account("second").await;
    let server = server.restart().await;
    let second = |method: &str, path: &str| {
        server.anonymous(method, path).header("authorization", &format!("Bearer {key}"))
    };
    let spec = json!({"domain": "hooks.example.com"});
    second("POST", PATH).json(&spec).send().await.expect_error(412, "is taken");
    assert_eq!(second("GET", PATH).send().await.expect(200).json(), json!([]));
    let path = format!("{PATH}/{}", id(&made));
    second("DELETE", &path).send().await.expect_error(404, "domain not found");
    // Nor can the other account's inputs use it.
    let bucket = second("POST", "/v1/buckets").json(&json!({"name": "b"})).send().await;
    let inputs = format!("/v1/buckets/{}/inputs", id(&bucket.expect(201).json()));
    let input = json!({"custom_domain": "hooks.example.com"});
    second("POST", &inputs).json(&input).send().await.expect_error(400, "custom_domain: ");
    assert_eq!(server.get(PATH).await.expect(200).json(), json!([made]));
}

#[tokio::test]
async fn what_the_operator_keeps_is_451_and_too_many_is_412() {
    let server = Server::start_with(&[
        ("WEBHOOK_PUBLIC_URL", "https://relay.example.com/base"),
        ("WEBHOOK_DOMAIN_BLOCKLIST", "api.example.com, *.corp.example"),
        ("WEBHOOK_MAX_DOMAINS", "1"),
    ])
    .await;
    for refused in ["relay.example.com", "api.example.com", "a.b.Corp.example"] {
        reserve(&server, refused).await.expect_error(451, "domain: ");
    }
    reserve(&server, "shop.example.com").await.expect(201);
    reserve(&server, "corp.example").await.expect_error(412, "all of its 1 domains");

    let server = Server::start_with(&[("WEBHOOK_MAX_DOMAINS", "0")]).await;
    reserve(&server, "hooks.example.com").await.expect_error(451, "not part of the plan");
    reserve(&server, "hooks").await.expect_error(400, "domain: ");
}

#[tokio::test]
async fn a_blocklist_that_is_none_is_refused_at_the_start() {
    let server = Server::start().await;
    let output = server.command(&["--domain-blocklist", "a.example,b_c", "migrate"]).await;
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("b_c") && text.contains("is not a domain"), "{text}");
}

#[tokio::test]
async fn a_missing_domain_is_404_and_one_in_use_412() {
    let server = Server::start().await;
    for missing in [NOBODY, "hooks.example.com", "%ff"] {
        delete(&server, missing).await.expect_error(404, "not found");
    }
    let made = reserve(&server, "hooks.example.com").await.expect(201).json();
    let bucket = server.bucket("b").await;
    let inputs = format!("/v1/buckets/{}/inputs", id(&bucket));
    let spec = json!({"custom_domain": "Hooks.Example.com", "path_prefix": "/a/"});
    let input = server.request("POST", &inputs).json(&spec).send().await.expect(201).json();
    assert_eq!(input["custom_domain"], "hooks.example.com");
    assert_eq!(input["path_prefix"], "/a/");
    delete(&server, id(&made)).await.expect_error(412, "used by an input");
    server.request("DELETE", &format!("{inputs}/{}", id(&input))).send().await.expect(200);
    delete(&server, id(&made)).await.expect(200);
}

#[tokio::test]
async fn inputs_say_where_they_are() {
    let server = Server::start().await;
    reserve(&server, "hooks.example.com").await.expect(201);
    let bucket = server.bucket("b").await;
    let inputs = format!("/v1/buckets/{}/inputs", id(&bucket));
    let post = |spec: Value| server.request("POST", &inputs).json(&spec).send();
    for (spec, said) in [
        (json!({"custom_domain": "other.example.com"}), "custom_domain: "),
        (json!({"custom_domain": "hooks"}), "custom_domain: "),
        (json!({"custom_domain": "hooks.example.com/a"}), "custom_domain: "),
        (json!({"path_prefix": "a"}), "path_prefix: "),
        (json!({"path_prefix": "/a//b"}), "path_prefix: "),
        (json!({"path_prefix": "/a?b"}), "path_prefix: "),
        (json!({"path_prefix": "/ä"}), "path_prefix: "),
        (json!({"tls_version": "1.1"}), "tls_version: "),
    ] {
        post(spec).await.expect_error(400, said);
    }
    let place = json!({"custom_domain": "hooks.example.com", "path_prefix": "/a"});
    let first = post(place.clone()).await.expect(201).json();
    let taken = format!("path_prefix: the input {} has hooks.example.com/a already", id(&first));
    post(place.clone()).await.expect_error(412, &taken);
    let second = post(json!({"tls_version": "1.3", "legacy_tls": true})).await.expect(201).json();
    let path = |input: &Value| format!("{inputs}/{}", id(input));
    let put = |input: &Value| server.request("PUT", &path(input)).json(&place).send();
    put(&second).await.expect_error(412, &taken);
    put(&first).await.expect(200);
}

#[tokio::test]
async fn a_scoped_token_is_403() {
    let server = Server::start().await;
    let made = reserve(&server, "hooks.example.com").await.expect(201).json();
    server.bucket("b").await;
    let credential = token(&server, json!({"scopes": {"buckets": ["b"]}})).await;
    let with = |method: &str, path: &str| {
        server.anonymous(method, path).header("authorization", &credential)
    };
    with("GET", PATH).send().await.expect_error(403, "forbidden");
    let spec = json!({"domain": "a.example"});
    with("POST", PATH).json(&spec).send().await.expect_error(403, "forbidden");
    with("DELETE", &format!("{PATH}/{}", id(&made))).send().await.expect_error(403, "forbidden");
    for (method, path) in [("GET", PATH), ("POST", PATH), ("DELETE", "/v1/domains/x")] {
        server.anonymous(method, path).send().await.expect_error(401, "unauthorized");
    }
}
