//! Tracing as what observes a relay.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, StatusCode};
use webhook_core::{
    function::Completion,
    model::{DeliveryStatus, Output},
    relay::{Observer, Swept},
    store::{Pending, Settle},
};

use crate::Tracer;

/// Traces attempts, and tells another observer what there is to count.
#[derive(Debug)]
pub struct Traced {
    counts: Arc<dyn Observer>,
    tracer: Tracer,
}

impl Traced {
    /// Traces by `tracer`, counts by `counts`.
    #[must_use]
    pub fn new(counts: Arc<dyn Observer>, tracer: Tracer) -> Self {
        Self { counts, tracer }
    }
}

impl Observer for Traced {
    fn received(&self, status: StatusCode, took: Duration) {
        self.counts.received(status, took);
    }

    fn attempted(&self, status: DeliveryStatus, took: Duration) {
        self.counts.attempted(status, took);
    }

    fn function_ran(&self, completion: &Completion, unmodified: bool) {
        self.counts.function_ran(completion, unmodified);
    }

    fn span(&self, pending: &Pending) -> tracing::Span {
        self.tracer.log_span(pending)
    }

    fn sending(&self, pending: &Pending, headers: &mut HeaderMap) {
        self.tracer.sending(pending, headers);
    }

    fn settling(&self, pending: &Pending, output: Option<&Output>, settle: &Settle) {
        self.tracer.settling(pending, output, settle);
    }

    fn pending(&self, count: i64) {
        self.counts.pending(count);
    }

    fn conflicted(&self) {
        self.counts.conflicted();
    }

    fn swept(&self, swept: Swept) {
        self.counts.swept(swept);
    }

    fn leased(&self, lasts: Duration, ahead_millis: i64) {
        self.counts.leased(lasts, ahead_millis);
    }
}
