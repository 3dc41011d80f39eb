//! The schema, as a list of steps that are each applied once.

mod answers;
mod billing;
mod clients;
mod configuration;
mod crons;
mod deleted;
mod deliveries;
mod deltas;
pub(crate) mod documents;
mod domains;
mod endings;
mod erasures;
mod extensions;
mod hand_overs;
mod history;
mod hops;
mod incarnations;
mod input_failures;
mod kv;
mod leases;
mod logs;
mod notifications;
mod objects;
mod places;
mod purges;
mod queues;
pub(crate) mod reader;
mod replays;
mod retention;
mod runs;
mod seen;
mod sessions;
mod shards;
mod sweeps;
mod versions;

#[cfg(all(test, feature = "sqlite"))]
pub(crate) use self::logs::counts;

use std::time::SystemTime;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr};
use webhook_core::Error;

use crate::{
    database::{Database, SHARDS_ADDED, SHARDS_REMOVED, Transaction, applied, expect_one_database},
    fault::{About, DatabaseError},
    tx::{Read, with},
};

/// A step's name, under which it is recorded, and what it runs.
type Step = (&'static str, fn(DbBackend) -> String);

/// All steps, oldest first. A released step is never changed; a new one follows.
const STEPS: &[Step] = &[
    ("m0001_configuration", |_| configuration::SCHEMA.to_owned()),
    ("m0002_deliveries", |_| deliveries::SCHEMA.to_owned()),
    ("m0003_logs", logs::sql),
    ("m0004_domains", |_| domains::SCHEMA.to_owned()),
    ("m0006_crons", |_| crons::SCHEMA.to_owned()),
    ("m0010_billing", billing::sql),
    ("m0011_endings", |_| endings::SCHEMA.to_owned()),
    ("m0012_hand_overs", |_| hand_overs::SCHEMA.to_owned()),
    ("m0013_clients", |_| clients::SCHEMA.to_owned()),
    ("m0014_input_failures", |_| input_failures::SCHEMA.to_owned()),
    ("m0015_deltas", |_| deltas::SCHEMA.to_owned()),
    ("m0016_places", |_| places::SCHEMA.to_owned()),
    ("m0017_sweeps", |_| sweeps::SCHEMA.to_owned()),
    ("m0018_kv", |_| kv::SCHEMA.to_owned()),
    ("m0019_incarnations", |_| incarnations::SCHEMA.to_owned()),
    ("m0020_extensions", |_| extensions::SCHEMA.to_owned()),
    ("m0021_seen", |_| seen::SCHEMA.to_owned()),
    ("m0022_history", |_| history::SCHEMA.to_owned()),
    ("m0023_replays", |_| replays::SCHEMA.to_owned()),
    ("m0024_leases", |_| leases::SCHEMA.to_owned()),
    ("m0025_notifications", |_| notifications::SCHEMA.to_owned()),
    ("m0026_versions", |_| versions::SCHEMA.to_owned()),
    ("m0028_retention", |_| retention::SCHEMA.to_owned()),
    ("m0030_runs", |_| runs::SCHEMA.to_owned()),
    ("m0034_queues", |_| queues::SCHEMA.to_owned()),
    (SHARDS_ADDED, |_| shards::SCHEMA.to_owned()),
    ("m0036_purges", |_| purges::SCHEMA.to_owned()),
    ("m0037_objects", |_| objects::SCHEMA.to_owned()),
    (SHARDS_REMOVED, |_| shards::DROP.to_owned()),
    ("m0039_hops", |_| hops::SCHEMA.to_owned()),
    (documents::STEP, documents::sql),
    ("m0041_sessions", |_| sessions::SCHEMA.to_owned()),
    ("m0042_erasures", |_| erasures::SCHEMA.to_owned()),
    ("m0043_deleted", |_| deleted::SCHEMA.to_owned()),
    ("m0044_answers", |_| answers::SCHEMA.to_owned()),
];

/// Which steps were applied. The table is the one that sea-orm-migration keeps,
/// which wrote it in earlier versions.
const APPLIED: &str = "CREATE TABLE IF NOT EXISTS seaql_migrations \
    (version varchar NOT NULL PRIMARY KEY, applied_at bigint NOT NULL)";

/// An arbitrary number that all nodes know: who holds it migrates.
const ADVISORY_LOCK: i64 = 0x7765_6268_6f6f_6b73;

/// Brings the schema up to date, all steps or none.
pub(crate) async fn migrate(database: &Database) -> Result<(), Error> {
    apply(database, STEPS).await
}

/// Fails unless the schema is up to date; changes nothing.
pub(crate) async fn expect_current(database: &Database) -> Result<(), Error> {
    expect_one_database(&database.read).await?;
    let applied = applied(&database.read).await.about("schema")?;
    let same = applied.len() == STEPS.len()
        && STEPS.iter().all(|(name, _)| applied.iter().any(|version| version == name));
    match same {
        true => Ok(()),
        false => Err(Error::conflict(
            "the database is open in another version of this program: stop that first",
        )),
    }
}

async fn apply(database: &Database, steps: &[Step]) -> Result<(), Error> {
    let transaction = begin(database).await.about("schema")?;
    let outcome = up(&transaction, steps).await;
    database.finish(transaction, outcome, "schema").await
}

async fn begin(database: &Database) -> Result<Transaction, DatabaseError> {
    let transaction = database.begin().await?;
    if database.backend() == DbBackend::Postgres {
        // Nodes that start at once take turns.
        let lock = with("SELECT pg_advisory_xact_lock(?)", [ADVISORY_LOCK.into()]);
        transaction.has_rows(lock).await?;
    }
    Ok(transaction)
}

async fn up(transaction: &DatabaseTransaction, steps: &[Step]) -> Result<(), Error> {
    transaction.execute_unprepared(APPLIED).await.about("schema")?;
    expect_one_database(transaction).await?;
    let applied = applied(transaction).await.about("schema")?;
    let unknown = applied.iter().find(|version| STEPS.iter().all(|(name, _)| name != version));
    let asked = match applied.is_empty() {
        true => None,
        false => reader::asked_by_schema(transaction).await.about("schema")?,
    };
    match (asked, unknown) {
        (Some(asked), _) if !reader::is_enough(asked) => return Err(reader::too_old(asked)),
        (Some(_), Some(version)) => {
            tracing::info!(
                version,
                "a newer version wrote the schema, and this one can work on it"
            );
        }
        (None, Some(version)) => {
            return Err(Error::invalid(
                "database",
                format!("was written by a newer version of this program (it has {version:?})"),
            ));
        }
        (_, None) => {}
    }
    let missing = steps.iter().filter(|(name, _)| applied.iter().all(|version| version != name));
    let mut count = 0;
    for step in missing {
        run(transaction, step).await.about("schema")?;
        count += 1;
    }
    if count > 0 {
        tracing::info!(steps = count, "the schema was brought up to date");
    }
    let asks = reader::asked_by(steps);
    if asked.is_none_or(|before| before < asks) {
        reader::ask(transaction, asks).await?;
    }
    Ok(())
}

/// A schema is written once for all databases: `{uuid}`, `{bytes}`, `{int}`, `{bool}` and
/// `{text}` stand for column types, the last one in byte order, and `{table}` for what follows a
/// table's closing parenthesis, or `{narrow}` when its rows are little more than their key.
/// `{numbered}` is the type of a key that the database gives out. Each is here with what SQLite
/// and PostgreSQL say.
const TYPES: [(&str, &str, &str); 8] = [
    ("{uuid}", "BLOB", "uuid"),
    ("{bytes}", "BLOB", "bytea"),
    ("{int}", "INTEGER", "bigint"),
    ("{bool}", "INTEGER", "boolean"),
    ("{text}", "TEXT", "text COLLATE \"C\""),
    ("{table}", "STRICT", ""),
    ("{narrow}", "STRICT, WITHOUT ROWID", ""),
    ("{numbered}", "INTEGER PRIMARY KEY", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
];

/// Runs a step and records it.
async fn run(transaction: &DatabaseTransaction, (name, sql): &Step) -> Result<(), DbErr> {
    let backend = transaction.get_database_backend();
    let schema = TYPES.iter().fold(sql(backend), |sql, (name, sqlite, postgres)| {
        sql.replace(name, if backend == DbBackend::Sqlite { sqlite } else { postgres })
    });
    transaction.execute_unprepared(&schema).await?;
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let record =
        format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{name}', {now})");
    transaction.execute_unprepared(&record).await?;
    Ok(())
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
