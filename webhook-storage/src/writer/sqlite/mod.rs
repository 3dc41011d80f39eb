//! The writer of a SQLite file: a thread with a connection of its own, which writes
//! all operations with prepared statements without leaving the thread.

mod jobs;
#[cfg(test)]
mod tests;
mod wal;

use std::{
    mem,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, oneshot};
use webhook_core::Error;

use self::{jobs::Jobs, wal::Wal};
use super::{
    backlog::{Backlog, BatchLimits},
    batch::Queued,
    commit::Committer,
    queue::Queue,
};
use crate::{
    StorageOptions,
    database::{WAL_AUTOCHECKPOINT_PAGES, WriteLock},
    fault::About,
    tx::ready,
};

/// Statements that are kept prepared: every size of a set is a statement of its own.
const STATEMENTS: usize = 200;

/// What the thread needs.
#[derive(Debug)]
pub(super) struct SqliteWriter {
    /// Writes to its connection.
    committer: Committer<Connection>,
    /// What it shares with those who write the configuration on another connection.
    lock: WriteLock,
}

impl SqliteWriter {
    /// Opens a connection to the file, whose schema is up to date.
    pub(super) fn open(
        path: &Path,
        options: &StorageOptions,
        lock: WriteLock,
        queue: Arc<Queue>,
    ) -> Result<Self, Error> {
        let connection = connect(path, options.connection_timeout);
        let connection = connection.about("database")?;
        Ok(Self { committer: Committer::new(connection, queue, options.claim_bytes), lock })
    }

    /// Writes until the queue is closed and empty, on a thread of its own. The
    /// receiver is told of its end, or gets an error when it ended by a panic.
    pub(super) fn start(
        self,
        jobs: mpsc::Receiver<Queued>,
        limits: BatchLimits,
    ) -> std::io::Result<oneshot::Receiver<()>> {
        let (end, ended) = oneshot::channel();
        let lock = Arc::clone(&self.lock);
        let run = move || {
            self.run(jobs, limits);
            let _ = end.send(());
        };
        let thread = thread::Builder::new().name("sqlite-commit".to_owned()).spawn(run)?;
        // The store is not open yet, so that the lock is free.
        if let Ok(mut turns) = lock.try_lock() {
            turns.thread = Some(thread.thread().clone());
        }
        Ok(ended)
    }

    fn run(self, jobs: mpsc::Receiver<Queued>, limits: BatchLimits) {
        let mut jobs = Jobs::new(jobs);
        let mut backlog = Backlog::default();
        // What the last process wrote may be in the file yet.
        let mut wal = Wal::written(Instant::now());
        loop {
            if backlog.is_empty() {
                let Some(taken) = jobs.wait(limits.operations, wal.empty_at()) else { return };
                taken.into_iter().for_each(|job| backlog.push(job));
            }
            if backlog.is_empty() {
                match self.lock.try_lock() {
                    Ok(mut lock) => {
                        let is_written = mem::take(&mut lock.others_wrote);
                        wal.look(&self.committer.begin, is_written && wal.empty_at().is_none());
                    }
                    // Another writes, and wakes this thread at its end.
                    Err(_) => wal.is_written_now(),
                }
                continue;
            }
            let mut lock = self.lock.blocking_lock();
            // All that came while another had the lock is in the same batch.
            jobs.fill(&mut backlog, limits);
            if ready(self.committer.write(backlog.next_batch(limits))).is_none() {
                tracing::error!(
                    "a batch was not written: it waited for something else than SQLite"
                );
            }
            lock.others_wrote = false;
            wal.look(&self.committer.begin, true);
        }
    }
}

/// A connection with the settings of [`database`](crate::database)'s own.
fn connect(path: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "foreign_keys", "ON")?;
    // An answer to a caller follows an fsync of the log.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_AUTOCHECKPOINT_PAGES)?;
    // SQLite overwrites deleted content with zeros.
    connection.pragma_update(None, "secure_delete", "ON")?;
    Ok(connection)
}
