//! SQLite, with the settings that hold what the store promises.

use std::{io, path::Path, sync::Arc, time::Duration};

use sea_orm::{
    ConnectOptions, DatabaseConnection,
    sqlx::{
        Connection,
        sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
    },
};
use webhook_core::Error;

use super::{Database, WriteLock, Writing, lock::Lock, look};
use crate::{StorageOptions, fault::About, secret::private};

/// Pages in the write-ahead log before it is moved into the database: with
/// more of them a checkpoint takes long enough to be felt by those who wait
/// for a commit.
pub(crate) const WAL_AUTOCHECKPOINT_PAGES: &str = "1000";

/// Kept prepared: every size of a batch is a statement of its own.
const STATEMENTS: usize = 200;

/// Rows that a connection's thread reads ahead of who asked: with fewer, a list
/// costs a switch between threads every so many rows, which is a long wait for
/// each where the processors are busy.
const ROWS_AHEAD: usize = 1024;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Writing,
    Reading,
    Searching,
}

impl Use {
    const fn name(self) -> &'static str {
        match self {
            Self::Writing => "write",
            Self::Reading => "read",
            Self::Searching => "search",
        }
    }
}

pub(super) async fn open(
    path: &Path,
    options: &StorageOptions,
    alone: bool,
) -> Result<Database, Error> {
    let lock = if alone { Some(Lock::acquire(path, options.lock_timeout).await?) } else { None };
    create(path)?;
    if alone {
        look::check(path, options.connection_timeout, options.check_timeout).await?;
    }
    let write = connect(path, options, 1, Use::Writing).await?;
    let read = connect(path, options, options.read_connections.max(1), Use::Reading).await?;
    let search = connect(path, options, options.search_connections.max(1), Use::Searching).await?;
    Ok(Database {
        routes: read.clone(),
        read,
        search,
        write: Writing::new(write, Some(WriteLock::default())),
        #[cfg(feature = "postgres")]
        batches: Vec::new(),
        #[cfg(feature = "postgres")]
        watch: None,
        lock: lock.map(Arc::new),
    })
}

/// Makes the file before SQLite does, whose logs beside it take over its mode.
fn create(path: &Path) -> Result<(), Error> {
    match private().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            warn_when_others_can_read(path);
            Ok(())
        }
        Err(error) => {
            let reason = format!("cannot create {}: {error}", path.display());
            Err(Error::invalid("database url", reason).caused_by(error))
        }
    }
}

fn warn_when_others_can_read(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if let Ok(metadata) = path.metadata()
            && metadata.permissions().mode() & 0o077 != 0
        {
            tracing::warn!(path = %path.display(), "the database is open to other users");
        }
    }
}

async fn connect(
    path: &Path,
    options: &StorageOptions,
    connections: u32,
    purpose: Use,
) -> Result<DatabaseConnection, Error> {
    let path = path.to_owned();
    let timeout = options.connection_timeout;
    let mut connect = ConnectOptions::new("sqlite::memory:");
    connect
        .max_connections(connections)
        // All at once: each has a thread, and one that a request starts later
        // may be bound to the core of who served that request.
        .min_connections(if purpose == Use::Searching { 0 } else { connections })
        .connect_lazy(purpose == Use::Searching)
        .acquire_timeout(timeout)
        // Connections to a file do not go stale.
        .idle_timeout(None::<Duration>)
        .max_lifetime(None::<Duration>)
        .test_before_acquire(false)
        .sqlx_logging(false)
        // When it cannot go on SQLite rolls back by itself. The driver counts
        // transactions and would take every later one for a nested one, whose
        // commit commits nothing. Such a connection is replaced.
        .map_sqlx_sqlite_before_acquire(|connection, _| {
            Box::pin(async move { Ok(!connection.is_in_transaction()) })
        })
        .map_sqlx_sqlite_opts(move |_| settings(&path, timeout, purpose));
    sea_orm::Database::connect(connect).await.about("database")
}

fn settings(path: &Path, busy_timeout: Duration, purpose: Use) -> SqliteConnectOptions {
    let settings = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // An answer to a caller follows an fsync of the log.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(busy_timeout)
        .statement_cache_capacity(STATEMENTS)
        .row_buffer_size(ROWS_AHEAD)
        .pragma("wal_autocheckpoint", WAL_AUTOCHECKPOINT_PAGES)
        // Removed content is overwritten.
        .pragma("secure_delete", "ON")
        .thread_name(move |number| format!("sqlite-{}-{number}", purpose.name()));
    if purpose != Use::Writing { settings.pragma("query_only", "ON") } else { settings }
}
