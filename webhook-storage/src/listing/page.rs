//! The first logs of many ranges of indexes.

use webhook_core::{DeliveryId, store::LogCursor};

use super::{
    index_range::{IndexRange, MAX_RANGES, select},
    range::{Direction, Range},
};
use crate::{
    entity::moment,
    fault::DatabaseError,
    tx::{Read, Row},
};

/// The first `limit` logs of these ranges of indexes.
pub(crate) async fn first(
    tx: &impl Read,
    ranges: &[IndexRange],
    range: Range,
    direction: Direction,
    limit: u64,
) -> Result<Vec<LogCursor>, DatabaseError> {
    let rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for some in ranges.chunks(MAX_RANGES) {
        let query = select(tx.backend(), some, range, direction, rows);
        found.extend(tx.query(query, cursor).await?);
    }
    Ok(merge(found, direction, limit))
}

/// `found` in order, without what is in it twice.
pub(crate) fn merge(mut found: Vec<LogCursor>, direction: Direction, limit: u64) -> Vec<LogCursor> {
    found.sort_unstable();
    found.dedup();
    if direction == Direction::NewestFirst {
        found.reverse();
    }
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    found
}

pub(super) fn cursor(row: &Row<'_>) -> Result<LogCursor, DatabaseError> {
    Ok(LogCursor {
        created_at: moment(row.get("created_at")?),
        id: DeliveryId::from_uuid(row.get("id")?),
    })
}
