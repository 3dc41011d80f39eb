//! How an output is throttled, and whether the nodes kept to it together.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;
use webhook_core::model::{Throttle, ThrottleMode};

use crate::sink::Attempt;

/// How far what two nodes read of the store's clock is apart at most: half of how much longer
/// one way of a call can take than the other, for each.
const CLOCKS: Duration = Duration::from_millis(200);

/// When a webhook was sent, and when its acknowledgement came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub(crate) sent: Instant,
    pub(crate) answered: Instant,
    /// By a process that knew the store's time: before, a webhook has that of its machine.
    pub(crate) is_timed: bool,
}

/// What an output allows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    None,
    /// So many starts in any second.
    Rate(u32),
    /// So many at once; one is in strict order.
    Concurrency(u32),
}

type Broken<'a> = (&'static str, Vec<&'a Attempt>);

impl Limit {
    pub(crate) fn any(random: &mut fastrand::Rng) -> Self {
        match random.u8(..6) {
            0 => Self::Rate(random.u32(2..=5)),
            1 => Self::Concurrency(random.u32(2..=4)),
            2 => Self::Concurrency(1),
            _ => Self::None,
        }
    }

    /// A destination that gets one request at a time answers soon.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Concurrency(_) => "/soon",
            _ => "",
        }
    }

    pub(crate) fn throttle(self) -> Throttle {
        let mut throttle = Throttle::default();
        throttle.enabled = true;
        match self {
            Self::None => throttle.enabled = false,
            Self::Rate(rate) => {
                throttle.mode = ThrottleMode::Rate;
                throttle.rate = rate;
            }
            Self::Concurrency(most) => {
                throttle.mode = ThrottleMode::Concurrency;
                throttle.max_concurrent = most;
            }
        }
        throttle
    }

    /// Whether attempts at the output, by their beginning, kept to it.
    pub(crate) fn check<'a>(
        self,
        all: &[&'a Attempt],
        acknowledged: &BTreeMap<String, Posted>,
    ) -> Result<(), Broken<'a>> {
        match self {
            Self::None => Ok(()),
            Self::Rate(rate) => {
                let over = all.windows(rate as usize + 1).find(|window| {
                    let (first, last) = (window[0], window[window.len() - 1]);
                    last.began.duration_since(first.began) + CLOCKS < Duration::from_secs(1)
                });
                over.map_or(Ok(()), |window| Err(("too many in a second", window.to_vec())))
            }
            Self::Concurrency(most) => {
                for (index, attempt) in all.iter().enumerate() {
                    let out = all[..index].iter().filter(|other| is_out(other, attempt));
                    let out: Vec<_> = out.copied().collect();
                    if out.len() >= most as usize {
                        return Err(("too many at once", [out, vec![*attempt]].concat()));
                    }
                }
                if most == 1 { in_order(all, acknowledged) } else { Ok(()) }
            }
        }
    }
}

/// Whether `other` was out when `attempt` began, of a process that nothing had happened to.
fn is_out(other: &Attempt, attempt: &Attempt) -> bool {
    other.ended.is_none_or(|(ended, _)| ended > attempt.began)
        && !other.by.was_troubled(other.began, attempt.began)
}

/// Whether nothing left before what had been acknowledged before it was sent.
fn in_order<'a>(
    all: &[&'a Attempt],
    acknowledged: &BTreeMap<String, Posted>,
) -> Result<(), Broken<'a>> {
    let mut ended: BTreeMap<&str, Instant> = BTreeMap::new();
    for attempt in all {
        if let Some((at, status)) = attempt.ended
            && status.is_success()
        {
            ended.entry(&attempt.body).or_insert(at);
        }
    }
    for later in all {
        let posted = acknowledged.get(&later.body).filter(|posted| posted.is_timed);
        let Some(posted) = posted else { continue };
        let overtaken = acknowledged.iter().find(|(body, earlier)| {
            earlier.is_timed
                && earlier.answered + CLOCKS < posted.sent
                && ended.get(body.as_str()).is_none_or(|ended| *ended > later.began)
        });
        if let Some((body, _)) = overtaken {
            let of = all.iter().filter(|attempt| attempt.body == *body).copied();
            // What a process began before something happened to it is out anyway.
            let of: Vec<_> = of.collect();
            let excused = |attempt: &&Attempt| attempt.by.was_troubled(attempt.began, later.began);
            if !of.iter().any(excused) && !excused(later) {
                return Err(("out of order", [of, vec![*later]].concat()));
            }
        }
    }
    Ok(())
}
