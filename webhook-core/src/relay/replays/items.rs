//! What a replay queues of one log.

use std::sync::Arc;

use super::targets::is_received_again;
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    id::{DeliveryId, OutputId},
    model::{
        Bucket, DeliveryStatus, Log, Output, ProcessPolicy, Reason, ReplaySpec, Replayed, Request,
        Webhook,
    },
    relay::{
        accept::new_delivery,
        deliver::Reservation,
        resend::{Again, Resender, STOPPED_BY_INPUT},
    },
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
        let Again { webhook, run, stop } = match self.receive(bucket, log).await {
            Ok(again) => again,
            Err(error) if error.kind() == ErrorKind::Unavailable => return Err(error),
            Err(error) => {
                tracing::debug!(log = %log.delivery.id, %error, "it is not received again");
                return Ok(None);
            }
        };
        let webhook = Arc::new(webhook);
        let stopped = |output: &Option<&Output>| {
            let delivery = NewDelivery {
                reason: Some(Reason::Function),
                detail: Some(STOPPED_BY_INPUT.to_owned()),
                ..new_delivery(self.ids.next(), *output, DeliveryStatus::Rejected)
            };
            Ok((delivery, None))
        };
        let force = ProcessPolicy::Force;
        let another = |output: &Option<&Output>| self.another(*output, &webhook, force, None, now);
        let deliveries: Vec<_> = match stop {
            true => targets.iter().map(stopped).collect::<Result<_, Error>>()?,
            false => targets.iter().map(another).collect::<Result<_, _>>()?,
        };
        let new = deliveries.iter().map(|(new, _)| new.clone()).collect();
        let mut accept = Accept::new(Arc::clone(&webhook), new);
        accept.runs.extend(run);
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
