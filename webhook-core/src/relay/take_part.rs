//! Listening to the others, and being there for them.

use std::time::Duration;

use crate::cluster::{Answered, Change, Content, Message, Streamed, To};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use http::StatusCode;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::{
    Relay,
    cluster::{Cluster, DestinationResponse, questions::MAX_NAMED},
};

/// How often a node says that it is there.
const HERE: Duration = Duration::from_secs(1);
/// How long a node gathers what its clients listen to before it says so.
const GATHER: Duration = Duration::from_millis(10);
/// How often clients look in the store for what was lost on its way to them.
const LOOK: Duration = Duration::from_secs(5);
/// When they look after one of them has come: the others have heard of it by then.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// A message that is so old says nothing any more, and may be somebody's who kept it.
const STALE: Duration = Duration::from_secs(60);
/// How many outputs a node that ends names to another one; a sweep finds the others.
const MAX_LEFT: usize = 10_000;
/// How many messages may wait for the store; more are dropped.
const READS: usize = 64;

type Reads = FuturesUnordered<BoxFuture<'static, ()>>;

impl Relay {
    /// Hears what others say and says what they need, for as long as this is awaited.
    pub(crate) async fn take_part(&self) {
        let Some(cluster) = &self.cluster else { return std::future::pending().await };
        let mut inbox = cluster.broadcast.subscribe(cluster.node);
        let mut reads = Reads::new();
        let mut here = interval(HERE);
        here.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut say_at, mut look_at) = (None, Instant::now() + LOOK);
        loop {
            tokio::select! {
                next = inbox.next() => match next {
                    Some((_, bytes)) => {
                        if let Some(message) = Message::decode(&bytes) {
                            self.hear(cluster, message, &mut reads);
                        }
                    }
                    None => return std::future::pending().await,
                },
                _ = here.tick() => {
                    cluster.peers.expire();
                    cluster.awaited.expire();
                    cluster.present(To::All, self.clients.hub.presence());
                }
                () = cluster.listening.notified() => {
                    say_at.get_or_insert_with(|| Instant::now() + GATHER);
                    look_at = look_at.min(Instant::now() + FIRST_LOOK);
                }
                () = sleep_until(say_at.unwrap_or(look_at)), if say_at.is_some() => {
                    say_at = None;
                    cluster.present(To::All, self.clients.hub.presence());
                }
                () = sleep_until(look_at) => {
                    look_at = Instant::now() + LOOK;
                    self.clients.hub.look_again();
                }
                Some(()) = reads.next(), if !reads.is_empty() => {}
            }
        }
    }

    /// Says that this node ends, and leaves to another one what waits here.
    pub(crate) fn take_leave(&self) {
        let Some(cluster) = &self.cluster else { return };
        let mut waiting = self.deliverer.waiting();
        waiting.truncate(MAX_LEFT);
        if let Some(heir) = fastrand::choice(cluster.peers.all()).filter(|_| !waiting.is_empty()) {
            cluster.tell(To::Node(heir), Content::Left(waiting));
        }
        cluster.tell(To::All, Content::Gone);
    }

    fn hear(&self, cluster: &Cluster, message: Message, reads: &mut Reads) {
        let Message { from, sent_at, content } = message;
        let now = cluster.clock.now();
        if from == cluster.node || now.since(sent_at) > STALE || sent_at.since(now) > STALE {
            return;
        }
        match content {
            Content::Changed(change) => self.hear_of(change, reads),
            Content::Present(presence) => {
                if cluster.peers.present(from, presence) {
                    cluster.present(To::Node(from), self.clients.hub.presence());
                }
            }
            Content::Gone => cluster.peers.gone(from),
            Content::Streamed(streamed) => {
                let Streamed { number, account, webhook } = *streamed;
                let mut is_missing = cluster.peers.streamed(from, number);
                match webhook {
                    Some(webhook) => self.clients.hub.publish(account, webhook),
                    None => is_missing = true,
                }
                if is_missing {
                    self.clients.hub.look_again();
                }
            }
            Content::Awaited(deliveries) => cluster.awaited.add(from, deliveries),
            Content::Answered(Answered { delivery, status, headers, body }) => {
                let status = status.and_then(|status| StatusCode::from_u16(status).ok());
                let response = status.map(|status| DestinationResponse { status, headers, body });
                let _ = self.clients.waiters.resolve_here(delivery, response);
            }
            Content::Asked { question, account } => {
                let mut clients = self.clients.of(account);
                let more = clients.len() > MAX_NAMED;
                clients.truncate(MAX_NAMED);
                let connected = |clients, more| Content::Connected { question, clients, more };
                if !cluster.tell(To::Node(from), connected(clients, more)) {
                    cluster.tell(To::Node(from), connected(Vec::new(), true));
                }
            }
            Content::Connected { question, clients, more } => {
                cluster.questions.answer(question, (from, clients, more));
            }
            Content::Left(outputs) => {
                let deliverer = self.deliverer.clone();
                read(reads, async move {
                    if let Err(error) = deliverer.attend_to(&outputs).await {
                        tracing::warn!(%error, "what another node left waits for a sweep");
                    }
                });
            }
        }
    }

    fn hear_of(&self, change: Change, reads: &mut Reads) {
        match change {
            Change::Notifications(account) => {
                let notifier = self.notifier.clone();
                read(reads, async move {
                    if let Err(error) = notifier.changed(account).await {
                        tracing::warn!(%error, "changed notifications cannot be read");
                    }
                });
            }
            change => self.apply(&change),
        }
    }
}

fn read(reads: &mut Reads, work: impl Future<Output = ()> + Send + 'static) {
    if reads.len() < READS {
        reads.push(Box::pin(work));
    }
}
