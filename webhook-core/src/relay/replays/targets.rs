//! Where the webhook of a log is sent again.

use crate::{
    model::{Bucket, Log, Output, ProcessPolicy, Reason, ReplaySpec},
    relay::resend::everywhere,
};

/// The outputs that the webhook of `log` is sent to again, of which its bucket has them: a single
/// none where the bucket has no output; nothing when it cannot be sent.
pub(in crate::relay) fn targets<'b>(
    bucket: Option<&'b Bucket>,
    log: &Log,
    spec: &ReplaySpec,
) -> Vec<Option<&'b Output>> {
    let Some(bucket) = bucket else { return Vec::new() };
    let is_forced = spec.process_policy == ProcessPolicy::Force;
    let needs_force = matches!(log.delivery.reason, Some(Reason::Signature | Reason::Duplicate));
    // Every request has a Host.
    let is_erased = log.webhook.ephemeral && log.webhook.request.headers.is_empty();
    if is_erased || (needs_force && !is_forced) {
        return Vec::new();
    }
    match spec.to_output.or(log.delivery.output_id) {
        Some(id) => {
            let output = bucket.output(id).filter(|output| !output.spec.disabled);
            output.into_iter().map(Some).collect()
        }
        None => everywhere(bucket),
    }
}

/// Whether a replay that forces takes the webhook of `log` through its input again.
pub(super) fn is_received_again(log: &Log, spec: &ReplaySpec) -> bool {
    let was_refused = log.delivery.reason == Some(Reason::Signature);
    spec.process_policy == ProcessPolicy::Force && (log.webhook.input_failed || was_refused)
}
