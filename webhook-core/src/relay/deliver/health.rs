//! What a delivery's turn tells of its destination.

use http::StatusCode;

use super::{attempt::Ending, circuit::Judged, queue::OutputQueue};
use crate::{
    clock::Timestamp,
    model::{Bucket, Output},
    relay::gone::Gone,
};

/// Tells the queue, whose circuit may open or close, and whoever pauses what is gone.
pub(super) fn judge(
    queue: &OutputQueue,
    at: Option<(&Bucket, &Output)>,
    ending: &Ending,
    now: Timestamp,
    gone: &Gone,
) {
    let Some((bucket, output)) = at else { return };
    let Some(health) = output.spec.health.set().filter(|health| health.enabled) else { return };
    queue.judge(Judged::of(ending), now);
    if let Ending::Answered(answer) = ending
        && answer.status == StatusCode::GONE
        && health.pause_on_gone
    {
        gone.tell(bucket, output);
    }
}
