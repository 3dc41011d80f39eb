//! Opening and closing.

use std::{fmt, sync::Arc};

use sea_orm::DbBackend;
use tokio::sync::watch;
use webhook_core::Error;
#[cfg(feature = "postgres")]
use webhook_core::{Clock, SystemClock};

use crate::{
    DatabaseUrl, SecretKey, StorageOptions, WriteStats,
    database::{CHECK_NAME, Database},
    entity::meta,
    fault::About,
    fold,
    members::{self, Member},
    migration,
    objects::Bodies,
    secret::{Cell, Vault},
    writer::{Job, Op, Queued, Reply, Writer, lease},
};

/// Implements every store trait on one database. Clones share it.
///
/// Call [`close`](Self::close) before the end, which waits for what is being
/// written. A process that is killed instead loses nothing that was acknowledged.
#[derive(Clone)]
pub struct Storage {
    shared: Arc<Shared>,
}

struct Shared {
    /// Where the configuration is read and written, and logs are read.
    database: Database,
    /// Seals secrets.
    vault: Vault,
    /// Where all that webhooks need is written.
    writer: Writer,
    /// How many bytes of logs one call returns.
    read_bytes: usize,
    /// Where large bodies are, if they are objects.
    bodies: Option<Bodies>,
    /// Whether the tables of the version before exist.
    has_old_tables: bool,
    /// What the schema asks of a version, once that is more than this one knows.
    asked: watch::Sender<Option<u32>>,
    /// The days whose logs go row by row.
    #[cfg(feature = "postgres")]
    given_up: crate::days::GivenUp,
}

/// What is sealed in the table `meta`, to tell a wrong key before it does harm.
const CHECK: &[u8] = b"webhook-storage";

impl Storage {
    /// Opens the database, brings its schema up to date and checks the key.
    ///
    /// It needs a tokio runtime, on which it starts its writers. With SQLite,
    /// whatever nodes of former processes held is free afterwards.
    ///
    /// # Errors
    /// * [`Invalid`](webhook_core::ErrorKind::Invalid): the URL, the file or the
    ///   key is wrong, a newer version wrote the database, or an earlier version spread
    ///   webhooks over this database and others.
    /// * [`Conflict`](webhook_core::ErrorKind::Conflict): another process has
    ///   the SQLite file open.
    /// * [`Unavailable`](webhook_core::ErrorKind::Unavailable): the server
    ///   cannot be reached.
    pub async fn connect(options: &StorageOptions) -> Result<Self, Error> {
        let vault = Vault::new(&options.secret_key)?;
        let database = Database::open(options).await?;
        let prepared = prepare(&database, &vault).await;
        Self::start(database, vault, options, prepared).await
    }

    /// Starts on a database that is prepared, and closes one that is not.
    async fn start(
        database: Database,
        vault: Vault,
        options: &StorageOptions,
        prepared: Result<(), Error>,
    ) -> Result<Self, Error> {
        if let Err(error) = prepared {
            database.close().await;
            return Err(error);
        }
        let shared = Shared {
            writer: Writer::start(&database, options)?,
            has_old_tables: migration::documents::has_old_tables(&database).await?,
            database,
            vault,
            read_bytes: options.claim_bytes,
            bodies: options.objects.clone().map(Bodies::new),
            asked: watch::Sender::new(None),
            #[cfg(feature = "postgres")]
            given_up: Default::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Opens a database that another process may have open: with SQLite, one
    /// that is running beside it. It is for a look or a small change of what
    /// nobody keeps in memory, accounts and their keys; webhooks are the other
    /// process's. Beside one that writes without a pause a change may find no
    /// gap within the connection timeout, and is
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) then. With PostgreSQL it is [`connect`](Self::connect).
    ///
    /// # Errors
    /// As [`connect`](Self::connect); [`Conflict`](webhook_core::ErrorKind::Conflict)
    /// when the other process is of another version.
    pub async fn connect_beside(options: &StorageOptions) -> Result<Self, Error> {
        if matches!(options.database_url, DatabaseUrl::Postgres(_)) {
            return Self::connect(options).await;
        }
        let vault = Vault::new(&options.secret_key)?;
        let database = Database::open_as(options, false).await?;
        let checked = async {
            migration::expect_current(&database).await?;
            check_key(&database, &vault).await
        };
        let checked = checked.await;
        Self::start(database, vault, options, checked).await
    }

    /// Brings the schema up to date and does nothing else. [`connect`](Self::connect)
    /// does so as well.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), but for the key.
    pub async fn migrate(options: &StorageOptions) -> Result<(), Error> {
        let vault = Vault::new(&options.secret_key)?;
        let database = Database::open(options).await?;
        let migrated = async {
            migration::migrate(&database).await?;
            migration::documents::run(&database, &vault).await
        };
        let migrated = migrated.await;
        database.close().await;
        migrated
    }

    /// Gives a PostgreSQL database tables for each day (UTC), after bringing its schema up to
    /// date; does nothing where it has them. Old logs are removed by dropping their day then,
    /// instead of row by row.
    ///
    /// No row is copied. What there is already is read once, and becomes a part of its own; a
    /// call that was interrupted goes on where it was. A statement takes the locks of all
    /// tables: let `max_locks_per_transaction` of the server be 256 or more.
    ///
    /// # Errors
    /// As [`migrate`](Self::migrate); [`Invalid`](webhook_core::ErrorKind::Invalid) with SQLite
    /// and before PostgreSQL 12; [`Conflict`](webhook_core::ErrorKind::Conflict) while a server
    /// has the database open.
    #[cfg(feature = "postgres")]
    pub async fn divide_by_day(options: &StorageOptions) -> Result<(), Error> {
        crate::days::divide(options).await
    }

    /// Whether a [`Storage`] was opened on this database before: whether there are
    /// secrets in it that only its key opens. It makes and changes nothing, and a
    /// server may be running beside it.
    ///
    /// # Errors
    /// * [`Invalid`](webhook_core::ErrorKind::Invalid): the file cannot be read or is damaged,
    ///   or an earlier version spread webhooks over this database and others.
    /// * [`Unavailable`](webhook_core::ErrorKind::Unavailable): the server cannot be reached.
    pub async fn was_opened(url: &DatabaseUrl) -> Result<bool, Error> {
        // The key opens nothing here.
        let options = StorageOptions::new(url.clone(), SecretKey::generate()?);
        match &options.database_url {
            #[cfg(feature = "sqlite")]
            DatabaseUrl::Sqlite(path) => {
                let (path, timeout) = (path.clone(), options.connection_timeout);
                let look = move || crate::database::is_sealed(&path, timeout);
                tokio::task::spawn_blocking(look).await.map_err(Error::internal)?
            }
            #[cfg(feature = "postgres")]
            DatabaseUrl::Postgres(url) => crate::database::is_sealed_there(url, &options).await,
            #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
            url => Err(Error::invalid("database url", format!("{url} is not built in"))),
        }
    }

    /// Copies a SQLite database to a new file, as it is at one moment: with everything that was
    /// acknowledged before the call. A process may have it open and go on writing; its log grows
    /// until the copy is made. The copy is readable by its owner only, checked for damage and
    /// synced, and is there whole or not at all. Its secrets are opened by the same key.
    ///
    /// # Errors
    /// * [`Invalid`](webhook_core::ErrorKind::Invalid): there is no such database, it is damaged,
    ///   an earlier version spread webhooks over it and others, or the file cannot be written; and PostgreSQL has a tool of its own, `pg_dump`.
    /// * [`Conflict`](webhook_core::ErrorKind::Conflict): the file is there already.
    pub async fn back_up(url: &DatabaseUrl, to: &std::path::Path) -> Result<(), Error> {
        match url {
            #[cfg(feature = "sqlite")]
            DatabaseUrl::Sqlite(from) => {
                let (from, to) = (from.clone(), to.to_owned());
                let timeout =
                    StorageOptions::new(url.clone(), SecretKey::generate()?).connection_timeout;
                let copy = move || crate::database::back_up(&from, &to, timeout);
                tokio::task::spawn_blocking(copy).await.map_err(Error::internal)?
            }
            url => {
                let to = to.display();
                let reason = format!("{url} is not a file: copy it to {to} with pg_dump");
                Err(Error::invalid("database url", reason))
            }
        }
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when it does not.
    pub async fn ping(&self) -> Result<(), Error> {
        self.database().read.ping().await.about("database")
    }

    /// Whether webhooks can be stored. Those of the last ten seconds tell; where
    /// there were none, or the last ones were refused, this tries a write of
    /// 64 KB, at most once a second however many ask. It may take as long as the
    /// database does.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when they cannot: the
    /// disk is full, the database is read-only or gone. The error of the try
    /// itself has the cause.
    pub async fn check(&self) -> Result<(), Error> {
        self.shared.writer.check(self.database()).await
    }

    /// The nodes that share the database, the oldest first, and those that left something
    /// behind. With SQLite, which no other process shares, no node needs a lease.
    ///
    /// # Errors
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable) when the database does not answer.
    pub async fn members(&self) -> Result<Vec<Member>, Error> {
        members::members(&self.database().read).await.about("database")
    }

    /// What the writers have done so far.
    #[must_use]
    pub fn write_stats(&self) -> WriteStats {
        self.shared.writer.stats()
    }

    /// Waits for what is being written, and closes every connection. All
    /// further calls, on any clone, are
    /// [`Unavailable`](webhook_core::ErrorKind::Unavailable).
    pub async fn close(&self) {
        self.shared.writer.close().await;
        self.shared.database.close().await;
    }

    /// Returns when a newer version of this program has changed the schema of a PostgreSQL
    /// database so that this one can no longer work on it, and says why: the program is to end
    /// in order. It is learnt with the lease of the node
    /// ([`extend_lease`](webhook_core::store::DeliveryStore::extend_lease)), without a question
    /// of its own.
    pub async fn outdated(&self) -> Error {
        let mut asked = self.shared.asked.subscribe();
        match asked.wait_for(Option::is_some).await.map(|asked| *asked) {
            Ok(Some(asked)) => migration::reader::too_old(asked),
            // The sender lives as long as this.
            _ => std::future::pending().await,
        }
    }

    /// Takes note of what the schema asks for.
    pub(crate) fn compare_schema(&self, asks: Option<&[u8]>) {
        if let Some(asked) = asks.and_then(migration::reader::too_much) {
            self.shared.asked.send_replace(Some(asked));
        }
    }

    #[cfg(all(test, feature = "sqlite"))]
    pub(crate) fn writer_room(&self) -> usize {
        self.shared.writer.room()
    }

    pub(crate) fn database(&self) -> &Database {
        &self.shared.database
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn given_up(&self) -> &crate::days::GivenUp {
        &self.shared.given_up
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.shared.vault
    }

    pub(crate) fn has_old_tables(&self) -> bool {
        self.shared.has_old_tables
    }

    pub(crate) fn read_bytes(&self) -> usize {
        self.shared.read_bytes
    }

    pub(crate) fn bodies(&self) -> Option<&Bodies> {
        self.shared.bodies.as_ref()
    }

    /// Writes `op` with whatever else is waiting; returns after the commit.
    pub(crate) async fn write<O: Op>(&self, op: O) -> Reply<O>
    where
        Queued: From<Job<O>>,
    {
        self.shared.writer.write(op).await
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("backend", &self.database().backend())
            .field("stats", &self.write_stats())
            .finish_non_exhaustive()
    }
}

async fn prepare(database: &Database, vault: &Vault) -> Result<(), Error> {
    migration::migrate(database).await?;
    check_key(database, vault).await?;
    migration::documents::run(database, vault).await?;
    migration::documents::expect_known(database).await?;
    if database.backend() == DbBackend::Sqlite {
        free_all(database).await?;
    }
    #[cfg(feature = "sqlite")]
    if database.backend() == DbBackend::Sqlite {
        crate::database::overwrite_free_pages(database).await?;
    }
    #[cfg(feature = "postgres")]
    crate::days::make_ahead(database, SystemClock.now()).await?;
    // What the last process had no more time for.
    fold::fold(database).await.about("database")
}

/// Opens what the first start sealed.
async fn check_key(database: &Database, vault: &Vault) -> Result<(), Error> {
    let cell = Cell { key: CHECK_NAME, ..Cell::new("meta", "value", uuid::Uuid::nil()) };
    let mut stored = meta::get(&database.write, CHECK_NAME).await.about("database")?;
    if stored.is_none() {
        // The first start. Of two nodes that are first, the key of one is kept.
        let sealed = vault.seal(cell, CHECK)?;
        meta::add(&database.write, CHECK_NAME, sealed).await.about("database")?;
        stored = meta::get(&database.write, CHECK_NAME).await.about("database")?;
    }
    let opens =
        stored.is_some_and(|value| vault.open(cell, &value).is_ok_and(|text| text == CHECK));
    if opens {
        return Ok(());
    }
    Err(Error::invalid(
        "secret key",
        "is not the one that this database was first opened with; nothing was changed",
    ))
}

/// No other process has the file open, so nobody holds anything.
async fn free_all(database: &Database) -> Result<(), Error> {
    let transaction = database.begin().await.about("database")?;
    let freed = lease::free_all(&*transaction).await.about("database");
    database.finish::<()>(transaction, freed, "database").await
}
