//! When the write-ahead log is emptied.
//!
//! A page that was overwritten is in the database file after a checkpoint, and its former content
//! stays in the log until something is written over it. On a quiet server that is never.

use std::time::{Duration, Instant};

use rusqlite::Connection;

/// The time without a write after which the log is emptied: then no write waits for it.
const QUIET: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 5_000 });
/// The longest time between two times at which the log is emptied, under constant writes.
const LONGEST: Duration = Duration::from_secs(60);
/// The time to the next try after a reader has kept the log.
const AGAIN: Duration = Duration::from_secs(1);
/// How long readers are waited for.
const PATIENCE: Duration = Duration::from_millis(20);

/// The state of the log.
#[derive(Debug)]
pub(super) struct Wal {
    /// The last write, and when the log is to be emptied at the latest. None when it is empty.
    written: Option<(Instant, Instant)>,
}

impl Wal {
    /// A log that is not empty.
    pub(super) fn written(now: Instant) -> Self {
        Self { written: Some((now, now + LONGEST)) }
    }

    /// When the log is to be emptied, unless a write comes before.
    pub(super) fn empty_at(&self) -> Option<Instant> {
        self.written.map(|(last, latest)| latest.min(last + QUIET))
    }

    /// Another has the turn to write.
    pub(super) fn is_written_now(&mut self) {
        let now = Instant::now();
        let latest = self.written.map_or(now + LONGEST, |(_, latest)| latest.max(now + AGAIN));
        self.written = Some((now, latest));
    }

    /// Empties the log when it is time, with the turn to write.
    pub(super) fn look(&mut self, connection: &Connection, is_written: bool) {
        let now = Instant::now();
        if is_written {
            let latest = self.written.map_or(now + LONGEST, |(_, latest)| latest);
            self.written = Some((now, latest));
        }
        if self.empty_at().is_none_or(|moment| now < moment) {
            return;
        }
        self.written = match empty(connection) {
            Ok(true) => None,
            Ok(false) => Some((now, now + AGAIN)),
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log cannot be emptied; trying again later");
                Some((now, now + LONGEST))
            }
        };
    }
}

/// Moves the log into the database file and cuts it to no length; `false` when a reader
/// needs it.
fn empty(connection: &Connection) -> rusqlite::Result<bool> {
    let usual: i64 = connection.query_row("PRAGMA busy_timeout", [], |row| row.get(0))?;
    connection.busy_timeout(PATIENCE)?;
    let busy = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>("busy"));
    connection.busy_timeout(Duration::from_millis(usual.unsigned_abs()))?;
    busy.map(|busy| !busy)
}

#[cfg(test)]
mod tests;
