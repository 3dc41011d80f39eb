//! The writer of a SQLite file: a thread with a connection of its own.
//!
//! What every webhook needs, being stored and its outcome, is written with
//! prepared statements, a row at a time, without leaving the thread. All else
//! goes through [`Batches`], as with other databases: two of three such
//! operations are not worth a second way to write them.

mod accept;
mod batch;
mod insert;
mod jobs;
mod settle;
mod tally;
#[cfg(test)]
mod tests;

use std::{path::Path, sync::Arc, thread, time::Duration};

use rusqlite::{Connection, OpenFlags};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};
use webhook_core::Error;

#[cfg(test)]
pub(super) use self::settle::SETTLE;
use self::{batch::Batch, jobs::Jobs};
use super::{Job, Operation, backlog::Backlog, batch::Batches, explain, queue::Queue};
use crate::{
    database::{Turn, WAL_AUTOCHECKPOINT_PAGES},
    fault::Fault,
};

/// Statements that are kept prepared: all that there are, two of them insertions.
const STATEMENTS: usize = 16 + 2 * insert::STATEMENTS;

/// What the thread needs.
#[derive(Debug)]
pub(super) struct SqliteWriter {
    connection: Connection,
    turn: Turn,
    queue: Arc<Queue>,
    rest: Batches,
    runtime: Handle,
}

impl SqliteWriter {
    /// Opens a connection to the file, whose schema is up to date.
    pub(super) fn open(
        path: &Path,
        busy_timeout: Duration,
        turn: Turn,
        queue: Arc<Queue>,
        rest: Batches,
    ) -> Result<Self, Error> {
        let connection = connect(path, busy_timeout);
        let connection =
            connection.map_err(|error| Fault::of_sqlite(&error).explain(error, "database"))?;
        Ok(Self { connection, turn, queue, rest, runtime: Handle::current() })
    }

    /// Writes until the queue is closed and empty, on a thread of its own. The
    /// receiver is told of its end, or gets an error when it ended by a panic.
    pub(super) fn start(self, jobs: mpsc::Receiver<Job>) -> std::io::Result<oneshot::Receiver<()>> {
        let (end, ended) = oneshot::channel();
        let run = move || {
            self.run(jobs);
            let _ = end.send(());
        };
        thread::Builder::new().name("sqlite-commit".to_owned()).spawn(run)?;
        Ok(ended)
    }

    fn run(self, jobs: mpsc::Receiver<Job>) {
        let limits = self.rest.limits();
        let mut jobs = Jobs::new(jobs);
        let mut backlog = Backlog::default();
        loop {
            if backlog.is_empty() {
                jobs.wait(limits.operations).into_iter().for_each(|job| backlog.push(job));
                if backlog.is_empty() {
                    return;
                }
            }
            let turn = self.turn.blocking_lock();
            // All that came while the turn was another's is in the same batch.
            jobs.fill(&mut backlog, limits);
            let batch = backlog.next_batch(limits).into_iter();
            let (often, rest): (Vec<_>, Vec<_>) =
                batch.partition(|job| Batch::writes(&job.operation));
            self.write_often(often);
            drop(turn);
            if !rest.is_empty() {
                self.runtime.block_on(self.rest.write(rest));
            }
        }
    }

    /// Writes what it has statements for. It is this thread's turn.
    fn write_often(&self, jobs: Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        let (operations, callers): (Vec<_>, Vec<_>) = jobs
            .into_iter()
            .map(|Job { operation, reply, reserved }| (operation, (reply, reserved)))
            .unzip();
        let answers = match Batch::new(&self.connection).commit(&operations) {
            Ok(answers) => {
                self.queue.committed(operations.len());
                answers
            }
            Err(error) => {
                let error = Arc::new(error);
                operations.iter().map(|of| Err(refusal(of, Arc::clone(&error)))).collect()
            }
        };
        self.queue.health.note(operations.iter().zip(&answers));
        for ((reply, reserved), answer) in callers.into_iter().zip(answers) {
            // Who has an answer finds the room given back.
            drop(reserved);
            // A caller who has gone does not mind.
            let _ = reply.send(answer);
        }
    }
}

fn refusal(operation: &Operation, error: Arc<rusqlite::Error>) -> Error {
    let fault = Fault::of_sqlite(&error);
    fault.explain(error, explain::what(operation, fault))
}

/// A connection with the settings of [`database`](crate::database)'s own, through a
/// file system that writes what a commit adds to the log at once.
fn connect(path: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags_and_vfs(path, flags, sqlite_gather::vfs()?)?;
    connection.busy_timeout(busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // An answer to a caller follows an fsync of the log.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_AUTOCHECKPOINT_PAGES)?;
    connection.pragma_update(None, "secure_delete", "FAST")?;
    Ok(connection)
}
