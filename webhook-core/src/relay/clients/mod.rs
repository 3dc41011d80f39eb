//! Connected clients: agents, WebSocket consumers.
//!
//! The store remembers, the hub only hurries: an internal output's webhook
//! waits in the log as `received` until a client reports on it, so that a
//! client that was away, slow or crashed gets it from there.

mod event;
mod hub;
mod report;
mod subscription;

use std::sync::Arc;

pub(super) use self::hub::Hub;
pub use self::{
    event::StreamedWebhook,
    hub::{ClientInfo, ConnectedClient, Listening},
    subscription::{Streamed, Subscription},
};
use super::{Observer, RelayOptions, cache::BucketCache, waiters::Waiters};
use crate::{
    clock::Clock,
    id::{AccountId, DeliveryId, OutputId},
    model::{Bucket, Request, Webhook},
    store::{BucketStore, LogStore},
};

/// The clients of all accounts.
#[derive(Debug)]
pub(super) struct Clients {
    pub(super) hub: Hub,
    pub(super) buckets: Arc<BucketCache>,
    /// Which buckets there are, for clients that listen to all of them.
    pub(super) bucket_store: Arc<dyn BucketStore>,
    /// What waits for clients, and where their reports go.
    pub(super) logs: Arc<dyn LogStore>,
    pub(super) waiters: Arc<Waiters>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) options: Arc<RelayOptions>,
}

impl Clients {
    /// Subscribes a client to webhooks of the account.
    pub(super) fn subscribe(
        self: &Arc<Self>,
        account: AccountId,
        listening: Listening,
        client: ClientInfo,
    ) -> Subscription {
        Subscription::new(Arc::clone(self), account, listening, client)
    }

    /// Tells the clients of the account, if there are any.
    pub(super) fn publish(
        &self,
        bucket: &Bucket,
        webhook: &Webhook,
        id: DeliveryId,
        output: Option<OutputId>,
        processed: Option<&Request>,
    ) {
        if self.hub.listens(webhook.account_id)
            && let Some(event) = StreamedWebhook::new(bucket, webhook, id, output, processed)
        {
            self.hub.publish(webhook.account_id, event);
        }
    }

    /// Whether a client gets what a bucket without outputs streams.
    pub(super) fn has_listener(&self, bucket: &Bucket) -> bool {
        bucket.spec.stream && self.hub.has_listener(bucket.account_id, bucket.id)
    }

    /// The account's clients that are connected.
    pub(super) fn of(&self, account: AccountId) -> Vec<ConnectedClient> {
        self.hub.clients(account)
    }

    /// How many they are.
    pub(super) fn count(&self, account: AccountId) -> u64 {
        self.hub.count(account)
    }

    /// Ends the subscriptions that `ends` picks.
    pub(super) fn close(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        self.hub.close(account, ends);
    }
}
