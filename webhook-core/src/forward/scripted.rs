//! A forwarder that plays a script, for tests of what is in front of it.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use async_trait::async_trait;
use bytes::Bytes;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::{ForwardError, ForwardRequest, ForwardResponse, Forwarder, timings::Stopwatch};

/// What a [`ScriptedForwarder`] does with one request.
#[derive(Clone)]
pub struct Answer {
    outcome: Outcome,
    delay: Duration,
    hangs: bool,
}

#[derive(Clone)]
enum Outcome {
    Response { status: StatusCode, headers: HeaderMap, body: Bytes },
    Error(Arc<dyn Fn() -> ForwardError + Send + Sync>),
}

impl Answer {
    /// An empty answer with this status.
    #[must_use]
    pub fn status(status: StatusCode) -> Self {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        Self::new(Outcome::Response { status, headers, body })
    }

    /// Status 200 and nothing else.
    #[must_use]
    pub fn ok() -> Self {
        Self::status(StatusCode::OK)
    }

    /// No answer; `error` makes a new error each time.
    pub fn error(error: impl Fn() -> ForwardError + Send + Sync + 'static) -> Self {
        Self::new(Outcome::Error(Arc::new(error)))
    }

    /// No answer: nothing listens at the destination.
    #[must_use]
    pub fn connection_refused() -> Self {
        Self::error(|| ForwardError::Connect {
            reason: "connection refused".to_owned(),
            source: None,
            timings: None,
        })
    }

    const fn new(outcome: Outcome) -> Self {
        Self { outcome, delay: Duration::ZERO, hangs: false }
    }

    /// Adds a header; without effect on an error.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        if let Outcome::Response { headers, .. } = &mut self.outcome {
            headers.append(name, value);
        }
        self
    }

    /// Sets the body; without effect on an error.
    #[must_use]
    pub fn body(mut self, content: impl Into<Bytes>) -> Self {
        if let Outcome::Response { body, .. } = &mut self.outcome {
            *body = content.into();
        }
        self
    }

    /// Waits on tokio's clock first. Past the request's timeout it is [`ForwardError::Timeout`].
    #[must_use]
    pub const fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits, before the delay, until [`ScriptedForwarder::release`] or the request's timeout.
    #[must_use]
    pub const fn held(mut self) -> Self {
        self.hangs = true;
        self
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Answer");
        match &self.outcome {
            Outcome::Response { status, .. } => f.field("status", status),
            Outcome::Error(error) => f.field("error", &error()),
        };
        f.field("delay", &self.delay).field("held", &self.hangs).finish()
    }
}

/// Records requests and answers them from a script for each URL.
///
/// A URL without a script is answered with an empty 200; the last answer of a
/// script repeats. Deadlines and `max_response_bytes` hold as they do on the
/// wire, and time is tokio's, so that a test with paused time waits for nothing.
/// Clones share everything.
///
/// ```
/// use http::StatusCode;
/// use webhook_core::forward::{Answer, ScriptedForwarder};
///
/// let forwarder = ScriptedForwarder::new();
/// forwarder.script(
///     "https://example.com/hook",
///     [Answer::status(StatusCode::SERVICE_UNAVAILABLE), Answer::ok().body("thanks")],
/// );
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedForwarder {
    state: Arc<Mutex<State>>,
    /// Counts requests and releases, for those who wait for them.
    changes: Arc<watch::Sender<Changes>>,
}

#[derive(Debug, Default)]
struct State {
    scripts: HashMap<String, VecDeque<Answer>>,
    requests: Vec<ForwardRequest>,
    in_flight: usize,
    most_in_flight: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    received: usize,
    finished: usize,
    releases: usize,
}

impl Default for ScriptedForwarder {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedForwarder {
    /// A forwarder that answers everything with an empty 200.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Arc::default(), changes: Arc::new(watch::Sender::default()) }
    }

    /// Sets what `url`, written as requests have it, answers from now on.
    pub fn script(&self, url: &str, answers: impl IntoIterator<Item = Answer>) {
        self.lock().scripts.insert(url.to_owned(), answers.into_iter().collect());
    }

    /// Lets the requests that are [held](Answer::held) at this moment go on.
    pub fn release(&self) {
        self.changes.send_modify(|changes| changes.releases += 1);
    }

    /// The requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ForwardRequest> {
        self.lock().requests.clone()
    }

    /// The requests to `url` so far, in order.
    #[must_use]
    pub fn requests_to(&self, url: &str) -> Vec<ForwardRequest> {
        let state = self.lock();
        state.requests.iter().filter(|request| request.url == *url).cloned().collect()
    }

    /// How many requests have no outcome yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.lock().in_flight
    }

    /// How many requests were in flight at the same time at most.
    #[must_use]
    pub fn most_in_flight(&self) -> usize {
        self.lock().most_in_flight
    }

    /// Returns when `count` requests have been received in all.
    pub async fn received(&self, count: usize) {
        self.until(|changes| changes.received >= count).await;
    }

    /// Returns when `count` requests have their outcome, or were dropped, in all.
    pub async fn finished(&self, count: usize) {
        self.until(|changes| changes.finished >= count).await;
    }

    /// A guard that, when dropped, fails the test if a request is still in
    /// flight or a script was not played to its last answer.
    #[must_use]
    pub fn checked_on_drop(&self) -> CheckedOnDrop {
        CheckedOnDrop { forwarder: self.clone() }
    }

    async fn until(&self, reached: impl FnMut(&Changes) -> bool) {
        // The sender is part of `self`, so that the channel cannot close.
        let _ = self.changes.subscribe().wait_for(reached).await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the request and takes its answer from the script.
    fn begin(&self, request: &ForwardRequest) -> Answer {
        let mut state = self.lock();
        state.requests.push(request.clone());
        state.in_flight += 1;
        state.most_in_flight = state.most_in_flight.max(state.in_flight);
        match state.scripts.get_mut(&request.url.to_string()) {
            Some(script) if script.len() > 1 => script.pop_front(),
            Some(script) => script.front().cloned(),
            None => None,
        }
        .unwrap_or_else(Answer::ok)
    }
}

/// Counts a request out, also when its future is dropped.
struct InFlight<'a>(&'a ScriptedForwarder);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.lock().in_flight -= 1;
        self.0.changes.send_modify(|changes| changes.finished += 1);
    }
}

#[async_trait]
impl Forwarder for ScriptedForwarder {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        let answer = self.begin(&request);
        let _in_flight = InFlight(self);
        let mut changes = self.changes.subscribe();
        let released = changes.borrow_and_update().releases + 1;
        self.changes.send_modify(|changes| changes.received += 1);
        let playing = async {
            if answer.hangs {
                let _ = changes.wait_for(|changes| changes.releases >= released).await;
            }
            sleep(answer.delay).await;
        };
        let watch = Stopwatch::start();
        if timeout(request.timeout, playing).await.is_err() {
            return watch
                .told(Err(ForwardError::Timeout { after: request.timeout, timings: None }));
        }
        watch.told(match answer.outcome {
            Outcome::Error(error) => Err(error()),
            Outcome::Response { status, headers, mut body } => {
                let truncated = body.len() > request.max_response_bytes;
                body.truncate(request.max_response_bytes);
                Ok(ForwardResponse { headers, body, truncated, ..ForwardResponse::empty(status) })
            }
        })
    }
}

/// See [`ScriptedForwarder::checked_on_drop`].
#[derive(Debug)]
pub struct CheckedOnDrop {
    forwarder: ScriptedForwarder,
}

impl Drop for CheckedOnDrop {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let state = self.forwarder.lock();
        let unplayed: Vec<_> = state
            .scripts
            .iter()
            .filter(|(_, script)| script.len() > 1)
            .map(|(url, _)| url)
            .collect();
        let in_flight = state.in_flight;
        let failed = in_flight > 0 || !unplayed.is_empty();
        assert!(!failed, "{in_flight} requests in flight; unplayed answers for {unplayed:?}");
    }
}

#[cfg(test)]
mod tests;
