//! One node purges at a time.

use sea_orm::DbBackend;
use webhook_core::Error;

use crate::{
    database::Database,
    fault::About,
    tx::{Read, Tx, with},
};

/// The moment by the clock of PostgreSQL in milliseconds since 1970.
const NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)";

/// How long a turn lasts that nobody keeps or gives up.
const LASTS_MILLIS: i64 = 30_000;

/// The turn to purge. With SQLite, which one process has open, it is always there.
#[derive(Debug)]
pub(super) struct PurgeTurn<'d> {
    database: &'d Database,
}

impl<'d> PurgeTurn<'d> {
    /// Takes the turn, unless another node has it. Whose turn has lapsed may be at work yet:
    /// then two do the same, and each log is removed once.
    pub(super) async fn take(database: &'d Database) -> Result<Option<Self>, Error> {
        let turn = Self { database };
        // One that is further away was taken before the clock was set back.
        let taken = format!("WHERE NOT until BETWEEN {NOW} + 1 AND {NOW} + {LASTS_MILLIS}");
        Ok((turn.set(&format!("{NOW} + {LASTS_MILLIS}"), &taken).await?).then_some(turn))
    }

    /// Lets it last from now on.
    pub(super) async fn keep(&self) -> Result<(), Error> {
        self.set(&format!("{NOW} + {LASTS_MILLIS}"), "").await.map(|_| ())
    }

    /// Lets another node have it at once.
    pub(super) async fn give_up(self) {
        if let Err(error) = self.set("0", "").await {
            tracing::debug!(%error, "the turn to purge ends by itself");
        }
    }

    async fn set(&self, until: &str, condition: &str) -> Result<bool, Error> {
        let tx = &self.database.write;
        if tx.backend() != DbBackend::Postgres {
            return Ok(true);
        }
        let set = format!("UPDATE purge_turn SET until = {until} {condition}");
        tx.execute(with(set, [])).await.map(|rows| rows > 0).about("log")
    }
}
