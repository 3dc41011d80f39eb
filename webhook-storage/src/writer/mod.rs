//! Group commit: concurrent operations share transactions.
//!
//! Every operation goes through one bounded queue. A writer takes all that
//! queued up while it was busy with the last commit, runs it in one
//! transaction, and answers each caller after the commit. It never waits for a
//! batch to fill: with one caller, each operation is a batch of its own. A writer that waits for
//! its connection has taken nothing yet, so that others write what came first.
//!
//! | step | where |
//! |---|---|
//! | an operation and its caller become a [`Job`] and wait | [`Writer::write`], `queue` |
//! | jobs are taken, small and large ones in turn | `postgres` or `sqlite`, `backlog` |
//! | those of a batch are sorted by kind | `batch` |
//! | each kind is written, the counts last, and committed | `commit`, `ops`, [`tally`](crate::tally) |
//! | callers are answered | `batch` |
//!
//! A new operation is a type that implements [`Op`] in a file of `ops`, and a line in the list
//! at the end of `batch`.

mod backlog;
mod batch;
mod commit;
mod health;
mod job;
mod ops;
#[cfg(feature = "postgres")]
mod postgres;
mod queue;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(all(test, feature = "sqlite"))]
pub(crate) mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};
use webhook_core::Error;

#[cfg(feature = "postgres")]
pub(crate) use self::ops::remove_unneeded;
use self::{backlog::BatchLimits, queue::Queue};
pub(crate) use self::{
    batch::Queued,
    job::{Context, InAccount, Job, Op, Reply},
    ops::{
        ChangeReplay, FeedOp, Incoming, Purge, Purged, Record, Taken, WithRuns, forget, give_up,
        lease, read_kv, waiting,
    },
};
use crate::{DatabaseUrl, StorageOptions, database::Database, fault};

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
    /// What waits, in numbers.
    queue: Arc<Queue>,
    /// Where operations wait; none once it is closed.
    jobs: Mutex<Option<mpsc::Sender<Queued>>>,
    /// What takes them from there.
    tasks: Mutex<Vec<Task>>,
}

/// What writes.
#[derive(Debug)]
enum Task {
    #[cfg(feature = "postgres")]
    Async(tokio::task::JoinHandle<()>),
    #[cfg(feature = "sqlite")]
    Thread(oneshot::Receiver<()>),
}

impl Task {
    async fn ended(self) {
        let ended = match self {
            #[cfg(feature = "postgres")]
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
        let limits = BatchLimits::of(options);
        let tasks = match &options.database_url {
            #[cfg(all(feature = "sqlite", feature = "postgres"))]
            DatabaseUrl::Sqlite(_) if !options.sqlite_thread => {
                let task = postgres::start_on_sqlite(database, options, &queue, waiting, limits);
                vec![Task::Async(task)]
            }
            #[cfg(feature = "sqlite")]
            DatabaseUrl::Sqlite(path) => {
                let lock = database.write.lock().cloned().unwrap_or_default();
                let writer = sqlite::SqliteWriter::open(path, options, lock, queue.clone())?;
                vec![Task::Thread(writer.start(waiting, limits).map_err(Error::internal)?)]
            }
            #[cfg(feature = "postgres")]
            DatabaseUrl::Postgres(_) => {
                let tasks = postgres::start(database, options, &queue, waiting, limits);
                tasks.into_iter().map(Task::Async).collect()
            }
            #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
            url => return Err(Error::invalid("database url", format!("{url} is not built in"))),
        };
        Ok(Self { queue, jobs: Mutex::new(Some(jobs)), tasks: Mutex::new(tasks) })
    }

    /// Writes `op` with whatever else is waiting; returns after the commit.
    pub(crate) async fn write<O: Op>(&self, op: O) -> Reply<O>
    where
        Queued: From<Job<O>>,
    {
        let (reply, answer) = oneshot::channel();
        let reserved = self.queue.reserve(op.size_bytes()).ok_or_else(fault::queue_full)?;
        {
            let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            let jobs = jobs.as_ref().ok_or_else(fault::closed)?;
            jobs.try_send(Job { op, reply, reserved }.into()).map_err(|error| match error {
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
