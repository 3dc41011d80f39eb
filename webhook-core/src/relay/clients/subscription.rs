//! A client's view: first what waited for it, then what comes.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::cluster::{ClientInfo, ConnectedClient, Listening, StreamedWebhook};
use tokio::sync::mpsc;

use super::{
    hub::{Delivered, Subscriber},
    publish::{Clients, streamed},
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, DeliveryId, OutputId},
    model::{Log, ReplayMissing},
    relay::byte_semaphore::ByteSemaphore,
    store::{BucketStore, LogCursor},
};

/// Webhooks read from the store at once.
const PAGE: usize = 50;
/// How far back a look goes for what was lost between two nodes: longer than it is until the
/// next look, and than a webhook may take to be stored.
const LOOKS_BACK: Duration = Duration::from_secs(20);

/// What a [`Subscription`] brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Streamed {
    /// A webhook.
    Webhook(Arc<StreamedWebhook>),
    /// The client read too slowly, and so many webhooks were left out. Those of
    /// internal outputs follow from the store; the others are in the logs.
    Missed(usize),
    /// The subscription has been ended, because its credential was.
    Closed,
}

/// A client's subscription to the webhooks of an account.
///
/// Every subscription gets every webhook of the buckets it listens to. It
/// begins with those of internal outputs that were received while nobody was
/// there, oldest first; one that a client has in hand is not handed to
/// another, and an output may limit how much of it there is
/// ([`ReplayMissing`]). What a client has not reported on when its subscription is dropped
/// waits again for the next one.
#[derive(Debug)]
pub struct Subscription {
    clients: Arc<Clients>,
    account: AccountId,
    subscriber: Arc<Subscriber>,
    receiver: mpsc::Receiver<Delivered>,
    backlog: VecDeque<Log>,
    /// The last of the backlog that was read; none when it has been read to its end.
    catching_up: Option<Position>,
    /// What it has taken and may not have reported on, the oldest first.
    taken: VecDeque<DeliveryId>,
    known: HashSet<DeliveryId>,
    /// When it began to listen to what it listens to now.
    since: Timestamp,
    /// When it last looked into the store.
    looked_at: Timestamp,
    /// How many it has got of each output that it had missed by then, where
    /// that is limited.
    replayed: HashMap<OutputId, u32>,
}

#[derive(Clone, Copy, Debug)]
enum Position {
    Start,
    After(LogCursor),
}

impl Subscription {
    pub(crate) fn new(
        clients: Arc<Clients>,
        account: AccountId,
        listening: Listening,
        info: ClientInfo,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(clients.options.client_queue.max(1));
        let bytes = ByteSemaphore::new(clients.options.client_queue_bytes);
        let subscribed_at = clients.clock.now();
        let client = ConnectedClient { info, listening, outputs: Vec::new(), subscribed_at };
        let subscriber = Arc::new(Subscriber::new(sender, bytes, client));
        clients.hub.enter(account, Arc::clone(&subscriber));
        clients.listening_changed();
        Self {
            clients,
            account,
            subscriber,
            receiver,
            backlog: VecDeque::new(),
            catching_up: Some(Position::Start),
            taken: VecDeque::new(),
            known: HashSet::new(),
            since: subscribed_at,
            looked_at: subscribed_at,
            replayed: HashMap::new(),
        }
    }

    /// Listens to other buckets from now on, and catches up on them.
    pub fn listen(&mut self, listening: Listening) {
        self.listen_to_outputs(listening, Vec::new());
    }

    /// The same, and only to internal outputs with these names, if there are
    /// any: so that a client does not take what another one is there for.
    pub fn listen_to_outputs(&mut self, listening: Listening, outputs: Vec<String>) {
        {
            let mut client = self.subscriber.client.lock();
            client.listening = listening;
            client.outputs = outputs;
        }
        self.backlog.clear();
        self.catching_up = Some(Position::Start);
        self.since = self.clients.clock.now();
        self.looked_at = self.since;
        self.replayed.clear();
        self.clients.listening_changed();
    }

    /// The next webhook, or what there is to say. Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// When the store cannot be read; asking again tries again.
    pub async fn next(&mut self) -> Result<Streamed, Error> {
        loop {
            if self.subscriber.closed.load(Ordering::Acquire) {
                return Ok(Streamed::Closed);
            }
            while let Some(log) = self.backlog.front().cloned() {
                // Taken off only afterwards: this future may be dropped before.
                let event = self.offer_backlog(&log).await?;
                self.backlog.pop_front();
                if let Some(event) = event {
                    return Ok(Streamed::Webhook(event));
                }
            }
            if let Some(position) = self.catching_up {
                self.read_backlog(position).await?;
                continue;
            }
            tokio::select! {
                biased;
                delivered = self.receiver.recv() => match delivered {
                    Some((event, _permit)) => {
                        // What it wants may have changed since the offer.
                        if self.wants(&event) && self.take(event.id, false) {
                            return Ok(Streamed::Webhook(event));
                        }
                    }
                    None => return Ok(Streamed::Closed),
                },
                // Asked only when the channel is empty, so that what was missed
                // is read after what was not.
                () = self.subscriber.changed.notified() => {
                    let missed = self.subscriber.missed.swap(0, Ordering::AcqRel);
                    if missed > 0 {
                        self.catching_up = Some(Position::Start);
                        return Ok(Streamed::Missed(missed));
                    }
                    if self.subscriber.looks_again.swap(false, Ordering::AcqRel) {
                        self.look_again();
                    }
                }
            }
        }
    }

    /// Waits until a webhook comes that the client listens to, and leaves it to be leased
    /// ([`Admin::drain`](crate::admin::Admin::drain)); `false` when the subscription has been
    /// ended. Dropping the future loses nothing but a webhook's coming.
    pub async fn arrived(&mut self) -> bool {
        while !self.subscriber.closed.load(Ordering::Acquire) {
            tokio::select! {
                delivered = self.receiver.recv() => return delivered.is_some(),
                () = self.subscriber.changed.notified() => {
                    let missed = self.subscriber.missed.swap(0, Ordering::AcqRel) > 0;
                    if missed | self.subscriber.looks_again.swap(false, Ordering::AcqRel) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// What the client gets of a log that it leased; none when that is not for it any more.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn leased(&self, log: &Log) -> Result<Option<StreamedWebhook>, Error> {
        let Log { webhook, delivery: it } = log;
        let Some(output) = it.output_id else { return Ok(None) };
        let Some(bucket) = self.clients.buckets.of_output(output).await? else { return Ok(None) };
        let event = streamed(&bucket, webhook, it.id, it.output_id, it.processed.as_ref());
        Ok(event.filter(|event| self.wants(event)))
    }

    /// Reads once more what was stored since shortly before the last look.
    fn look_again(&mut self) {
        let now = self.clients.clock.now();
        let back = LOOKS_BACK.as_millis() as i64;
        let from = Timestamp::from_millis(self.looked_at.as_millis().saturating_sub(back));
        let id = DeliveryId::from_uuid(uuid::Uuid::nil());
        let after = LogCursor { created_at: from, id };
        self.catching_up = Some(Position::After(after));
        self.looked_at = now;
    }

    async fn read_backlog(&mut self, position: Position) -> Result<(), Error> {
        let after = match position {
            Position::Start => None,
            Position::After(cursor) => Some(cursor),
        };
        let buckets = self.buckets().await?;
        let logs = &self.clients.logs;
        let page = logs.waiting(self.account, &buckets, after, PAGE).await?;
        self.catching_up = page.last().map(|log| Position::After(LogCursor::of(log)));
        self.backlog = page.into();
        Ok(())
    }

    async fn buckets(&self) -> Result<Vec<BucketId>, Error> {
        let listening = self.subscriber.client.lock().listening.clone();
        match listening {
            Listening::Buckets(buckets) => Ok(buckets.into_iter().collect()),
            Listening::All => {
                let buckets = self.clients.documents.buckets(self.account).await?;
                Ok(buckets.into_iter().map(|bucket| bucket.id).collect())
            }
        }
    }

    async fn offer_backlog(&mut self, log: &Log) -> Result<Option<Arc<StreamedWebhook>>, Error> {
        let Log { webhook, delivery } = log;
        // Who has it says what became of it, or it waits again.
        let is_leased = delivery.leased_until.is_some_and(|until| until > self.clients.clock.now());
        let Some(output) = delivery.output_id.filter(|_| !is_leased) else { return Ok(None) };
        let Some(bucket) = self.clients.buckets.of_output(output).await? else { return Ok(None) };
        let spec = bucket.output(output).map(|output| &output.spec);
        let replay = spec.map(|spec| spec.replay_missing).unwrap_or_default();
        // What comes from now on comes through the channel, too.
        let was_missed = replay.enabled && delivery.created_at <= self.since;
        if was_missed && !self.replays(output, &replay, delivery.created_at) {
            return Ok(None);
        }
        let processed = delivery.processed.as_ref();
        let event = streamed(&bucket, webhook, delivery.id, delivery.output_id, processed);
        let event = event.filter(|event| self.wants(event) && self.take(event.id, true));
        if was_missed && event.is_some() {
            *self.replayed.entry(output).or_default() += 1;
        }
        Ok(event.map(Arc::new))
    }

    /// Whether what was missed is still to be handed over.
    fn replays(&self, output: OutputId, replay: &ReplayMissing, received: Timestamp) -> bool {
        let ReplayMissing { enabled: _, lookback, limit } = *replay;
        let is_recent = lookback.is_zero() || received + lookback >= self.since;
        let replayed = self.replayed.get(&output).copied().unwrap_or_default();
        is_recent && (limit == 0 || replayed < limit)
    }

    fn wants(&self, event: &StreamedWebhook) -> bool {
        self.subscriber.client.lock().listens_to(event.bucket_id, &event.output_name)
    }

    /// Notes that the client has it now; `false` when it must not get it (again).
    fn take(&mut self, id: DeliveryId, only_if_free: bool) -> bool {
        if !self.known.insert(id) {
            return false;
        }
        if !self.clients.hub.take(id, only_if_free) {
            self.known.remove(&id);
            return false;
        }
        self.taken.push_back(id);
        if self.taken.len() > self.clients.options.client_unreported
            && let Some(oldest) = self.taken.pop_front()
        {
            self.known.remove(&oldest);
            self.clients.hub.put_down(oldest);
        }
        true
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.clients.hub.leave(self.account, &self.subscriber);
        self.clients.listening_changed();
        for id in &self.taken {
            self.clients.hub.put_down(*id);
        }
    }
}
