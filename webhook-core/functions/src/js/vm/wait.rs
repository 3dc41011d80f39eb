//! What a script waits for. Its thread is its own, so waiting keeps nobody
//! else from one; the right to compute is given back meanwhile.

use std::{
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use tokio_util::task::AbortOnDropHandle;
use webhook_core::forward::{ForwardError, ForwardRequest, ForwardResponse};

use super::host::Host;
use crate::{
    js::limit::Limit,
    modules::{
        NO_FORWARDER,
        kv::{KvAnswer, KvRequest, NO_STORE},
    },
};

impl Host {
    /// Waits for `duration`, at most to the call's deadline, which ends it.
    pub(super) fn sleep(&self, duration: Duration) {
        let left = self.meter.deadline().saturating_duration_since(Instant::now());
        self.meter.pause();
        thread::sleep(duration.min(left));
        if duration >= left {
            self.meter.stop(Limit::TotalTime.error(&self.limits));
        }
        self.meter.resume();
    }

    /// Sends requests at once and waits for their answers. When the deadline
    /// comes first they are called off, and the call ends.
    pub(super) fn send(
        &self,
        requests: Vec<ForwardRequest>,
    ) -> Vec<Result<ForwardResponse, ForwardError>> {
        let refused = |reason: &str| Err(ForwardError::Unsendable(reason.to_owned()));
        let count = requests.len();
        let sending = self.outside().forwarder().and_then(|forwarder| {
            let send = |request| {
                let forwarder = Arc::clone(&forwarder);
                async move { forwarder.forward(request).await }
            };
            self.wait_for(requests.into_iter().map(send)).ok_or(NO_FORWARDER)
        });
        match sending {
            Ok(answers) => answers
                .into_iter()
                .map(|answer| answer.unwrap_or_else(|| refused("the sender stopped")))
                .collect(),
            Err(reason) => (0..count).map(|_| refused(reason)).collect(),
        }
    }

    /// How many operations of `kv` the call has asked for, with one more.
    pub(super) fn count_kv(&self) -> usize {
        let mut script = self.script.borrow_mut();
        script.kv_calls += 1;
        script.kv_calls
    }

    /// Waits for what the store says. When the deadline comes first the call ends.
    pub(super) fn keep(&self, request: KvRequest) -> KvAnswer {
        let answers = self.wait_for([self.outside().keep(request)]);
        answers.into_iter().flatten().flatten().next().unwrap_or_else(|| Err(NO_STORE.to_owned()))
    }

    /// Runs `tasks` at once on the caller's runtime, where the connections of the forwarder and
    /// of the store live, and waits for what they come to; none where a call has no runtime. When
    /// the deadline comes first they are called off, and the call ends.
    fn wait_for<T: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
    ) -> Option<Vec<Option<T>>> {
        let handle = self.script.borrow().handle.clone()?;
        let (ended, answers) = mpsc::channel();
        let running: Vec<_> = tasks
            .into_iter()
            .enumerate()
            .map(|(index, task)| {
                let ended = ended.clone();
                AbortOnDropHandle::new(handle.spawn(async move {
                    // Nobody listens after the deadline.
                    let _ = ended.send((index, task.await));
                }))
            })
            .collect();
        drop(ended);
        let mut came: Vec<_> = running.iter().map(|_| None).collect();
        self.meter.pause();
        loop {
            let left = self.meter.deadline().saturating_duration_since(Instant::now());
            match answers.recv_timeout(left) {
                Ok((index, answer)) => {
                    if let Some(slot) = came.get_mut(index) {
                        *slot = Some(answer);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    self.meter.stop(Limit::TotalTime.error(&self.limits));
                    break;
                }
            }
        }
        drop(running);
        self.meter.resume();
        Some(came)
    }
}
