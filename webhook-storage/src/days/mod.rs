//! Webhooks and deliveries in a table for each day, with PostgreSQL.
//!
//! A row-wise purge costs as much as receiving. Divided by day, the log is purged by leaving
//! whole tables behind ([`old`]). Keys are UUIDv7, whose first 48 bits are the milliseconds
//! since 1970 (RFC 9562, section 5.7): a range of keys is a range of time, so the key stays
//! the key and every statement stays as it is. An operator asks for it ([`divide`]), because
//! a statement that names no key takes the locks of every table and index.
//!
//! The two tables `webhook` and `delivery` have the same parts:
//!
//! | part | has |
//! |---|---|
//! | `_before` | what was there when the database was divided |
//! | `_d20261126` | a day (UTC); they are made ahead ([`ahead`]) |
//! | `_rest` | what belongs to no other: what was open when its day was dropped, and what comes on a day that nobody made |

mod ahead;
mod closing;
mod counting;
mod divide;
mod left;
mod old;

use sea_orm::prelude::Uuid;
use webhook_core::{Timestamp, store::tally::DAY_MILLIS};

pub(crate) use self::{
    ahead::make_ahead,
    divide::divide,
    old::{GivenUp, drop_old},
};
use crate::{
    database::{Database, Transaction},
    entity::{millis, moment},
    fault::DatabaseError,
    tx::{Begin, Commit, Read, Row, Tx, end, with},
};

/// What is divided, in the order in which whoever writes takes their locks.
const TABLES: [&str; 2] = ["webhook", "delivery"];

/// How long a change of the tables waits for the statements that run. All others wait behind
/// it meanwhile.
const PATIENCE: &str = "SET LOCAL lock_timeout = '300ms'";

/// A part of both tables.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// What follows the name of the table and `_`.
    name: String,
    /// Its first key; none where it has none.
    from: Option<Uuid>,
    /// The end of its time; none where it has none.
    until: Option<Timestamp>,
}

/// The parts of the log, those with an end in its order; none where it is one table.
async fn parts(tx: &impl Read) -> Result<Vec<Part>, DatabaseError> {
    let find = "SELECT substr(c.relname, 10) AS name, \
        substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM [(]''([0-9a-f-]{36})') AS first, \
        substring(pg_get_expr(c.relpartbound, c.oid) from 'TO [(]''([0-9a-f-]{36})') AS until \
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid \
        WHERE i.inhparent = to_regclass('delivery')";
    let part = |row: &Row<'_>| {
        let key = |column| {
            let key: Option<String> = row.get(column)?;
            Ok::<_, DatabaseError>(key.and_then(|key| key.parse::<Uuid>().ok()))
        };
        let (from, until) = (key("first")?, key("until")?.map(time_of));
        Ok(Part { name: row.get("name")?, from, until })
    };
    let mut parts = tx.query(with(find, []), part).await?;
    parts.sort_by_key(|part| (part.until.is_none(), part.until));
    Ok(parts)
}

/// The first key of a moment.
fn key_of(time: Timestamp) -> Uuid {
    Uuid::from_u128(u128::from(millis(time).unsigned_abs()) << 80)
}

/// The moment of a key.
fn time_of(key: Uuid) -> Timestamp {
    moment(i64::try_from(key.as_u128() >> 80).unwrap_or(i64::MAX))
}

/// The first moment of a day.
fn day_of(time: Timestamp) -> Timestamp {
    moment(millis(time).div_euclid(DAY_MILLIS) * DAY_MILLIS)
}

/// So many days later.
fn after(day: Timestamp, days: i64) -> Timestamp {
    moment(millis(day).saturating_add(days.saturating_mul(DAY_MILLIS)))
}

/// Begins a transaction that waits for nobody for long.
async fn begin(database: &Database) -> Result<Transaction, DatabaseError> {
    let transaction = database.begin_writing().await?;
    transaction.tx().run(PATIENCE).await?;
    Ok(transaction)
}

/// Adds the part of a day, which is there afterwards as it is for all who begin then.
async fn add_day(tx: &impl Tx, name: &str, day: Timestamp) -> Result<(), DatabaseError> {
    let (from, to) = (key_of(day), key_of(after(day, 1)));
    for table in TABLES {
        // To attach a table shuts nobody out of the others; to create it in its place would.
        let part = format!("{table}_{name}");
        tx.run(&format!("CREATE TABLE {part} (LIKE {table} INCLUDING ALL)")).await?;
        let attach = format!(
            "ALTER TABLE {table} ATTACH PARTITION {part} FOR VALUES FROM ('{from}') TO ('{to}')"
        );
        tx.run(&attach).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_the_keys_of_its_moments() {
        let day = day_of(Timestamp::from_secs(1_795_646_000));
        let (first, next) = (key_of(day), key_of(after(day, 1)));
        assert_eq!(time_of(first), day);
        assert_eq!(time_of(next).since(day).as_secs(), 86_400);
        let now = webhook_core::WebhookId::generate().as_uuid();
        let today = day_of(time_of(now));
        assert!(key_of(today) <= now && now < key_of(after(today, 1)));
    }
}
