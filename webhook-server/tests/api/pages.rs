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
    let plain = server.anonymous("GET", "/metrics").send().await.expect(200);
    assert!(plain.header("content-type").starts_with("text/plain; version=0.0.4"));
    let text = plain.text();
    assert!(text.contains("# TYPE webhook_received_total counter\n"), "{text}");
    assert!(!text.contains("# EOF"), "{text}");
    let accept = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3";
    let request = server.anonymous("GET", "/metrics").header("accept", accept);
    let answer = request.send().await.expect(200);
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
async fn the_root_leads_to_the_reference() {
    let server = Server::start().await;
    let answer = server.anonymous("GET", "/").send().await.expect(303);
    let place = answer.header("location").to_owned();
    assert!(place.starts_with("/docs"), "{place}");
    server.anonymous("GET", &place).send().await.expect(200);
}

#[tokio::test]
async fn answers_are_what_they_say_they_are() {
    let server = Server::start().await;
    for path in ["/", "/docs/", "/openapi.json", "/healthz", "/metrics", "/v1/buckets", "/none"] {
        for answer in [server.get(path).await, server.anonymous("GET", path).send().await] {
            let said = answer.header("x-content-type-options");
            assert_eq!(said, "nosniff", "{path}: {}", answer.status);
        }
    }
    // A webhook is answered as its input says.
    let bucket = server.bucket("b").await;
    let webhook = format!("/v1/webhooks/{}", default_input(&bucket));
    let answer = server.anonymous("POST", &webhook).body("x").send().await.expect(200);
    assert_eq!(answer.header("x-content-type-options"), "");
}

#[tokio::test]
async fn the_reference_may_load_its_own_files_only() {
    let options = [("WEBHOOK_PUBLIC_URL", "https://hooks.example.com/")];
    let server = Server::start_with(&options).await;
    let page = server.anonymous("GET", "/docs/").send().await.expect(200);
    let policy = page.header("content-security-policy").to_owned();
    for part in [
        "default-src 'none'",
        "script-src 'self';",
        "connect-src 'self' https://hooks.example.com;",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{part} is not in {policy}");
    }
    // What the page needs is what the policy lets it have: no script inside of it, and no
    // attribute that is one.
    let html = page.text();
    for script in html.split("<script").skip(1) {
        let (tag, rest) = script.split_once('>').expect("a tag");
        let inside = rest.split("</script>").next().expect("its end");
        assert!(tag.contains("src=\"./") && inside.trim().is_empty(), "{script}");
    }
    assert!(!html.contains(" onload=") && !html.contains("javascript:"), "{html}");
    for file in ["swagger-initializer.js", "swagger-ui.css", "oauth2-redirect.html"] {
        let file = server.anonymous("GET", &format!("/docs/{file}")).send().await.expect(200);
        assert_eq!(file.header("content-security-policy"), policy);
    }
    let redirect = server.anonymous("GET", "/docs/oauth2-redirect.html").send().await.text();
    assert!(!redirect.contains("<script>"), "{redirect}");
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
    // Without it a phone shows the page as wide as a desk's.
    assert!(html.contains(r#"name="viewport""#), "{html}");
}
