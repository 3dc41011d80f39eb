//! A look at a SQLite file before it is opened for good.

use std::{io, path::Path, sync::mpsc, thread, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, config::DbConfig, ffi};
use webhook_core::Error;

use super::{CHECK_NAME, expect_one_database};
use crate::{
    fault::ErrorClass,
    tx::{SqliteTx, ready},
};

/// How long an interrupted check may take to end. One that hangs in a read from
/// the disk is left behind.
const GRACE: Duration = Duration::from_secs(1);

/// Whether the file has a row that was sealed when it was first opened with a
/// key. One that is missing or empty has none. Fails when some webhooks are in other files.
pub(crate) fn is_sealed(path: &Path, busy_timeout: Duration) -> Result<bool, Error> {
    match path.metadata() {
        Ok(metadata) if metadata.len() == 0 => return Ok(false),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => {
            let reason = format!("cannot look at {}", path.display());
            return Err(Error::invalid("database url", reason).caused_by(error));
        }
    }
    let connection = open(path, busy_timeout).map_err(|error| explain(path, error))?;
    let sealed = || {
        let tables = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'";
        if connection.query_row(tables, [], |_| Ok(())).optional()?.is_none() {
            return Ok(false);
        }
        let row = "SELECT 1 FROM meta WHERE name = ?";
        let row = connection.query_row(row, [CHECK_NAME], |_| Ok(()));
        Ok(row.optional()?.is_some())
    };
    if !sealed().map_err(|error| explain(path, error))? {
        return Ok(false);
    }
    let one = ready(expect_one_database(&SqliteTx::on(&connection)));
    one.unwrap_or_else(|| Err(Error::internal("SQLite was waited for"))).map(|()| true)
}

/// Fails when `PRAGMA quick_check` finds the file damaged within `limit`; the log says
/// when that was too short to say. Nothing is checked with a limit of zero.
pub(super) async fn check(
    path: &Path,
    busy_timeout: Duration,
    limit: Duration,
) -> Result<(), Error> {
    let path = path.to_owned();
    let checked =
        tokio::task::spawn_blocking(move || check_within(&path, busy_timeout, limit)).await;
    checked.map_err(Error::internal)?
}

fn check_within(path: &Path, busy_timeout: Duration, limit: Duration) -> Result<(), Error> {
    let is_empty = path.metadata().is_ok_and(|metadata| metadata.len() == 0);
    if limit.is_zero() || is_empty {
        return Ok(());
    }
    let connection = open(path, busy_timeout).map_err(|error| explain(path, error))?;
    let interrupt = connection.get_interrupt_handle();
    let (say, said) = mpsc::sync_channel(1);
    let run = move || {
        // The first finding says enough.
        let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
        drop(connection);
        // Nobody waits any more when it took too long.
        let _ = say.send(found);
    };
    let started = thread::Builder::new().name("sqlite-check".to_owned()).spawn(run);
    started.map_err(Error::internal)?;
    let found: rusqlite::Result<String> = match said.recv_timeout(limit) {
        Ok(found) => found,
        Err(_) => {
            interrupt.interrupt();
            tracing::warn!(
                path = %path.display(),
                seconds = limit.as_secs_f64(),
                "the database is larger than what could be checked at the start: it goes on unchecked"
            );
            let _ = said.recv_timeout(GRACE);
            return Ok(());
        }
    };
    match found {
        Ok(fine) if fine == "ok" => Ok(()),
        Ok(finding) => Err(damaged(path, &finding)),
        Err(error) => Err(explain(path, error)),
    }
}

/// A connection that reads, and leaves the file and its log as they are.
pub(super) fn open(path: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(busy_timeout)?;
    Ok(connection)
}

pub(super) fn explain(path: &Path, error: rusqlite::Error) -> Error {
    let code = error.sqlite_error().map(|error: &ffi::Error| error.code);
    match code {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            damaged(path, &error.to_string())
        }
        _ => ErrorClass::of_sqlite(&error).error(error, "database"),
    }
}

pub(super) fn damaged(path: &Path, finding: &str) -> Error {
    // Findings may have several lines.
    let finding = finding.split_whitespace().collect::<Vec<_>>().join(" ");
    let path = path.display();
    Error::invalid(
        "database",
        format!(
            "{path} is damaged ({finding}): put a backup in its place, or what `sqlite3 {path} \
             .recover` can save of it"
        ),
    )
}
