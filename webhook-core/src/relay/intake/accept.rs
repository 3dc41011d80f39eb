//! Step 3: the commit. After it the webhook is durable, and only then it moves on.

use std::{sync::Arc, time::Duration};

use super::{
    end::{End, new_delivery},
    route::{self, Decision, Match},
};
use crate::{
    clock::{Ids, Timestamp},
    error::Error,
    id::{DeliveryId, OutputId},
    model::{Bucket, DeliveryStatus, Replayed, Request, ResponseFromOutput, Webhook},
    relay::{
        RelayOptions, RelayParts,
        byte_semaphore::BytePermit,
        clients::Clients,
        deliver::{Deliverer, QueuedDelivery, Reservation},
        detach::Uncancelled,
        functions::Functions,
        waiters::{Waiter, Waiters},
    },
    store::{self, Accept, DeliveryStore, NewDelivery, NewExecution, Pending, Seen},
};

/// Takes webhooks in: stores each with its deliveries and hands them on.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(in crate::relay) deliveries: Arc<dyn DeliveryStore>,
    pub(in crate::relay) deliverer: Arc<Deliverer>,
    pub(in crate::relay) functions: Arc<Functions>,
    clients: Arc<Clients>,
    waiters: Arc<Waiters>,
    pub(super) ids: Arc<Ids>,
    pub(in crate::relay) options: Arc<RelayOptions>,
}

/// A sender that waits for an output's answer.
#[derive(Debug)]
pub(in crate::relay) struct PendingResponse<'a> {
    pub(super) waiter: Waiter<'a>,
    /// How long it waits before it gets the static answer.
    pub(super) timeout: Duration,
}

/// What became of a webhook that was taken in.
#[derive(Debug)]
pub(in crate::relay) enum Taken<'a> {
    /// It is stored; its sender may wait for an answer.
    Stored(Option<PendingResponse<'a>>),
    /// It is a duplicate, of which nothing is delivered.
    Duplicate,
}

/// A delivery that the deliverer gets after the commit.
#[derive(Debug)]
pub(super) struct Accepted {
    id: DeliveryId,
    output_id: OutputId,
    reservation: Reservation,
}

impl Intake {
    pub(in crate::relay) fn new(
        parts: &RelayParts,
        deliverer: &Arc<Deliverer>,
        functions: &Arc<Functions>,
        clients: &Arc<Clients>,
        waiters: &Arc<Waiters>,
    ) -> Self {
        Self {
            deliveries: parts.stores.deliveries.clone(),
            deliverer: deliverer.clone(),
            functions: functions.clone(),
            clients: clients.clone(),
            waiters: waiters.clone(),
            ids: parts.ids.clone(),
            options: parts.options.clone(),
        }
    }

    /// Stores the webhook with the `runs` behind it and one delivery for each match, and hands
    /// those that are to be delivered to the deliverer. With `wanted`, the result waits
    /// for the answer of the outputs that it means; without any outputs, for the
    /// report of a client that listens.
    pub(in crate::relay) async fn accept(
        self: &Arc<Self>,
        webhook: Webhook,
        runs: Vec<NewExecution>,
        bucket: &Arc<Bucket>,
        matches: &[Match<'_>],
        wanted: ResponseFromOutput,
        seen: Vec<Seen>,
    ) -> Result<Taken<'_>, Error> {
        let bytes = self.deliverer.memory.take(webhook.request.size_bytes()).map(Arc::new);
        let mut deliveries = Vec::with_capacity(matches.len().max(1));
        let mut accepted = Vec::with_capacity(matches.len());
        let mut awaited = Vec::new();
        let mut timeout = Duration::ZERO;
        for matched in matches {
            let (delivery, reservation) =
                self.delivery_of(matched, webhook.received_at, bytes.is_some())?;
            let (id, output) = (delivery.id, matched.output);
            let output_id = output.id;
            accepted.extend(reservation.map(|reservation| Accepted { id, output_id, reservation }));
            let answers = matched.decision != Decision::Reject && route::answers(wanted, output_id);
            if answers && !self.deliverer.is_paused(output) {
                awaited.push(id);
                timeout = timeout.max(self.options.answer_timeout_of(&output.spec.durability));
            }
            deliveries.push(delivery);
        }
        if deliveries.is_empty() {
            let delivery = new_delivery(self.ids.next(), None);
            // Nobody but a client that gets it now could answer.
            if wanted == ResponseFromOutput::Any && self.clients.has_listener(bucket) {
                awaited.push(delivery.id);
                timeout = self.options.answer_timeout;
            }
            deliveries.push(delivery);
        }
        let waiter = (!awaited.is_empty()).then(|| self.waiters.wait_for(awaited));
        let deliveries = (deliveries, seen);
        match self.store(webhook, runs, bucket, deliveries, accepted, bytes).await? {
            store::Accepted::Duplicate { .. } => Ok(Taken::Duplicate),
            _ => Ok(Taken::Stored(waiter.map(|waiter| PendingResponse { waiter, timeout }))),
        }
    }

    /// The delivery that follows from a decision, with its slot in the queue of the output where
    /// the relay attempts it, from `due_at` on.
    pub(in crate::relay) fn delivery_of(
        &self,
        matched: &Match<'_>,
        due_at: Timestamp,
        in_memory: bool,
    ) -> Result<(NewDelivery, Option<Reservation>), Error> {
        let (id, output) = (self.ids.next(), matched.output);
        let mut delivery = new_delivery(id, Some(output));
        Ok(match matched.decision {
            Decision::Deliver => {
                let reservation = self.deliverer.reserve(output, in_memory)?;
                delivery.due_at = Some(due_at);
                delivery.held_by = self.deliverer.holder(&reservation);
                (delivery, Some(reservation))
            }
            Decision::HandOver => (delivery, None),
            Decision::Reject => (End::BY_RULES.delivery(id, Some(output)), None),
        })
    }

    /// Waits for the commit, but not too long. Whatever happens to the waiting,
    /// what has been committed is handed over.
    pub(super) async fn store(
        self: &Arc<Self>,
        webhook: Webhook,
        runs: Vec<NewExecution>,
        bucket: &Arc<Bucket>,
        (deliveries, seen): (Vec<NewDelivery>, Vec<Seen>),
        accepted: Vec<Accepted>,
        bytes: Option<Arc<BytePermit>>,
    ) -> Result<store::Accepted, Error> {
        let (intake, bucket) = (Arc::clone(self), Arc::clone(bucket));
        let webhook = Arc::new(webhook);
        let for_clients: Vec<_> = deliveries
            .iter()
            .filter(|delivery| {
                delivery.status == DeliveryStatus::Received && delivery.due_at.is_none()
            })
            .map(|delivery| (delivery.id, delivery.output_id))
            .collect();
        let work = async move {
            if deliveries.iter().any(|delivery| delivery.held_by.is_some()) {
                intake.deliverer.hold_lease().await?;
            }
            let accept = Accept { webhook: Arc::clone(&webhook), deliveries, runs, seen };
            let taken = intake.deliveries.accept(accept).await?;
            if taken == store::Accepted::Known {
                // Its deliveries have other identifiers. They are on their way already,
                // unless the answer to the call that stored them was lost.
                for Accepted { reservation, .. } in &accepted {
                    intake.deliverer.recover(reservation);
                }
            }
            if taken != store::Accepted::Stored {
                return Ok(taken);
            }
            intake.hand_over(&webhook, accepted, bytes.as_ref());
            for (id, output) in for_clients {
                intake.clients.publish(&bucket, &webhook, id, output, None);
            }
            Ok(taken)
        };
        let late = || Error::unavailable("the store cannot keep up", Duration::from_secs(1));
        tokio::time::timeout(self.options.accept_timeout, Uncancelled::new(work))
            .await
            .unwrap_or_else(|_| Err(late()))
    }

    fn hand_over(
        &self,
        webhook: &Arc<Webhook>,
        accepted: Vec<Accepted>,
        bytes: Option<&Arc<BytePermit>>,
    ) {
        for Accepted { id, output_id, reservation } in accepted {
            let at = webhook.received_at;
            let pending = Pending::new(id, output_id, Arc::clone(webhook), at, at);
            let delivery = QueuedDelivery::new(pending, bytes.cloned());
            self.deliverer.dispatch(reservation, delivery);
        }
    }

    /// Hands on what has been stored of `webhook` once more: to its output's queue, or to clients.
    /// It was received and becomes due at these times.
    pub(in crate::relay) fn hand_on(
        &self,
        (delivery, reservation): (NewDelivery, Option<Reservation>),
        bucket: &Bucket,
        webhook: &Arc<Webhook>,
        processed: Option<&Arc<Request>>,
        (created_at, due_at): (Timestamp, Timestamp),
        replay: Option<Replayed>,
    ) {
        let NewDelivery { id, output_id, status, .. } = delivery;
        match (reservation, output_id) {
            (Some(reservation), Some(output_id)) => {
                let pending = Pending::new(id, output_id, webhook.clone(), created_at, due_at);
                let replay = replay.map(Box::new);
                let pending = Pending { processed: processed.cloned(), replay, ..pending };
                let bytes = self.deliverer.memory.take_anyway(pending.webhook.request.size_bytes());
                let delivery = QueuedDelivery::new(pending, Some(Arc::new(bytes)));
                self.deliverer.dispatch(reservation, delivery);
            }
            _ if status == DeliveryStatus::Received => {
                let processed = processed.map(|request| &**request);
                self.clients.publish(bucket, webhook, id, output_id, processed);
            }
            _ => {}
        }
    }
}
