//! The log, the metrics and the traces.

mod log;
mod nodes;
pub(crate) mod otel;
pub(crate) mod plain;

use std::{sync::Arc, time::Duration};

use axum::http::{Method, StatusCode};
use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use tracing_subscriber::EnvFilter;
use webhook_core::{
    cluster::Broadcast,
    function::{Completion, FunctionError, ScriptOutcome},
    model::DeliveryStatus,
    relay::{Observer, Swept},
};

use self::{
    log::{Log, Plain},
    nodes::NodeMetrics,
};
use crate::{
    config::{LogConfig, LogFormat},
    failure::Failure,
};

/// What [`Metrics::text`] is written in.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Sends the log to standard error. The caller must flush it before the process ends.
pub(crate) fn start_log(config: &LogConfig) -> Result<Log, Failure> {
    // A NATS that is away would fill the log: webhook_core::cluster logs what matters of it.
    let filter = EnvFilter::try_new(format!("async_nats=warn,{}", config.log))
        .map_err(|error| Failure::caused_by("cannot read the log filter", error))?;
    let out = Log::start(std::io::stderr(), config.log_delay)
        .map_err(|error| Failure::io("cannot start the log's thread", error))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(out.clone());
    let started = match config.log_format {
        LogFormat::Text if std::io::IsTerminal::is_terminal(&std::io::stderr()) => {
            log.compact().with_ansi(true).try_init()
        }
        LogFormat::Text => log.fmt_fields(Plain).compact().with_ansi(false).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| Failure::caused_by("cannot start the log", error))?;
    Ok(out)
}

/// The server's counters. Labels take their values from enumerations only, so
/// that no caller can make new series.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    received: Family<AnswerLabels, Counter>,
    received_seconds: Histogram,
    attempts: Family<AttemptLabels, Counter>,
    attempt_seconds: Histogram,
    function_runs: Family<RunLabels, Counter>,
    pending: Gauge,
    slow_outputs: Gauge,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Histogram,
    pub(crate) connections: Gauge,
    pub(crate) unreadable: Counter,
    pub(crate) sockets: Gauge,
    nodes: NodeMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    status: StatusClass,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    outcome: RunOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: KnownMethod,
    status: StatusClass,
}

/// The first digit of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum StatusClass {
    Informational,
    Success,
    Redirect,
    ClientError,
    ServerError,
}

impl From<StatusCode> for StatusClass {
    fn from(status: StatusCode) -> Self {
        match status.as_u16() {
            ..=199 => Self::Informational,
            200..=299 => Self::Success,
            300..=399 => Self::Redirect,
            400..=499 => Self::ClientError,
            _ => Self::ServerError,
        }
    }
}

/// Where an attempt left the delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Outcome {
    Sent,
    Retried,
    Failed,
    Rejected,
    Other,
}

impl From<DeliveryStatus> for Outcome {
    fn from(status: DeliveryStatus) -> Self {
        match status {
            DeliveryStatus::Sent => Self::Sent,
            DeliveryStatus::Received => Self::Retried,
            DeliveryStatus::Failed => Self::Failed,
            DeliveryStatus::Rejected => Self::Rejected,
            DeliveryStatus::Preparing | DeliveryStatus::Stalled => Self::Other,
        }
    }
}

/// How the run of a function ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum RunOutcome {
    Success,
    Unmodified,
    Stopped,
    Error,
    Busy,
}

impl RunOutcome {
    const fn of(completion: &Completion, unmodified: bool) -> Self {
        match &completion.result {
            Ok(ScriptOutcome { stop_forwarding: true, .. }) => Self::Stopped,
            Ok(_) if unmodified => Self::Unmodified,
            Ok(_) => Self::Success,
            Err(FunctionError::Busy) => Self::Busy,
            Err(_) => Self::Error,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum KnownMethod {
    Get,
    Post,
    Put,
    Delete,
    Other,
}

impl From<&Method> for KnownMethod {
    fn from(method: &Method) -> Self {
        match *method {
            Method::GET => Self::Get,
            Method::POST => Self::Post,
            Method::PUT => Self::Put,
            Method::DELETE => Self::Delete,
            _ => Self::Other,
        }
    }
}

impl Metrics {
    /// The metrics of a server that shares its database with others, or does not. `nats` is its
    /// connection to the NATS server, if any.
    pub(crate) fn new(shared: bool, nats: Option<Arc<dyn Broadcast>>) -> Self {
        // From 0.5 ms to 32 s.
        let seconds = || Histogram::new(exponential_buckets(0.000_5, 2.0, 17));
        let mut metrics = Self {
            registry: Registry::with_prefix("webhook"),
            received: Family::default(),
            received_seconds: seconds(),
            attempts: Family::default(),
            attempt_seconds: seconds(),
            function_runs: Family::default(),
            pending: Gauge::default(),
            slow_outputs: Gauge::default(),
            requests: Family::default(),
            request_seconds: seconds(),
            connections: Gauge::default(),
            unreadable: Counter::default(),
            sockets: Gauge::default(),
            nodes: NodeMetrics::new(nats),
        };
        metrics.register();
        metrics.nodes.register(&mut metrics.registry, shared);
        metrics
    }

    /// A number that changes whenever a webhook was received or attempted.
    #[cfg(feature = "dashboard")]
    pub(crate) fn activity(&self) -> u64 {
        use {Outcome::*, StatusClass::*};
        let classes = [Informational, Success, Redirect, ClientError, ServerError];
        let received =
            classes.map(|status| self.received.get_or_create(&AnswerLabels { status }).get());
        let outcomes = [Sent, Retried, Failed, Rejected, Other];
        let attempts =
            outcomes.map(|outcome| self.attempts.get_or_create(&AttemptLabels { outcome }).get());
        received.iter().chain(&attempts).sum()
    }

    fn register(&mut self) {
        let Self {
            registry,
            received,
            received_seconds,
            attempts,
            attempt_seconds,
            function_runs,
            pending,
            slow_outputs,
            requests,
            request_seconds,
            connections,
            unreadable,
            sockets,
            nodes: _,
        } = self;
        registry.register("received", "Webhooks by the sender's answer", received.clone());
        let name = "receiving_duration";
        let help = "From a webhook's headers to its sender's answer";
        registry.register_with_unit(name, help, Unit::Seconds, received_seconds.clone());
        registry.register("attempts", "Delivery attempts by outcome", attempts.clone());
        let name = "attempt_duration";
        let help = "Duration of delivery attempts";
        registry.register_with_unit(name, help, Unit::Seconds, attempt_seconds.clone());
        let help = "Runs of functions on webhooks by outcome";
        registry.register("function_runs", help, function_runs.clone());
        let help = "Deliveries of this process that wait for an attempt or its end";
        registry.register("pending_deliveries", help, pending.clone());
        let help = "Outputs whose last 50 attempts failed, so that 2 a second are made at most";
        registry.register("slow_outputs", help, slow_outputs.clone());
        registry.register("requests", "Requests that are no webhooks", requests.clone());
        let name = "request_duration";
        let help = "Duration of requests that are no webhooks";
        registry.register_with_unit(name, help, Unit::Seconds, request_seconds.clone());
        let help = "Requests that cannot be read as HTTP, and leave no log";
        registry.register("unreadable_requests", help, unreadable.clone());
        registry.register("connections", "Open connections", connections.clone());
        registry.register("sockets", "Clients connected to the WebSocket", sockets.clone());
    }

    /// Whether the NATS server can be reached; none on a server without NATS.
    pub(crate) fn is_nats_connected(&self) -> Option<bool> {
        self.nodes.is_nats_connected()
    }

    /// All counters as text. The number of slow outputs is counted by the relay.
    pub(crate) fn text(&self, slow_outputs: usize) -> String {
        self.nodes.refresh();
        self.slow_outputs.set(i64::try_from(slow_outputs).unwrap_or(i64::MAX));
        let mut text = String::new();
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            // Writing to a string does not fail.
            Err(std::fmt::Error) => String::new(),
        }
    }

    /// A request that is no webhook was answered.
    pub(crate) fn answered(&self, method: &Method, status: StatusCode, took: Duration) {
        let labels = RequestLabels { method: method.into(), status: status.into() };
        self.requests.get_or_create(&labels).inc();
        self.request_seconds.observe(took.as_secs_f64());
    }
}

impl Observer for Metrics {
    fn received(&self, status: StatusCode, took: Duration) {
        self.received.get_or_create(&AnswerLabels { status: status.into() }).inc();
        self.received_seconds.observe(took.as_secs_f64());
    }

    fn attempted(&self, status: DeliveryStatus, took: Duration) {
        self.attempts.get_or_create(&AttemptLabels { outcome: status.into() }).inc();
        self.attempt_seconds.observe(took.as_secs_f64());
    }

    fn function_ran(&self, completion: &Completion, unmodified: bool) {
        let labels = RunLabels { outcome: RunOutcome::of(completion, unmodified) };
        self.function_runs.get_or_create(&labels).inc();
    }

    fn pending(&self, count: i64) {
        self.pending.inc_by(count);
    }

    fn conflicted(&self) {
        self.nodes.conflicted();
    }

    fn swept(&self, swept: Swept) {
        self.nodes.swept(swept);
    }

    fn leased(&self, lasts: Duration, ahead_millis: i64) {
        self.nodes.leased(lasts, ahead_millis);
    }
}

#[cfg(test)]
mod tests {
    use axum::{body::Bytes, http::HeaderMap};
    use webhook_core::{cluster::Local, model::Request};

    use super::*;

    fn outcome(stop_forwarding: bool) -> ScriptOutcome {
        let request = Request::new(Method::POST, HeaderMap::new(), Bytes::new());
        ScriptOutcome { request, response: None, response_modified: false, stop_forwarding }
    }

    fn ran(result: Result<ScriptOutcome, FunctionError>) -> Completion {
        Completion { result, logs: Vec::new(), duration: Duration::ZERO }
    }

    #[test]
    fn events_are_counted() {
        let metrics = Metrics::new(true, Some(Arc::new(Local::default())));
        metrics.received(StatusCode::OK, Duration::from_millis(1));
        metrics.attempted(DeliveryStatus::Received, Duration::from_millis(1));
        for (result, unmodified) in [
            (Ok(outcome(false)), true),
            (Ok(outcome(false)), true),
            (Ok(outcome(false)), false),
            (Ok(outcome(true)), false),
            (Err(FunctionError::Unmodified), true),
            (Err(FunctionError::Busy), false),
        ] {
            metrics.function_ran(&ran(result), unmodified);
        }
        metrics.pending(3);
        metrics.pending(-1);
        metrics.answered(&Method::GET, StatusCode::NOT_FOUND, Duration::from_millis(1));
        metrics.conflicted();
        let mut swept = Swept::default();
        swept.overdue = Duration::from_millis(1_500);
        swept.taken_over = 2;
        metrics.swept(swept);
        metrics.leased(Duration::from_secs(3_600), -250);
        let text = metrics.text(0);
        let lease = text.lines().find_map(|l| l.strip_prefix("webhook_lease_remaining_seconds "));
        let lease: f64 = lease.and_then(|lease| lease.parse().ok()).expect("a number");
        assert!((3_500.0..=3_600.0).contains(&lease), "{lease}");
        for line in [
            r#"webhook_received_total{status="Success"} 1"#,
            r#"webhook_attempts_total{outcome="Retried"} 1"#,
            r#"webhook_function_runs_total{outcome="Unmodified"} 2"#,
            r#"webhook_function_runs_total{outcome="Success"} 1"#,
            r#"webhook_function_runs_total{outcome="Stopped"} 1"#,
            r#"webhook_function_runs_total{outcome="Error"} 1"#,
            r#"webhook_function_runs_total{outcome="Busy"} 1"#,
            "webhook_pending_deliveries 2",
            r#"webhook_requests_total{method="Get",status="ClientError"} 1"#,
            "webhook_attempt_duration_seconds_count 1",
            "webhook_settle_conflicts_total 1",
            "webhook_pending_oldest_due_seconds 1.5",
            r#"webhook_sweep_found_total{reason="TakenOver"} 2"#,
            r#"webhook_sweep_found_total{reason="Lost"} 0"#,
            "webhook_store_clock_offset_seconds -0.25",
            "webhook_nats_connected 1",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn a_server_that_is_alone_has_no_lease() {
        let text = Metrics::new(false, None).text(0);
        for name in ["webhook_lease", "webhook_store_clock", "webhook_nats"] {
            assert!(!text.contains(name), "{text}");
        }
    }

    #[test]
    fn each_metric_is_explained() {
        let page = include_str!("../../docs/health-and-metrics.md");
        let metrics = Metrics::new(true, Some(Arc::new(Local::default())));
        metrics.swept(Swept::default());
        metrics.received(StatusCode::OK, Duration::ZERO);
        metrics.attempted(DeliveryStatus::Sent, Duration::ZERO);
        metrics.answered(&Method::GET, StatusCode::OK, Duration::ZERO);
        metrics.function_ran(&ran(Err(FunctionError::Busy)), false);
        let text = metrics.text(0);
        let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let mut count = 0;
        for (name, kind) in types.filter_map(|line| line.split_once(' ')) {
            let end = if kind == "counter" { "_total" } else { "" };
            let row = format!("| `{name}{end}` | {kind} |");
            assert!(page.contains(&row), "{row} is not in docs/health-and-metrics.md");
            count += 1;
        }
        assert_eq!(page.matches("| `webhook_").count(), count, "the page names what is gone");
    }
}
