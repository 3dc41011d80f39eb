//! What a script waits for. Its thread is its own, so waiting keeps nobody
//! else from one; the right to compute is given back meanwhile.

use std::{sync::mpsc, thread, time::Duration, time::Instant};

use tokio::task::JoinHandle;
use webhook_core::forward::{ForwardError, ForwardRequest, ForwardResponse};

use super::host::Host;
use crate::{
    js::limit::Limit,
    modules::kv::{KvAnswer, KvRequest, NO_STORE},
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
        let handle = self.script.borrow().handle.clone();
        let (Some(forwarder), Some(handle)) = (self.forwarder.clone(), handle) else {
            let refused = || {
                let reason = "functions may not send requests on this server";
                Err(ForwardError::Unsendable(reason.to_owned()))
            };
            return requests.iter().map(|_| refused()).collect();
        };
        let (ended, answers) = mpsc::channel();
        let mut sent = Vec::with_capacity(requests.len());
        let mut tasks = Vec::with_capacity(requests.len());
        for (index, request) in requests.into_iter().enumerate() {
            let (forwarder, ended) = (forwarder.clone(), ended.clone());
            sent.push(Err(ForwardError::Unsendable("the sender stopped".to_owned())));
            // On the caller's runtime, where the forwarder's connections live.
            tasks.push(Sending(handle.spawn(async move {
                // Nobody listens after the deadline.
                let _ = ended.send((index, forwarder.forward(request).await));
            })));
        }
        drop(ended);
        self.meter.pause();
        loop {
            let left = self.meter.deadline().saturating_duration_since(Instant::now());
            match answers.recv_timeout(left) {
                Ok((index, answer)) => {
                    if let Some(slot) = sent.get_mut(index) {
                        *slot = answer;
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    self.meter.stop(Limit::TotalTime.error(&self.limits));
                    break;
                }
            }
        }
        drop(tasks);
        self.meter.resume();
        sent
    }
}

impl Host {
    /// How many operations of `kv` the call has asked for, with one more.
    pub(super) fn count_kv(&self) -> usize {
        let mut script = self.script.borrow_mut();
        script.kv_calls += 1;
        script.kv_calls
    }

    /// Waits for what the store says. When the deadline comes first the call ends.
    pub(super) fn keep(&self, request: KvRequest) -> KvAnswer {
        let handle = self.script.borrow().handle.clone();
        let (Some(store), Some(handle)) = (self.store.clone(), handle) else {
            return Err(NO_STORE.to_owned());
        };
        let (ended, answer) = mpsc::channel();
        // On the caller's runtime, as the connections of the store are.
        let asking = Sending(handle.spawn(async move {
            // Nobody listens after the deadline.
            let _ = ended.send(request.ask(store).await);
        }));
        self.meter.pause();
        let left = self.meter.deadline().saturating_duration_since(Instant::now());
        let answer = answer.recv_timeout(left);
        if let Err(mpsc::RecvTimeoutError::Timeout) = answer {
            self.meter.stop(Limit::TotalTime.error(&self.limits));
        }
        drop(asking);
        self.meter.resume();
        answer.unwrap_or_else(|_| Err(NO_STORE.to_owned()))
    }
}

/// A request on its way, called off when nobody waits for it any more.
struct Sending(JoinHandle<()>);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.abort();
    }
}
