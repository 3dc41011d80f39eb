//! Where the logs of a query lie.

use std::ops::RangeInclusive;

use sea_orm::prelude::Uuid;
use webhook_core::{
    model::DeliveryStatus,
    store::{LogCursor, tally::counted_as},
};

use super::{
    index_range::{IndexRange, Kind, MAX_RANGES, count, indexed_by},
    page::{cursor, first, merge},
    range::{Direction, RANGE, Range},
    sources::Source,
};
use crate::{
    entity::delivery::number,
    fault::DatabaseError,
    tx::{Param, Query, Read, with},
};

/// Where the logs of an account lie that have one status, or any. Each log is in one place:
/// no index has all of them, because what it would cost with every webhook is more than what
/// lists save by it.
#[derive(Debug)]
pub(crate) struct Places {
    account_id: Uuid,
    bucket_id: Option<Uuid>,
    ranges: Vec<IndexRange>,
    /// Whether what nodes hold belongs to it.
    held: bool,
}

impl Places {
    /// Where the logs of these sources lie, of one bucket or all.
    pub(crate) fn new(
        account_id: Uuid,
        bucket_id: Option<Uuid>,
        status: Option<DeliveryStatus>,
        sources: &[Source],
    ) -> Self {
        let open = number(DeliveryStatus::Received);
        let status = status.map(|status| number(counted_as(status)));
        let wanted = sources.iter().filter(|source| {
            bucket_id.is_none_or(|bucket| bucket == source.bucket_id)
                && status.is_none_or(|status| status == source.status)
        });
        let mut ranges = Vec::new();
        for source in wanted {
            let bucket_id = source.bucket_id;
            let mut add = |kind| ranges.push(IndexRange { account_id, bucket_id, kind });
            if source.status == open {
                add(Kind::Waiting { source: source.id() });
                add(Kind::Pending);
            } else {
                add(Kind::Ended(source.status));
            }
        }
        // Several outputs have one range of what ended.
        ranges.sort_unstable();
        ranges.dedup();
        Self { account_id, bucket_id, ranges, held: status.is_none_or(|status| status == open) }
    }

    /// Where the logs lie that were answered by one of these status codes, among others of their
    /// class. None for codes of several classes, for no answer and for success: these have no index.
    pub(crate) fn answered(
        account_id: Uuid,
        bucket_id: Option<Uuid>,
        codes: &RangeInclusive<u16>,
        sources: &[Source],
    ) -> Option<Self> {
        let class = codes.start() / 100;
        if matches!(class, 0 | 2) || class != codes.end() / 100 {
            return None;
        }
        let kind = Kind::Answered(class.into());
        let wanted = sources.iter().map(|source| source.bucket_id);
        let wanted = wanted.filter(|id| bucket_id.is_none_or(|bucket| bucket == *id));
        let range = |bucket_id| IndexRange { account_id, bucket_id, kind };
        // A bucket has a source for each output and status.
        let mut ranges: Vec<_> = wanted.map(range).collect();
        ranges.dedup();
        Some(Self { account_id, bucket_id, ranges, held: false })
    }

    /// The first `limit` logs.
    pub(crate) async fn first(
        &self,
        tx: &impl Read,
        range: Range,
        direction: Direction,
        limit: u64,
    ) -> Result<Vec<LogCursor>, DatabaseError> {
        let mut found = first(tx, &self.ranges, range, direction, limit).await?;
        if self.held {
            let tail = format!(" ORDER BY {} LIMIT ?", direction.sql());
            let mut query = self.held(tx, "id, created_at", range, &tail);
            query.values.push(Param::count(limit));
            found.extend(tx.query(query, cursor).await?);
        }
        Ok(merge(found, direction, limit))
    }

    /// How many logs there are in a range, counted one by one.
    pub(crate) async fn count(&self, tx: &impl Read, range: Range) -> Result<i64, DatabaseError> {
        let ranges = self.ranges.chunks(MAX_RANGES);
        let mut queries: Vec<_> = ranges.map(|some| count(tx.backend(), some, range)).collect();
        if self.held {
            queries.push(self.held(tx, "COUNT(*) AS logs", range, ""));
        }
        let mut logs = 0;
        for query in queries {
            logs += tx.query_one(query, |row| row.get::<i64>("logs")).await?.unwrap_or_default();
        }
        Ok(logs)
    }

    /// Reads what nodes hold: no more than these have in flight.
    fn held(&self, tx: &impl Read, what: &str, range: Range, tail: &str) -> Query<'static> {
        let mut values = vec![Param::from(self.account_id)];
        values.extend(self.bucket_id.map(Param::from));
        values.extend(range.values());
        let sql = format!(
            "SELECT {what} FROM delivery{} WHERE held_by IS NOT NULL AND account_id = ?{} \
             AND {RANGE}{tail}",
            indexed_by(tx.backend(), "delivery_held"),
            if self.bucket_id.is_some() { " AND bucket_id = ?" } else { "" },
        );
        with(sql, values)
    }
}
