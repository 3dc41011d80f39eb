//! Step 3: the commit. After it the webhook is durable, and only then it moves on.

use std::{sync::Arc, time::Duration};

use super::{
    byte_semaphore::BytePermit,
    clients::Clients,
    deliver::{Deliverer, QueuedDelivery, Reservation},
    detach::Uncancelled,
    options::RelayOptions,
    route::{self, Decision, Match},
    waiters::{Waiter, Waiters},
};
use crate::{
    error::Error,
    id::{DeliveryId, OutputId},
    ids::Ids,
    model::{Bucket, DeliveryStatus, Output, ResponseFromOutput, Webhook},
    store::{self, Accept, DeliveryStore, NewDelivery, Pending},
};

/// Takes webhooks in: stores each with its deliveries and hands them on.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) deliveries: Arc<dyn DeliveryStore>,
    pub(super) deliverer: Arc<Deliverer>,
    pub(super) clients: Arc<Clients>,
    pub(super) waiters: Arc<Waiters>,
    pub(super) ids: Arc<Ids>,
    pub(super) options: Arc<RelayOptions>,
}

/// A sender that waits for an output's answer.
#[derive(Debug)]
pub(super) struct PendingResponse<'a> {
    pub(super) waiter: Waiter<'a>,
    /// How long it waits before it gets the static answer.
    pub(super) timeout: Duration,
}

/// A delivery that the deliverer gets after the commit.
#[derive(Debug)]
struct Accepted {
    id: DeliveryId,
    output_id: OutputId,
    reservation: Reservation,
}

impl Intake {
    /// Stores the webhook with one delivery for each match and hands those that
    /// are to be delivered to the deliverer. With `wanted`, the result waits
    /// for the answer of the outputs that it means; without any outputs, for the
    /// report of a client that listens.
    pub(super) async fn accept(
        self: &Arc<Self>,
        webhook: Webhook,
        bucket: &Arc<Bucket>,
        matches: &[Match<'_>],
        wanted: ResponseFromOutput,
    ) -> Result<Option<PendingResponse<'_>>, Error> {
        let bytes = self.deliverer.memory.take(webhook.request.size_bytes()).map(Arc::new);
        let mut deliveries = Vec::with_capacity(matches.len().max(1));
        let mut accepted = Vec::with_capacity(matches.len());
        let mut awaited = Vec::new();
        let mut timeout = Duration::ZERO;
        for Match { output, decision } in matches {
            let mut delivery =
                new_delivery(self.ids.next(), Some(output), DeliveryStatus::Received);
            match decision {
                Decision::Deliver => {
                    let reservation = self.deliverer.reserve(output, bytes.is_some())?;
                    delivery.due_at = Some(webhook.received_at);
                    delivery.held_by = self.deliverer.holder(&reservation);
                    let (id, output_id) = (delivery.id, output.id);
                    accepted.push(Accepted { id, output_id, reservation });
                }
                Decision::HandOver => {}
                Decision::Reject => {
                    delivery.status = DeliveryStatus::Rejected;
                    delivery.reason = Some("stopped by the output's rules".to_owned());
                }
            }
            if *decision != Decision::Reject && route::answers(wanted, output.id) {
                awaited.push(delivery.id);
                timeout = timeout.max(self.options.answer_timeout_of(&output.spec.durability));
            }
            deliveries.push(delivery);
        }
        if deliveries.is_empty() {
            let delivery = new_delivery(self.ids.next(), None, DeliveryStatus::Received);
            // Nobody but a client that gets it now could answer.
            if wanted == ResponseFromOutput::Any && self.clients.has_listener(bucket) {
                awaited.push(delivery.id);
                timeout = self.options.answer_timeout;
            }
            deliveries.push(delivery);
        }
        let waiter = (!awaited.is_empty()).then(|| self.waiters.wait_for(awaited));
        self.store(webhook, bucket, deliveries, accepted, bytes).await?;
        Ok(waiter.map(|waiter| PendingResponse { waiter, timeout }))
    }

    /// Keeps a webhook that goes nowhere, so that it can be seen and sent again.
    pub(super) async fn keep(
        self: &Arc<Self>,
        webhook: Webhook,
        bucket: &Arc<Bucket>,
        reason: &str,
        rejected: bool,
    ) -> Result<(), Error> {
        let status = if rejected { DeliveryStatus::Rejected } else { DeliveryStatus::Failed };
        let with_reason = |output| NewDelivery {
            reason: Some(reason.to_owned()),
            ..new_delivery(self.ids.next(), output, status)
        };
        let mut deliveries: Vec<_> =
            route::enabled(bucket).map(|output| with_reason(Some(output))).collect();
        if deliveries.is_empty() {
            deliveries.push(with_reason(None));
        }
        self.store(webhook, bucket, deliveries, Vec::new(), None).await
    }

    /// Waits for the commit, but not too long. Whatever happens to the waiting,
    /// what has been committed is handed over.
    async fn store(
        self: &Arc<Self>,
        webhook: Webhook,
        bucket: &Arc<Bucket>,
        deliveries: Vec<NewDelivery>,
        accepted: Vec<Accepted>,
        bytes: Option<Arc<BytePermit>>,
    ) -> Result<(), Error> {
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
            let accept = Accept { webhook: Arc::clone(&webhook), deliveries };
            if intake.deliveries.accept(accept).await? == store::Accepted::Known {
                // Its deliveries have other identifiers. They are on their way already,
                // unless the answer to the call that stored them was lost.
                for Accepted { reservation, .. } in accepted {
                    intake.deliverer.recover(&reservation);
                }
                return Ok(());
            }
            intake.hand_over(&webhook, accepted, bytes.as_ref());
            for (id, output) in for_clients {
                intake.clients.publish(&bucket, &webhook, id, output, None);
            }
            Ok(())
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
            let pending = Pending {
                id,
                output_id,
                due_at: webhook.received_at,
                created_at: webhook.received_at,
                attempts: 0,
                processed: None,
                webhook: Arc::clone(webhook),
            };
            let delivery = QueuedDelivery::new(pending, bytes.cloned());
            self.deliverer.dispatch(reservation, delivery);
        }
    }
}

pub(super) fn new_delivery(
    id: DeliveryId,
    output: Option<&Output>,
    status: DeliveryStatus,
) -> NewDelivery {
    NewDelivery {
        id,
        output_id: output.map(|output| output.id),
        internal: output.is_some_and(|output| output.spec.internal),
        status,
        reason: None,
        due_at: None,
        held_by: None,
    }
}
