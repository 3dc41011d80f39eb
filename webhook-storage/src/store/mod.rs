//! One file per store trait.

mod account;
mod billing;
mod bodies;
mod cron;
mod delivery;
mod document;
mod erase;
mod erasure;
mod function;
mod held;
mod log;
mod notification;
mod purge;
mod purge_turn;
mod queue;
mod replay;
mod session;
mod token;

use sea_orm::DatabaseTransaction;
use webhook_core::Error;

use crate::{Storage, database::Transaction, fault::About};

impl Storage {
    /// Begins a transaction that writes a `what`.
    async fn begin(&self, what: &str) -> Result<Transaction, Error> {
        self.database().begin().await.about(what)
    }

    async fn snapshot(&self) -> Result<DatabaseTransaction, Error> {
        self.database().snapshot().await.about("database")
    }
}
