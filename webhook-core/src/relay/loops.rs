//! Webhooks that come back to where they were sent from.

use super::RelayOptions;
use crate::model::Webhook;

/// Says why a webhook with `hops` must not go further; none when it may.
pub(super) fn refused(hops: u16, options: &RelayOptions) -> Option<String> {
    let max = options.max_hops;
    let say = || format!("a loop: the webhook would pass relay {hops}, and it may pass {max}");
    (max != 0 && hops > max).then(say)
}

/// Says why a webhook must not be sent from here; none when it may.
pub(super) fn ends(webhook: &Webhook, options: &RelayOptions) -> Option<String> {
    refused(webhook.checks.hops.saturating_add(1), options)
}
