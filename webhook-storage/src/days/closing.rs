//! Closing a day, so that what has come to an end in it changes no more.

use sea_orm::prelude::Uuid;

use super::{TABLES, begin, end, old::open};
use crate::{
    database::Database,
    fault::DatabaseError,
    tx::{Commit, Tx},
};

/// What the triggers of a closed day do: nothing takes a new row, and a row that has come to an
/// end stays as it is. Whoever changes or removes it finds none, as when it is purged.
pub(super) const FUNCTION: &str = "CREATE OR REPLACE FUNCTION day_is_closed() RETURNS trigger \
    LANGUAGE plpgsql AS $$ BEGIN \
    IF TG_OP = 'INSERT' THEN RAISE EXCEPTION 'the day of this key is closed'; END IF; \
    RETURN NULL; \
    END $$";

/// How long it is waited for autovacuum, which PostgreSQL ends for whoever has waited for it for
/// `deadlock_timeout`, a second. Nobody else waits behind this.
const QUIET_PATIENCE: &str = "SET LOCAL lock_timeout = '5s'";

/// Keeps autovacuum from a day: it holds locks that no short patience outlasts.
pub(super) async fn quiet(database: &Database, name: &str) -> Result<(), DatabaseError> {
    set_autovacuum(database, name, "SET (autovacuum_enabled = off)").await
}

async fn set_autovacuum(database: &Database, name: &str, set: &str) -> Result<(), DatabaseError> {
    let transaction = begin(database).await?;
    let tx = transaction.tx();
    let changed = async {
        tx.run(QUIET_PATIENCE).await?;
        for table in TABLES {
            tx.run(&format!("ALTER TABLE {table}_{name} {set}")).await?;
        }
        Ok(())
    };
    let changed = changed.await;
    end(transaction, changed).await
}

/// Closes a day; what is open in it.
pub(super) async fn close(database: &Database, name: &str) -> Result<Vec<Uuid>, DatabaseError> {
    let transaction = begin(database).await?;
    let closed = close_in(transaction.tx(), name).await;
    end(transaction, closed).await
}

/// Takes back what [`quiet`] and [`close`] did.
pub(super) async fn reopen(database: &Database, name: &str) -> Result<(), DatabaseError> {
    let transaction = begin(database).await?;
    let reopened = drop_triggers(transaction.tx(), name).await;
    end(transaction, reopened).await?;
    set_autovacuum(database, name, "RESET (autovacuum_enabled)").await
}

async fn close_in(tx: &impl Tx, name: &str) -> Result<Vec<Uuid>, DatabaseError> {
    drop_triggers(tx, name).await?;
    for table in TABLES {
        let insert = format!(
            "CREATE TRIGGER closed BEFORE INSERT ON {table}_{name} \
             FOR EACH ROW EXECUTE FUNCTION day_is_closed()"
        );
        tx.run(&insert).await?;
    }
    let change = format!(
        "CREATE TRIGGER ended BEFORE UPDATE OR DELETE ON delivery_{name} FOR EACH ROW \
         WHEN (OLD.due_at IS NULL AND OLD.held_by IS NULL) EXECUTE FUNCTION day_is_closed()"
    );
    tx.run(&change).await?;
    open(tx, name).await
}

async fn drop_triggers(tx: &impl Tx, name: &str) -> Result<(), DatabaseError> {
    for table in TABLES {
        tx.run(&format!("DROP TRIGGER IF EXISTS closed ON {table}_{name}")).await?;
    }
    tx.run(&format!("DROP TRIGGER IF EXISTS ended ON delivery_{name}")).await
}
