//! The first logs of many ranges of indexes.

use sea_orm::prelude::Uuid;
use webhook_core::{DeliveryId, store::LogCursor};

use super::{
    index_range::{IndexRange, MAX_RANGES, indexed_by, select},
    range::{Direction, RANGE, Range},
};
use crate::{
    entity::moment,
    fault::DatabaseError,
    fold::Deltas,
    tx::{Param, Read, Row, with},
    writer::tally::Span,
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

/// The first `limit` logs that nodes hold: no more than these have in flight.
pub(crate) async fn held(
    tx: &impl Read,
    account: Uuid,
    bucket: Option<Uuid>,
    range: Range,
    direction: Direction,
    limit: u64,
) -> Result<Vec<LogCursor>, DatabaseError> {
    let mut values = vec![Param::from(account)];
    values.extend(bucket.map(Param::from));
    values.extend(range.values());
    values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    let sql = format!(
        "SELECT id, created_at FROM delivery{} WHERE held_by IS NOT NULL AND account_id = ?{} \
         AND {RANGE} ORDER BY {} LIMIT ?",
        indexed_by(tx.backend(), "delivery_held"),
        if bucket.is_some() { " AND bucket_id = ?" } else { "" },
        direction.sql(),
    );
    tx.query(with(sql, values), cursor).await
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

fn cursor(row: &Row<'_>) -> Result<LogCursor, DatabaseError> {
    Ok(LogCursor {
        created_at: moment(row.get("created_at")?),
        id: DeliveryId::from_uuid(row.get("id")?),
    })
}

/// Where logs of one status come from: pairs of a bucket and an output, which
/// is none for buckets without outputs.
pub(crate) type Sources = Vec<(Uuid, Option<Uuid>)>;

/// The sources of the account that have logs of this status, or any, in order. Where changes
/// are not folded yet, some may be among them that have none any more.
pub(crate) async fn sources(
    tx: &impl Read,
    deltas: &Deltas,
    account: Uuid,
    status: Option<i64>,
) -> Result<Sources, DatabaseError> {
    let mut values = vec![Param::from(account)];
    values.extend(status.map(Param::from));
    let sql = format!(
        "SELECT DISTINCT bucket_id, output_id FROM tally \
         WHERE span = 0 AND account_id = ? AND logs > 0{} ORDER BY bucket_id, output_id",
        if status.is_some() { " AND status = ?" } else { "" },
    );
    let folded =
        tx.query(with(sql, values), |row| Ok(source(row.get("bucket_id")?, row.get("output_id")?)));
    let mut sources = folded.await?;
    let behind = deltas.span(Span::Ever).filter(|change| {
        change.logs > 0 && status.is_none_or(|status| change.key.status == status)
    });
    sources.extend(behind.map(|change| source(change.key.bucket_id, change.key.output_id)));
    sources.sort_unstable();
    sources.dedup();
    Ok(sources)
}

fn source(bucket: Uuid, output: Uuid) -> (Uuid, Option<Uuid>) {
    (bucket, Some(output).filter(|output| !output.is_nil()))
}
