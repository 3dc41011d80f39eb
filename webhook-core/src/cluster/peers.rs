//! Which other nodes there are.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::wire::id::{AccountId, BucketId, NodeId};
use tokio::time::Instant;

use crate::cluster::{client::Listening, message::Presence};

/// A node that says nothing for so long is gone.
const GONE: Duration = Duration::from_millis(3_500);
/// How many nodes are known; more are not listened to.
const MAX_PEERS: usize = 1_000;

/// The other nodes of the cluster: those that were heard in the last 3.5 s.
#[derive(Debug, Default)]
pub struct Peers {
    /// In the order of their names, so that a simulation does the same each time.
    nodes: Mutex<BTreeMap<NodeId, Peer>>,
    /// Whether clients listen at any of them, so that webhooks nobody listens to take no lock.
    listening: AtomicBool,
}

#[derive(Debug)]
struct Peer {
    heard: Instant,
    listening: HashMap<AccountId, Listening>,
    everything: bool,
    /// How many webhooks were streamed to it.
    sent: u64,
    /// The greatest number of those that it has streamed here.
    received: u64,
}

impl Peer {
    fn is_there(&self) -> bool {
        self.heard.elapsed() < GONE
    }

    fn listens(&self) -> bool {
        self.everything || !self.listening.is_empty()
    }

    fn listens_to(&self, account: AccountId, bucket: BucketId) -> bool {
        let listening = self.listening.get(&account);
        self.everything || listening.is_some_and(|listening| listening.includes(bucket))
    }
}

impl Peers {
    fn nodes(&self) -> MutexGuard<'_, BTreeMap<NodeId, Peer>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, nodes: &BTreeMap<NodeId, Peer>) {
        self.listening.store(nodes.values().any(Peer::listens), Ordering::Release);
    }

    /// A node says that it is there; whether it was not known before.
    pub fn present(&self, node: NodeId, presence: Presence) -> bool {
        let Presence { listening, everything } = presence;
        let mut nodes = self.nodes();
        let is_new = !nodes.contains_key(&node);
        if is_new && nodes.len() >= MAX_PEERS {
            return false;
        }
        let heard = Instant::now();
        let listening = listening.into_iter().collect();
        let peer = nodes.entry(node).or_insert_with(|| Peer {
            heard,
            listening: HashMap::new(),
            everything: false,
            sent: 0,
            received: 0,
        });
        (peer.heard, peer.listening, peer.everything) = (heard, listening, everything);
        self.note(&nodes);
        is_new
    }

    /// A node says that it ends.
    pub fn gone(&self, node: NodeId) {
        let mut nodes = self.nodes();
        nodes.remove(&node);
        self.note(&nodes);
    }

    /// Forgets nodes that have not been heard for long.
    pub fn expire(&self) {
        let mut nodes = self.nodes();
        nodes.retain(|_, peer| peer.is_there());
        self.note(&nodes);
    }

    /// The nodes that are there.
    #[must_use]
    pub fn all(&self) -> Vec<NodeId> {
        let nodes = self.nodes();
        nodes.iter().filter(|(_, peer)| peer.is_there()).map(|(node, _)| *node).collect()
    }

    /// Whether clients of any of them listen to this bucket.
    #[must_use]
    pub fn listens_to(&self, account: AccountId, bucket: BucketId) -> bool {
        self.listening.load(Ordering::Acquire)
            && self.nodes().values().any(|it| it.is_there() && it.listens_to(account, bucket))
    }

    /// The nodes whose clients listen to this bucket, each with the number of the webhook that
    /// is streamed to it now.
    #[must_use]
    pub fn stream_to(&self, account: AccountId, bucket: BucketId) -> Vec<(NodeId, u64)> {
        if !self.listening.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut nodes = self.nodes();
        let listening =
            nodes.iter_mut().filter(|(_, it)| it.is_there() && it.listens_to(account, bucket));
        listening
            .map(|(node, peer)| {
                peer.sent += 1;
                (*node, peer.sent)
            })
            .collect()
    }

    /// A node has streamed the webhook of this number here; whether one before it is missing.
    pub fn streamed(&self, node: NodeId, number: u64) -> bool {
        let mut nodes = self.nodes();
        // Who was not heard before may have streamed more.
        let Some(peer) = nodes.get_mut(&node) else { return true };
        let is_missing = number > peer.received + 1;
        peer.received = peer.received.max(number);
        is_missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listens(account: AccountId, listening: Listening) -> Presence {
        Presence { listening: vec![(account, listening)], everything: false }
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_is_there_for_as_long_as_it_is_heard() {
        let (peers, node, account) = (Peers::default(), NodeId::generate(), AccountId::generate());
        let bucket = BucketId::generate();
        assert!(peers.present(node, listens(account, Listening::All)));
        assert!(!peers.present(node, listens(account, Listening::All)));
        assert!(peers.listens_to(account, bucket));
        assert!(!peers.listens_to(AccountId::generate(), bucket));
        tokio::time::advance(GONE).await;
        assert!(!peers.listens_to(account, bucket));
        assert_eq!(peers.all(), []);
        peers.expire();
        assert!(peers.present(node, Presence::default()), "it is new again");
        assert_eq!(peers.all(), [node]);
        assert!(!peers.listens_to(account, bucket), "its clients are gone");
        peers.gone(node);
        assert_eq!(peers.all(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn a_webhook_goes_to_the_nodes_that_listen_to_its_bucket() {
        let (peers, account) = (Peers::default(), AccountId::generate());
        let [here, elsewhere] = [BucketId::generate(), BucketId::generate()];
        let nodes = [NodeId::generate(), NodeId::generate(), NodeId::generate()];
        assert_eq!(peers.stream_to(account, here), []);
        peers.present(nodes[0], listens(account, Listening::Buckets([here].into())));
        peers.present(nodes[1], listens(account, Listening::Buckets([elsewhere].into())));
        peers.present(nodes[2], Presence { everything: true, ..Presence::default() });
        let mut to = peers.stream_to(account, here);
        to.sort_unstable();
        assert_eq!(to, [(nodes[0], 1), (nodes[2], 1)]);
        let mut to = peers.stream_to(account, elsewhere);
        to.sort_unstable();
        assert_eq!(to, [(nodes[1], 1), (nodes[2], 2)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_number_that_is_left_out_is_missing() {
        let (peers, node) = (Peers::default(), NodeId::generate());
        assert!(peers.streamed(node, 1), "nobody knows what was before");
        peers.present(node, Presence::default());
        let missing = [1, 2, 2, 4, 3, 5, 7].map(|number| peers.streamed(node, number));
        assert_eq!(missing, [false, false, false, true, false, false, true]);
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_nodes_are_known() {
        let peers = Peers::default();
        for _ in 0..MAX_PEERS {
            assert!(peers.present(NodeId::generate(), Presence::default()));
        }
        assert!(!peers.present(NodeId::generate(), Presence::default()));
        assert_eq!(peers.all().len(), MAX_PEERS);
    }
}
