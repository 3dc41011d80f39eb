//! Webhooks that nobody sends: those of crons and of notifications. Each takes the way of any
//! other, from the input's function on.

use std::sync::Arc;

use ring::digest::{SHA256, digest};

use super::{accept::Intake, end::End, route, stage::InputDecision};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    id::WebhookId,
    model::{Bucket, Input, Reason, ResponseFromOutput, Webhook},
};

impl Intake {
    /// Puts a webhook into a bucket as if it had come to this input. One whose identifier is
    /// known is there already, and nothing more happens to it.
    pub(in crate::relay) async fn inject(
        self: &Arc<Self>,
        mut webhook: Webhook,
        bucket: &Arc<Bucket>,
        input: Option<&Input>,
    ) -> Result<(), Error> {
        let InputDecision { end, runs, .. } = self.stage(bucket, input, &mut webhook).await?;
        // Rules that this build cannot evaluate fail at the next attempt, too.
        let routed = match end {
            Some(end) => Err(end),
            None => route::matches(bucket, &webhook, &self.options)
                .map_err(|error| End::failed(Some(Reason::Rules), error.to_string())),
        };
        let end = match routed {
            Ok(matches) => {
                let (no_answer, seen) = (ResponseFromOutput::Static, Vec::new());
                let (new, with) = (webhook.clone(), runs.clone());
                match self.accept(new, with, bucket, &matches, no_answer, seen).await {
                    // There is no sender to come back later.
                    Err(error) if error.kind() == ErrorKind::Busy => {
                        End::failed(None, error.to_string())
                    }
                    accepted => return accepted.map(drop),
                }
            }
            Err(end) => end,
        };
        self.keep(webhook, runs, bucket, &end).await
    }
}

/// An identifier that follows from a name and a moment: a UUID of version 7 with the moment as
/// its time and 74 bits of a digest where others have random ones.
pub(in crate::relay) fn derived_id(name: &[u8], moment: Timestamp) -> WebhookId {
    let mut bits = [0; 10];
    bits.copy_from_slice(&digest(&SHA256, name).as_ref()[..10]);
    let millis = moment.as_millis().max(0).unsigned_abs();
    let uuid = uuid::Builder::from_unix_timestamp_millis(millis, &bits).into_uuid();
    WebhookId::from_uuid(uuid)
}
