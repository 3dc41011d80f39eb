//! Webhooks that go nowhere are kept, too, so that people can see them.

use std::sync::Arc;

use super::{
    accept::{Intake, new_delivery},
    route,
};
use crate::{
    error::Error,
    model::{Bucket, DeliveryStatus, Reason, Webhook},
    store::{NewDelivery, NewExecution},
};

impl Intake {
    /// Keeps a webhook that goes nowhere, so that it can be seen and sent again.
    pub(super) async fn keep(
        self: &Arc<Self>,
        webhook: Webhook,
        runs: Vec<NewExecution>,
        bucket: &Arc<Bucket>,
        reason: Option<Reason>,
        detail: &str,
        rejected: bool,
    ) -> Result<(), Error> {
        let status = if rejected { DeliveryStatus::Rejected } else { DeliveryStatus::Failed };
        let with_reason = |output| NewDelivery {
            reason,
            detail: Some(detail.to_owned()),
            ..new_delivery(self.ids.next(), output, status)
        };
        let mut deliveries: Vec<_> =
            route::enabled(bucket).map(|output| with_reason(Some(output))).collect();
        if deliveries.is_empty() {
            deliveries.push(with_reason(None));
        }
        let deliveries = (deliveries, Vec::new());
        self.store(webhook, runs, bucket, deliveries, Vec::new(), None).await.map(drop)
    }

    /// Keeps a webhook whose signature was refused, as far as the store can.
    pub(super) async fn keep_refused(
        self: &Arc<Self>,
        webhook: Webhook,
        bucket: &Arc<Bucket>,
        error: &Error,
    ) {
        let log = NewDelivery {
            reason: Some(Reason::Signature),
            detail: Some(error.to_string()),
            ..new_delivery(self.ids.next(), None, DeliveryStatus::Rejected)
        };
        let (runs, deliveries) = (Vec::new(), (vec![log], Vec::new()));
        let stored = self.store(webhook, runs, bucket, deliveries, Vec::new(), None);
        if let Err(error) = stored.await {
            tracing::warn!(%error, "a refused webhook is not kept");
        }
    }
}
