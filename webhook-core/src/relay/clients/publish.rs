//! Who is told of a webhook, and who is there to be told.

use std::sync::Arc;

use super::{
    event::StreamedWebhook,
    hub::{ClientInfo, ConnectedClient, Hub},
};
use crate::{
    clock::Clock,
    id::{AccountId, DeliveryId, OutputId},
    model::{Bucket, Request, Webhook},
    relay::{cache::BucketCache, observer::Observer, options::RelayOptions, waiters::Waiters},
    store::{BucketStore, LogStore},
};

/// The clients of all accounts.
#[derive(Debug)]
pub(in crate::relay) struct Clients {
    pub(in crate::relay) hub: Hub,
    pub(in crate::relay) buckets: Arc<BucketCache>,
    /// Which buckets there are, for clients that listen to all of them.
    pub(in crate::relay) bucket_store: Arc<dyn BucketStore>,
    /// What waits for clients, and where their reports go.
    pub(in crate::relay) logs: Arc<dyn LogStore>,
    pub(in crate::relay) waiters: Arc<Waiters>,
    pub(in crate::relay) observer: Arc<dyn Observer>,
    pub(in crate::relay) clock: Arc<dyn Clock>,
    pub(in crate::relay) options: Arc<RelayOptions>,
}

impl Clients {
    /// Tells the clients of the account, if there are any.
    pub(in crate::relay) fn publish(
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
    pub(in crate::relay) fn has_listener(&self, bucket: &Bucket) -> bool {
        bucket.spec.stream && self.hub.has_listener(bucket.account_id, bucket.id)
    }

    /// The account's clients that are connected.
    pub(in crate::relay) fn of(&self, account: AccountId) -> Vec<ConnectedClient> {
        self.hub.clients(account)
    }

    /// How many they are.
    pub(in crate::relay) fn count(&self, account: AccountId) -> u64 {
        self.hub.count(account)
    }

    /// Ends the subscriptions that `ends` picks.
    pub(in crate::relay) fn close(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        self.hub.close(account, ends);
    }
}
