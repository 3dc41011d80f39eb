//! Who listens, and who has what in hand.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::cluster::{ClientInfo, ConnectedClient, Listening, Presence, StreamedWebhook};
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use crate::{
    id::{AccountId, BucketId, DeliveryId},
    lock::Lock,
    relay::byte_semaphore::{BytePermit, ByteSemaphore},
};

/// How many buckets are named to other nodes for one account; past it they stand for all.
const MAX_NAMED_BUCKETS: usize = 256;
/// How many accounts and buckets together; past it everything is meant.
const MAX_NAMED: usize = 4_000;

/// How long a sender waits for a client that is gone: it may connect again.
const GONE: Duration = Duration::from_secs(60);
/// How many clients that are gone are known.
const MAX_GONE: usize = 1_000;

/// What a subscriber's channel carries.
pub(super) type Delivered = (Arc<StreamedWebhook>, BytePermit);

/// The hub's side of a subscription.
#[derive(Debug)]
pub(super) struct Subscriber {
    sender: mpsc::Sender<Delivered>,
    bytes: ByteSemaphore,
    pub(super) client: Lock<ConnectedClient>,
    /// Events were left out because the client reads too slowly.
    pub(super) missed: AtomicUsize,
    /// What waits in the store is to be looked at once more: something of it may have been
    /// lost between two nodes.
    pub(super) looks_again: AtomicBool,
    /// Told when something is missed, or to be looked at.
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
            client: Lock::new(client),
            missed: AtomicUsize::new(0),
            looks_again: AtomicBool::new(false),
            changed: Notify::new(),
            closed: AtomicBool::new(false),
        }
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
pub(crate) struct Hub {
    subscribers: Lock<HashMap<AccountId, Vec<Arc<Subscriber>>>>,
    /// The size of `subscribers`, so that a relay without clients takes no lock.
    accounts: AtomicUsize,
    /// The clients that are gone since a moment, the first of them first.
    gone: Lock<VecDeque<(Instant, AccountId, ConnectedClient)>>,
    /// How many clients have a webhook and have not reported on it.
    in_hand: Lock<HashMap<DeliveryId, usize>>,
}

impl Hub {
    pub(super) fn enter(&self, account: AccountId, subscriber: Arc<Subscriber>) {
        let mut subscribers = self.subscribers.lock();
        subscribers.entry(account).or_default().push(subscriber);
        self.accounts.store(subscribers.len(), Ordering::Release);
    }

    pub(super) fn leave(&self, account: AccountId, subscriber: &Arc<Subscriber>) {
        let mut subscribers = self.subscribers.lock();
        if let Some(known) = subscribers.get_mut(&account) {
            known.retain(|other| !Arc::ptr_eq(other, subscriber));
            if known.is_empty() {
                subscribers.remove(&account);
            }
        }
        self.accounts.store(subscribers.len(), Ordering::Release);
        drop(subscribers);
        let mut gone = self.gone.lock();
        gone.retain(|(since, ..)| since.elapsed() < GONE);
        if gone.len() == MAX_GONE {
            gone.pop_front();
        }
        gone.push_back((Instant::now(), account, subscriber.client.lock().clone()));
    }

    /// Whether the account has any client.
    pub(super) fn listens(&self, account: AccountId) -> bool {
        self.accounts.load(Ordering::Acquire) > 0 && self.subscribers.lock().contains_key(&account)
    }

    /// Whether any client gets the webhooks of a bucket without outputs, or did within the last
    /// minute.
    pub(super) fn has_listener(&self, account: AccountId, bucket: BucketId) -> bool {
        let subscribers = self.subscribers.lock();
        let mut known = subscribers.get(&account).into_iter().flatten();
        if known.any(|subscriber| subscriber.client.lock().listens_to(bucket, "")) {
            return true;
        }
        drop(subscribers);
        self.gone.lock().iter().any(|(since, of, client)| {
            *of == account && since.elapsed() < GONE && client.listens_to(bucket, "")
        })
    }

    /// Offers a webhook to every client that listens to its bucket.
    pub(crate) fn publish(&self, account: AccountId, event: StreamedWebhook) {
        let event = Arc::new(event);
        let subscribers = self.subscribers.lock();
        for subscriber in subscribers.get(&account).into_iter().flatten() {
            if subscriber.client.lock().listens_to(event.bucket_id, &event.output_name) {
                subscriber.offer(&event);
            }
        }
    }

    /// The account's clients.
    pub(super) fn clients(&self, account: AccountId) -> Vec<ConnectedClient> {
        let subscribers = self.subscribers.lock();
        let known = subscribers.get(&account).into_iter().flatten();
        known.map(|subscriber| subscriber.client.lock().clone()).collect()
    }

    /// What the clients of all accounts listen to.
    pub(crate) fn presence(&self) -> Presence {
        let mut listening = Vec::new();
        let mut named = 0;
        for (account, subscribers) in &*self.subscribers.lock() {
            let mut together = HashSet::new();
            let all =
                subscribers.iter().any(|subscriber| match &subscriber.client.lock().listening {
                    Listening::All => true,
                    Listening::Buckets(buckets) => {
                        together.extend(buckets);
                        together.len() > MAX_NAMED_BUCKETS
                    }
                });
            let (count, one) = match all {
                true => (1, Listening::All),
                false => (1 + together.len(), Listening::Buckets(together)),
            };
            named += count;
            if named > MAX_NAMED {
                return Presence { everything: true, ..Presence::default() };
            }
            listening.push((*account, one));
        }
        Presence { listening, everything: false }
    }

    /// Has every client look into the store for what it has not got.
    pub(crate) fn look_again(&self) {
        for subscriber in self.subscribers.lock().values().flatten() {
            subscriber.looks_again.store(true, Ordering::Release);
            subscriber.changed.notify_one();
        }
    }

    /// How many clients the account has.
    pub(super) fn count(&self, account: AccountId) -> u64 {
        self.subscribers.lock().get(&account).map_or(0, |clients| clients.len() as u64)
    }

    /// Ends the account's subscriptions that `ends` picks.
    pub(super) fn close(&self, account: AccountId, ends: impl Fn(&ClientInfo) -> bool) {
        let subscribers = self.subscribers.lock();
        for subscriber in subscribers.get(&account).into_iter().flatten() {
            if ends(&subscriber.client.lock().info) {
                subscriber.closed.store(true, Ordering::Release);
                subscriber.changed.notify_one();
            }
        }
    }

    /// A client takes a webhook. From its own backlog it does so only when
    /// nobody has it in hand.
    pub(super) fn take(&self, id: DeliveryId, only_if_free: bool) -> bool {
        let mut in_hand = self.in_hand.lock();
        let holders = in_hand.entry(id).or_default();
        if only_if_free && *holders > 0 {
            return false;
        }
        *holders += 1;
        true
    }

    /// A client is gone and had not reported on it.
    pub(super) fn put_down(&self, id: DeliveryId) {
        let mut in_hand = self.in_hand.lock();
        if let Some(holders) = in_hand.get_mut(&id) {
            *holders -= 1;
            if *holders == 0 {
                in_hand.remove(&id);
            }
        }
    }

    /// Somebody reported on it.
    pub(super) fn done(&self, id: DeliveryId) {
        self.in_hand.lock().remove(&id);
    }
}
