//! When which queue is looked at again.

use std::{cmp::Reverse, collections::BinaryHeap};

use tokio::sync::Notify;

use super::queue::OutputQueue;
use crate::{
    clock::{Clock, Timestamp},
    id::OutputId,
    lock::Lock,
};

/// Wake-ups of queues, the earliest first. Nothing runs while none is due.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: Lock<BinaryHeap<Reverse<(Timestamp, OutputId)>>>,
    earlier: Notify,
}

impl Timers {
    /// Wakes the queue of `output` at `moment`.
    pub(super) fn add(&self, moment: Timestamp, output: OutputId) {
        let mut heap = self.heap.lock();
        let first = heap.peek().is_none_or(|Reverse((known, _))| moment < *known);
        heap.push(Reverse((moment, output)));
        drop(heap);
        if first {
            self.earlier.notify_one();
        }
    }

    /// From `moment` on, looks for what this node holds of the output and has in no queue.
    pub(super) fn recover(&self, queue: &OutputQueue, moment: Timestamp) {
        queue.lost(moment);
        self.add(moment, queue.output_id);
    }

    /// Waits until a wake-up is due and takes all that are.
    pub(super) async fn due(&self, clock: &dyn Clock) -> Vec<OutputId> {
        loop {
            let next = {
                let mut heap = self.heap.lock();
                let now = clock.now();
                let mut due = Vec::new();
                while let Some(Reverse((moment, output))) = heap.peek().copied()
                    && moment <= now
                {
                    heap.pop();
                    due.push(output);
                }
                if !due.is_empty() {
                    due.sort_unstable();
                    due.dedup();
                    return due;
                }
                heap.peek().map(|Reverse((moment, _))| *moment)
            };
            match next {
                Some(moment) => tokio::select! {
                    () = clock.sleep_until(moment) => {}
                    () = self.earlier.notified() => {}
                },
                None => self.earlier.notified().await,
            }
        }
    }
}
