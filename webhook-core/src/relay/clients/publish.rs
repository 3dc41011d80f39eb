//! The connected clients: webhooks that they get, and reports that they send.

use std::sync::Arc;

use http::StatusCode;

use super::hub::Hub;
use crate::{
    body::cut,
    clock::Clock,
    cluster::{ClientInfo, ConnectedClient, StreamedWebhook},
    error::Error,
    forward::path,
    id::{AccountId, DeliveryId, OutputId},
    model::{Bucket, Request, Webhook, hops},
    relay::{
        Observer, RelayOptions, RelayParts,
        cache::BucketCache,
        cluster::{Cluster, DestinationResponse},
        headers,
        waiters::Waiters,
    },
    store::{ClientReport, DocumentStore, LogStore, Reported},
};

/// The clients of all accounts.
#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) hub: Hub,
    /// The other nodes, whose clients get the same.
    pub(crate) cluster: Option<Arc<Cluster>>,
    pub(crate) buckets: Arc<BucketCache>,
    /// Which buckets there are, for clients that listen to all of them.
    pub(crate) documents: Arc<dyn DocumentStore>,
    /// What waits for clients, and where their reports go.
    pub(crate) logs: Arc<dyn LogStore>,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) options: Arc<RelayOptions>,
}

impl Clients {
    pub(crate) fn new(
        parts: &RelayParts,
        buckets: &Arc<BucketCache>,
        waiters: &Arc<Waiters>,
        cluster: &Option<Arc<Cluster>>,
    ) -> Self {
        Self {
            hub: Hub::default(),
            cluster: cluster.clone(),
            buckets: buckets.clone(),
            documents: parts.stores.documents.clone(),
            logs: parts.stores.logs.clone(),
            waiters: waiters.clone(),
            observer: parts.observer.clone(),
            clock: parts.clock.clone(),
            options: parts.options.clone(),
        }
    }

    /// Tells the clients of the account, if there are any.
    pub(crate) fn publish(
        &self,
        bucket: &Bucket,
        webhook: &Webhook,
        id: DeliveryId,
        output: Option<OutputId>,
        processed: Option<&Request>,
    ) {
        let account = webhook.account_id;
        let is_here = self.hub.listens(account);
        let others = self.cluster.as_ref().filter(|it| it.listens_to(account, bucket.id));
        if (is_here || others.is_some())
            && let Some(event) = streamed(bucket, webhook, id, output, processed)
        {
            if let Some(others) = others {
                others.stream(account, &event);
            }
            self.hub.publish(account, event);
        }
    }

    /// Whether a client gets what a bucket without outputs streams.
    pub(crate) fn has_listener(&self, bucket: &Bucket) -> bool {
        let (account, id) = (bucket.account_id, bucket.id);
        let is_there = || self.cluster.as_ref().is_some_and(|it| it.listens_to(account, id));
        bucket.spec.stream && (self.hub.has_listener(account, id) || is_there())
    }

    /// Tells the others what the clients here listen to, after a change.
    pub(crate) fn listening_changed(&self) {
        if let Some(cluster) = &self.cluster {
            cluster.listening_changed();
        }
    }

    /// The account's clients that are connected here.
    pub(crate) fn of(&self, account: AccountId) -> Vec<ConnectedClient> {
        self.hub.clients(account)
    }

    /// The account's clients that are connected to any node, and whether there may be more.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "the management calls it"))]
    pub(crate) async fn everywhere(&self, account: AccountId) -> (Vec<ConnectedClient>, bool) {
        let Some(cluster) = &self.cluster else { return (self.of(account), false) };
        let (others, more) = cluster.clients(account).await;
        ([self.of(account), others].concat(), more)
    }

    /// How many are connected here.
    pub(crate) fn count(&self, account: AccountId) -> u64 {
        self.hub.count(account)
    }

    /// Ends the subscriptions that `ends` picks.
    pub(crate) fn close(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        self.hub.close(account, ends);
    }
}

impl Clients {
    /// Writes the report and tells a sender that waits for it. A second final
    /// report is ignored.
    pub(crate) async fn report(
        &self,
        account: AccountId,
        report: ClientReport,
    ) -> Result<Reported, Error> {
        let (body, headers) = (report.response_body.clone(), report.response_headers.clone());
        let report = ClientReport {
            response_body: cut(&body, self.options.max_logged_response_bytes),
            ..report
        };
        let reported = self.logs.report(account, &report).await?;
        if reported.taken && report.is_outcome() {
            self.hub.done(report.id);
            self.observer.attempted(report.status, report.duration);
            let status = StatusCode::from_u16(report.status_code).ok();
            let response = status.map(|status| DestinationResponse { status, headers, body });
            self.waiters.resolve(report.id, response);
        }
        Ok(reported)
    }
}

/// What clients get of a delivery; none when they get nothing, because the
/// bucket does not stream or the output is no longer theirs.
pub(super) fn streamed(
    bucket: &Bucket,
    webhook: &Webhook,
    id: DeliveryId,
    output: Option<OutputId>,
    processed: Option<&Request>,
) -> Option<StreamedWebhook> {
    if !bucket.spec.stream {
        return None;
    }
    let mut request = processed.unwrap_or(&webhook.request).clone();
    let (output_name, output_destination) = match output {
        Some(output) => {
            let spec = &bucket.output(output).filter(|output| output.spec.internal)?.spec;
            // A client delivers as the relay would have.
            let own = &spec.headers.0;
            request.headers = headers::forwarded(&request.headers, webhook, own, id);
            if spec.lock_path {
                request.extra_path.clear();
            }
            let destination = path::join(&spec.destination, &request.extra_path, "");
            (spec.name.clone(), destination)
        }
        None => {
            hops::write(webhook.checks.hops, &mut request.headers);
            Default::default()
        }
    };
    let input_name = bucket.input(webhook.input_id).map(|input| input.spec.name.clone());
    Some(StreamedWebhook {
        id,
        bucket_id: bucket.id,
        bucket_name: bucket.spec.name.clone(),
        input_id: webhook.input_id,
        input_name: input_name.unwrap_or_default(),
        output_name,
        output_destination,
        request,
    })
}
