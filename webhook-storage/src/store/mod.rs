//! One file per store trait.

mod account;
mod billing;
mod bodies;
mod bucket;
mod cron;
mod delivery;
mod domain;
mod function;
mod function_version;
mod input;
mod log;
mod notification;
mod output;
mod purge;
mod purge_turn;
mod queue;
mod replay;
mod route;
mod rules_version;
mod stop;
mod token;
mod version;
mod whole;

#[cfg(all(test, feature = "sqlite"))]
pub(crate) use self::stop::{WAITING, stop_sql};

use sea_orm::DatabaseTransaction;
use webhook_core::Error;

use crate::{
    Storage,
    database::Transaction,
    fault::{self, DatabaseError},
};

impl Storage {
    /// Begins a transaction that writes a `what`.
    async fn begin(&self, what: &str) -> Result<Transaction, Error> {
        self.database().begin().await.map_err(|error| fault::error(error, what))
    }

    async fn snapshot(&self) -> Result<DatabaseTransaction, Error> {
        self.database().snapshot().await.map_err(read_error)
    }
}

/// The error of a read.
fn read_error(error: impl Into<DatabaseError>) -> Error {
    fault::error(error, "database")
}
