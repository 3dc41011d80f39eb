//! Webhooks that go nowhere are kept, too, so that people can see them.

use std::sync::Arc;

use super::{accept::Intake, end::End, route};
use crate::{
    error::Error,
    model::{Bucket, Reason, Webhook},
    store::NewExecution,
};

impl Intake {
    /// Keeps a webhook that goes nowhere, so that it can be seen and sent again.
    pub(in crate::relay) async fn keep(
        self: &Arc<Self>,
        webhook: Webhook,
        runs: Vec<NewExecution>,
        bucket: &Arc<Bucket>,
        end: &End,
    ) -> Result<(), Error> {
        let outputs = route::everywhere(bucket).into_iter();
        let deliveries = outputs.map(|output| end.delivery(self.ids.next(), output)).collect();
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
        let log = End::rejected(Reason::Signature, error.to_string().into());
        let log = log.delivery(self.ids.next(), None);
        let (runs, deliveries) = (Vec::new(), (vec![log], Vec::new()));
        let stored = self.store(webhook, runs, bucket, deliveries, Vec::new(), None);
        if let Err(error) = stored.await {
            tracing::warn!(%error, "a refused webhook is not kept");
        }
    }
}
