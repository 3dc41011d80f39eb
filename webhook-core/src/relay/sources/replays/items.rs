//! Where the webhook of a log is sent again, and what a replay queues of it.

use std::sync::Arc;

use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    id::{DeliveryId, OutputId},
    model::{Bucket, Log, Output, ProcessPolicy, Reason, ReplaySpec, Replayed, Request, Webhook},
    relay::{deliver::Reservation, intake::route::everywhere, sources::resend::Resender},
    store::{Accept, NewDelivery, ReplayItem, ReplayedWebhook},
};

/// A webhook that is about to be queued.
#[derive(Debug)]
pub(super) struct Item {
    of: DeliveryId,
    bucket: Arc<Bucket>,
    webhook: Arc<Webhook>,
    deliveries: Vec<(NewDelivery, Option<Reservation>)>,
    processed: Option<Arc<Request>>,
    /// Of a webhook that is received again.
    received: Option<Accept>,
}

impl Item {
    /// As the store takes it.
    pub(super) fn to_store(&self) -> ReplayItem {
        let webhook = match &self.received {
            Some(accept) => ReplayedWebhook::Received(Box::new(accept.clone())),
            None => ReplayedWebhook::Stored {
                id: self.webhook.id,
                deliveries: self.deliveries.iter().map(|(new, _)| new.clone()).collect(),
                processed: self.processed.clone(),
            },
        };
        ReplayItem { of: self.of, webhook }
    }

    /// Where this node attempts it right after the commit.
    pub(super) fn is_held(&self) -> bool {
        self.deliveries.iter().any(|(delivery, _)| delivery.held_by.is_some())
    }
}

impl Resender {
    /// What is queued of a log at these targets; none when it cannot be sent.
    pub(super) async fn item(
        &self,
        bucket: &Arc<Bucket>,
        targets: &[Option<&Output>],
        log: Log,
        spec: &ReplaySpec,
        now: Timestamp,
    ) -> Result<Option<Item>, Error> {
        if is_received_again(&log, spec) {
            return self.received_item(bucket, targets, &log, now).await;
        }
        let has_function = targets.iter().flatten().any(|output| output.spec.function_id.is_some());
        let Log { webhook, delivery } = log;
        // With a processed request there is nothing left to process.
        let processed = match (spec.process_policy, delivery.processed) {
            (ProcessPolicy::Force, _) => None,
            (ProcessPolicy::Skip, None) if has_function => Some(Arc::new(webhook.request.clone())),
            (ProcessPolicy::Skip, processed) => processed.map(Arc::new),
        };
        let (of, webhook) = (delivery.id, Arc::new(webhook));
        let policy = spec.process_policy;
        let another = |output: &Option<&Output>| {
            self.another(*output, &webhook, policy, processed.as_deref(), now)
        };
        let deliveries = targets.iter().map(another).collect::<Result<_, _>>()?;
        let bucket = Arc::clone(bucket);
        Ok(Some(Item { of, bucket, webhook, deliveries, processed, received: None }))
    }

    async fn received_item(
        &self,
        bucket: &Arc<Bucket>,
        targets: &[Option<&Output>],
        log: &Log,
        now: Timestamp,
    ) -> Result<Option<Item>, Error> {
        let (webhook, decision) = match self.receive(bucket, log).await {
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::Unavailable => return Err(error),
            Err(error) => {
                tracing::debug!(log = %log.delivery.id, %error, "it is not received again");
                return Ok(None);
            }
        };
        let webhook = Arc::new(webhook);
        let another = |output: &Option<&Output>| match &decision.end {
            Some(end) => Ok((end.delivery(self.ids.next(), *output), None)),
            None => self.another(*output, &webhook, ProcessPolicy::Force, None, now),
        };
        let deliveries: Vec<_> = targets.iter().map(another).collect::<Result<_, _>>()?;
        let new = deliveries.iter().map(|(new, _)| new.clone()).collect();
        let mut accept = Accept::new(Arc::clone(&webhook), new);
        accept.runs = decision.runs;
        let (of, bucket) = (log.delivery.id, Arc::clone(bucket));
        let received = Some(accept);
        Ok(Some(Item { of, bucket, webhook, deliveries, processed: None, received }))
    }

    /// Hands on what has been queued.
    pub(super) fn dispatch(&self, item: Item, replay: crate::id::ReplayId, now: Timestamp) {
        let Item { of, bucket, webhook, deliveries, processed, received } = item;
        let created_at = received.map_or(now, |_| webhook.received_at);
        let times = (created_at, now);
        for again in deliveries {
            let replay = Some(Replayed { id: replay, of });
            self.intake.hand_on(again, &bucket, &webhook, processed.as_ref(), times, replay);
        }
    }
}

/// The outputs that an item waits for.
pub(super) fn outputs(item: &Item) -> impl Iterator<Item = OutputId> {
    let waiting = item.deliveries.iter().filter(|(_, reservation)| reservation.is_some());
    waiting.filter_map(|(delivery, _)| delivery.output_id)
}

/// The outputs that get the webhook of `log` again: a single `None` when its bucket has no output;
/// an empty list when the webhook cannot be sent.
pub(crate) fn targets<'b>(
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
