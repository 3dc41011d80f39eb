//! Finds what nobody attempts: what other nodes left behind, and what this node holds in
//! the store without knowing of it.

use std::{sync::Arc, time::Duration};

use foldhash::HashMap;
use tokio::time::{Instant, sleep};

use super::{
    dispatch::{Deliverer, queue_of},
    queue::QueueLimits,
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::OutputId,
    relay::Swept,
    store::{Backlog, Sweep},
};

/// How often a relay that alone writes to its store looks while something waits.
const ALONE: Duration = Duration::from_secs(5);
/// What has been due for so long is attempted by nobody: who knows of a delivery claims it
/// when it is due.
const OVERDUE: Duration = Duration::from_secs(2);
/// What is held for so long without an outcome is compared with what is in hand. What is
/// being stored is younger.
const HELD_LONG: Duration = Duration::from_secs(15);
/// A sweep is followed by a rest that is so many times as long as the sweep took.
const REST: u32 = 20;

impl Deliverer {
    /// Sweeps from time to time, for as long as this is awaited. Alone with its store, a
    /// relay for whom nothing waits asks nothing.
    pub(super) async fn keep_sweeping(self: &Arc<Self>) {
        let mut rest = Duration::ZERO;
        loop {
            let wait = self
                .options
                .sweep_interval
                .map_or(ALONE, |interval| uneven(interval, fastrand::f64()));
            sleep(rest.max(wait)).await;
            let turn = self.is_our_turn().await;
            // Without the time that a lease took which could not be renewed for long.
            let started = Instant::now();
            let swept = match turn {
                Ok(true) => self.sweep().await,
                Ok(false) => Ok(()),
                Err(error) => Err(error),
            };
            rest = match swept {
                Ok(()) => started.elapsed() * REST,
                Err(error) => {
                    tracing::warn!(%error, "what waits in the store cannot be compared");
                    // Other nodes have not reached the store either, and renew their leases first.
                    self.options.lease
                }
            };
        }
    }

    async fn is_our_turn(&self) -> Result<bool, Error> {
        match self.options.sweep_interval {
            Some(_) => self.lease.extend().await.map(|extended| extended.sweeps),
            None if self.queues.by_output.lock().is_empty() => Ok(false),
            None => self.lease.hold().await.map(|()| true),
        }
    }

    /// Compares what waits in the store with what is known here.
    async fn sweep(self: &Arc<Self>) -> Result<(), Error> {
        let now = self.clock.now();
        let in_hand: HashMap<_, _> = {
            let queues = self.queues.by_output.lock();
            queues.values().map(|queue| (queue.output_id, queue.in_hand())).collect()
        };
        let held_before = earlier(now, HELD_LONG);
        let sweep = Sweep { node: self.node, now, held_before };
        let found = self.deliveries.backlogs(sweep).await?;
        let mut found: HashMap<_, _> =
            found.into_iter().map(|found| (found.output_id, found)).collect();
        let queues: Vec<_> = self.queues.by_output.lock().values().cloned().collect();
        let mut to_wake = Vec::new();
        let mut swept = Swept::default();
        let overdue = |found: &Backlog| found.due_at.map(|due| now.since(due)).unwrap_or_default();
        for queue in queues {
            let id = queue.output_id;
            let found = found.remove(&id).unwrap_or_else(|| Backlog::new(id));
            // A queue that was made meanwhile has nothing old.
            let Some(before) = in_hand.get(&id).copied() else { continue };
            let compared = queue.compare(&found, before, is_overdue(&found, now));
            self.observer.pending(compared.counted);
            if !compared.is_parked {
                swept.overdue = swept.overdue.max(overdue(&found));
            }
            swept.lost += u64::from(compared.is_lost);
            swept.unannounced += u64::from(compared.is_due);
            if compared.is_lost {
                tracing::warn!(output = %id, held = found.held, "held, and in no queue: freed");
                self.timers.recover(&queue, now);
            }
            if compared.is_due {
                to_wake.push(id);
            }
            self.queues.leave(&queue);
        }
        swept.overdue = found.values().map(overdue).fold(swept.overdue, Duration::max);
        let left = found.into_values();
        let known = to_wake.len();
        to_wake.extend(left.filter(|found| self.take_over(found, now)).map(|left| left.output_id));
        swept.taken_over = (to_wake.len() - known) as u64;
        self.observer.swept(swept);
        self.wake(to_wake);
        Ok(())
    }

    /// Attends from now on to what another node, which ends, leaves of these outputs. What
    /// this node attends to already waits for a sweep.
    pub(crate) async fn attend_to(self: &Arc<Self>, outputs: &[OutputId]) -> Result<(), Error> {
        let now = self.clock.now();
        let sweep = Sweep { node: self.node, now, held_before: Timestamp::default() };
        for left in self.deliveries.backlogs(sweep).await? {
            let id = left.output_id;
            let Some(due_at) = left.due_at.filter(|_| outputs.contains(&id)) else { continue };
            if self.queues.known(id).is_none() {
                self.adopt(&left, now);
                self.timers.add(due_at, id);
                if due_at <= now {
                    self.wake([id]);
                }
            }
        }
        Ok(())
    }

    /// The outputs of which deliveries wait, or wait for another attempt.
    pub(crate) fn waiting(&self) -> Vec<OutputId> {
        let queues = self.queues.by_output.lock();
        let waiting = queues.values().filter(|queue| queue.pending() > 0);
        waiting.map(|queue| queue.output_id).collect()
    }

    /// Makes a queue for an output that this node knew nothing of, if nobody else attends to it.
    fn take_over(&self, found: &Backlog, now: Timestamp) -> bool {
        let is_due = is_overdue(found, now) && !found.is_attended;
        if !is_due && found.held == 0 {
            return false;
        }
        self.adopt(found, now);
        true
    }

    fn adopt(&self, found: &Backlog, now: Timestamp) {
        let Backlog { output_id, pending, held, .. } = *found;
        let queue = {
            let limits = QueueLimits::unthrottled(&self.options);
            queue_of(&mut self.queues.by_output.lock(), output_id, &limits)
        };
        tracing::info!(output = %output_id, pending, held, "nobody attends to it: taken over");
        queue.found(pending + held, found.due_at.unwrap_or(now));
        self.observer.pending(i64::try_from(pending + held).unwrap_or(i64::MAX));
        if held > 0 {
            self.timers.recover(&queue, now);
        }
    }
}

/// How long a node among others waits until it asks for the turn again: from half of the interval
/// to one and a half, by a `chance` from 0 to 1. With equal waits one node can get every turn, and
/// the others never correct their count of what is pending.
fn uneven(interval: Duration, chance: f64) -> Duration {
    interval.mul_f64(0.5 + chance)
}

fn is_overdue(found: &Backlog, now: Timestamp) -> bool {
    found.due_at.is_some_and(|due_at| due_at <= earlier(now, OVERDUE))
}

fn earlier(moment: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_millis(moment.as_millis().saturating_sub(by.as_millis() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of three nodes gets the turn in a minute, which one node gets each second.
    fn turns(mut chance: impl FnMut() -> f64) -> [u32; 3] {
        let mut turns = [0; 3];
        let mut asks_at = [0, 50, 100].map(Duration::from_millis);
        let mut next = Duration::ZERO;
        while next < Duration::from_secs(60) {
            let first = (0..3).min_by_key(|node| asks_at[*node]).unwrap_or_default();
            let now = asks_at[first];
            if now >= next {
                turns[first] += 1;
                next = now + Duration::from_secs(1);
            }
            asks_at[first] = now + uneven(Duration::from_millis(400), chance());
        }
        turns
    }

    #[test]
    fn every_node_gets_its_turn() {
        let mut random = fastrand::Rng::with_seed(7);
        let turns_of_each = turns(|| random.f64());
        assert!(turns_of_each.into_iter().all(|count| count > 5), "{turns_of_each:?}");
        // With equal waits the first one gets all.
        assert_eq!(turns(|| 0.5)[1..], [0, 0]);
    }
}
