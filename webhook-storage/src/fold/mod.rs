//! Counts that are appended with what they count, and folded into tallies later.
//!
//! A transaction that changes logs appends what that changes in the tallies as one row of
//! `tally_delta`: the cost of a count is a few bytes at the end of a table, whatever the
//! number of buckets. After some hundred commits a transaction of its own adds all rows up,
//! changes the tallies and removes the rows. Of several nodes one does so for all. Whoever counts reads both, in one snapshot: so
//! counts are exact at every moment, and a process that ends between loses nothing.

mod block;
mod deltas;

#[cfg(all(test, feature = "sqlite"))]
mod tests;
#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
mod turns;

use sea_orm::DbBackend;
use webhook_core::store::tally::LogCounters;

pub(crate) use self::deltas::Deltas;
use crate::{
    fault::DatabaseError,
    tally,
    tx::{self, Begin, Commit, Param, Tx, with},
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

/// Whether the one who asks is to fold: nobody else is about to, and nobody has just done so.
/// Each node asks after so many commits of its own, while rows are everybody's: without it they
/// would be folded as many times as often as there are nodes. Keys are given out in order,
/// so that the first and the last one tell how many rows there are.
const TURN: &str = "SELECT pg_try_advisory_xact_lock(?) AND COALESCE(\
    (SELECT MAX(id) - MIN(id) FROM tally_delta), 0) >= ? AS turn";

/// Takes all rows out, as one text.
const TAKE: &str = "WITH taken AS (DELETE FROM tally_delta RETURNING changes) \
    SELECT string_agg(encode(changes, 'hex'), '') AS changes FROM taken";

/// Appends what a transaction changes, unless that is nothing.
pub(crate) async fn append(tx: &impl Tx, counters: &LogCounters) -> Result<(), DatabaseError> {
    append_changes(tx, tally::changes(counters).into_iter()).await
}

/// Appends changes of minutes and months, in order.
pub(crate) async fn append_changes(
    tx: &impl Tx,
    changes: impl Iterator<Item = tally::Change>,
) -> Result<(), DatabaseError> {
    let changes = block::encode(changes);
    if !changes.is_empty() {
        tx.execute(with(APPEND, [changes.into()])).await?;
    }
    Ok(())
}

/// Folds all that was appended and committed, in a transaction of its own.
pub(crate) async fn fold(begin: &impl Begin) -> Result<(), DatabaseError> {
    fold_if(begin, None).await
}

/// Folds as [`fold`] does after so many commits of this node, unless another node is about to,
/// or has left fewer rows than half of them.
pub(crate) async fn fold_in_turn(begin: &impl Begin, commits: u64) -> Result<(), DatabaseError> {
    fold_if(begin, Some(commits)).await
}

async fn fold_if(begin: &impl Begin, commits: Option<u64>) -> Result<(), DatabaseError> {
    let transaction = begin.begin_writing().await?;
    let folded = apply(transaction.tx(), commits).await;
    tx::end(transaction, folded).await
}

async fn apply(tx: &impl Tx, commits: Option<u64>) -> Result<(), DatabaseError> {
    let changes = match tx.backend() {
        DbBackend::Postgres => {
            if !has_turn(tx, commits).await? {
                return Ok(());
            }
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

/// Takes the lock of those who fold, which the transaction has until it ends.
async fn has_turn(tx: &impl Tx, commits: Option<u64>) -> Result<bool, DatabaseError> {
    let Some(commits) = commits else {
        let lock = "SELECT pg_advisory_xact_lock(?)";
        tx.query(with(lock, [ADVISORY_LOCK.into()]), |_| Ok(())).await?;
        return Ok(true);
    };
    let turn = with(TURN, [ADVISORY_LOCK.into(), Param::count(commits / 2)]);
    Ok(tx.query_one(turn, |row| row.get::<bool>("turn")).await? == Some(true))
}
