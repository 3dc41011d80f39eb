//! `/healthz`, `/readyz`, `/metrics`, `/docs`

use super::harness::{Server, default_input};

#[tokio::test]
async fn health_needs_no_credentials() {
    let server = Server::start().await;
    for path in ["/healthz", "/readyz"] {
        let answer = server.anonymous("GET", path).send().await.expect(200);
        assert!(!answer.header("request-id").is_empty());
    }
}

#[tokio::test]
async fn metrics_count() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let webhook = format!("/v1/webhooks/{}", default_input(&bucket));
    server.anonymous("POST", &webhook).body("x").send().await.expect(200);
    let answer = server.anonymous("GET", "/metrics").send().await.expect(200);
    assert!(answer.header("content-type").starts_with("application/openmetrics-text"));
    let text = answer.text();
    for line in [
        r#"webhook_received_total{status="Success"} 1"#,
        r#"webhook_requests_total{method="Post",status="Success"} 1"#,
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn request_ids_differ() {
    let server = Server::start().await;
    let first = server.get("/healthz").await.header("request-id").to_owned();
    let second = server.get("/healthz").await.header("request-id").to_owned();
    assert_ne!(first, second);
}

#[tokio::test]
async fn docs_are_a_page_that_loads_nothing_from_elsewhere() {
    let server = Server::start().await;
    let redirect = server.anonymous("GET", "/docs").send().await.expect(303);
    assert_eq!(redirect.header("location"), "/docs/");
    let page = server.anonymous("GET", "/docs/").send().await.expect(200);
    assert!(page.header("content-type").starts_with("text/html"));
    let mut sources = Vec::new();
    let html = page.text();
    for attribute in ["src=\"", "href=\""] {
        for (index, _) in html.match_indices(attribute) {
            let rest = &html[index + attribute.len()..];
            sources.push(rest.split('"').next().expect("an attribute").to_owned());
        }
    }
    assert!(sources.len() >= 3, "{html}");
    for source in sources {
        let name = source.trim_start_matches("./");
        assert!(!name.contains("//"), "{name} comes from elsewhere");
        server.anonymous("GET", &format!("/docs/{name}")).send().await.expect(200);
    }
    let start = server.anonymous("GET", "/docs/swagger-initializer.js").send().await.expect(200);
    assert!(start.text().contains("/openapi.json"), "{}", start.text());
    assert!(start.text().contains(r#""validatorUrl": "none""#), "{}", start.text());
}
