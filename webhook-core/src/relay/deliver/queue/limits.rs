//! How an output's deliveries may wait and leave.

use std::{sync::Arc, time::Duration};

use crate::{
    clock::Timestamp,
    error::Error,
    model::{CircuitBreaker, Health, Output, OutputSpec, Pauses, ThrottleMode},
    relay::RelayOptions,
    retry,
    store::ClaimOrder,
};

/// How long a webhook may wait at a throttle that does not say.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(24 * 3600);

/// How an output's webhooks may leave.
#[derive(Clone, Debug)]
pub(crate) struct QueueLimits {
    /// Workers at most, and so attempts at once.
    pub(super) concurrency: usize,
    /// So many attempts in any interval of this length.
    pub(super) rate: Option<(u32, Duration)>,
    /// How long a webhook may wait for its first attempt.
    pub(super) deadline: Option<Duration>,
    /// Whether a delivery has a schedule of its own for its retries, and how long that lasts.
    pub(super) is_durable: bool,
    retried_for: Option<Duration>,
    /// One after the other, in order of receipt, retries included.
    pub(super) strict: bool,
    /// Of several nodes one attempts what there is, so that the throttle holds over all.
    pub(super) is_owned: bool,
    /// Nothing leaves before this moment.
    pub(super) paused_until: Option<Timestamp>,
    /// When nothing left, of an output that has been paused or disabled.
    pauses: Option<Arc<Pauses>>,
    /// How many of what was received before a moment may leave in what time: it waited for
    /// the end of a pause.
    catch_up: Option<(Timestamp, u32, Duration)>,
    /// When attempts stop because most fail.
    pub(super) circuit: Option<CircuitBreaker>,
    /// Whether it is remembered since when attempts fail.
    pub(super) has_health: bool,
    /// Whether it is paused and one delivery tries now and then.
    pub(super) probes: bool,
    /// Deliveries that wait in memory.
    pub(super) in_memory: usize,
    /// Deliveries that wait at all; past it the store counts as overloaded.
    backlog: u64,
    /// The same as its owner set it; past it the output counts as busy.
    depth: Option<u64>,
}

impl QueueLimits {
    pub(crate) fn of(output: &Output, options: &RelayOptions, now: Timestamp) -> Self {
        let mut limits = Self::of_spec(&output.spec, options);
        if !output.pauses.is_empty() || output.spec.disabled {
            limits.paused_until = output.paused_until(now);
            limits.probes = output.is_probed(now);
            let mut pauses = output.pauses.clone();
            pauses.lapse(now);
            limits.catch_up = pauses.catch_up(now);
            limits.pauses = Some(Arc::new(pauses));
        }
        limits
    }

    fn of_spec(spec: &OutputSpec, options: &RelayOptions) -> Self {
        let throttle = &spec.throttle;
        let mut limits = Self {
            concurrency: options.output_concurrency.max(1),
            rate: None,
            deadline: None,
            is_durable: spec.durability.enabled,
            retried_for: retry::deadline(spec, Timestamp::default())
                .map(|end| end.since(Timestamp::default())),
            strict: false,
            is_owned: throttle.enabled && options.sweep_interval.is_some(),
            paused_until: None,
            pauses: None,
            catch_up: None,
            circuit: None,
            has_health: spec.health.set().is_some_and(|health| health.enabled),
            probes: false,
            in_memory: options.output_queue.max(1),
            backlog: options.output_backlog,
            depth: None,
        };
        limits.circuit = spec.health.set().and_then(Health::circuit);
        if !throttle.enabled {
            return limits;
        }
        match throttle.mode {
            ThrottleMode::Rate => {
                limits.rate = Some((throttle.rate.max(1), throttle.interval.duration()));
            }
            ThrottleMode::Concurrency => {
                let most = usize::try_from(throttle.max_concurrent).unwrap_or(usize::MAX).max(1);
                limits.concurrency = limits.concurrency.min(most);
                limits.strict = most == 1;
            }
        }
        let stated = (!throttle.deadline.is_zero()).then_some(throttle.deadline);
        limits.deadline = Some(stated.unwrap_or(DEFAULT_DEADLINE));
        limits.depth = (throttle.max_queue_depth > 0).then(|| throttle.max_queue_depth.into());
        limits
    }

    /// The limits of an output that cannot be read.
    pub(crate) fn unthrottled(options: &RelayOptions) -> Self {
        Self::of_spec(&OutputSpec::default(), options)
    }

    /// Whether nothing leaves at the moment.
    pub(crate) const fn are_paused(&self) -> bool {
        self.paused_until.is_some()
    }

    /// When a delivery that was stored at `created_at` has waited too long for its first
    /// attempt: pauses do not count.
    pub(super) fn expires_at(&self, created_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        Some(created_at + self.deadline? + self.stood_still(created_at, now))
    }

    /// When the retries end of a delivery that was stored at `created_at`: pauses do not count.
    pub(super) fn retries_until(&self, created_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        Some(created_at + self.retried_for? + self.stood_still(created_at, now))
    }

    fn stood_still(&self, created_at: Timestamp, now: Timestamp) -> Duration {
        let paused = self.pauses.as_ref().map(|pauses| pauses.stood_still(created_at, now));
        paused.unwrap_or_default()
    }

    /// Whether a delivery that was stored at `created_at` is not sent any more.
    pub(super) fn discards(&self, created_at: Timestamp) -> bool {
        self.pauses.as_ref().is_some_and(|pauses| pauses.discards(created_at))
    }

    /// How many may leave in what time, when the next is one that was stored at
    /// `created_at`: of the throttle and the end of a pause the slower.
    pub(super) fn rate_at(&self, created_at: Timestamp) -> Option<(u32, Duration)> {
        let after_pause = self.catch_up.filter(|(before, ..)| created_at < *before);
        let rates = [self.rate, after_pause.map(|(_, rate, interval)| (rate, interval))];
        let each = |(rate, interval): &(u32, Duration)| *interval / *rate;
        rates.into_iter().flatten().max_by_key(each)
    }

    pub(crate) fn order(&self) -> ClaimOrder {
        if self.strict || self.probes { ClaimOrder::Receipt } else { ClaimOrder::Due }
    }

    /// Whether another delivery may wait beside `pending` ones.
    pub(super) fn admit(&self, pending: u64) -> Result<(), Error> {
        let wait = Duration::from_secs(1);
        if self.depth.is_some_and(|depth| pending >= depth) {
            return Err(Error::busy("the output's queue is full", wait));
        }
        if pending >= self.backlog {
            return Err(Error::unavailable("too many deliveries wait for the output", wait));
        }
        Ok(())
    }
}
