//! What attempts told of destinations, for whoever may pause and resume outputs.

use std::collections::VecDeque;

use tokio::sync::Notify;

use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, OutputId},
    lock::Lock,
    model::{Bucket, Output},
};

/// How many are remembered; one more is told of with its next answer.
const REMEMBERED: usize = 256;

/// What an attempt told of the destination of an output with `health`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) account: AccountId,
    pub(crate) bucket: BucketId,
    pub(crate) output: OutputId,
    pub(crate) found: Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It answered 410.
    Gone,
    /// It fails since then, and that is to be noted.
    Failing(Timestamp),
    /// It failed before, and works.
    Working,
}

/// Those that nobody has acted on yet.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    queue: Lock<VecDeque<Finding>>,
    told: Notify,
}

impl Findings {
    pub(super) fn tell(&self, bucket: &Bucket, output: &Output, found: Found) {
        let (account, bucket, output) = (bucket.account_id, bucket.id, output.id);
        let finding = Finding { account, bucket, output, found };
        let mut queue = self.queue.lock();
        if queue.len() < REMEMBERED && !queue.contains(&finding) {
            queue.push_back(finding);
            self.told.notify_one();
        }
    }

    /// The next of them.
    pub(crate) async fn next(&self) -> Finding {
        loop {
            let next = self.queue.lock().pop_front();
            match next {
                Some(finding) => return finding,
                None => self.told.notified().await,
            }
        }
    }
}
