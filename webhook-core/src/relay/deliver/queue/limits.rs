//! How an output's deliveries may wait and leave.

use std::time::Duration;

use crate::{
    error::Error,
    model::{OutputSpec, ThrottleMode},
    relay::options::RelayOptions,
    store::ClaimOrder,
};

/// How long a webhook may wait at a throttle that does not say.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(24 * 3600);

/// How an output's webhooks may leave.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct QueueLimits {
    /// Workers at most, and so attempts at once.
    pub(super) concurrency: usize,
    /// So many attempts in any interval of this length.
    pub(super) rate: Option<(u32, Duration)>,
    /// How long a webhook may wait for its first attempt.
    pub(super) deadline: Option<Duration>,
    /// One after the other, in order of receipt, retries included.
    pub(super) strict: bool,
    /// Deliveries that wait in memory.
    pub(super) in_memory: usize,
    /// Deliveries that wait at all; past it the store counts as overloaded.
    backlog: u64,
    /// The same as its owner set it; past it the output counts as busy.
    depth: Option<u64>,
}

impl QueueLimits {
    pub(in super::super) fn of(spec: &OutputSpec, options: &RelayOptions) -> Self {
        let throttle = &spec.throttle;
        let mut limits = Self {
            concurrency: options.output_concurrency.max(1),
            rate: None,
            deadline: None,
            strict: false,
            in_memory: options.output_queue.max(1),
            backlog: options.output_backlog,
            depth: None,
        };
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
    pub(in super::super) fn unthrottled(options: &RelayOptions) -> Self {
        Self::of(&OutputSpec::default(), options)
    }

    pub(in super::super) fn order(&self) -> ClaimOrder {
        if self.strict { ClaimOrder::Receipt } else { ClaimOrder::Due }
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
