//! Group commit: concurrent operations share transactions.
//!
//! Every operation goes through one bounded queue. A writer takes all that
//! queued up while it was busy with the last commit, runs it in one
//! transaction, and answers each caller after the commit. It never waits for a
//! batch to fill: with one caller, each operation is a batch of its own.

mod accept;
mod backlog;
mod batch;
mod claim;
mod drain;
mod explain;
mod health;
pub(crate) mod lease;
mod purge;
mod queue;
mod record;
mod redeliver;
mod report;
mod settle;
#[cfg(feature = "sqlite")]
mod sqlite;
pub(crate) mod statement;
pub(crate) mod tally;

#[cfg(all(test, feature = "sqlite"))]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use sea_orm::prelude::Uuid;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use webhook_core::{
    Error,
    store::{
        Accept, Accepted, Claim, Claimed, ClientReport, Drain, Drained, Redeliver, Reported, Settle,
    },
};

use self::queue::{Queue, Reserved};
pub(crate) use self::settle::forget;
use crate::{DatabaseUrl, StorageOptions, database::Database, entity::execution, fault};

/// What goes through the queue.
#[derive(Debug)]
pub(crate) enum Operation {
    Accept(Accept),
    Settle(Settle),
    Claim(Claim),
    Record { execution: execution::Model, keep: usize },
    Redeliver { account: Uuid, redeliver: Redeliver },
    Drain { account: Uuid, drain: Drain },
    Report { account: Uuid, report: ClientReport },
    Purge(Vec<Uuid>),
}

impl Operation {
    /// About how much memory it holds.
    fn size_bytes(&self) -> usize {
        match self {
            Self::Accept(accept) => accept.webhook.request.size_bytes(),
            Self::Settle(Settle { attempt, processed, .. }) => {
                256 + attempt.response_body.len()
                    + processed.as_ref().map_or(0, |request| request.size_bytes())
            }
            Self::Claim(_) => 128,
            Self::Redeliver { redeliver, .. } => {
                256 + redeliver.processed.as_ref().map_or(0, |request| request.size_bytes())
            }
            Self::Drain { drain, .. } => 128 + 16 * drain.buckets.len(),
            Self::Report { report, .. } => 256 + report.response_body.len(),
            Self::Purge(ids) => 128 + 16 * ids.len(),
            Self::Record { execution, .. } => {
                256 + execution.request.len() + execution.response.len()
            }
        }
    }
}

/// What an operation came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    Written,
    Accepted(Accepted),
    Claimed(Claimed),
    Drained(Drained),
    Reported(Box<Reported>),
    Purged(u64),
}

type Answer = Result<Outcome, Error>;

/// An operation and the caller who waits for it.
#[derive(Debug)]
struct Job {
    operation: Operation,
    reply: oneshot::Sender<Answer>,
    reserved: Reserved,
}

/// Counts of what the writers have done since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteStats {
    /// Transactions that were committed for queued operations.
    pub commits: u64,
    /// Operations that those transactions answered.
    pub operations: u64,
    /// Operations that wait or are being written now.
    pub queued: usize,
    /// The bytes of webhooks and answers in them.
    pub queued_bytes: usize,
}

/// The way into the queue, and the tasks at its other end.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Arc<Queue>,
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    tasks: Mutex<Vec<Task>>,
}

/// What writes.
#[derive(Debug)]
enum Task {
    Async(JoinHandle<()>),
    #[cfg(feature = "sqlite")]
    Thread(oneshot::Receiver<()>),
}

impl Task {
    async fn ended(self) {
        let ended = match self {
            Self::Async(task) => task.await.map_err(|error| error.to_string()),
            #[cfg(feature = "sqlite")]
            Self::Thread(ended) => ended.await.map_err(|error| error.to_string()),
        };
        if let Err(error) = ended {
            tracing::error!(%error, "a writer ended early");
        }
    }
}

impl Writer {
    pub(crate) fn start(database: &Database, options: &StorageOptions) -> Result<Self, Error> {
        let queue = Arc::new(Queue::new(options.queue_bytes));
        let (jobs, waiting) = mpsc::channel(options.queue_operations.max(1));
        let batches = || batch::Batches::new(database.clone(), queue.clone(), options);
        let tasks = match &options.database_url {
            #[cfg(feature = "sqlite")]
            DatabaseUrl::Sqlite(path) => {
                let timeout = options.connection_timeout;
                let turn = database.write.turn().cloned().unwrap_or_default();
                let writer =
                    sqlite::SqliteWriter::open(path, timeout, turn, queue.clone(), batches())?;
                vec![Task::Thread(writer.start(waiting).map_err(Error::internal)?)]
            }
            #[cfg(feature = "postgres")]
            DatabaseUrl::Postgres(_) => {
                let waiting = Arc::new(tokio::sync::Mutex::new(batch::Waiting::new(waiting)));
                let task = |_| Task::Async(tokio::spawn(batches().run(waiting.clone())));
                (0..options.writers.max(1)).map(task).collect()
            }
            #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
            url => return Err(Error::invalid("database url", format!("{url} is not built in"))),
        };
        Ok(Self { queue, jobs: Mutex::new(Some(jobs)), tasks: Mutex::new(tasks) })
    }

    /// Writes `operation` with whatever else is waiting; returns after the commit.
    pub(crate) async fn write(&self, operation: Operation) -> Answer {
        let (reply, answer) = oneshot::channel();
        let reserved = self.queue.reserve(operation.size_bytes()).ok_or_else(fault::queue_full)?;
        {
            let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            let jobs = jobs.as_ref().ok_or_else(fault::closed)?;
            jobs.try_send(Job { operation, reply, reserved }).map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => fault::queue_full(),
                mpsc::error::TrySendError::Closed(_) => fault::closed(),
            })?;
        }
        // A writer that is gone before it answers has not committed.
        answer.await.unwrap_or_else(|_| Err(fault::closed()))
    }

    /// Whether webhooks can be stored, as [`Storage::check`](crate::Storage::check) says.
    pub(crate) async fn check(&self, database: &Database) -> Result<(), Error> {
        self.queue.health.check(database).await
    }

    /// How many operations the queue has room for.
    #[cfg(all(test, feature = "sqlite"))]
    pub(crate) fn room(&self) -> usize {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.as_ref().map_or(0, mpsc::Sender::capacity)
    }

    pub(crate) fn stats(&self) -> WriteStats {
        self.queue.stats()
    }

    /// Takes nothing more, and returns when all that was taken is answered.
    pub(crate) async fn close(&self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.ended().await;
        }
    }
}
