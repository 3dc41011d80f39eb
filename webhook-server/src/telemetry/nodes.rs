//! What a server says of itself among others on one database: whether it is alive for them,
//! and what nobody attends to.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
    time::{Duration, Instant},
};

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use webhook_core::{cluster::Broadcast, relay::Swept};

/// For how long a server answers for what it saw: of several servers one looks at a time.
const SEEN_FOR: Duration = Duration::from_secs(60);

type Seconds = Gauge<f64, AtomicU64>;

/// The counters of a server among others.
#[derive(Debug, Default)]
pub(super) struct NodeMetrics {
    overdue: Seconds,
    found: Family<FoundLabels, Counter>,
    conflicts: Counter,
    lease: Seconds,
    clock: Seconds,
    connected: Gauge,
    nats: Option<Arc<dyn Broadcast>>,
    last: Mutex<Last>,
}

/// What was told last.
#[derive(Debug, Default)]
struct Last {
    looked_at: Option<Instant>,
    lease_ends_at: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FoundLabels {
    reason: Reason,
}

/// Why nobody attempted what a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Reason {
    TakenOver,
    Unannounced,
    Lost,
}

impl NodeMetrics {
    /// The metrics of a server; `nats` is its connection to the NATS server, if any.
    pub(super) fn new(nats: Option<Arc<dyn Broadcast>>) -> Self {
        Self { nats, ..Self::default() }
    }

    /// Whether the NATS server can be reached; none on a server without NATS.
    pub(super) fn is_nats_connected(&self) -> Option<bool> {
        self.nats.as_ref().map(|nats| nats.is_connected())
    }

    /// Registers the metrics: of the lease only where servers share a database, and of NATS only with
    /// a connection to it.
    pub(super) fn register(&self, registry: &mut Registry, shared: bool) {
        let Self { overdue, found, conflicts, lease, clock, connected, .. } = self;
        let help = "How long the delivery has been due that waits longest and no server holds";
        registry.register_with_unit("pending_oldest_due", help, Unit::Seconds, overdue.clone());
        let help = "Outputs of which a look for what nobody attempts found something";
        registry.register("sweep_found", help, found.clone());
        let help = "Outcomes that were refused: the delivery was another server's by then";
        registry.register("settle_conflicts", help, conflicts.clone());
        if shared {
            let help = "How much longer this server counts as alive without saying so again";
            registry.register_with_unit("lease_remaining", help, Unit::Seconds, lease.clone());
            let help = "How far this machine's clock is ahead of the database's";
            registry.register_with_unit("store_clock_offset", help, Unit::Seconds, clock.clone());
        }
        if self.nats.is_some() {
            let help = "Whether the NATS server can be reached: 1, or 0 while it is away";
            registry.register("nats_connected", help, connected.clone());
        }
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn conflicted(&self) {
        self.conflicts.inc();
    }

    pub(super) fn swept(&self, swept: Swept) {
        self.overdue.set(swept.overdue.as_secs_f64());
        self.last().looked_at = Some(Instant::now());
        for (reason, count) in [
            (Reason::TakenOver, swept.taken_over),
            (Reason::Unannounced, swept.unannounced),
            (Reason::Lost, swept.lost),
        ] {
            self.found.get_or_create(&FoundLabels { reason }).inc_by(count);
        }
    }

    pub(super) fn leased(&self, lasts: Duration, ahead_millis: i64) {
        self.clock.set(ahead_millis as f64 / 1_000.0);
        self.last().lease_ends_at = Some(Instant::now() + lasts);
    }

    /// Brings what changes by itself up to this moment.
    pub(super) fn refresh(&self) {
        self.connected.set(self.is_nats_connected().unwrap_or_default().into());
        let last = self.last();
        let left = last.lease_ends_at.map(|end| end.saturating_duration_since(Instant::now()));
        self.lease.set(left.unwrap_or_default().as_secs_f64());
        if last.looked_at.is_none_or(|looked_at| looked_at.elapsed() > SEEN_FOR) {
            self.overdue.set(0.0);
        }
    }
}
