//! The bounds of a relay.

use std::time::Duration;

use crate::model::{Durability, RetrySchedule};

/// The bounds of a [`Relay`](crate::relay::Relay). Everything that can grow has one.
///
/// ```
/// use webhook_core::relay::RelayOptions;
///
/// let mut options = RelayOptions::default();
/// options.max_body_bytes = 1 << 20;
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RelayOptions {
    /// The path that input addresses start with, `/v1/webhooks/`.
    pub path_prefix: String,
    /// The longest body of a webhook, 3 MiB; over it the sender gets 413.
    pub max_body_bytes: usize,
    /// The same for buckets with `large_webhooks`, 25 MiB.
    pub max_large_body_bytes: usize,
    /// All bodies that are being received together, 256 MiB; over it senders get 503.
    pub max_receiving_bytes: usize,
    /// How long a sender may take to send the body, 30 s; past it 408.
    pub body_timeout: Duration,
    /// How long storing may take, 5 s; past it the sender gets 503, because a
    /// late acknowledgement is worth less than a prompt refusal.
    pub accept_timeout: Duration,
    /// How long a sender waits for an output's answer, 10 s; past it the
    /// static answer is sent.
    pub answer_timeout: Duration,
    /// The longest answer of an output that is passed on to a waiting sender,
    /// 3 MiB; in place of a longer one the static answer is sent.
    pub max_answer_bytes: usize,
    /// How much of a destination's answer the log keeps, 64 KiB.
    pub max_logged_response_bytes: usize,
    /// All webhooks that wait in memory together, 64 MiB; past it deliveries
    /// wait in the store and cost no memory.
    pub memory_budget_bytes: usize,
    /// Deliveries of one output that wait in memory, 10 000; the rest wait in the store.
    pub output_queue: usize,
    /// Deliveries of one output that wait at all, 1 000 000; over it senders get 503.
    pub output_backlog: u64,
    /// Deliveries of one output in flight at once, 128, unless its throttle says less.
    pub output_concurrency: usize,
    /// The schedule of attempts for outputs that set neither `durability` nor `retries`; without
    /// it they have three attempts within 6 s.
    pub default_schedule: Option<RetrySchedule>,
    /// How many relays a webhook may pass, this one included, 8: past it a delivery fails as a
    /// [`Loop`](crate::model::Reason::Loop), and a sender gets 508. With 0 loops are not ended.
    pub max_hops: u16,
    /// Webhooks whose signature fails that are kept of each input in an hour, 100; the
    /// others leave nothing but their answer, because anyone can send them.
    pub refused_logs_per_hour: u32,
    /// How long a crashed node's deliveries wait for another node, 15 s.
    pub lease: Duration,
    /// How often to look for deliveries that nobody attempts, because the node that knew of
    /// them is gone: none for a relay that alone writes to its store, which looks at what it
    /// knows of itself each five seconds while something waits; some seconds where several
    /// share one. The lease is kept then even while nothing is held.
    pub sweep_interval: Option<Duration>,
    /// How long shutdown waits for what is in flight, 25 s.
    pub drain_timeout: Duration,
    /// Buckets whose routes are kept in memory, 100 000.
    pub cached_routes: usize,
    /// The sources and variables of functions that are kept in memory, 64 MiB.
    pub cached_function_bytes: usize,
    /// Domains whose inputs are kept in memory, 10 000, and host names that are
    /// known to be nobody's domain, 10 000 more. What does not fit costs a query
    /// to the store for each request.
    pub cached_domains: usize,
    /// How old a cached route, function or domain may be: unlimited for a relay that alone writes
    /// to its store, some seconds where several share one.
    pub route_max_age: Option<Duration>,
    /// Webhooks that wait in memory for one connected client, 256; what does
    /// not fit is read from the store again when the client has caught up.
    pub client_queue: usize,
    /// How much memory they may take, 16 MiB.
    pub client_queue_bytes: usize,
    /// Webhooks that one client may have without having reported on them,
    /// 10 000; past that the oldest count as nobody's.
    pub client_unreported: usize,
    /// Runs of crons that are stored at once, 64; the rest waits for its turn.
    pub cron_concurrency: usize,
    /// How long the crons that a node has begun to run wait for another one
    /// after it crashed, 30 s.
    pub cron_hold: Duration,
    /// How long crons that others made or changed may go unseen: unlimited for
    /// a relay that alone writes to its store, some seconds where several share
    /// one.
    pub crons_max_age: Option<Duration>,
    /// The most runs of one function in a second that succeed, print nothing, and each have a
    /// record, 10; one of 100 beyond them has a record. With [`usize::MAX`] each run has one.
    pub recorded_runs: usize,
    /// Runs that are kept for each function, 1 000.
    pub kept_executions: usize,
    /// How much of each body the record of a run keeps, 64 KiB.
    pub max_recorded_body_bytes: usize,
}

impl RelayOptions {
    /// The longest body of a webhook, for buckets with `large_webhooks` or without.
    pub(in crate::relay) fn body_limit(&self, large: bool) -> usize {
        if large { self.max_large_body_bytes } else { self.max_body_bytes }
    }

    /// How long a sender is kept waiting for an output with this durability.
    pub(crate) fn answer_timeout_of(&self, durability: &Durability) -> Duration {
        match durability.enabled && !durability.handoff_after.is_zero() {
            true => self.answer_timeout.min(durability.handoff_after),
            false => self.answer_timeout,
        }
    }
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            path_prefix: "/v1/webhooks/".to_owned(),
            max_body_bytes: 3 << 20,
            max_large_body_bytes: 25 << 20,
            max_receiving_bytes: 256 << 20,
            body_timeout: Duration::from_secs(30),
            accept_timeout: Duration::from_secs(5),
            answer_timeout: Duration::from_secs(10),
            max_answer_bytes: 3 << 20,
            max_logged_response_bytes: 64 << 10,
            memory_budget_bytes: 64 << 20,
            output_queue: 10_000,
            output_backlog: 1_000_000,
            output_concurrency: 128,
            default_schedule: None,
            max_hops: 8,
            refused_logs_per_hour: 100,
            lease: Duration::from_secs(15),
            sweep_interval: None,
            drain_timeout: Duration::from_secs(25),
            cached_routes: 100_000,
            cached_function_bytes: 64 << 20,
            cached_domains: 10_000,
            route_max_age: None,
            client_queue: 256,
            client_queue_bytes: 16 << 20,
            client_unreported: 10_000,
            cron_concurrency: 64,
            cron_hold: Duration::from_secs(30),
            crons_max_age: None,
            recorded_runs: 10,
            kept_executions: 1_000,
            max_recorded_body_bytes: 64 << 10,
        }
    }
}
