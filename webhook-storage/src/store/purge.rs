//! Finding old logs, and removing them in small steps.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, prelude::Uuid};
use webhook_core::{AccountId, Error, Timestamp, model::DeliveryStatus, store::LogCursor};

use super::read_error;
use crate::{
    Storage,
    entity::{delivery::number, millis, moment},
    fault,
    listing::{self, Direction, Kind, Range, Shelf},
    writer::{
        Operation, Outcome,
        statement::with,
        tally::{DAY_MILLIS, Span},
    },
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

impl Storage {
    pub(super) async fn purge_old(
        &self,
        account: Option<AccountId>,
        before: Timestamp,
        limit: usize,
    ) -> Result<u64, Error> {
        let mut purged = 0;
        let mut left = limit;
        while left > 0 {
            let steps = self.old(account, before, left.min(LOGS_OF_A_ROUND)).await;
            let steps = steps.map_err(read_error)?;
            if steps.is_empty() {
                break;
            }
            for step in steps {
                for some in step.logs.chunks(LOGS_AT_ONCE) {
                    let purge = Operation::Purge(some.to_vec());
                    let Outcome::Purged(gone) = self.write(purge).await? else {
                        return Err(fault::wrong_outcome());
                    };
                    purged += gone;
                    left = left.saturating_sub(usize::try_from(gone).unwrap_or(usize::MAX));
                }
                self.forget_tallies(&step).await?;
            }
        }
        Ok(purged)
    }

    /// The oldest logs that can go, by day.
    async fn old(
        &self,
        account: Option<AccountId>,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<Step>, DbErr> {
        let (mut steps, mut left, mut offset) = (Vec::new(), limit, 0);
        loop {
            let (some, tallies) = self.steps(account, before, offset, left).await?;
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
        account: Option<AccountId>,
        before: Timestamp,
        offset: usize,
        limit: usize,
    ) -> Result<(Vec<Step>, usize), DbErr> {
        let read = &self.database().read;
        let sql = format!(
            "SELECT DISTINCT moment, account_id, bucket_id, output_id, status FROM tally \
             WHERE span = 1 AND moment < ? AND logs > 0{} \
             ORDER BY moment, account_id, bucket_id, output_id, status LIMIT ? OFFSET ?",
            if account.is_some() { " AND account_id = ?" } else { "" },
        );
        let [some, offset] =
            [TALLIES_AT_ONCE, offset].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let mut values = vec![millis(before).into()];
        values.extend(account.map(|account| account.as_uuid().into()));
        values.extend([some.into(), offset.into()]);
        let rows = read.query_all_raw(with(read.get_database_backend(), &sql, values)).await?;
        let shelves = rows.iter().map(shelf).collect::<Result<Vec<_>, _>>()?;

        let (mut steps, mut left) = (Vec::new(), limit);
        for day in shelves.chunk_by(|a, b| a.0 == b.0) {
            if left == 0 {
                break;
            }
            let step = self.step(day, before, left).await?;
            left = left.saturating_sub(step.logs.len());
            steps.push(step);
        }
        Ok((steps, rows.len()))
    }

    async fn step(
        &self,
        shelves: &[(i64, Shelf)],
        before: Timestamp,
        limit: usize,
    ) -> Result<Step, DbErr> {
        let day = shelves.first().map_or(0, |(day, _)| *day);
        let end = moment(day.saturating_add(DAY_MILLIS)).min(before);
        let range = Range::ALL.from(Some(moment(day))).to(Some(end));
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        let mut found = Vec::new();
        let (ended, waiting): (Vec<_>, Vec<_>) = shelves
            .iter()
            .map(|(_, shelf)| *shelf)
            .partition(|shelf| matches!(shelf.kind, Kind::Ended(_)));
        for mut of_kind in [ended, waiting] {
            of_kind.dedup();
            let direction = Direction::OldestFirst;
            let read = &self.database().read;
            found.extend(listing::first(read, &of_kind, range, direction, limit).await?);
        }
        let found = listing::merge(found, Direction::OldestFirst, limit);
        let logs = found.into_iter().map(|LogCursor { id, .. }| id.as_uuid()).collect();
        let buckets =
            shelves.iter().map(|(_, shelf)| (shelf.account_id, shelf.bucket_id)).collect();
        Ok(Step { day, buckets, logs })
    }

    /// Removes the tallies of a day that count nothing any more.
    async fn forget_tallies(&self, step: &Step) -> Result<(), Error> {
        let write = &self.database().write;
        let sql = "DELETE FROM tally WHERE span = ? AND account_id = ? AND bucket_id = ? \
            AND moment >= ? AND moment < ? AND logs = 0";
        for (account, bucket) in &step.buckets {
            for span in [Span::Day, Span::Minute] {
                let values = [
                    span.number().into(),
                    (*account).into(),
                    (*bucket).into(),
                    step.day.into(),
                    step.day.saturating_add(DAY_MILLIS).into(),
                ];
                let delete = with(write.get_database_backend(), sql, values);
                let deleted = write.execute_raw(delete).await;
                deleted.map_err(|error| fault::error(error, "tally"))?;
            }
        }
        Ok(())
    }
}

/// Where the logs of a day's tally are, and the day.
fn shelf(row: &QueryResult) -> Result<(i64, Shelf), DbErr> {
    let (output, status): (Uuid, i64) = (row.try_get_by("output_id")?, row.try_get_by("status")?);
    let bucket_id = row.try_get_by("bucket_id")?;
    let kind = if status == number(DeliveryStatus::Received) {
        Kind::ForClients { source: if output.is_nil() { bucket_id } else { output } }
    } else {
        Kind::Ended(status)
    };
    Ok((
        row.try_get_by("moment")?,
        Shelf { account_id: row.try_get_by("account_id")?, bucket_id, kind },
    ))
}
