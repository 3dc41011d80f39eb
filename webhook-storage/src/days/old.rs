//! Dropping the tables of days whose logs are all too old.
//!
//! The counts of what goes are read from the table itself, which takes seconds where it is
//! large. So that they are right, the day is *closed* first: what has come to an end in it
//! changes no more, as if it were purged already, while what a relay has still to attempt goes
//! on as ever. Then one short transaction takes both tables out, moves what was still open into
//! the rest, and takes the counts off. Whoever ends between these steps has lost nothing: the
//! next purge begins anew, as it does where others had the tables in use all the while.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Mutex,
    time::{Duration, Instant},
};

use sea_orm::{DbBackend, prelude::Uuid};
use webhook_core::{
    Error, Timestamp,
    store::{
        OldLogs,
        tally::{self, DAY_MILLIS},
    },
};

use super::{
    Part, TABLES, begin, closing,
    counting::{MOST_COUNTS, count},
    end, key_of, left, parts,
};
use crate::{
    database::Database,
    entity::{millis, moment},
    fault::{About, DatabaseError, ErrorClass},
    fold,
    locked::locked,
    tally::Change,
    tx::{Commit, MAX_ROWS, Read, Tx, over_set, with},
};

/// So much later than its end a day is looked at: keys and moments are of two clocks.
const SLACK: Duration = Duration::from_secs(300);
/// How many deliveries of a day may still be open, and how many of its webhooks may have other
/// deliveries. More of them, and the day is purged row by row.
const MOST_KEPT: usize = 1_000;
/// How often it is tried to take a day out, which others may not let happen in time.
const TRIES: usize = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(200);
/// When a day is looked at again that could not go: a purge asks for each few hundred rows.
const LOOKED_AT_AGAIN: Duration = Duration::from_secs(3_600);

/// What became of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Dropped,
    /// Others had its tables in use all the while: it goes the next time.
    InUse,
    /// It cannot go as a whole.
    RowByRow,
}

/// The days that could not go as a whole, and when that was.
#[derive(Debug, Default)]
pub(crate) struct GivenUp(Mutex<HashMap<String, Instant>>);

impl GivenUp {
    /// Whether it is time to look at a day.
    fn may_be_looked_at(&self, day: &str) -> bool {
        let mut days = locked(&self.0);
        days.retain(|_, at| at.elapsed() < LOOKED_AT_AGAIN);
        !days.contains_key(day)
    }
}

/// What has gone with the tables of days.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    pub(crate) logs: u64,
    /// The days (UTC) and the buckets with their accounts whose tallies count less.
    pub(crate) tallies: BTreeSet<(i64, Uuid, Uuid)>,
    /// Whether a day could go and was in use, so that it is not to be purged row by row.
    pub(crate) in_use: bool,
}

/// Drops the days of which all logs are so old. What is left of them is purged row by row.
pub(crate) async fn drop_old(
    database: &Database,
    given_up: &GivenUp,
    old: &OldLogs,
) -> Result<Gone, Error> {
    let mut gone = Gone::default();
    let of_all = old.account_id.is_none() && old.bucket_id.is_none() && old.failed.is_none();
    if of_all && database.read.backend() == DbBackend::Postgres {
        let dropped = drop_in(database, given_up, old.before, &mut gone).await;
        dropped.about("log")?;
    }
    Ok(gone)
}

async fn drop_in(
    database: &Database,
    given_up: &GivenUp,
    before: Timestamp,
    gone: &mut Gone,
) -> Result<(), DatabaseError> {
    let parts = parts(&database.read).await?;
    if parts.is_empty() {
        return Ok(());
    }
    left::forget(database).await?;
    for part in parts {
        let is_over = part.until.is_some_and(|until| until + SLACK <= before);
        if !is_over || !given_up.may_be_looked_at(&part.name) {
            continue;
        }
        match drop_day(database, &part, before, gone).await? {
            Outcome::Dropped => {}
            Outcome::InUse => {
                // Who tries makes others wait: so one day is enough.
                tracing::warn!(day = part.name, "a day of logs is in use, and is dropped later");
                gone.in_use = true;
                return Ok(());
            }
            Outcome::RowByRow => {
                locked(&given_up.0).insert(part.name, Instant::now());
            }
        }
    }
    Ok(())
}

/// Drops a day, if it can go.
async fn drop_day(
    database: &Database,
    part: &Part,
    before: Timestamp,
    gone: &mut Gone,
) -> Result<Outcome, DatabaseError> {
    let (name, since) = (&*part.name, Instant::now());
    if open(&database.read, name).await?.len() > MOST_KEPT
        || needed(&database.read, part).await?.len() > MOST_KEPT
    {
        tracing::debug!(day = name, "too much of it is needed yet");
        return Ok(Outcome::RowByRow);
    }
    if let Err(error) = closing::quiet(database, name).await {
        return Ok(Outcome::after(&error));
    }
    let open = match tried(|| closing::close(database, name)).await {
        Ok(open) => open,
        Err(outcome) => return Ok(reopened(database, name, outcome).await),
    };
    let counts = count(&database.read, name, &open).await?;
    let is_old = counts.iter().all(|(_, newest)| *newest < before);
    let changes: Vec<_> = counts.into_iter().map(|(change, _)| change).collect();
    let may_go = is_old && changes.len() <= MOST_COUNTS;
    let taken = match may_go {
        true => tried(|| take_out(database, part, &open, &changes)).await,
        false => Err(Outcome::RowByRow),
    };
    let locked = match taken {
        Ok(locked) => locked,
        Err(outcome) => return Ok(reopened(database, name, outcome).await),
    };
    let logs: i64 = changes.iter().map(|change| change.logs).sum();
    gone.logs += logs.unsigned_abs();
    gone.tallies.extend(changes.iter().map(|Change { key, .. }| {
        (millis(tally::floor(moment(key.moment), DAY_MILLIS)), key.account_id, key.bucket_id)
    }));
    left::forget(database).await?;
    tracing::info!(
        day = name,
        logs = -logs,
        kept = open.len(),
        took = ?since.elapsed(),
        ?locked,
        "a day of logs is dropped"
    );
    Ok(Outcome::Dropped)
}

/// What became of a day that may be closed, and is not to be.
async fn reopened(database: &Database, name: &str, outcome: Outcome) -> Outcome {
    // Where that fails as well it stays closed until the next purge.
    let _ = tried(|| closing::reopen(database, name)).await;
    outcome
}

/// Does what waits for the locks of tables, again where it waited too long; what becomes of the
/// day when it was in vain.
async fn tried<R, F>(change: impl Fn() -> F) -> Result<R, Outcome>
where
    F: Future<Output = Result<R, DatabaseError>>,
{
    let mut outcome = Outcome::InUse;
    for _ in 0..TRIES {
        match change().await {
            Ok(done) => return Ok(done),
            Err(error) => outcome = Outcome::after(&error),
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
    Err(outcome)
}

impl Outcome {
    /// What waited too long for a lock is of the first kind, and so is a lost connection.
    fn after(error: &DatabaseError) -> Self {
        tracing::debug!(%error, "a day of logs cannot be dropped yet");
        match error.class() {
            ErrorClass::Interlocked | ErrorClass::Unavailable => Self::InUse,
            _ => Self::RowByRow,
        }
    }
}

/// What a relay has still to attempt of a day; some of it, where it is too much.
pub(super) async fn open(tx: &impl Read, name: &str) -> Result<Vec<Uuid>, DatabaseError> {
    // Each half has an index.
    let open = format!(
        "SELECT id FROM delivery_{name} WHERE due_at IS NOT NULL AND held_by IS NULL \
         UNION ALL SELECT id FROM delivery_{name} WHERE held_by IS NOT NULL LIMIT {}",
        MOST_KEPT + 1
    );
    tx.query(with(open, []), |row| row.get("id")).await
}

/// The webhooks of a day that have deliveries of other days; some of them, where they are too
/// many.
async fn needed(tx: &impl Read, day: &Part) -> Result<Vec<Uuid>, DatabaseError> {
    let Some(until) = day.until.map(key_of) else { return Ok(Vec::new()) };
    let from = day.from.unwrap_or_default();
    let others = parts(tx).await?.into_iter().filter(|part| part.name != day.name);
    let mut needed = Vec::new();
    for Part { name, .. } in others {
        let find = format!(
            "SELECT DISTINCT webhook_id FROM delivery_{name} \
             WHERE webhook_id >= ? AND webhook_id < ? LIMIT {}",
            MOST_KEPT + 1
        );
        let find = with(find, [from.into(), until.into()]);
        needed.extend(tx.query(find, |row| row.get::<Uuid>("webhook_id")).await?);
    }
    Ok(needed)
}

/// Takes the tables of a closed day out of the log, and the counts off. How long that took,
/// while everybody else waited.
async fn take_out(
    database: &Database,
    day: &Part,
    open: &[Uuid],
    changes: &[Change],
) -> Result<Duration, DatabaseError> {
    let transaction = begin(database).await?;
    let since = Instant::now();
    let taken = take_out_in(transaction.tx(), day, open, changes).await;
    end(transaction, taken).await?;
    Ok(since.elapsed())
}

async fn take_out_in(
    tx: &impl Tx,
    day: &Part,
    open: &[Uuid],
    changes: &[Change],
) -> Result<(), DatabaseError> {
    // Nobody else uses the tables from here on.
    tx.run("LOCK TABLE webhook, delivery IN ACCESS EXCLUSIVE MODE").await?;
    let mut webhooks = needed(tx, day).await?;
    let of_open = format!("SELECT webhook_id FROM delivery_{} WHERE id IN ", day.name);
    for some in open.chunks(MAX_ROWS) {
        let find = over_set(&of_open, [], some.iter().map(|id| (*id).into()), "");
        webhooks.extend(tx.query(find, |row| row.get::<Uuid>("webhook_id")).await?);
    }
    for table in TABLES {
        let part = format!("{table}_{}", day.name);
        tx.run(&format!("ALTER TABLE {table} DETACH PARTITION {part}")).await?;
        tx.run(&format!("ALTER TABLE {part} RENAME TO gone_{part}")).await?;
    }
    for (table, kept) in [("webhook", &webhooks[..]), ("delivery", open)] {
        let part = format!("gone_{table}_{}", day.name);
        let keep = format!("INSERT INTO {table} SELECT * FROM {part} WHERE id IN ");
        for some in kept.chunks(MAX_ROWS) {
            let ids = some.iter().map(|id| (*id).into());
            tx.execute(over_set(&keep, [], ids, " ON CONFLICT (id) DO NOTHING")).await?;
        }
    }
    fold::append_changes(tx, changes.iter().copied()).await
}
