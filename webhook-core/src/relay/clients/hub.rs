//! Who listens, and who has what in hand.

use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio::sync::{Notify, mpsc};

use super::event::StreamedWebhook;
use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, DeliveryId, TokenId},
    relay::byte_semaphore::{BytePermit, ByteSemaphore},
};

/// The buckets that a client listens to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listening {
    /// All buckets of the account, later ones included.
    All,
    /// These.
    Buckets(HashSet<BucketId>),
}

impl Listening {
    fn includes(&self, bucket: BucketId) -> bool {
        match self {
            Self::All => true,
            Self::Buckets(buckets) => buckets.contains(&bucket),
        }
    }
}

/// Who a client says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientInfo {
    /// The access token that it showed; none for the API key.
    pub token_id: Option<TokenId>,
    /// Its address.
    pub ip: Option<IpAddr>,
    /// What it is (`webhook-server`, a browser).
    pub kind: String,
    /// Its version.
    pub version: String,
    /// Where it forwards to, when it says so.
    pub destination: String,
}

/// A connected client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedClient {
    /// Who it says it is.
    pub info: ClientInfo,
    /// What it listens to.
    pub listening: Listening,
    /// Names of internal outputs: only their webhooks; empty for all there are.
    pub outputs: Vec<String>,
    /// Since when.
    pub subscribed_at: Timestamp,
}

impl ConnectedClient {
    pub(super) fn wants(&self, event: &StreamedWebhook) -> bool {
        self.listens_to(event.bucket_id, &event.output_name)
    }

    /// Whether it gets the webhooks of this output; `""` when the bucket has none.
    fn listens_to(&self, bucket: BucketId, output: &str) -> bool {
        self.listening.includes(bucket)
            && (self.outputs.is_empty() || self.outputs.iter().any(|name| name == output))
    }
}

/// What a subscriber's channel carries.
pub(super) type Delivered = (Arc<StreamedWebhook>, BytePermit);

/// The hub's side of a subscription.
#[derive(Debug)]
pub(super) struct Subscriber {
    sender: mpsc::Sender<Delivered>,
    bytes: ByteSemaphore,
    client: Mutex<ConnectedClient>,
    /// Events were left out because the client reads too slowly.
    pub(super) missed: AtomicUsize,
    /// Told when something is missed.
    pub(super) changed: Notify,
    pub(super) closed: AtomicBool,
}

impl Subscriber {
    pub(super) fn new(
        sender: mpsc::Sender<Delivered>,
        bytes: ByteSemaphore,
        client: ConnectedClient,
    ) -> Self {
        Self {
            sender,
            bytes,
            client: Mutex::new(client),
            missed: AtomicUsize::new(0),
            changed: Notify::new(),
            closed: AtomicBool::new(false),
        }
    }

    pub(super) fn client(&self) -> MutexGuard<'_, ConnectedClient> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&self, event: &Arc<StreamedWebhook>) {
        let permit = self.bytes.take(event.request.size_bytes());
        let sent =
            permit.is_some_and(|permit| self.sender.try_send((Arc::clone(event), permit)).is_ok());
        if !sent {
            self.missed.fetch_add(1, Ordering::AcqRel);
            self.changed.notify_one();
        }
    }
}

/// The subscribers of all accounts, and which webhooks are in their hands.
#[derive(Debug, Default)]
pub(in crate::relay) struct Hub {
    subscribers: Mutex<HashMap<AccountId, Vec<Arc<Subscriber>>>>,
    /// The size of `subscribers`, so that a relay without clients takes no lock.
    accounts: AtomicUsize,
    /// How many clients have a webhook and have not reported on it.
    in_hand: Mutex<HashMap<DeliveryId, usize>>,
}

impl Hub {
    fn subscribers(&self) -> MutexGuard<'_, HashMap<AccountId, Vec<Arc<Subscriber>>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_hand(&self) -> MutexGuard<'_, HashMap<DeliveryId, usize>> {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self, account: AccountId, subscriber: Arc<Subscriber>) {
        let mut subscribers = self.subscribers();
        subscribers.entry(account).or_default().push(subscriber);
        self.accounts.store(subscribers.len(), Ordering::Release);
    }

    pub(super) fn leave(&self, account: AccountId, subscriber: &Arc<Subscriber>) {
        let mut subscribers = self.subscribers();
        if let Some(known) = subscribers.get_mut(&account) {
            known.retain(|other| !Arc::ptr_eq(other, subscriber));
            if known.is_empty() {
                subscribers.remove(&account);
            }
        }
        self.accounts.store(subscribers.len(), Ordering::Release);
    }

    /// Whether the account has any client.
    pub(super) fn listens(&self, account: AccountId) -> bool {
        self.accounts.load(Ordering::Acquire) > 0 && self.subscribers().contains_key(&account)
    }

    /// Whether any client gets the webhooks of a bucket without outputs.
    pub(super) fn has_listener(&self, account: AccountId, bucket: BucketId) -> bool {
        if self.accounts.load(Ordering::Acquire) == 0 {
            return false;
        }
        let subscribers = self.subscribers();
        let mut known = subscribers.get(&account).into_iter().flatten();
        known.any(|subscriber| subscriber.client().listens_to(bucket, ""))
    }

    /// Offers a webhook to every client that listens to its bucket.
    pub(super) fn publish(&self, account: AccountId, event: StreamedWebhook) {
        let event = event.shared();
        let subscribers = self.subscribers();
        for subscriber in subscribers.get(&account).into_iter().flatten() {
            if subscriber.client().wants(&event) {
                subscriber.offer(&event);
            }
        }
    }

    /// The account's clients.
    pub(super) fn clients(&self, account: AccountId) -> Vec<ConnectedClient> {
        let subscribers = self.subscribers();
        let known = subscribers.get(&account).into_iter().flatten();
        known.map(|subscriber| subscriber.client().clone()).collect()
    }

    /// How many clients the account has.
    pub(super) fn count(&self, account: AccountId) -> u64 {
        self.subscribers().get(&account).map_or(0, |clients| clients.len() as u64)
    }

    /// Ends the account's subscriptions that `ends` picks.
    pub(super) fn close(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        let subscribers = self.subscribers();
        for subscriber in subscribers.get(&account).into_iter().flatten() {
            if ends(&subscriber.client().info) {
                subscriber.closed.store(true, Ordering::Release);
                subscriber.changed.notify_one();
            }
        }
    }

    /// A client takes a webhook. From its own backlog it does so only when
    /// nobody has it in hand.
    pub(super) fn take(&self, id: DeliveryId, only_if_free: bool) -> bool {
        let mut in_hand = self.in_hand();
        let holders = in_hand.entry(id).or_default();
        if only_if_free && *holders > 0 {
            return false;
        }
        *holders += 1;
        true
    }

    /// A client is gone and had not reported on it.
    pub(super) fn put_down(&self, id: DeliveryId) {
        let mut in_hand = self.in_hand();
        if let Some(holders) = in_hand.get_mut(&id) {
            *holders -= 1;
            if *holders == 0 {
                in_hand.remove(&id);
            }
        }
    }

    /// Somebody reported on it.
    pub(super) fn done(&self, id: DeliveryId) {
        self.in_hand().remove(&id);
    }
}
