//! Cases for [`LogStore`](webhook_core::store::LogStore), by what they begin with.

pub mod count;
pub mod drain;
pub mod erase;
pub mod lease;
pub mod page;
pub mod purge;
pub mod report;
pub mod search;
pub mod waiting;

pub(super) mod oracle;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use webhook_core::{
    AccountId, BucketId, DeliveryId, NodeId, OutputId, Timestamp,
    model::{Attempt, DeliveryStatus, Log, Webhook},
    store::{
        ClientReport, Drain, Drained, LogCursor, LogPage, LogQuery, NewDelivery, OldLogs, Reported,
        Settle, Stores,
    },
};

use super::{
    delivery::{Queued, accept, new_delivery},
    sample::{after, webhook, with},
};

/// Where webhooks of a case come in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) account: AccountId,
    pub(super) bucket: BucketId,
    /// An output that a relay delivers to.
    pub(super) public: OutputId,
    /// An output for clients.
    pub(super) internal: OutputId,
}

impl Place {
    pub(super) fn new() -> Self {
        Self::of(AccountId::generate())
    }

    pub(super) fn of(account: AccountId) -> Self {
        Self {
            account,
            bucket: BucketId::generate(),
            public: OutputId::generate(),
            internal: OutputId::generate(),
        }
    }

    pub(super) fn webhook(self, at: Timestamp) -> Webhook {
        Webhook { bucket_id: self.bucket, received_at: at, ..webhook(self.account) }
    }

    /// A delivery that a relay has to attempt at once.
    pub(super) fn to_public(self) -> NewDelivery {
        new_delivery(self.public, after(0))
    }

    /// A delivery that waits for clients.
    pub(super) fn to_clients(self) -> NewDelivery {
        with(new_delivery(self.internal, after(0)), |delivery| {
            delivery.internal = true;
            delivery.due_at = None;
        })
    }

    /// The delivery of a bucket without outputs.
    pub(super) fn to_nobody(self) -> NewDelivery {
        with(new_delivery(self.internal, after(0)), |delivery| {
            delivery.output_id = None;
            delivery.due_at = None;
        })
    }

    /// Stores a webhook that was received at `at`.
    pub(super) async fn store(
        self,
        stores: &Stores,
        at: Timestamp,
        delivery: NewDelivery,
    ) -> LogCursor {
        LogCursor { created_at: at, id: self.queue(stores, at, &delivery).await.id }
    }

    /// As [`store`](Self::store), for a delivery that is to be settled.
    pub(super) async fn queue(
        self,
        stores: &Stores,
        at: Timestamp,
        delivery: &NewDelivery,
    ) -> Queued {
        let webhook = self.webhook(at);
        accept(stores, &webhook, std::slice::from_ref(delivery)).await;
        (&webhook, delivery).into()
    }

    /// Stores one webhook per second from `first` on that waits for clients.
    pub(super) async fn store_waiting(
        self,
        stores: &Stores,
        first: u64,
        count: u64,
    ) -> Vec<LogCursor> {
        let mut stored = Vec::new();
        for number in first..first + count {
            stored.push(self.store(stores, after(number), self.to_clients()).await);
        }
        stored
    }

    /// Stores a webhook and settles it with what a first attempt brought.
    pub(super) async fn store_settled(
        self,
        stores: &Stores,
        at: Timestamp,
        outcome: Outcome,
    ) -> LogCursor {
        let node = NodeId::generate();
        let held = with(self.to_public(), |delivery| delivery.held_by = Some(node));
        let queued = self.queue(stores, at, &held).await;
        stores.deliveries.settle(outcome.settle(queued, node, at)).await.expect("it is pending");
        LogCursor { created_at: at, id: queued.id }
    }
}

/// What attempts came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) status: DeliveryStatus,
    pub(super) status_code: u16,
    pub(super) attempts: u32,
    pub(super) duration: Duration,
    /// When it is tried again.
    pub(super) due_at: Option<Timestamp>,
}

impl Outcome {
    pub(super) const SENT: Self = Self {
        status: DeliveryStatus::Sent,
        status_code: 200,
        attempts: 1,
        duration: Duration::from_millis(12),
        due_at: None,
    };
    pub(super) const FAILED: Self = Self {
        status: DeliveryStatus::Failed,
        status_code: 503,
        attempts: 4,
        duration: Duration::from_micros(34_500),
        due_at: None,
    };

    pub(super) fn settle(self, of: impl Into<Queued>, node: NodeId, now: Timestamp) -> Settle {
        let Self { status, status_code, attempts, duration, due_at } = self;
        let Queued { id, origin } = of.into();
        with(Settle::new(id, origin, node, now, status), |settle| {
            settle.due_at = due_at;
            settle.attempts = attempts;
            settle.attempt = Attempt { status_code, duration, ..Attempt::default() }.into();
        })
    }
}

/// A client's report of success.
pub(super) fn reported(id: DeliveryId, now: Timestamp) -> ClientReport {
    with(ClientReport::new(id, now, DeliveryStatus::Sent), |report| {
        report.status_code = 201;
        report.response_body = Bytes::from_static(b"done");
        report.duration = Duration::from_millis(7);
    })
}

pub(super) async fn report(stores: &Stores, account: AccountId, report: &ClientReport) -> Reported {
    stores.logs.report(account, report).await.expect("the log is there")
}

pub(super) async fn page(stores: &Stores, account: AccountId, query: &LogQuery) -> LogPage {
    stores.logs.logs(account, query).await.expect("logs can be listed")
}

/// A drain of everything that the account has.
pub(super) fn drain_all(limit: usize) -> Drain {
    Drain::new(after(500), limit)
}

pub(super) async fn drain(stores: &Stores, account: AccountId, drain: &Drain) -> Drained {
    stores.logs.drain(account, drain).await.expect("logs can be drained")
}

pub(super) async fn waiting(
    stores: &Stores,
    account: AccountId,
    buckets: &[BucketId],
) -> Vec<LogCursor> {
    let logs = stores.logs.waiting(account, buckets, None, super::delivery::ALL).await;
    cursors(&logs.expect("waiting logs can be listed"))
}

pub(super) async fn purge(stores: &Stores, before: Timestamp, limit: usize) -> u64 {
    stores.logs.purge(&OldLogs::new(before), limit).await.expect("logs can be purged")
}

pub(super) fn cursors(logs: &[Log]) -> Vec<LogCursor> {
    logs.iter().map(LogCursor::of).collect()
}

/// The other way round.
pub(super) fn reversed(mut cursors: Vec<LogCursor>) -> Vec<LogCursor> {
    cursors.reverse();
    cursors
}

/// Drains on several tasks at once until nothing is left; who got what.
pub(super) async fn drain_concurrently(
    stores: &Stores,
    account: AccountId,
    consumers: usize,
    limit: usize,
    until: Arc<std::sync::atomic::AtomicBool>,
) -> Vec<Vec<LogCursor>> {
    super::sample::race(consumers, |_| {
        let (stores, until) = (stores.clone(), until.clone());
        async move {
            let mut taken = Vec::new();
            loop {
                let is_last = until.load(std::sync::atomic::Ordering::SeqCst);
                let drained = drain(&stores, account, &drain_all(limit)).await;
                taken.extend(cursors(&drained.logs));
                if drained.logs.is_empty() && is_last {
                    return taken;
                }
                tokio::task::yield_now().await;
            }
        }
    })
    .await
}
