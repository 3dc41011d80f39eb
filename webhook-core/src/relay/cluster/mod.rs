//! What this relay tells others over the same stores, so that they need not look there first.
//!
//! Without a [`Broadcast`] there is none of it. Whatever gets lost is found in the store:
//! what is kept in memory reaches its greatest age, clients look again for what they wait
//! for, a sender gets the static answer.

pub(super) mod questions;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::sync::Notify;

use self::questions::Questions;
use super::RelayParts;
use crate::{
    clock::Clock,
    cluster::{
        Answered, Awaited, Broadcast, Content, Message, Peers, Presence, Streamed, StreamedWebhook,
        To,
    },
    id::{AccountId, BucketId, DeliveryId, NodeId},
};

/// What a destination answered, whole.
#[derive(Clone, Debug)]
pub(crate) struct DestinationResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// This relay among the others.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(super) node: NodeId,
    pub(super) broadcast: Arc<dyn Broadcast>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) peers: Peers,
    /// What senders at other nodes wait for.
    pub(super) awaited: Awaited,
    pub(super) questions: Questions,
    /// Told when the clients here listen to something else.
    pub(super) listening: Notify,
}

impl Cluster {
    /// This node among the others; none where nothing carries messages between nodes.
    pub(super) fn join(parts: &RelayParts) -> Option<Arc<Self>> {
        let broadcast = parts.broadcast.clone()?;
        Some(Arc::new(Self {
            node: parts.node,
            broadcast,
            clock: parts.clock.clone(),
            peers: Peers::default(),
            awaited: Awaited::default(),
            questions: Questions::default(),
            listening: Notify::new(),
        }))
    }

    /// Says it; whether it is short enough to be said.
    pub(super) fn tell(&self, to: To, content: Content) -> bool {
        let message = Message { from: self.node, sent_at: self.clock.now(), content };
        let Some(bytes) = message.encode() else { return false };
        self.broadcast.publish(to, bytes);
        true
    }

    pub(super) fn present(&self, to: To, presence: Presence) {
        if !self.tell(to, Content::Present(presence)) {
            let everything = Presence { everything: true, ..Presence::default() };
            self.tell(to, Content::Present(everything));
        }
    }

    /// The clients here listen to something else than before.
    pub(super) fn listening_changed(&self) {
        self.listening.notify_one();
    }

    /// Whether clients of another node listen to the bucket.
    pub(super) fn listens_to(&self, account: AccountId, bucket: BucketId) -> bool {
        self.peers.listens_to(account, bucket)
    }

    /// Gives a webhook to the nodes whose clients listen to its bucket.
    pub(super) fn stream(&self, account: AccountId, webhook: &StreamedWebhook) {
        for (node, number) in self.peers.stream_to(account, webhook.bucket_id) {
            let streamed =
                |webhook| Content::Streamed(Box::new(Streamed { number, account, webhook }));
            if !self.tell(To::Node(node), streamed(Some(webhook.clone()))) {
                self.tell(To::Node(node), streamed(None));
            }
        }
    }

    /// Says that a sender waits here for the answer to one of these, which are not stored yet.
    pub(super) fn wait_for(&self, deliveries: &[DeliveryId]) {
        self.tell(To::All, Content::Awaited(deliveries.to_vec()));
    }

    /// Whether a sender waits for it at another node.
    pub(super) fn is_awaited(&self, delivery: DeliveryId) -> bool {
        self.awaited.contains(delivery)
    }

    /// Passes the end of a delivery on to the node where a sender waits for it.
    pub(super) fn answer(&self, delivery: DeliveryId, response: Option<DestinationResponse>) {
        let Some(node) = self.awaited.take(delivery) else { return };
        let none =
            Answered { delivery, status: None, headers: HeaderMap::new(), body: Bytes::new() };
        let whole = response.map(|DestinationResponse { status, headers, body }| Answered {
            delivery,
            status: Some(status.as_u16()),
            headers,
            body,
        });
        let is_told =
            whole.is_some_and(|whole| self.tell(To::Node(node), Content::Answered(whole)));
        if !is_told {
            self.tell(To::Node(node), Content::Answered(none));
        }
    }
}
