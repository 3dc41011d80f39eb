//! Earlier versions could spread webhooks over several databases, the shards. This version keeps
//! all webhooks in one.

use webhook_core::{Error, ErrorKind};

use crate::{
    fault::{About, DatabaseError},
    tx::{Read, with},
};

/// The step of the schema that added the tables of the shards.
pub(crate) const SHARDS_ADDED: &str = "m0035_shards";
/// The step of the schema that removed the tables.
pub(crate) const SHARDS_REMOVED: &str = "m0038_one_database";

/// A shard has the name of the database with its configuration.
const CONFIGURED_IN: &str = "SELECT COUNT(*) AS others FROM meta WHERE name = 'control_id'";
/// Shard 0 is the database with the configuration.
const SLOTS_IN: &str = "SELECT COUNT(DISTINCT shard) AS others FROM slot WHERE shard <> 0";

/// Fails when some webhooks are in other databases: this version would show none of them.
pub(crate) async fn expect_one_database(database: &impl Read) -> Result<(), Error> {
    let applied = applied(database).await.about("schema")?;
    if applied.is_empty() {
        return Ok(());
    }
    let has = |step| applied.iter().any(|version| version == step);
    let has_slots = has(SHARDS_ADDED) && !has(SHARDS_REMOVED);
    let counts = [CONFIGURED_IN].into_iter().chain(has_slots.then_some(SLOTS_IN));
    let mut others = 0;
    for count in counts {
        let found = database.query_one(with(count, []), |row| row.get::<i64>("others")).await;
        others += found.about("schema")?.unwrap_or_default();
    }
    match others {
        0 => Ok(()),
        _ => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "webhooks are in {others} other databases: with the version before, move all \
                 slots to shard 0, wait until `webhook-server shards` shows no log in them (its \
                 column WAITING does not count deliveries for clients), take the others off the \
                 list, then upgrade."
            ),
        )),
    }
}

/// The names of the schema's steps that were applied.
pub(crate) async fn applied(database: &impl Read) -> Result<Vec<String>, DatabaseError> {
    let names = with("SELECT version FROM seaql_migrations", []);
    database.query(names, |row| row.get("version")).await
}
