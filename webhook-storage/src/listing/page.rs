//! The first logs of many shelves.

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Value, prelude::Uuid};
use webhook_core::store::LogCursor;

use super::{
    range::{Direction, RANGE, Range},
    shelf::{MAX_SHELVES, Shelf, indexed_by, select},
};
use crate::{entity::moment, writer::statement::with};

/// The first `limit` logs of the shelves.
pub(crate) async fn first(
    connection: &impl ConnectionTrait,
    shelves: &[Shelf],
    range: Range,
    direction: Direction,
    limit: u64,
) -> Result<Vec<LogCursor>, DbErr> {
    let backend = connection.get_database_backend();
    let rows = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for some in shelves.chunks(MAX_SHELVES) {
        let query = select(backend, some, range, direction, rows);
        found.extend(read(connection.query_all_raw(query).await?)?);
    }
    Ok(merge(found, direction, limit))
}

/// The first `limit` logs that nodes hold: no more than these have in flight.
pub(crate) async fn held(
    connection: &impl ConnectionTrait,
    account: Uuid,
    bucket: Option<Uuid>,
    range: Range,
    direction: Direction,
    limit: u64,
) -> Result<Vec<LogCursor>, DbErr> {
    let backend = connection.get_database_backend();
    let mut values = vec![Value::from(account)];
    values.extend(bucket.map(Value::from));
    values.extend(range.values());
    values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    let sql = format!(
        "SELECT id, created_at FROM delivery{} WHERE held_by IS NOT NULL AND account_id = ?{} \
         AND {RANGE} ORDER BY {} LIMIT ?",
        indexed_by(backend, "delivery_held"),
        if bucket.is_some() { " AND bucket_id = ?" } else { "" },
        direction.sql(),
    );
    read(connection.query_all_raw(with(backend, &sql, values)).await?)
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

fn read(rows: Vec<QueryResult>) -> Result<Vec<LogCursor>, DbErr> {
    let cursor = |row: &QueryResult| {
        Ok(LogCursor {
            created_at: moment(row.try_get_by("created_at")?),
            id: webhook_core::DeliveryId::from_uuid(row.try_get_by("id")?),
        })
    };
    rows.iter().map(cursor).collect()
}

/// Where logs of one status come from: pairs of a bucket and an output, which
/// is none for buckets without outputs.
pub(crate) type Sources = Vec<(Uuid, Option<Uuid>)>;

/// The sources of the account that have logs of this status, or any.
pub(crate) async fn sources(
    connection: &impl ConnectionTrait,
    account: Uuid,
    status: Option<i64>,
) -> Result<Sources, DbErr> {
    let mut values = vec![Value::from(account)];
    values.extend(status.map(Value::from));
    let sql = format!(
        "SELECT DISTINCT bucket_id, output_id FROM tally \
         WHERE span = 0 AND account_id = ? AND logs > 0{} ORDER BY bucket_id, output_id",
        if status.is_some() { " AND status = ?" } else { "" },
    );
    let query = with(connection.get_database_backend(), &sql, values);
    let source = |row: &QueryResult| {
        let output: Uuid = row.try_get_by("output_id")?;
        Ok((row.try_get_by("bucket_id")?, Some(output).filter(|output| !output.is_nil())))
    };
    connection.query_all_raw(query).await?.iter().map(source).collect()
}
