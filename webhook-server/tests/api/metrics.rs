//! Who may read `/metrics`.

use serde_json::json;

use super::{
    harness::{Answer, Client, Server},
    token,
};

const TOKEN: &str = "a-token-for-the-metrics";

async fn ask(server: &Server, headers: &[(&str, &str)]) -> Answer {
    let mut request = server.anonymous("GET", "/metrics");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.send().await
}

#[tokio::test]
async fn without_settings_they_are_for_this_machine_and_for_api_keys() {
    let server = Server::start().await;
    assert!(ask(&server, &[]).await.expect(200).text().contains("webhook_connections"));
    let key = format!("Bearer {}", server.key);
    for forwarded in [
        ("x-forwarded-for", "203.0.113.9"),
        ("forwarded", "for=203.0.113.9"),
        ("x-real-ip", "203.0.113.9"),
        ("via", "1.1 proxy"),
        ("host", "hooks.example.com"),
    ] {
        ask(&server, &[forwarded]).await.expect_error(401, "unauthorized");
        let wrong = ("authorization", "Bearer sk-wrong");
        ask(&server, &[forwarded, wrong]).await.expect_error(401, "unauthorized");
        ask(&server, &[forwarded, ("authorization", &key)]).await.expect(200);
    }
    // What is everybody's is not for whoever reaches some buckets.
    let scoped =
        token(&server, json!({"scopes": {"buckets": ["b"]}, "api_access": "enabled"})).await;
    let through = ("x-forwarded-for", "203.0.113.9");
    ask(&server, &[through, ("authorization", &scoped)]).await.expect_error(403, "some buckets");
}

#[tokio::test]
async fn a_client_of_a_trusted_proxy_is_not_on_this_machine() {
    let server = Server::start_with(&[("WEBHOOK_TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    ask(&server, &[("x-forwarded-for", "203.0.113.9")]).await.expect_error(401, "unauthorized");
    ask(&server, &[]).await.expect(200);
}

#[tokio::test]
async fn a_token_is_wanted_when_there_is_one() {
    let server = Server::start_with(&[("WEBHOOK_METRICS_TOKEN", TOKEN)]).await;
    let key = format!("Bearer {}", server.key);
    for wrong in [None, Some("Bearer wrong"), Some(TOKEN), Some(&*key)] {
        let header = wrong.map(|wrong| ("authorization", wrong));
        let refused = ask(&server, header.as_slice()).await.expect_error(401, "their token");
        assert_eq!(refused.header("www-authenticate"), "Bearer");
    }
    let shown = format!("Bearer {TOKEN}");
    let shown = [("authorization", &*shown), ("x-forwarded-for", "203.0.113.9")];
    assert!(ask(&server, &shown).await.expect(200).text().contains("webhook_connections"));
    assert!(!server.log().contains(TOKEN), "the log shows the token");
    let help = server.command(&["--help"]).await;
    assert!(!String::from_utf8_lossy(&help.stdout).contains(TOKEN), "the help shows the token");
}

/// The address that the server says the metrics have.
async fn address(server: &mut Server) -> String {
    loop {
        let line = server.line().await.expect("the address is printed");
        if let Some(url) = line.strip_prefix("metrics at ") {
            return url.to_owned();
        }
    }
}

#[tokio::test]
async fn at_an_address_of_their_own_they_are_there_only() {
    // The harness passes over the line with the address unless the key is known.
    let key = ("WEBHOOK_API_KEY", "sk-chosen-by-the-operator");
    let listen = ("WEBHOOK_METRICS_LISTEN", "127.0.0.1:0");
    let mut server = Server::start_with(&[key, listen]).await;
    let url = address(&mut server).await;
    let base = url.strip_suffix("/metrics").expect("the path").to_owned();
    let client = Client::default();
    let answer = client.request("GET", &url).header("x-forwarded-for", "203.0.113.9").send().await;
    let answer = answer.expect(200);
    assert!(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
    assert!(answer.text().contains("webhook_connections"));
    for (path, status) in [("/healthz", 200), ("/readyz", 200), ("/v1/buckets", 404), ("/", 404)] {
        client.request("GET", &format!("{base}{path}")).send().await.expect(status);
    }
    client.request("POST", &url).send().await.expect(405);
    server.get("/metrics").await.expect_error(404, "no such path");

    server.terminate().await;
    let mut server = server.restart_with(&[("WEBHOOK_METRICS_TOKEN", TOKEN)]).await;
    let url = address(&mut server).await;
    client.request("GET", &url).send().await.expect(401);
    let shown = format!("Bearer {TOKEN}");
    client.request("GET", &url).header("authorization", &shown).send().await.expect(200);
}
