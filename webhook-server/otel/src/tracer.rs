//! Makes spans of what happens to webhooks.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use http::{HeaderMap, HeaderName, Method, Request, Response, Uri, Version, header};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use webhook_core::{
    Clock, SystemClock, Timestamp, WebhookId,
    forward::Forwarder,
    model::Output,
    relay::ClientAddr,
    store::{Pending, Settle},
};

use crate::{
    context::{Context, SpanId, TRACEPARENT, TraceId, traceparent},
    export::Exporter,
    settings::Settings,
    span::{Kind, Span, Value},
};

/// Makes spans and sends them. A clone shares everything.
#[derive(Clone, Debug, Default)]
pub struct Tracer {
    /// None when nothing is traced.
    shared: Option<Arc<Shared>>,
}

#[derive(Debug)]
struct Shared {
    settings: Arc<Settings>,
    spans: mpsc::Sender<Span>,
    dropped: Arc<AtomicU64>,
    stopped: CancellationToken,
    exporting: Mutex<Option<JoinHandle<()>>>,
}

impl Tracer {
    /// A tracer that sends to the collector by `forwarder`, which must be allowed to connect
    /// to it. Without settings nothing is traced.
    ///
    /// Must be called on a runtime of tokio's.
    #[must_use]
    pub fn start(settings: Option<Settings>, forwarder: Arc<dyn Forwarder>) -> Self {
        let shared = settings.map(|settings| {
            let settings = Arc::new(settings);
            let (sender, spans) = mpsc::channel(settings.max_waiting);
            let (stopped, dropped) = (CancellationToken::new(), Arc::<AtomicU64>::default());
            let exporter = Exporter {
                settings: Arc::clone(&settings),
                forwarder,
                spans,
                stopped: stopped.clone(),
                dropped: Arc::clone(&dropped),
                complained: None,
            };
            let exporting = Mutex::new(Some(tokio::spawn(exporter.run())));
            Arc::new(Shared { settings, spans: sender, dropped, stopped, exporting })
        });
        Self { shared }
    }

    /// Sends what waits. Later spans are dropped.
    pub async fn close(&self) {
        let Some(shared) = &self.shared else { return };
        shared.stopped.cancel();
        let exporting = shared.exporting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(exporting) = exporting {
            // It does not panic, and nobody aborts it.
            let _ = exporting.await;
        }
    }

    /// A webhook is about to be received, at the route if the path is one.
    pub fn receiving<B>(&self, route: Option<&'static str>, request: &Request<B>) -> Receiving {
        let begun = self.shared.as_ref().map(|shared| {
            let begun = Begun {
                shared: Arc::clone(shared),
                sender: shared.sender_of(request.headers()),
                started: SystemClock.now(),
                instant: Instant::now(),
                name: match route {
                    Some(route) => format!("{} {route}", known(request.method()).0),
                    None => known(request.method()).0.to_owned(),
                },
                attributes: of_request(route, request),
            };
            Box::new(begun)
        });
        Receiving { begun }
    }

    /// The span of the log for what happens to a delivery.
    pub(crate) fn log_span(&self, pending: &Pending) -> tracing::Span {
        let trace = self.shared.as_ref().map(|shared| shared.trace_of(pending).0);
        trace.map_or_else(tracing::Span::none, log_span)
    }

    /// Names the trace to the destination, unless the sender or the output does.
    pub(crate) fn sending(&self, pending: &Pending, headers: &mut HeaderMap) {
        let Some(shared) = &self.shared else { return };
        if !shared.settings.propagates || headers.contains_key(TRACEPARENT) {
            return;
        }
        let (trace, sender) = shared.trace_of(pending);
        let span = SpanId::of_attempt(pending.id, pending.attempts + 1);
        let kept = shared.settings.sampler.keeps(trace, sender);
        if let Some(value) = traceparent(trace, span, kept) {
            headers.insert(TRACEPARENT, value);
        }
    }

    /// What came of a delivery's turn: a span, if it was an attempt.
    pub(crate) fn settling(&self, pending: &Pending, output: Option<&Output>, settle: &Settle) {
        let Some(shared) = &self.shared else { return };
        if settle.attempts == pending.attempts {
            return;
        }
        let (trace, sender) = shared.trace_of(pending);
        let webhook = &pending.webhook;
        let attempt = &settle.attempt;
        let failure = match (&attempt.error, attempt.status_code) {
            (Some(error), _) => Some(error.clone()),
            (None, 400..) => Some(String::new()),
            (None, _) => None,
        };
        if !shared.keeps(trace, sender, failure.is_some()) {
            return;
        }
        let request = settle.processed.as_deref().or(pending.processed.as_deref());
        let (method, original) = known(&request.unwrap_or(&webhook.request).method);
        let mut attributes = vec![
            ("http.request.method", method.into()),
            ("webhook.id", webhook.id.to_string().into()),
            ("webhook.delivery.id", pending.id.to_string().into()),
            ("webhook.bucket.id", webhook.bucket_id.to_string().into()),
            ("webhook.output.id", pending.output_id.to_string().into()),
            ("webhook.delivery.status", settle.status.as_str().into()),
        ];
        attributes.extend(original.map(|it| ("http.request.method_original", it.into())));
        if let Some(output) = output {
            attributes.extend(of_destination(&output.spec.destination));
        }
        if settle.attempts > 1 {
            let resent = i64::from(settle.attempts - 1);
            attributes.push(("http.request.resend_count", Value::Number(resent)));
        }
        attributes.extend(of_status(attempt.status_code, 400));
        if attempt.error.is_some() {
            attributes.push(("error.type", "_OTHER".into()));
        }
        let ended = settle.now.as_millis();
        let took = i64::try_from(attempt.duration.as_millis()).unwrap_or(ended);
        shared.send(Span {
            trace,
            id: SpanId::of_attempt(pending.id, settle.attempts),
            // What came from no sender, as a cron's does, was not received.
            parent: webhook.remote_addr.map(|_| SpanId::of_receiving(webhook.id)),
            name: method.to_owned(),
            kind: Kind::Client,
            started: Timestamp::from_millis(ended.saturating_sub(took)),
            took: attempt.duration,
            attributes,
            failure,
        });
    }
}

impl Shared {
    fn sender_of(&self, headers: &HeaderMap) -> Option<Context> {
        if self.settings.propagates { Context::of(headers) } else { None }
    }

    /// The trace of a delivery, and what the sender says about it.
    fn trace_of(&self, pending: &Pending) -> (TraceId, Option<Context>) {
        let sender = self.sender_of(&pending.webhook.request.headers);
        (sender.map_or_else(|| TraceId::of(pending.webhook.id), |sender| sender.trace), sender)
    }

    fn keeps(&self, trace: TraceId, sender: Option<Context>, failed: bool) -> bool {
        let sampler = self.settings.sampler;
        sampler.keeps(trace, sender) || (failed && sampler.keeps_failures())
    }

    fn send(&self, span: Span) {
        if self.spans.try_send(span).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A webhook that is being received. Dropped, it was never answered, and leaves no span.
#[derive(Debug)]
pub struct Receiving {
    begun: Option<Box<Begun>>,
}

#[derive(Debug)]
struct Begun {
    shared: Arc<Shared>,
    sender: Option<Context>,
    started: Timestamp,
    instant: Instant,
    name: String,
    attributes: Vec<(&'static str, Value)>,
}

impl Receiving {
    /// The span of the log. It is there when the sender names a trace; otherwise the trace is
    /// called as the webhook is, which the lines of the log name already.
    pub fn log_span(&self) -> tracing::Span {
        let sender = self.begun.as_ref().and_then(|begun| begun.sender);
        sender.map_or_else(tracing::Span::none, |sender| log_span(sender.trace))
    }

    /// The sender got this answer.
    pub fn answered<B>(self, response: &Response<B>) {
        let Some(begun) = self.begun else { return };
        let Begun { shared, sender, started, instant, name, mut attributes } = *begun;
        let id = response.headers().get("request-id").and_then(|id| id.to_str().ok());
        let Some(webhook) = id.and_then(|id| id.parse::<WebhookId>().ok()) else { return };
        let status = response.status();
        let trace = sender.map_or_else(|| TraceId::of(webhook), |sender| sender.trace);
        if !shared.keeps(trace, sender, status.is_server_error()) {
            return;
        }
        attributes.push(("webhook.id", webhook.to_string().into()));
        attributes.extend(of_status(status.as_u16(), 500));
        shared.send(Span {
            trace,
            id: SpanId::of_receiving(webhook),
            parent: sender.map(|sender| sender.parent),
            name,
            kind: Kind::Server,
            started,
            took: instant.elapsed(),
            attributes,
            failure: status.is_server_error().then(String::new),
        });
    }
}

fn log_span(trace: TraceId) -> tracing::Span {
    // Of the level of errors, so that those have it whatever the log's filter is.
    tracing::error_span!("trace", trace_id = %trace)
}

/// A method by its name, or that it is none of those that everybody knows, and its name.
fn known(method: &Method) -> (&str, Option<String>) {
    const KNOWN: [Method; 9] = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::DELETE,
        Method::CONNECT,
        Method::OPTIONS,
        Method::TRACE,
        Method::PATCH,
    ];
    match KNOWN.contains(method) {
        true => (method.as_str(), None),
        false => ("_OTHER", Some(method.to_string())),
    }
}

/// What the conventions say of a request that is received. Queries, and what follows the
/// input in a path, are left out: both may be secrets.
fn of_request<B>(route: Option<&'static str>, request: &Request<B>) -> Vec<(&'static str, Value)> {
    let (method, original) = known(request.method());
    let client = request.extensions().get::<ClientAddr>();
    let text = |name: HeaderName| {
        let value = request.headers().get(name)?.to_str().ok()?;
        Some(Value::from(value))
    };
    let mut attributes = vec![("http.request.method", method.into())];
    attributes.extend(original.map(|it| ("http.request.method_original", it.into())));
    if let Some(route) = route {
        let end = request.uri().path().match_indices('/').nth(route.matches('/').count());
        let path = &request.uri().path()[..end.map_or(request.uri().path().len(), |(at, _)| at)];
        attributes.extend([("http.route", route.into()), ("url.path", path.into())]);
    }
    if let Some(client) = client {
        let scheme = if client.secure { "https" } else { "http" };
        attributes.push(("url.scheme", scheme.into()));
        attributes.push(("client.address", client.ip.to_string().into()));
    }
    let host = request.uri().host().map(Value::from).or_else(|| text(header::HOST));
    attributes.extend(host.map(|host| ("server.address", host)));
    attributes.extend(text(header::USER_AGENT).map(|agent| ("user_agent.original", agent)));
    let version = if request.version() == Version::HTTP_2 { "2" } else { "1.1" };
    attributes.push(("network.protocol.version", version.into()));
    attributes
}

/// The conventions ask for the whole URL of a request that is sent, and for secrets to be
/// left out of it: path and query of a destination are often nothing else.
fn of_destination(destination: &str) -> Vec<(&'static str, Value)> {
    let Ok(url) = destination.parse::<Uri>() else { return Vec::new() };
    let (Some(scheme), Some(host)) = (url.scheme_str(), url.host()) else { return Vec::new() };
    let usual = [("http", 80), ("https", 443)].into_iter().find(|(name, _)| *name == scheme);
    let port = url.port_u16().or(usual.map(|(_, port)| port));
    let colon_port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let mut attributes = vec![
        ("url.full", format!("{scheme}://{host}{colon_port}/REDACTED").into()),
        ("server.address", host.into()),
    ];
    attributes.extend(port.map(|port| ("server.port", Value::Number(i64::from(port)))));
    attributes
}

/// The status of an answer, if there was one; from `wrong` on it is a failure.
fn of_status(status: u16, wrong: u16) -> Vec<(&'static str, Value)> {
    let mut attributes = Vec::new();
    if status > 0 {
        attributes.push(("http.response.status_code", Value::Number(i64::from(status))));
    }
    if status >= wrong {
        attributes.push(("error.type", status.to_string().into()));
    }
    attributes
}
