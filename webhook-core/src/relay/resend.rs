//! Sending a stored webhook again.

use std::sync::Arc;

use super::{
    Inner,
    accept::new_delivery,
    lane::{Held, Place},
    route::{self, Leg, Verdict},
    routes::Route,
};
use crate::{
    error::{Error, ErrorKind},
    id::{AccountId, DeliveryId, OutputId},
    model::{DeliveryStatus, Log, Output, Request},
    store::{Pending, Redeliver},
};

/// Which webhook is sent again, where to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resend {
    /// The log of an earlier delivery.
    pub log: DeliveryId,
    /// Another output of the webhook's bucket; none for the same one, or for
    /// all enabled outputs when the earlier delivery had none.
    pub output: Option<OutputId>,
    /// What of the processing is done again.
    pub policy: ProcessPolicy,
}

/// What of the processing is done again. The input's function is not: what it
/// made of the webhook is what was stored. Only where it failed, `Force` takes
/// the webhook through it again, as one that was just received; if it fails
/// again, that is a `Conflict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessPolicy {
    /// Nothing: the request that was sent is sent again.
    #[default]
    Skip,
    /// Rules and the output's function.
    Force,
}

impl Inner {
    pub(super) async fn resend(
        self: &Arc<Self>,
        account: AccountId,
        resend: Resend,
    ) -> Result<(), Error> {
        let log = self.stores.deliveries.log(account, resend.log).await?;
        let log = log.ok_or_else(|| Error::not_found("log"))?;
        if resend.policy == ProcessPolicy::Force && self.input_failed(&log).await? {
            return self.receive_again(&resend, &log).await;
        }
        match resend.output.or(log.delivery.output_id) {
            Some(output) => {
                let route = self.route_of_output(output).await?;
                let route = route.filter(|route| route.bucket.id == log.webhook.bucket_id);
                let route = route.ok_or_else(|| Error::not_found("output"))?;
                let output = route.output(output).ok_or_else(|| Error::not_found("output"))?;
                if output.spec.disabled {
                    return Err(Error::conflict("the output is disabled"));
                }
                self.send_again(&route, Some(output), &log, resend.policy).await
            }
            None => {
                let route = self.route_of_input(log.webhook.input_id).await?;
                let route = route.ok_or_else(|| Error::not_found("input"))?;
                let mut outputs: Vec<_> = route::enabled(&route.bucket).map(Some).collect();
                if outputs.is_empty() {
                    outputs.push(None);
                }
                for output in outputs {
                    self.send_again(&route, output, &log, resend.policy).await?;
                }
                Ok(())
            }
        }
    }

    async fn send_again(
        self: &Arc<Self>,
        route: &Arc<Route>,
        output: Option<&Output>,
        log: &Log,
        policy: ProcessPolicy,
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let webhook = Arc::new(log.webhook.clone());
        let mut delivery = new_delivery(output, DeliveryStatus::Received);
        // With a processed request there is nothing left to process.
        let processed: Option<Arc<Request>> = match policy {
            ProcessPolicy::Skip => {
                let sent = log.delivery.processed.as_ref().unwrap_or(&webhook.request);
                Some(Arc::new(sent.clone()))
            }
            ProcessPolicy::Force => None,
        };
        let verdict = output.map(|output| match policy {
            ProcessPolicy::Skip => Leg::unfiltered(output).verdict,
            ProcessPolicy::Force => route::leg(output, &webhook).verdict,
        });
        let mut seat = None;
        match (verdict, output) {
            (Some(Verdict::Deliver), Some(output)) => {
                let taken = self.dispatch.seat(output, &self.options, true)?;
                delivery.due_at = Some(now);
                delivery.held_by = (taken.place() == Place::Memory).then_some(self.node);
                seat = Some((taken, output.id));
            }
            (Some(Verdict::Reject), _) => {
                delivery.status = DeliveryStatus::Rejected;
                delivery.reason = Some("stopped by the output's rules".to_owned());
            }
            _ => {}
        }
        let for_clients = delivery.status == DeliveryStatus::Received && seat.is_none();
        let (id, output_id) = (delivery.id, delivery.output_id);
        if delivery.held_by.is_some() {
            self.hold_lease().await?;
        }
        let redeliver =
            Redeliver { webhook_id: webhook.id, delivery, processed: processed.clone(), now };
        let (relay, account, route) = (Arc::clone(self), webhook.account_id, Arc::clone(route));
        // Not to be left half-way when the caller hangs up.
        let work = async move {
            relay.stores.deliveries.redeliver(account, redeliver).await?;
            if let Some((seat, output_id)) = seat {
                let pending = Pending {
                    id,
                    output_id,
                    due_at: now,
                    created_at: now,
                    attempts: 0,
                    processed,
                    webhook,
                };
                let share = relay.memory.take_anyway(pending.webhook.request.size_bytes());
                relay.dispatched(seat, Held::new(pending, Some(Arc::new(share))));
            } else if for_clients {
                relay.publish(&route, &webhook, id, output_id, processed.as_deref());
            }
            Ok(())
        };
        tokio::spawn(work).await.unwrap_or_else(|panic| {
            Err(Error::new(ErrorKind::Internal, "internal error").caused_by(panic))
        })
    }
}
