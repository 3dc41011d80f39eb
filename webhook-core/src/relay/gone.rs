//! Outputs whose destinations said that they are gone, for whoever may pause them.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use tokio::sync::Notify;

use crate::{
    id::{AccountId, BucketId, OutputId},
    model::{Bucket, Output},
};

/// How many are remembered; one more is told of with its next answer.
const REMEMBERED: usize = 256;

/// An output whose destination answered 410.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoneOutput {
    pub(crate) account: AccountId,
    pub(crate) bucket: BucketId,
    pub(crate) output: OutputId,
}

/// Those that nobody has paused yet.
#[derive(Debug, Default)]
pub(super) struct Gone {
    outputs: Mutex<VecDeque<GoneOutput>>,
    found: Notify,
}

impl Gone {
    pub(super) fn tell(&self, bucket: &Bucket, output: &Output) {
        let gone = GoneOutput { account: bucket.account_id, bucket: bucket.id, output: output.id };
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        if outputs.len() < REMEMBERED && !outputs.contains(&gone) {
            outputs.push_back(gone);
            self.found.notify_one();
        }
    }

    /// The next of them.
    pub(super) async fn next(&self) -> GoneOutput {
        loop {
            let next = self.outputs.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                Some(output) => return output,
                None => self.found.notified().await,
            }
        }
    }
}
