//! The tasks that deliver and run crons, for as long as the relay runs.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::task::TaskTracker;

/// Starts tasks and knows when all of them have ended.
#[derive(Debug, Default)]
pub(in crate::relay) struct Workers {
    tasks: TaskTracker,
    running: AtomicBool,
}

impl Workers {
    /// From now on deliveries are started.
    pub(super) fn begin(&self) {
        self.running.store(true, Ordering::Release);
    }

    /// From now on no delivery is started.
    pub(super) fn stop(&self) {
        self.running.store(false, Ordering::Release);
    }

    /// Whether deliveries are no longer started.
    pub(super) fn are_stopped(&self) -> bool {
        !self.running.load(Ordering::Acquire)
    }

    /// Starts a task that a stop waits for.
    pub(in crate::relay) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Whether no task is under way.
    pub(super) fn are_idle(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Returns when all tasks have ended, those included that they start.
    pub(super) async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
