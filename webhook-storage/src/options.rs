//! How to open a database.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use webhook_core::Error;

use crate::{ObjectOptions, SecretKey};

/// Which database: `sqlite://path` or `postgres://user:password@host/name`.
///
/// What follows `sqlite://` is the path as it is: `sqlite:///srv/webhooks.db`
/// is absolute, `sqlite://webhooks.db` relative to the working directory.
/// `Display` and `Debug` show no password.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseUrl {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// A PostgreSQL server. Where commas separate several hosts, the first one is used that is as
    /// `target_session_attrs` asks for. Parameters such as `sslmode` are libpq's.
    Postgres(String),
}

impl FromStr for DatabaseUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(path) = text.strip_prefix("sqlite://") {
            if path.is_empty() || path == ":memory:" {
                return Err(Error::invalid("database url", "sqlite:// must be followed by a path"));
            }
            return Ok(Self::Sqlite(path.into()));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.replacen("postgresql://", "postgres://", 1)));
        }
        Err(Error::invalid("database url", "must start with sqlite:// or postgres://"))
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
            Self::Postgres(url) => {
                let rest = url.strip_prefix("postgres://").unwrap_or_default();
                // Parameters can carry a password too.
                let rest = rest.split('?').next().unwrap_or_default();
                write!(f, "postgres://{}", rest.rsplit('@').next().unwrap_or_default())
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How to open a database, and the bounds of what waits for it in memory.
///
/// ```
/// use webhook_storage::{SecretKey, StorageOptions};
///
/// let mut options =
///     StorageOptions::new("sqlite://webhooks.db".parse()?, SecretKey::generate()?);
/// options.queue_bytes = 16 << 20;
/// # Ok::<(), webhook_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StorageOptions {
    /// Which database.
    pub database_url: DatabaseUrl,
    /// Encrypts secrets at rest; the same one for the life of the database.
    pub secret_key: SecretKey,
    /// Connections for reading logs and the configuration. 4 unless set; each costs a
    /// thread with SQLite.
    pub read_connections: u32,
    /// Connections to PostgreSQL that read nothing but what a webhook is sent along: its
    /// bucket, domain and functions. 1 unless set. They wait for no list of logs and for no
    /// write. SQLite reads routes with the other connections.
    pub route_connections: u32,
    /// Connections for searches in logs, which read much: 2 unless set; further searches wait.
    /// They are made at the first search.
    pub search_connections: u32,
    /// Connections to PostgreSQL that write the configuration, 4 unless set; SQLite has one
    /// whatever is said here.
    pub write_connections: u32,
    /// Transactions in which queued operations are written at the same time, each on a
    /// connection of its own: 2 with PostgreSQL unless set; SQLite has one writer whatever is
    /// said here.
    pub writers: usize,
    /// Whether a thread of its own writes to SQLite, with statements that stay prepared:
    /// true. Without it a task does, as with PostgreSQL, for nearly half as much again of
    /// the processor; it needs the feature `postgres`, and is there to measure that.
    pub sqlite_thread: bool,
    /// How many operations may wait for a commit, 8 192. Further ones are
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) at once.
    pub queue_operations: usize,
    /// How many bytes of webhooks and answers may wait for a commit, 64 MB. A
    /// single one that is larger is taken when nothing else waits.
    pub queue_bytes: usize,
    /// How many operations share a commit at most, 512.
    pub batch_operations: usize,
    /// How many bytes of webhooks and answers share a commit at most, 2 MB, or
    /// one operation. Operations over 64 KB share none with smaller ones and take
    /// turns with them: a small webhook waits for one commit of large ones at
    /// most, however many are queued.
    pub batch_bytes: usize,
    /// How many bytes of webhooks one claim returns at most, 16 MB, or one
    /// delivery. What is left is claimed by the next one. Lists of logs and what
    /// a consumer drains are bounded by the same.
    pub claim_bytes: usize,
    /// How long an operation waits for a connection before it is
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable), 10 s.
    pub connection_timeout: Duration,
    /// How long SQLite's file may be checked for damage when it is opened, 5 s; zero for
    /// not at all. A file that takes longer is opened unchecked, and the log says so.
    pub check_timeout: Duration,
    /// How long to wait for SQLite's file while another process has it open, such as one of
    /// the operator's commands; zero for not at all.
    pub lock_timeout: Duration,
    /// Where large bodies go; none, and all bodies are in the database.
    pub objects: Option<ObjectOptions>,
}

impl StorageOptions {
    /// The defaults for this database.
    #[must_use]
    pub fn new(database_url: DatabaseUrl, secret_key: SecretKey) -> Self {
        Self {
            database_url,
            secret_key,
            read_connections: 4,
            route_connections: 1,
            search_connections: 2,
            write_connections: 4,
            writers: 2,
            sqlite_thread: true,
            queue_operations: 8_192,
            queue_bytes: 64 << 20,
            batch_operations: 512,
            batch_bytes: 2 << 20,
            claim_bytes: 16 << 20,
            connection_timeout: Duration::from_secs(10),
            check_timeout: Duration::from_secs(5),
            lock_timeout: Duration::ZERO,
            objects: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for url in [
            "postgres://me:s3cret@db:5432/hooks?sslmode=require",
            "postgres://db:5432/hooks?user=me&password=s3cret",
            "postgresql://me:s3@cret@db:5432/hooks",
        ] {
            let url: DatabaseUrl = url.parse().expect("a url");
            assert_eq!(
                format!("{url} {url:?}"),
                "postgres://db:5432/hooks postgres://db:5432/hooks"
            );
        }
    }

    #[test]
    fn other_databases_and_missing_paths_are_refused() {
        for url in ["", "mysql://db/hooks", "sqlite://", "sqlite://:memory:", "hooks.db"] {
            let error = url.parse::<DatabaseUrl>().expect_err(url);
            assert_eq!(error.kind(), webhook_core::ErrorKind::Invalid);
        }
    }

    #[test]
    fn the_path_is_taken_as_it_is() {
        let url = "sqlite:///srv/a%20b?c.db".parse::<DatabaseUrl>().expect("a url");
        assert_eq!(url, DatabaseUrl::Sqlite("/srv/a%20b?c.db".into()));
    }
}
