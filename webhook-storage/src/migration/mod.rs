//! The schema, as a list of steps that are each applied once.

mod billing;
mod configuration;
mod crons;
mod deliveries;
mod domains;
mod endings;
mod logs;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};
use sea_orm_migration::{MigrationTrait, MigratorTrait, SchemaManager};
use webhook_core::Error;

use crate::{
    database::{Database, Transaction},
    fault,
};

/// All steps, oldest first. A released step is never changed; a new one follows.
#[derive(Debug)]
struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(configuration::Migration),
            Box::new(deliveries::Migration),
            Box::new(logs::Migration),
            Box::new(domains::Migration),
            Box::new(crons::Migration),
            Box::new(billing::Migration),
            Box::new(endings::Migration),
        ]
    }
}

/// An arbitrary number that all nodes know: who holds it migrates.
const ADVISORY_LOCK: i64 = 0x7765_6268_6f6f_6b73;

/// Brings the schema up to date, all steps or none.
pub(crate) async fn migrate(database: &Database) -> Result<(), Error> {
    apply(database, None).await
}

/// Fails unless the schema is up to date; changes nothing.
pub(crate) async fn expect_current(database: &Database) -> Result<(), Error> {
    let failed = |error| fault::error(error, "schema");
    let applied = Migrator::get_migration_models(&database.read).await.map_err(failed)?;
    let known = Migrator::migrations();
    let same = applied.len() == known.len()
        && known.iter().all(|step| applied.iter().any(|row| row.version == step.name()));
    match same {
        true => Ok(()),
        false => Err(Error::conflict(
            "the database is open in another version of this program: stop that first",
        )),
    }
}

async fn apply(database: &Database, steps: Option<u32>) -> Result<(), Error> {
    let transaction = begin(database).await.map_err(|error| fault::error(error, "schema"))?;
    let outcome = up(&transaction, steps).await;
    database.finish(transaction, outcome, "schema").await
}

async fn begin(database: &Database) -> Result<Transaction, DbErr> {
    let transaction = database.begin().await?;
    if database.backend() == DbBackend::Postgres {
        // Nodes that start at once take turns.
        let lock = "SELECT pg_advisory_xact_lock($1)";
        let lock =
            Statement::from_sql_and_values(DbBackend::Postgres, lock, [ADVISORY_LOCK.into()]);
        transaction.query_one_raw(lock).await?;
    }
    Ok(transaction)
}

async fn up(transaction: &DatabaseTransaction, steps: Option<u32>) -> Result<(), Error> {
    let failed = |error| fault::error(error, "schema");
    Migrator::install(transaction).await.map_err(failed)?;
    let known = Migrator::migrations();
    let applied = Migrator::get_migration_models(transaction).await.map_err(failed)?;
    let unknown = applied.iter().find(|row| known.iter().all(|step| step.name() != row.version));
    if let Some(row) = unknown {
        return Err(Error::invalid(
            "database",
            format!("was written by a newer version of this program (it has {:?})", row.version),
        ));
    }
    Migrator::up(transaction, steps).await.map_err(failed)
}

/// Runs a schema that is written once for all databases: `{uuid}`, `{bytes}`,
/// `{int}`, `{bool}` and `{text}` stand for column types, the last one in byte
/// order, and `{table}` for what follows a table's closing parenthesis, or
/// `{narrow}` when its rows are little more than their key.
async fn run(manager: &SchemaManager<'_>, schema: &str) -> Result<(), DbErr> {
    let types = match manager.get_database_backend() {
        DbBackend::Sqlite => [
            ("{uuid}", "BLOB"),
            ("{bytes}", "BLOB"),
            ("{int}", "INTEGER"),
            ("{bool}", "INTEGER"),
            ("{text}", "TEXT"),
            ("{table}", "STRICT"),
            ("{narrow}", "STRICT, WITHOUT ROWID"),
        ],
        _ => [
            ("{uuid}", "uuid"),
            ("{bytes}", "bytea"),
            ("{int}", "bigint"),
            ("{bool}", "boolean"),
            ("{text}", "text COLLATE \"C\""),
            ("{table}", ""),
            ("{narrow}", ""),
        ],
    };
    let schema = types.iter().fold(schema.to_owned(), |sql, (name, ty)| sql.replace(name, ty));
    manager.get_connection().execute_unprepared(&schema).await?;
    Ok(())
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
