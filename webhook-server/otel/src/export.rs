//! Sends spans to the collector.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::{HeaderValue, Method, header::CONTENT_TYPE};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use webhook_core::forward::{ForwardRequest, Forwarder};

use crate::{
    settings::Settings,
    span::{Span, export_request},
};

/// How often the log says that spans are lost.
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(60);

/// Sends spans in batches. It runs nothing while there are none.
#[derive(Debug)]
pub(crate) struct Exporter {
    pub(crate) settings: Arc<Settings>,
    pub(crate) forwarder: Arc<dyn Forwarder>,
    pub(crate) spans: mpsc::Receiver<Span>,
    /// Ends the waiting for further spans.
    pub(crate) stopped: CancellationToken,
    /// The spans that found no room.
    pub(crate) dropped: Arc<AtomicU64>,
    /// When the log last said that spans are lost.
    pub(crate) complained: Option<Instant>,
}

impl Exporter {
    /// Sends until it is stopped, and then what waits.
    pub(crate) async fn run(mut self) {
        let mut batch = Vec::new();
        loop {
            tokio::select! {
                span = self.spans.recv() => match span {
                    Some(span) => batch.push(span),
                    None => return,
                },
                () = self.stopped.cancelled(), if !self.spans.is_closed() => {
                    self.spans.close();
                    continue;
                }
            }
            self.fill(&mut batch).await;
            self.send(mem::take(&mut batch)).await;
        }
    }

    /// Waits until the batch is full, or has waited long enough.
    async fn fill(&mut self, batch: &mut Vec<Span>) {
        let until = Instant::now() + self.settings.delay;
        while batch.len() < self.settings.max_batch {
            tokio::select! {
                span = timeout_at(until, self.spans.recv()) => match span {
                    Ok(Some(span)) => batch.push(span),
                    Ok(None) | Err(_) => return,
                },
                () = self.stopped.cancelled(), if !self.spans.is_closed() => self.spans.close(),
            }
        }
    }

    /// Sends a batch once: a collector that is away is no reason to keep what it misses.
    async fn send(&mut self, spans: Vec<Span>) {
        let Settings { endpoint, headers, timeout, resource, .. } = &*self.settings;
        let mut request = ForwardRequest::new(Method::POST, endpoint.clone());
        request.headers = headers.clone();
        let format = HeaderValue::from_static("application/x-protobuf");
        request.headers.insert(CONTENT_TYPE, format);
        request.body = export_request(resource, &spans).into();
        request.timeout = *timeout;
        let problem = match self.forwarder.forward(request).await {
            Ok(response) if response.status.is_success() => None,
            Ok(response) => Some(format!("the collector answers {}", response.status)),
            Err(error) => Some(error.to_string()),
        };
        let lost = if problem.is_some() { spans.len() as u64 } else { 0 };
        if lost > 0 || self.dropped.load(Ordering::Relaxed) > 0 {
            self.complain(lost, problem);
        }
    }

    fn complain(&mut self, lost: u64, problem: Option<String>) {
        let lost = self.dropped.fetch_add(lost, Ordering::Relaxed) + lost;
        let now = Instant::now();
        if self.complained.is_none_or(|last| now - last >= COMPLAINT_INTERVAL) {
            self.complained = Some(now);
            self.dropped.fetch_sub(lost, Ordering::Relaxed);
            let reason = problem.as_deref().unwrap_or("too many wait");
            tracing::warn!(lost, reason, "spans are lost");
        }
    }
}
