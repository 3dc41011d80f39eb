//! Who is told of a webhook, and who is there to be told.

use std::sync::Arc;

use webhook_cluster::{ClientInfo, ConnectedClient};

use super::{event::streamed, hub::Hub};
use crate::{
    clock::Clock,
    id::{AccountId, DeliveryId, OutputId},
    model::{Bucket, Request, Webhook},
    relay::{
        cache::BucketCache, cluster::Cluster, observer::Observer, options::RelayOptions,
        waiters::Waiters,
    },
    store::{BucketStore, LogStore},
};

/// The clients of all accounts.
#[derive(Debug)]
pub(in crate::relay) struct Clients {
    pub(in crate::relay) hub: Hub,
    /// The other nodes, whose clients get the same.
    pub(in crate::relay) cluster: Option<Arc<Cluster>>,
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
    pub(in crate::relay) fn has_listener(&self, bucket: &Bucket) -> bool {
        let (account, id) = (bucket.account_id, bucket.id);
        let is_there = || self.cluster.as_ref().is_some_and(|it| it.listens_to(account, id));
        bucket.spec.stream && (self.hub.has_listener(account, id) || is_there())
    }

    /// Tells the others what the clients here listen to, after a change.
    pub(in crate::relay) fn listening_changed(&self) {
        if let Some(cluster) = &self.cluster {
            cluster.listening_changed();
        }
    }

    /// The account's clients that are connected here.
    pub(in crate::relay) fn of(&self, account: AccountId) -> Vec<ConnectedClient> {
        self.hub.clients(account)
    }

    /// The account's clients that are connected to any node, and whether there may be more.
    pub(in crate::relay) async fn everywhere(
        &self,
        account: AccountId,
    ) -> (Vec<ConnectedClient>, bool) {
        let Some(cluster) = &self.cluster else { return (self.of(account), false) };
        let (others, more) = cluster.clients(account).await;
        ([self.of(account), others].concat(), more)
    }

    /// How many are connected here.
    pub(in crate::relay) fn count(&self, account: AccountId) -> u64 {
        self.hub.count(account)
    }

    /// Ends the subscriptions that `ends` picks.
    pub(in crate::relay) fn close(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        self.hub.close(account, ends);
    }
}
