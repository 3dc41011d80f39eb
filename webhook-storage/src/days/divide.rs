//! Dividing a log that is one table.

use sea_orm::prelude::Uuid;
use webhook_core::{Clock, Error, SystemClock, Timestamp};

use super::{TABLES, after, ahead, closing, day_of, key_of, parts, time_of};
use crate::{
    DatabaseUrl, StorageOptions,
    database::Database,
    fault::{About, DatabaseError},
    members, migration,
    tx::{Begin, Commit, Read, Tx, with},
};

/// The oldest server on which a table is attached beside the statements of others.
const OLDEST: i64 = 12;

/// Divides the log by day, unless it is already. No row is copied: the tables become the part
/// of what was before. They are read once, to show that they have nothing later; what was shown
/// is kept, so that whoever is interrupted goes on from there.
pub(crate) async fn divide(options: &StorageOptions) -> Result<(), Error> {
    if !matches!(options.database_url, DatabaseUrl::Postgres(_)) {
        return Err(Error::invalid("database url", "only PostgreSQL has tables for each day"));
    }
    let database = Database::open(options).await?;
    let divided = async {
        migration::migrate(&database).await?;
        divide_in(&database).await?;
        ahead::make_ahead(&database, SystemClock.now()).await
    };
    let divided = divided.await;
    database.close().await;
    divided
}

async fn divide_in(database: &Database) -> Result<(), Error> {
    let read = &database.read;
    if !parts(read).await.about("schema")?.is_empty() {
        tracing::info!("the log is divided by day already");
        return Ok(());
    }
    let version = "SELECT CAST(current_setting('server_version_num') AS bigint) / 10000 AS version";
    let version = read.query_one(with(version, []), |row| row.get::<i64>("version")).await;
    let version = version.about("schema")?.unwrap_or_default();
    if version < OLDEST {
        let reason = format!("is PostgreSQL {version}, and days need PostgreSQL {OLDEST} or later");
        return Err(Error::invalid("database", reason));
    }
    let members = members::members(read).await.about("schema")?;
    let running = members.iter().filter(|member| !member.lease_left.is_zero()).count();
    if running > 0 {
        return Err(Error::conflict(format!(
            "{running} servers share the database: stop them first"
        )));
    }
    let until = bound(read).await.about("schema")?;
    for table in TABLES {
        check(database, table, until).await.about("schema")?;
    }
    let transaction = database.begin_writing().await.about("schema")?;
    let changed = change(transaction.tx(), until).await.about("schema");
    database.finish(transaction, changed, "schema").await?;
    tracing::info!("the log is divided by day");
    Ok(())
}

/// The end of the day of the latest key, or of today.
async fn bound(tx: &impl Read) -> Result<Timestamp, DatabaseError> {
    // There is no MAX of UUIDs.
    let last = "SELECT id FROM (SELECT * FROM (SELECT id FROM webhook ORDER BY id DESC LIMIT 1) AS w \
        UNION ALL SELECT * FROM (SELECT id FROM delivery ORDER BY id DESC LIMIT 1) AS d) AS last \
        ORDER BY id DESC LIMIT 1";
    let last = tx.query_one(with(last, []), |row| row.get::<Uuid>("id")).await?;
    let latest = last.map_or(Timestamp::from_secs(0), time_of).max(SystemClock.now());
    Ok(after(day_of(latest), 1))
}

/// Shows that a table has nothing from `until` on, so that it is not read again while nobody
/// else can use it.
async fn check(database: &Database, table: &str, until: Timestamp) -> Result<(), DatabaseError> {
    let tx = &database.write;
    let shown = format!(
        "SELECT convalidated AS shown, pg_get_constraintdef(oid) AS what \
         FROM pg_constraint WHERE conname = 'before' AND conrelid = to_regclass('{table}')"
    );
    let read = with(shown, []);
    let shown =
        tx.query_one(read, |row| Ok((row.get::<bool>("shown")?, row.get::<String>("what")?)));
    let key = key_of(until);
    match shown.await? {
        Some((true, what)) if what.contains(&key.to_string()) => return Ok(()),
        // It was said on another day.
        Some(_) => tx.run(&format!("ALTER TABLE {table} DROP CONSTRAINT before")).await?,
        None => {}
    }
    let size = format!("SELECT pg_size_pretty(pg_table_size('{table}')) AS size");
    let size = tx.query_one(with(size, []), |row| row.get::<String>("size")).await?;
    tracing::info!(table, size = size.unwrap_or_default(), "reads what there is");
    let add =
        format!("ALTER TABLE {table} ADD CONSTRAINT before CHECK (id < '{key}'::uuid) NOT VALID");
    tx.run(&add).await?;
    tx.run(&format!("ALTER TABLE {table} VALIDATE CONSTRAINT before")).await
}

async fn change(tx: &impl Tx, until: Timestamp) -> Result<(), DatabaseError> {
    tx.run("SET LOCAL lock_timeout = '10s'").await?;
    tx.run(closing::FUNCTION).await?;
    for table in TABLES {
        let indexes = format!(
            "SELECT c.relname AS name, pg_get_indexdef(c.oid) AS made, i.indisprimary AS first \
             FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
             WHERE i.indrelid = to_regclass('{table}') ORDER BY c.relname"
        );
        tx.run(&format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")).await?;
        let indexes = tx
            .query(with(indexes, []), |row| {
                let (name, made): (String, String) = (row.get("name")?, row.get("made")?);
                Ok((name, made, row.get::<bool>("first")?))
            })
            .await?;
        for (name, ..) in &indexes {
            // `webhook_pkey` is `webhook_before_pkey` then, and `delivery_held` likewise.
            let renamed = name.replacen(table, &format!("{table}_before"), 1);
            tx.run(&format!("ALTER INDEX {name} RENAME TO {renamed}")).await?;
        }
        tx.run(&format!("ALTER TABLE {table} RENAME TO {table}_before")).await?;
        let create = format!(
            "CREATE TABLE {table} (LIKE {table}_before INCLUDING ALL EXCLUDING INDEXES \
             EXCLUDING CONSTRAINTS, PRIMARY KEY (id)) PARTITION BY RANGE (id)"
        );
        tx.run(&create).await?;
        // What was said of the table is said of all of its parts.
        for (_, made, _) in indexes.iter().filter(|(.., first)| !first) {
            tx.run(made).await?;
        }
        let key = key_of(until);
        let attach = format!(
            "ALTER TABLE {table} ATTACH PARTITION {table}_before \
             FOR VALUES FROM (MINVALUE) TO ('{key}')"
        );
        tx.run(&attach).await?;
        tx.run(&format!("ALTER TABLE {table}_before DROP CONSTRAINT before")).await?;
        tx.run(&format!("CREATE TABLE {table}_rest PARTITION OF {table} DEFAULT")).await?;
    }
    Ok(())
}
