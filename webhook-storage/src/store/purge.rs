//! Finding old logs, and removing them in small steps.

use std::collections::BTreeSet;

use sea_orm::prelude::Uuid;
use webhook_core::{
    Error, Timestamp,
    model::DeliveryStatus,
    store::{
        LogCursor, OldLogs,
        tally::{DAY_MILLIS, MINUTE_MILLIS},
    },
};

use super::purge_turn::PurgeTurn;
#[cfg(feature = "postgres")]
use crate::days;
use crate::{
    Storage,
    entity::{delivery::number, millis, moment},
    fault::{About, DatabaseError},
    fold,
    listing::{self, Direction, IndexRange, Kind, Range},
    tally::Span,
    tx::{Param, Read, Row, Tx, with},
    writer::{Purge, Purged},
};

/// How many logs are removed in one commit with what others write: so few that
/// nobody waits for it.
const LOGS_AT_ONCE: usize = 128;

/// How many logs are looked for at once, before any of them is removed.
const LOGS_OF_A_ROUND: usize = 8_192;

/// How many tallies of days are read at once.
const TALLIES_AT_ONCE: usize = 256;

/// Some logs of one day that can go.
struct Step {
    day: i64,
    buckets: BTreeSet<(Uuid, Uuid)>,
    logs: Vec<Uuid>,
}

/// What went with the tables of its days.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dropped {
    pub(crate) logs: u64,
    /// Whether more is to go with its tables, which others use, so that it is not to be purged
    /// row by row.
    pub(crate) in_use: bool,
}

impl Storage {
    pub(super) async fn purge_old(&self, old: &OldLogs, limit: usize) -> Result<u64, Error> {
        let Some(turn) = PurgeTurn::take(self.database()).await? else { return Ok(0) };
        let purged = self.purge_in_turn(&turn, old, limit).await;
        turn.give_up().await;
        purged
    }

    async fn purge_in_turn(
        &self,
        turn: &PurgeTurn<'_>,
        old: &OldLogs,
        limit: usize,
    ) -> Result<u64, Error> {
        self.forget_erased(old).await?;
        let Dropped { logs: mut purged, in_use } = self.drop_days(old).await?;
        if in_use {
            return Ok(purged);
        }
        let gone = usize::try_from(purged).unwrap_or(usize::MAX);
        let mut left = limit.saturating_sub(gone);
        // Once the object store does not answer, the rest is for the rule of its bucket.
        let mut bodies = self.bodies();
        while left > 0 {
            turn.keep().await?;
            self.fold().await?;
            let steps = self.old(old, left.min(LOGS_OF_A_ROUND)).await?;
            if steps.is_empty() {
                break;
            }
            let before = purged;
            for step in &steps {
                for some in step.logs.chunks(LOGS_AT_ONCE) {
                    let purge =
                        Purge { logs: some.to_vec(), with_objects: self.bodies().is_some() };
                    let Purged { logs: gone, objects } = self.write(purge).await?;
                    purged += gone;
                    left = left.saturating_sub(usize::try_from(gone).unwrap_or(usize::MAX));
                    if let Some(some) = bodies.filter(|_| !objects.is_empty()) {
                        bodies = some.delete(objects).await.then_some(some);
                    }
                }
            }
            self.fold().await?;
            for step in &steps {
                self.forget_tallies(step).await?;
            }
            if purged == before {
                // Another node has removed them, or is about to.
                break;
            }
        }
        Ok(purged)
    }

    async fn drop_days(&self, old: &OldLogs) -> Result<Dropped, Error> {
        #[cfg(feature = "postgres")]
        {
            let gone = days::drop_old(self.database(), self.given_up(), old).await?;
            if gone.logs > 0 {
                self.fold().await?;
            }
            for (day, account, bucket) in gone.tallies {
                let buckets = BTreeSet::from([(account, bucket)]);
                self.forget_tallies(&Step { day, buckets, logs: Vec::new() }).await?;
            }
            Ok(Dropped { logs: gone.logs, in_use: gone.in_use })
        }
        #[cfg(not(feature = "postgres"))]
        {
            let _ = old;
            Ok(Dropped::default())
        }
    }

    /// Purging looks at tallies for what is there, and removes those that count nothing any more.
    async fn fold(&self) -> Result<(), Error> {
        fold::fold(self.database()).await.about("tally")
    }

    /// The oldest logs that can go, by day.
    async fn old(&self, old: &OldLogs, limit: usize) -> Result<Vec<Step>, DatabaseError> {
        let (mut steps, mut left, mut offset) = (Vec::new(), limit, 0);
        loop {
            let (some, tallies) = self.steps(old, offset, left).await?;
            for step in some {
                left = left.saturating_sub(step.logs.len());
                if !step.logs.is_empty() {
                    steps.push(step);
                }
            }
            if left == 0 || tallies < TALLIES_AT_ONCE {
                return Ok(steps);
            }
            offset += tallies;
        }
    }

    /// What can go of the days from the one with number `offset` on, and how
    /// many tallies were looked at.
    async fn steps(
        &self,
        old: &OldLogs,
        offset: usize,
        limit: usize,
    ) -> Result<(Vec<Step>, usize), DatabaseError> {
        let read = &self.database().read;
        let mut conditions = Conditions::default();
        conditions.add("span = 1 AND moment < ? AND logs > 0", millis(old.before));
        conditions.of(old);
        let Conditions { sql, mut values } = conditions;
        let sql = format!(
            "SELECT DISTINCT moment, account_id, bucket_id, output_id, status FROM tally \
             WHERE {sql} \
             ORDER BY moment, account_id, bucket_id, output_id, status LIMIT ? OFFSET ?"
        );
        values.extend([TALLIES_AT_ONCE, offset].map(Param::count));
        let ranges = read.query(with(sql, values), range).await?;

        let (mut steps, mut left) = (Vec::new(), limit);
        for day in ranges.chunk_by(|a, b| a.0 == b.0) {
            if left == 0 {
                break;
            }
            let step = self.step(day, old.before, left).await?;
            left = left.saturating_sub(step.logs.len());
            steps.push(step);
        }
        Ok((steps, ranges.len()))
    }

    async fn step(
        &self,
        ranges: &[(i64, IndexRange)],
        before: Timestamp,
        limit: usize,
    ) -> Result<Step, DatabaseError> {
        let day = ranges.first().map_or(0, |(day, _)| *day);
        let end = moment(day.saturating_add(DAY_MILLIS)).min(before);
        let range = Range::ALL.from(Some(moment(day))).to(Some(end));
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        let mut found = Vec::new();
        let (ended, waiting): (Vec<_>, Vec<_>) = ranges
            .iter()
            .map(|(_, range)| *range)
            .partition(|range| matches!(range.kind, Kind::Ended(_)));
        for mut of_kind in [ended, waiting] {
            of_kind.dedup();
            let direction = Direction::OldestFirst;
            let read = &self.database().read;
            found.extend(listing::first(read, &of_kind, range, direction, limit).await?);
        }
        let found = listing::merge(found, Direction::OldestFirst, limit);
        let logs = found.into_iter().map(|LogCursor { id, .. }| id.as_uuid()).collect();
        let buckets = ranges.iter().map(|(_, range)| (range.account_id, range.bucket_id)).collect();
        Ok(Step { day, buckets, logs })
    }

    /// Counts no erased logs any more that are so old.
    async fn forget_erased(&self, old: &OldLogs) -> Result<(), Error> {
        let mut conditions = Conditions::default();
        conditions.add("span = ?", Span::Erased.number());
        conditions.add(" AND moment <= ?", millis(old.before).saturating_sub(MINUTE_MILLIS));
        conditions.of(old);
        let Conditions { sql, values } = conditions;
        let forget = with(format!("DELETE FROM tally WHERE {sql}"), values);
        self.database().write.execute(forget).await.map(drop).about("tally")
    }

    /// Removes the tallies of a day that count nothing any more.
    async fn forget_tallies(&self, step: &Step) -> Result<(), Error> {
        let write = &self.database().write;
        let sql = "DELETE FROM tally WHERE span = ? AND account_id = ? AND bucket_id = ? \
            AND moment >= ? AND moment < ? AND logs = 0";
        for (account, bucket) in &step.buckets {
            for span in [Span::Day, Span::Minute] {
                let values: [Param<'_>; 5] = [
                    span.number().into(),
                    (*account).into(),
                    (*bucket).into(),
                    step.day.into(),
                    step.day.saturating_add(DAY_MILLIS).into(),
                ];
                let deleted = write.execute(with(sql, values)).await;
                deleted.about("tally")?;
            }
        }
        Ok(())
    }
}

/// Which tallies are meant.
#[derive(Default)]
struct Conditions {
    sql: String,
    values: Vec<Param<'static>>,
}

impl Conditions {
    fn add(&mut self, condition: &str, value: impl Into<Param<'static>>) {
        self.sql.push_str(condition);
        self.values.push(value.into());
    }

    /// The tallies of the account, the bucket and the statuses of old logs.
    fn of(&mut self, old: &OldLogs) {
        let OldLogs { account_id, bucket_id, failed, .. } = *old;
        if let Some(account) = account_id {
            self.add(" AND account_id = ?", account.as_uuid());
        }
        if let Some(bucket) = bucket_id {
            self.add(" AND bucket_id = ?", bucket.as_uuid());
        }
        if let Some(failed) = failed {
            self.sql.push_str(if failed {
                " AND status IN (?, ?)"
            } else {
                " AND status NOT IN (?, ?)"
            });
            let failed = [DeliveryStatus::Failed, DeliveryStatus::Stalled];
            self.values.extend(failed.map(number).map(Param::from));
        }
    }
}

/// Where the logs of a day's tally are, and the day.
fn range(row: &Row<'_>) -> Result<(i64, IndexRange), DatabaseError> {
    let (output, status): (Uuid, i64) = (row.get("output_id")?, row.get("status")?);
    let bucket_id = row.get("bucket_id")?;
    let kind = if status == number(DeliveryStatus::Received) {
        Kind::ForClients { source: if output.is_nil() { bucket_id } else { output } }
    } else {
        Kind::Ended(status)
    };
    Ok((row.get("moment")?, IndexRange { account_id: row.get("account_id")?, bucket_id, kind }))
}
