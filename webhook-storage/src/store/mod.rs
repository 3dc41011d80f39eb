//! One file per store trait.

mod account;
mod bucket;
mod delivery;
mod function;
mod input;
mod log;
mod output;
mod purge;
mod stop;
mod token;
mod whole;

use sea_orm::{DatabaseTransaction, DbErr};
use webhook_core::Error;

use crate::{Storage, fault};

impl Storage {
    /// Begins a transaction that writes a `what`.
    async fn begin(&self, what: &str) -> Result<DatabaseTransaction, Error> {
        self.database().begin().await.map_err(|error| fault::error(error, what))
    }

    async fn snapshot(&self) -> Result<DatabaseTransaction, Error> {
        self.database().snapshot().await.map_err(read_error)
    }
}

/// The error of a read.
fn read_error(error: DbErr) -> Error {
    fault::error(error, "database")
}
