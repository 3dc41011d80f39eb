//! What a day leaves behind that was taken out: its tables, and webhooks of other days that no
//! delivery needs any more.

use sea_orm::prelude::Uuid;

use super::{after, ahead::day_named, begin, end, key_of};
use crate::{
    database::Database,
    fault::DatabaseError,
    tx::{Commit, Read, Tx, with},
    writer::remove_unneeded,
};

/// How many webhooks are looked at in one commit.
const WEBHOOKS_AT_ONCE: i64 = 128;

/// Removes what was taken out. Files are removed with their table, which takes its time: nobody
/// waits for it here.
pub(super) async fn forget(database: &Database) -> Result<(), DatabaseError> {
    let find = "SELECT relname AS name FROM pg_class WHERE relkind = 'r' \
        AND relname LIKE 'gone\\_%' AND relnamespace = \
        (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('delivery'))";
    let names = database.read.query(with(find, []), |row| row.get::<String>("name")).await?;
    for day in names.iter().filter_map(|name| name.strip_prefix("gone_delivery_")) {
        forget_webhooks(database, day).await?;
    }
    for name in names {
        database.write.run(&format!("DROP TABLE IF EXISTS {name}")).await?;
    }
    Ok(())
}

/// Removes the webhooks of other days whose last delivery was in this one. Bodies that are
/// objects are left to the rule of their bucket, as those of the day are.
async fn forget_webhooks(database: &Database, day: &str) -> Result<(), DatabaseError> {
    // What was there before has no older day.
    let Some(start) = day_named(day) else { return Ok(()) };
    let (first, next) = (key_of(start), key_of(after(start, 1)));
    for (from, until) in [(Uuid::nil(), first), (next, Uuid::max())] {
        let mut from = from;
        loop {
            let find = format!(
                "SELECT DISTINCT webhook_id FROM gone_delivery_{day} \
                 WHERE webhook_id > ? AND webhook_id < ? ORDER BY webhook_id LIMIT ?"
            );
            let find = with(find, [from.into(), until.into(), WEBHOOKS_AT_ONCE.into()]);
            let webhooks = database.read.query(find, |row| row.get::<Uuid>("webhook_id")).await?;
            let Some(last) = webhooks.last() else { break };
            from = *last;
            let transaction = begin(database).await?;
            let removed = remove_unneeded(transaction.tx(), &webhooks, false).await;
            end(transaction, removed).await?;
        }
    }
    Ok(())
}
