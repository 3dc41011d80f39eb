//! Counts that are appended with what they count, and folded into tallies later.
//!
//! A transaction that changes logs appends what that changes in the tallies as one row of
//! `tally_delta`: the cost of a count is a few bytes at the end of a table, whatever the
//! number of buckets. After some hundred commits a transaction of its own adds all rows up,
//! changes the tallies and removes the rows. Whoever counts reads both, in one snapshot: so
//! counts are exact at every moment, and a process that ends between loses nothing.

mod block;
mod deltas;

#[cfg(all(test, feature = "sqlite"))]
mod tests;

use sea_orm::DbBackend;
use webhook_core::store::tally::LogCounters;

pub(crate) use self::deltas::Deltas;
use crate::{
    fault::DatabaseError,
    tx::{Begin, Commit, Tx, with},
    writer::tally,
};

/// How many commits append before their rows are folded. Whoever counts reads no more than
/// about so many rows.
pub(crate) const COMMITS: u64 = 512;

/// How many operations append before their rows are folded: what bounds the bytes of the
/// rows where commits are large.
pub(crate) const OPERATIONS: u64 = 8_192;

const APPEND: &str = "INSERT INTO tally_delta (changes) VALUES (?)";

/// What PostgreSQL's nodes hold in turn while they fold.
const ADVISORY_LOCK: i64 = 0x7765_6268_666f_6c64;

/// Takes all rows out, as one text.
const TAKE: &str = "WITH taken AS (DELETE FROM tally_delta RETURNING changes) \
    SELECT string_agg(encode(changes, 'hex'), '') AS changes FROM taken";

/// Appends what a transaction changes, unless that is nothing.
pub(crate) async fn append(tx: &impl Tx, counters: &LogCounters) -> Result<(), DatabaseError> {
    let changes = block::encode(tally::changes(counters).into_iter());
    if !changes.is_empty() {
        tx.execute(with(APPEND, [changes.into()])).await?;
    }
    Ok(())
}

/// Folds all that was appended and committed, in a transaction of its own.
pub(crate) async fn fold(begin: &impl Begin) -> Result<(), DatabaseError> {
    let transaction = begin.begin_writing().await?;
    match apply(transaction.tx()).await {
        Ok(()) => transaction.commit().await,
        Err(error) => {
            transaction.rollback().await;
            Err(error)
        }
    }
}

async fn apply(tx: &impl Tx) -> Result<(), DatabaseError> {
    let changes = match tx.backend() {
        DbBackend::Postgres => {
            let lock = "SELECT pg_advisory_xact_lock(?)";
            tx.query(with(lock, [ADVISORY_LOCK.into()]), |_| Ok(())).await?;
            deltas::read(tx, TAKE).await?
        }
        // Nobody else writes until this ends.
        _ => {
            let changes = deltas::read(tx, deltas::SQLITE).await?;
            if !changes.is_empty() {
                tx.run("DELETE FROM tally_delta").await?;
            }
            changes
        }
    };
    tally::write(tx, changes).await
}
