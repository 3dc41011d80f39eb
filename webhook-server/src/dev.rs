//! With `--dev`: a destination to try things with. What arrives at `/dev/inbox`
//! is kept, and shown by `/dev/received`.

use std::{
    collections::VecDeque,
    fmt::Write,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::StatusCode,
    response::Response,
};
use tokio::sync::Notify;
use webhook_core::model::Headers;

use crate::{error::text, state::AppState};

/// The destination.
pub(crate) const INBOX_PATH: &str = "/dev/inbox";
/// Webhooks with an extra path arrive below it.
pub(crate) const INBOX_SUBPATHS: &str = "/dev/inbox/{*rest}";
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
pub(crate) struct Inbox {
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

/// Takes any request.
pub(crate) async fn receive(State(state): State<AppState>, request: Request) -> Response {
    let Some(inbox) = state.inbox() else {
        return text(StatusCode::NOT_FOUND, "no such path");
    };
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
pub(crate) async fn received(State(state): State<AppState>) -> Response {
    let Some(inbox) = state.inbox() else {
        return text(StatusCode::NOT_FOUND, "no such path");
    };
    match inbox.wait().await {
        Some(requests) => text(StatusCode::OK, requests),
        None => text(StatusCode::OK, "nothing arrived yet\n"),
    }
}
