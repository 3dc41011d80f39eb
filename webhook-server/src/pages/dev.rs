//! With `--dev`: a destination to try things with. What arrives at `/dev/inbox`
//! is kept, and shown by `/dev/received`. Both answer only under a name of this machine.

use std::{
    collections::VecDeque,
    fmt::Write,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{StatusCode, uri::Authority},
    middleware::{self, Next},
    response::Response,
    routing::{any, get},
};
use tokio::sync::Notify;
use webhook_core::{model::Headers, relay::requested_host};

use crate::api::error::text;

/// The destination.
pub(crate) const INBOX_PATH: &str = "/dev/inbox";
/// Webhooks with an extra path arrive below it.
const INBOX_SUBPATHS: &str = "/dev/inbox/{*rest}";
/// Shows what arrived.
pub(crate) const RECEIVED_PATH: &str = "/dev/received";

/// How many of the last requests are kept.
const KEPT: usize = 20;
/// How much of each body is kept.
const KEPT_BODY_BYTES: usize = 64 << 10;
/// The longest body that is taken: that of the largest webhook.
const MAX_BODY_BYTES: usize = 32 << 20;
/// How long a reader waits for the first request.
const PATIENCE: Duration = Duration::from_secs(10);

/// The last requests that arrived, as text.
#[derive(Debug, Default)]
struct Inbox {
    requests: Mutex<VecDeque<String>>,
    arrived: Notify,
}

impl Inbox {
    fn put(&self, request: String) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() == KEPT {
            requests.pop_front();
        }
        requests.push_back(request);
        drop(requests);
        self.arrived.notify_waiters();
    }

    fn text(&self) -> Option<String> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let texts: Vec<_> = requests.iter().map(String::as_str).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// What arrived; waits for a while when nothing has yet.
    async fn wait(&self) -> Option<String> {
        let arrived = self.arrived.notified();
        tokio::pin!(arrived);
        // Registered before looking, so that nothing is missed in between.
        arrived.as_mut().enable();
        if let Some(text) = self.text() {
            return Some(text);
        }
        let _ = tokio::time::timeout(PATIENCE, arrived).await;
        self.text()
    }
}

/// The routes of the inbox.
pub(crate) fn router<S>() -> Router<S> {
    Router::new()
        .route(INBOX_PATH, any(receive))
        .route(INBOX_SUBPATHS, any(receive))
        .route(RECEIVED_PATH, get(received))
        .route_layer(middleware::from_fn(only_here))
        .with_state(Arc::default())
}

/// Middleware that refuses a request under any other name than one of this machine. A browser can
/// be made to resolve a public name to this machine (DNS rebinding): the page of that name would
/// read what arrived.
async fn only_here(request: Request, next: Next) -> Response {
    let host = requested_host(&request).ok().flatten();
    if host.is_some_and(is_loopback) {
        return next.run(request).await;
    }
    let reason = "the inbox answers only under a loopback address or localhost: write \
                  http://127.0.0.1 or http://localhost with this server's port";
    text(StatusCode::FORBIDDEN, reason)
}

/// Whether a host, with a port or without, is a loopback address, `localhost` or a name below it.
fn is_loopback(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    match name.parse::<IpAddr>() {
        Ok(ip) => ip.to_canonical().is_loopback(),
        Err(_) => name == "localhost" || name.ends_with(".localhost"),
    }
}

/// Takes any request.
async fn receive(State(inbox): State<Arc<Inbox>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(Body::new(body), MAX_BODY_BYTES).await else {
        return text(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long");
    };
    let mut shown = format!("{} {}\n", parts.method, parts.uri);
    for (name, value) in &parts.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let _ = writeln!(shown, "{}: {value}", Headers::canonical_name(name));
    }
    let kept = body.get(..KEPT_BODY_BYTES).unwrap_or(&body);
    let _ = write!(shown, "\n{}", String::from_utf8_lossy(kept));
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    tracing::info!(method = %parts.method, uri = %parts.uri, "a webhook arrived at the inbox");
    inbox.put(shown);
    text(StatusCode::OK, "received\n")
}

/// Shows what arrived.
async fn received(State(inbox): State<Arc<Inbox>>) -> Response {
    match inbox.wait().await {
        Some(requests) => text(StatusCode::OK, requests),
        None => text(StatusCode::OK, "nothing arrived yet\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn names_of_this_machine() {
        for here in [
            "localhost",
            "LOCALHOST:8080",
            "a.localhost:1",
            "localhost.",
            "127.0.0.1:8080",
            "127.1.2.3",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_loopback(here), "{here}");
        }
        for other in [
            "",
            "hooks.example.com",
            "localhost.example.com",
            "notlocalhost",
            "127.0.0.1.nip.io:8080",
            "192.0.2.1",
            "0.0.0.0",
            "[::]",
            "user@127.0.0.1@evil.example",
            "127.0.0.1:80/evil",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
