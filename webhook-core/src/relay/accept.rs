//! The commit: after it the webhook is durable, and only then it moves on.

use std::{sync::Arc, time::Duration};

use super::{
    Inner,
    answers::Expected,
    budget::Share,
    detach::Uncancelled,
    lane::{Held, Place, Seat},
    route::{self, Leg, Verdict},
    routes::Route,
    stream::StreamedWebhook,
};
use crate::{
    error::Error,
    id::{DeliveryId, OutputId},
    model::{DeliveryStatus, Output, Request, ResponseFromOutput, Webhook},
    store::{Accept, Accepted, NewDelivery, Pending},
};

/// A sender that waits for an output's answer.
#[derive(Debug)]
pub(super) struct Awaited<'a> {
    pub(super) expected: Expected<'a>,
    /// How long it waits before it gets the static answer.
    pub(super) patience: Duration,
}

/// A delivery that the dispatcher gets after the commit.
#[derive(Debug)]
struct Onward {
    id: DeliveryId,
    output_id: OutputId,
    seat: Seat,
}

impl Inner {
    /// Stores the webhook with one delivery for each leg and hands those that
    /// are to be delivered to the dispatcher. With `wanted`, the result waits
    /// for the answer of the outputs that it means; without any outputs, for the
    /// report of a client that listens.
    pub(super) async fn accept(
        self: &Arc<Self>,
        webhook: Webhook,
        route: &Arc<Route>,
        legs: &[Leg<'_>],
        wanted: ResponseFromOutput,
    ) -> Result<Option<Awaited<'_>>, Error> {
        let share = self.memory.take(webhook.request.size_bytes()).map(Arc::new);
        let mut deliveries = Vec::with_capacity(legs.len().max(1));
        let mut onward = Vec::with_capacity(legs.len());
        let mut awaited = Vec::new();
        let mut patience = Duration::ZERO;
        for Leg { output, verdict } in legs {
            let mut delivery = new_delivery(Some(output), DeliveryStatus::Received);
            match verdict {
                Verdict::Deliver => {
                    let seat = self.dispatch.seat(output, &self.options, share.is_some())?;
                    delivery.due_at = Some(webhook.received_at);
                    delivery.held_by = (seat.place() == Place::Memory).then_some(self.node);
                    onward.push(Onward { id: delivery.id, output_id: output.id, seat });
                }
                Verdict::HandOver => {}
                Verdict::Reject => {
                    delivery.status = DeliveryStatus::Rejected;
                    delivery.reason = Some("stopped by the output's rules".to_owned());
                }
            }
            if *verdict != Verdict::Reject && route::answers(wanted, output.id) {
                awaited.push(delivery.id);
                patience = patience.max(self.patience(output));
            }
            deliveries.push(delivery);
        }
        if deliveries.is_empty() {
            let delivery = new_delivery(None, DeliveryStatus::Received);
            // Nobody but a client that gets it now could answer.
            if wanted == ResponseFromOutput::Any && self.has_listener(route) {
                awaited.push(delivery.id);
                patience = self.options.answer_timeout;
            }
            deliveries.push(delivery);
        }
        let expected = (!awaited.is_empty()).then(|| self.answers.expect(awaited));
        self.store(webhook, route, deliveries, onward, share).await?;
        Ok(expected.map(|expected| Awaited { expected, patience }))
    }

    /// Keeps a webhook that goes nowhere, so that it can be seen and sent again.
    pub(super) async fn keep(
        self: &Arc<Self>,
        webhook: Webhook,
        route: &Arc<Route>,
        reason: &str,
        rejected: bool,
    ) -> Result<(), Error> {
        let status = if rejected { DeliveryStatus::Rejected } else { DeliveryStatus::Failed };
        let with_reason = |output| NewDelivery {
            reason: Some(reason.to_owned()),
            ..new_delivery(output, status)
        };
        let mut deliveries: Vec<_> =
            route::enabled(&route.bucket).map(|output| with_reason(Some(output))).collect();
        if deliveries.is_empty() {
            deliveries.push(with_reason(None));
        }
        self.store(webhook, route, deliveries, Vec::new(), None).await
    }

    /// Waits for the commit, but not too long. Whatever happens to the waiting,
    /// what has been committed is handed over.
    async fn store(
        self: &Arc<Self>,
        webhook: Webhook,
        route: &Arc<Route>,
        deliveries: Vec<NewDelivery>,
        onward: Vec<Onward>,
        share: Option<Arc<Share>>,
    ) -> Result<(), Error> {
        let (relay, route) = (Arc::clone(self), Arc::clone(route));
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
                relay.hold_lease().await?;
            }
            let accept = Accept { webhook: Arc::clone(&webhook), deliveries };
            if relay.stores.deliveries.accept(accept).await? == Accepted::Known {
                // Its deliveries have other identifiers. They are on their way already,
                // unless the answer to the call that stored them was lost.
                for onward in onward {
                    relay.lost(onward.seat.lane(), Duration::ZERO);
                }
                return Ok(());
            }
            relay.hand_over(&webhook, onward, share.as_ref());
            for (id, output) in for_clients {
                relay.publish(&route, &webhook, id, output, None);
            }
            Ok(())
        };
        let late = || Error::unavailable("the store cannot keep up", Duration::from_secs(1));
        tokio::time::timeout(self.options.accept_timeout, Uncancelled::new(work))
            .await
            .unwrap_or_else(|_| Err(late()))
    }

    /// Tells the clients of the account, if there are any.
    pub(super) fn publish(
        &self,
        route: &Route,
        webhook: &Webhook,
        id: DeliveryId,
        output: Option<OutputId>,
        processed: Option<&Request>,
    ) {
        if self.hub.listens(webhook.account_id)
            && let Some(event) = StreamedWebhook::new(route, webhook, id, output, processed)
        {
            self.hub.publish(webhook.account_id, event);
        }
    }

    /// Whether a client gets what a bucket without outputs streams.
    fn has_listener(&self, route: &Route) -> bool {
        let bucket = &route.bucket;
        bucket.spec.stream && self.hub.has_listener(bucket.account_id, bucket.id)
    }

    fn hand_over(
        self: &Arc<Self>,
        webhook: &Arc<Webhook>,
        onward: Vec<Onward>,
        share: Option<&Arc<Share>>,
    ) {
        for Onward { id, output_id, seat } in onward {
            let pending = Pending {
                id,
                output_id,
                due_at: webhook.received_at,
                created_at: webhook.received_at,
                attempts: 0,
                processed: None,
                webhook: Arc::clone(webhook),
            };
            self.dispatched(seat, Held::new(pending, share.cloned()));
        }
    }

    /// How long a sender is kept waiting for this output.
    fn patience(&self, output: &Output) -> Duration {
        let longest = self.options.answer_timeout;
        let durability = &output.spec.durability;
        if durability.enabled && !durability.handoff_after.is_zero() {
            longest.min(durability.handoff_after)
        } else {
            longest
        }
    }
}

pub(super) fn new_delivery(output: Option<&Output>, status: DeliveryStatus) -> NewDelivery {
    NewDelivery {
        id: DeliveryId::generate(),
        output_id: output.map(|output| output.id),
        internal: output.is_some_and(|output| output.spec.internal),
        status,
        reason: None,
        due_at: None,
        held_by: None,
    }
}
