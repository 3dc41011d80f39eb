use std::time::Duration;

use ::http::{HeaderMap, Method, StatusCode};
use axum::{Router, body::Body as AxumBody, extract::Request as AxumRequest, routing::any};
use http_body_util::BodyExt;

use super::*;
use crate::forward::history::FailureKind;

fn router() -> Router {
    Router::new()
        .route(
            "/echo/{*rest}",
            any(async |request: AxumRequest| {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.expect("in memory").to_bytes();
                let line = format!("{} {} {:?}\n", parts.method, parts.uri, parts.headers[HOST]);
                let mut response = Response::new(AxumBody::from([line.into(), body].concat()));
                *response.status_mut() = StatusCode::ACCEPTED;
                *response.headers_mut() = parts.headers;
                response
            }),
        )
        .route("/never", any(async || std::future::pending::<()>().await))
        .route(
            "/endless",
            any(async || {
                AxumBody::from_stream(
                    futures_util::stream::pending::<Result<Bytes, std::io::Error>>(),
                )
            }),
        )
        .route(
            "/breaks",
            any(async || {
                let broken = async { Err::<Bytes, _>(std::io::Error::other("disk on fire")) };
                AxumBody::from_stream(futures_util::stream::once(broken))
            }),
        )
}

fn request(url: &str) -> ForwardRequest {
    ForwardRequest {
        method: Method::from_bytes(b"PURGE").expect("a token"),
        url: url.parse().expect("url"),
        headers: HeaderMap::new(),
        body: "payload".into(),
        timeout: Duration::from_secs(5),
        tls_verification: true,
        max_response_bytes: 1024,
        new_connection: false,
    }
}

#[tokio::test]
async fn an_axum_router_is_a_destination() -> Result<(), ForwardError> {
    let forwarder = ServiceForwarder::new(router());
    let mut sent = request("https://app.internal:8443/echo/a%20b?x=1&x=2#not-sent");
    sent.headers.append("x-many", "1".parse().expect("value"));
    sent.headers.append("x-many", "2".parse().expect("value"));
    sent.headers.insert("transfer-encoding", "chunked".parse().expect("value"));
    let response = forwarder.forward(sent).await?;
    assert_eq!(response.status, StatusCode::ACCEPTED);
    assert_eq!(response.body, "PURGE /echo/a%20b?x=1&x=2 \"app.internal:8443\"\npayload");
    let many: Vec<_> = response.headers.get_all("x-many").iter().collect();
    assert_eq!(many, ["1", "2"]);
    assert_eq!(response.headers["content-length"], "7");
    assert!(!response.headers.contains_key("transfer-encoding"));
    Ok(())
}

#[tokio::test]
async fn the_cap_and_the_host_override_hold() -> Result<(), ForwardError> {
    let forwarder = ServiceForwarder::new(router());
    let mut sent = request("http://a.example/echo/x");
    sent.headers.insert(HOST, "b.example".parse().expect("value"));
    sent.max_response_bytes = 25;
    let response = forwarder.forward(sent).await?;
    assert_eq!(
        (&response.body[..], response.truncated),
        (&b"PURGE /echo/x \"b.example\"\n"[..25], true)
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_deadline_covers_answer_and_body() {
    let forwarder = ServiceForwarder::new(router());
    for path in ["never", "endless"] {
        let start = tokio::time::Instant::now();
        let outcome = forwarder.forward(request(&format!("http://a/{path}"))).await;
        let error = outcome.expect_err("no end");
        assert_eq!(FailureKind::of(&error), FailureKind::Timeout, "{path}: {error:?}");
        let has_head = matches!(error, ForwardError::Incomplete { .. });
        assert_eq!(has_head, path == "endless", "{error:?}");
        assert_eq!(start.elapsed(), Duration::from_secs(5), "{path}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_is_an_error() {
    let outcome = ServiceForwarder::new(router()).forward(request("http://a/breaks")).await;
    let error = outcome.expect_err("the body fails");
    assert!(
        matches!(error, ForwardError::Incomplete { .. })
            && error.to_string().contains("disk on fire"),
        "{error}"
    );
}
