//! The tasks that deliver and run crons, for as long as the relay runs.

use std::{
    future::poll_fn,
    mem,
    sync::atomic::{AtomicBool, Ordering},
    task::Poll,
};

use tokio_util::task::TaskTracker;

/// Starts tasks and knows when all of them have ended.
#[derive(Debug, Default)]
pub(crate) struct Workers {
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
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
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

/// Lets run first what is ready on this thread. Those who do so together go on in
/// order; from tokio's `yield_now` the last one would return first.
pub(super) async fn let_others_run() {
    let mut has_waited = false;
    poll_fn(|cx| match mem::replace(&mut has_waited, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::let_others_run;

    #[tokio::test]
    async fn who_lets_others_run_goes_on_after_them_and_in_turn() {
        let (say, said) = mpsc::channel();
        for number in 0..3 {
            let say = say.clone();
            tokio::spawn(async move {
                let _ = say.send(number);
                let_others_run().await;
                let _ = say.send(10 + number);
            });
        }
        drop(say);
        let all = tokio::task::spawn_blocking(move || said.iter().collect::<Vec<_>>()).await;
        assert_eq!(all.ok(), Some(vec![0, 1, 2, 10, 11, 12]));
    }
}
