//! Credentials of the management API that are sent to a reserved domain.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::*;
use crate::harness::{Request, default_input};

/// A request to the domain with this `Authorization`.
async fn show(server: &Server, method: &str, path: &str, credential: &str) -> Raw {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {DOMAIN}\r\nAuthorization: {credential}");
    raw(connect(server).await, &head, "").await
}

#[tokio::test]
async fn a_known_credential_is_never_handed_to_a_domain() {
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    let tenants = server.bucket("tenants").await;
    input(&server, &tenants, "a webhook", json!({"custom_domain": DOMAIN})).await;
    let key = server.account("second").await;
    let as_second = |method: &str, path: &str| {
        server.anonymous(method, path).header("authorization", &format!("Bearer {key}"))
    };
    as_second("POST", "/v1/buckets").json(&json!({"name": "theirs"})).send().await.expect(201);
    let token = as_second("POST", "/v1/tokens").json(&json!({})).send().await.expect(201).json();
    let text = |field: &str| token[field].as_str().expect("text").to_owned();
    let basic =
        |user: &str, secret: &str| format!("Basic {}", STANDARD.encode(format!("{user}:{secret}")));
    let theirs = [
        format!("Bearer {key}"),
        format!("bearer  {key}"),
        basic("whr", &key),
        basic(&text("key"), &text("secret")),
    ];
    for credential in &theirs {
        let answer = show(&server, "GET", "/v1/buckets", credential).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body.contains("theirs") && !answer.body.contains("tenants"));
        let webhook = format!("/v1/webhooks/{}", default_input(&tenants));
        assert_eq!(show(&server, "POST", &webhook, credential).await.status, 404);
    }
    // Neither what nobody would accept as it is shown, nor what is disabled.
    assert_eq!(show(&server, "GET", "/v1/buckets", &key).await.status, 401);
    let two = format!("Bearer other\r\nAuthorization: Bearer {key}");
    assert_eq!(show(&server, "GET", "/v1/buckets", &two).await.status, 401);
    let off = json!({"enabled": false});
    as_second("PUT", "/v1/account/api-key").json(&off).send().await.expect(200);
    assert_eq!(show(&server, "GET", "/v1/buckets", &theirs[0]).await.status, 401);
    let logs = server.get("/v1/logs").await.expect(200);
    assert_eq!(logs.json()["total"], 0, "{}", logs.text());

    // What is nobody's credential is a webhook's own, whatever it looks like.
    for others in
        ["Bearer abc", "Bearer sk-live-4711", &basic("whr", "x"), &basic(&text("key"), "wrong")]
    {
        let answer = show(&server, "POST", "/v1/buckets", others).await;
        assert_eq!((answer.status, &*answer.body), (200, "a webhook"), "{others}");
    }
    assert_eq!(server.get("/v1/logs").await.expect(200).json()["total"], 4);
}

#[tokio::test]
async fn names_around_the_servers_own_are_its_own() {
    let related = ["relay.example.com", "api.relay.example.com", "example.com", "alias.example"];
    let own = [
        ("WEBHOOK_PUBLIC_URL", "https://relay.example.com/base"),
        ("WEBHOOK_PUBLIC_ALIASES", "Alias.example, www.other.example"),
    ];
    let server = Server::start_with(&own).await;
    server.account("second").await;
    fn ask<'a>(server: &'a Server, domain: &str) -> Request<'a> {
        let spec = json!({ "domain": domain });
        server.request("POST", "/v1/domains").json(&spec)
    }
    for domain in related.into_iter().chain(["other.example", "a.www.other.example"]) {
        ask(&server, domain).send().await.expect_error(451, "cannot be reserved");
    }
    ask(&server, "shop.example.com").send().await.expect(201);

    let may = [own[0], own[1], ("WEBHOOK_RESERVE_RELATED_DOMAINS", "true")];
    let server = Server::start_with(&may).await;
    for domain in ["api.relay.example.com", "example.com", "other.example"] {
        ask(&server, domain).send().await.expect(201);
    }
    for domain in ["relay.example.com", "alias.example"] {
        ask(&server, domain).send().await.expect_error(451, "cannot be reserved");
    }
}

/// A name that was reserved before it became the server's own is the server's.
#[tokio::test]
async fn an_alias_is_never_looked_up() {
    let mut server = Server::start().await;
    reserve(&server, DOMAIN).await;
    assert_eq!(ask(&server, "GET", "/healthz", DOMAIN).await.status, 404);
    server.terminate().await;
    let server = server.restart_with(&[("WEBHOOK_PUBLIC_ALIASES", DOMAIN)]).await;
    assert_eq!(ask(&server, "GET", "/healthz", DOMAIN).await.status, 200);
}

#[tokio::test]
async fn without_a_public_url_several_accounts_reserve_nothing() {
    let server = Server::start().await;
    reserve(&server, DOMAIN).await;
    let key = server.account("second").await;
    for key in [&server.key, &key] {
        let request = server.anonymous("POST", "/v1/domains").json(&json!({"domain": "b.example"}));
        let request = request.header("authorization", &format!("Bearer {key}"));
        request.send().await.expect_error(451, "WEBHOOK_PUBLIC_URL");
    }
}
