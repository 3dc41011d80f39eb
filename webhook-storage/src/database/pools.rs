//! Pools of connections to PostgreSQL.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use sea_orm::{
    SqlxError,
    sqlx::{
        ConnectOptions as _, Connection, Executor, PgConnection, PgPool, Row,
        postgres::{PgConnectOptions, PgPoolOptions},
        raw_sql,
    },
};
use tokio::time::{sleep, timeout};
use webhook_core::Error;

use super::{
    hosts::{HOST_TIMEOUT, Hosts, SILENT},
    watch::{Moves, PAUSE, Watch},
};
use crate::{StorageOptions, fault::ErrorClass};

/// Kept prepared, on each connection.
const STATEMENTS: usize = 200;

/// A connection that was idle for so long is tried before it is used. The server, or a proxy before
/// it, may have dropped the connection: without the try each of them costs a 503 after a fail-over.
const TRIED_AFTER: Duration = Duration::from_secs(1);

/// What each connection begins with.
///
/// A server that is paused in the middle of a transaction would keep the locks of it permanently.
/// PostgreSQL ends a transaction that is idle for this time. No transaction of ours is idle for
/// nearly as long. A value that the operator chose for the role or in the URL is kept.
///
/// A log that is divided by day has many tables, so that PostgreSQL expects each statement to be
/// long. It would plan the statement again each time, compile it and start worker processes. Each of
/// these takes longer than the statement itself.
const PREPARE: &str = "SELECT set_config('idle_in_transaction_session_timeout', '60s', false) \
    WHERE current_setting('idle_in_transaction_session_timeout') = '0'; \
    SELECT set_config('max_parallel_workers_per_gather', '0', false), \
    set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false) \
    FROM pg_class WHERE oid = to_regclass('delivery') AND relkind = 'p'";

/// How many connections more the server takes of this user, where it can be known.
const ROOM: &str = "SELECT LEAST(\
    current_setting('max_connections')::bigint \
        - current_setting('superuser_reserved_connections')::bigint \
        - (SELECT sum(numbackends) FROM pg_stat_database), \
    (SELECT rolconnlimit - (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user) \
        FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0 AND NOT rolsuper), \
    (SELECT datconnlimit - numbackends FROM pg_database JOIN pg_stat_database ON datid = oid \
        WHERE pg_database.datname = current_database() AND datconnlimit >= 0))::bigint";

/// The code of an error that says that there are too many connections.
const FULL: &str = "53300";

/// The pools of one server, which are opened one after the other.
pub(super) struct Pools<'o> {
    options: &'o StorageOptions,
    hosts: Arc<Hosts>,
    /// The host that is connected to.
    host: usize,
    /// The connection that found it, where it had to be looked for.
    found: Option<PgConnection>,
    moves: Arc<Moves>,
    opened: Vec<PgPool>,
}

impl<'o> Pools<'o> {
    /// Finds out where to connect to.
    pub(super) async fn of(url: &str, options: &'o StorageOptions) -> Result<Self, Error> {
        let hosts = Hosts::of(url)?.map(prepared);
        let moves = Arc::default();
        let (hosts, opened) = (Arc::new(hosts), Vec::new());
        let mut pools = Self { options, hosts, host: 0, found: None, moves, opened };
        if pools.hosts.are_to_choose() {
            pools.choose().await?;
        }
        Ok(pools)
    }

    /// Looks for a host until it finds one, or the time of a pool for that is over.
    async fn choose(&mut self) -> Result<(), Error> {
        let deadline = Instant::now() + self.options.connection_timeout;
        let (host, connection) = loop {
            match self.hosts.find().await {
                Ok(found) => break found,
                Err(none) if Instant::now() + PAUSE >= deadline => {
                    return Err(ErrorClass::Unavailable.error(none, "database"));
                }
                Err(_) => sleep(PAUSE).await,
            }
        };
        (self.host, self.found) = (host, Some(connection));
        Ok(())
    }

    /// A pool, with its first connection unless it is `lazy`.
    pub(super) async fn open(&mut self, connections: u32, lazy: bool) -> Result<PgPool, Error> {
        let chosen =
            self.hosts.are_to_choose().then(|| (self.hosts.clone(), Arc::clone(&self.moves)));
        let moves = chosen.is_some().then(|| Arc::clone(&self.moves));
        let pool = PgPoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(self.options.connection_timeout)
            .test_before_acquire(false)
            .before_acquire(move |connection, meta| {
                let is_left = moves.as_ref().is_some_and(|moves| moves.left_behind(meta.age));
                Box::pin(async move {
                    if !is_left && meta.idle_for >= TRIED_AFTER {
                        connection.ping().await?;
                    }
                    Ok(!is_left)
                })
            })
            .after_connect(move |connection, _| {
                let chosen = chosen.clone();
                Box::pin(async move {
                    if let Some((hosts, moves)) = chosen {
                        let wanted = hosts.expect_wanted(connection).await;
                        wanted.inspect_err(|_| moves.look())?;
                    }
                    connection.execute(PREPARE).await.map(|_| ())
                })
            });
        let host = self.hosts.get(self.host).cloned().unwrap_or_default();
        let pool = match lazy {
            true => pool.connect_lazy_with(host),
            false => match pool.connect_with(host).await {
                Ok(pool) => pool,
                Err(error) => return Err(self.refused(error).await),
            },
        };
        self.opened.push(pool.clone());
        Ok(pool)
    }

    /// Why there is no connection: a pool tries again until its time is over, and says only that.
    async fn refused(&self, error: SqlxError) -> Error {
        let error = match (error, self.hosts.get(self.host)) {
            (SqlxError::PoolTimedOut, Some(host)) => {
                match timeout(HOST_TIMEOUT, host.connect()).await {
                    Ok(Ok(_)) => SqlxError::PoolTimedOut,
                    Ok(Err(error)) => error,
                    Err(_) => SqlxError::Io(io::Error::new(io::ErrorKind::TimedOut, SILENT)),
                }
            }
            (error, _) => error,
        };
        let code = error.as_database_error().and_then(|error| error.code());
        if code.is_some_and(|code| code == FULL) {
            let wants = wanted(self.options);
            let short = Short { wants, has: self.connected(), source: error };
            return ErrorClass::Unavailable.error(short, "database");
        }
        ErrorClass::of_driver(&error).error(error, "database")
    }

    /// How many connections there are.
    fn connected(&self) -> u32 {
        self.opened.iter().map(PgPool::size).sum::<u32>() + u32::from(self.found.is_some())
    }

    /// Says when the server has no room for all connections that may be wanted later.
    pub(super) async fn warn_of_too_little_room(&self) {
        let Some(pool) = self.opened.first() else { return };
        let room = match pool.fetch_one(raw_sql(ROOM)).await {
            Ok(row) => row.try_get::<Option<i64>, _>(0).ok().flatten(),
            // It is only a warning, for which no start fails.
            Err(error) => return tracing::debug!(%error, "the room for connections is not known"),
        };
        let wants = i64::from(wanted(self.options).saturating_sub(self.connected()));
        if let Some(room) = room.map(|room| room.max(0)).filter(|room| *room < wants) {
            tracing::warn!(
                "the database has room for {room} connections more, and this server may want \
                 {wants} more: {} are missing; {RAISE}",
                wants - room
            );
        }
    }

    /// Watches the host from now on, where there may be another one.
    pub(super) fn watch(self) -> Option<Arc<Watch>> {
        let Self { hosts, host, found, moves, opened, .. } = self;
        found.map(|connection| Arc::new(Watch::start(hosts, host, connection, moves, opened)))
    }
}

/// How many connections a server has at most.
fn wanted(options: &StorageOptions) -> u32 {
    let pools = [
        options.read_connections,
        options.route_connections,
        options.search_connections,
        options.write_connections,
        u32::try_from(options.writers).unwrap_or(u32::MAX),
    ];
    pools.iter().fold(0, |sum, count| sum.saturating_add((*count).max(1)))
}

/// What an operator can do about it.
const RAISE: &str = "raise max_connections of PostgreSQL or the limit of the role, or lower \
    WEBHOOK_DATABASE_WRITERS and the WEBHOOK_DATABASE_…_CONNECTIONS of each server";

#[derive(Debug, thiserror::Error)]
#[error("this server wants up to {wants} connections, got {has}, and {} are missing: {RAISE}", wants - has)]
struct Short {
    wants: u32,
    has: u32,
    source: SqlxError,
}

/// What all connections have in common. No row has a number for which `extra_float_digits` would
/// count, and poolers refuse to set it.
fn prepared(host: PgConnectOptions) -> PgConnectOptions {
    let named = host.get_application_name().is_some();
    let host = if named { host } else { host.application_name("webhook-storage") };
    host.statement_cache_capacity(STATEMENTS).extra_float_digits(None).disable_statement_logging()
}
