//! Ranges of indexes as parts of one query.

use sea_orm::{DbBackend, prelude::Uuid};

use super::range::{Direction, RANGE, Range};
use crate::tx::{Param, Query, with};

/// One range of one index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IndexRange {
    /// Whose logs.
    pub(crate) account_id: Uuid,
    /// Of which bucket.
    pub(crate) bucket_id: Uuid,
    /// Which of them, and so which index.
    pub(crate) kind: Kind,
}

/// Which logs of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// What ended in this status, or stalled.
    Ended(i64),
    /// The logs whose last attempt was answered by a status code of this class, as 5 for `5xx`;
    /// 2 has no index.
    Answered(i64),
    /// What no relay is to attempt, of this output, or of the bucket when it has none.
    Waiting { source: Uuid },
    /// As `Waiting`, without what is not for clients either.
    ForClients { source: Uuid },
    /// As `ForClients`, without what consumers have leased at this moment.
    Unleased { source: Uuid, now: i64 },
    /// What a relay is to attempt and no node holds.
    Pending,
}

/// The most ranges of one query.
pub(super) const MAX_RANGES: usize = 64;

impl Kind {
    const fn index(self) -> &'static str {
        match self {
            Self::Ended(_) => "delivery_ended",
            Self::Answered(_) => "delivery_answered",
            Self::Waiting { .. } | Self::ForClients { .. } | Self::Unleased { .. } => {
                "delivery_waiting"
            }
            Self::Pending => "delivery_pending",
        }
    }

    /// Repeats what the index is limited to, word by word.
    const fn condition(self) -> &'static str {
        match self {
            Self::Ended(_) => " AND due_at IS NULL AND status NOT IN (0, 4) AND status = ?",
            Self::Answered(_) => {
                " AND status_code >= 100 AND status_code / 100 <> 2 AND status_code / 100 = ?"
            }
            Self::Waiting { .. } => {
                " AND due_at IS NULL AND status IN (0, 4) AND COALESCE(output_id, bucket_id) = ?"
            }
            Self::ForClients { .. } => {
                " AND due_at IS NULL AND status IN (0, 4) AND COALESCE(output_id, bucket_id) = ? \
                 AND (internal OR output_id IS NULL)"
            }
            Self::Unleased { .. } => {
                " AND due_at IS NULL AND status IN (0, 4) AND COALESCE(output_id, bucket_id) = ? \
                 AND (internal OR output_id IS NULL) \
                 AND (leased_until IS NULL OR leased_until <= ?)"
            }
            Self::Pending => " AND due_at IS NOT NULL AND held_by IS NULL",
        }
    }

    fn values(self) -> impl Iterator<Item = Param<'static>> {
        let (first, second) = match self {
            Self::Pending => (None, None),
            Self::Ended(number) | Self::Answered(number) => (Some(number.into()), None),
            Self::Waiting { source } | Self::ForClients { source } => (Some(source.into()), None),
            Self::Unleased { source, now } => (Some(source.into()), Some(now.into())),
        };
        first.into_iter().chain(second)
    }
}

/// Tells SQLite which index to use, which without statistics guesses; the
/// planner of PostgreSQL has them.
pub(super) fn indexed_by(backend: DbBackend, index: &str) -> String {
    match backend {
        DbBackend::Sqlite => format!(" INDEXED BY {index}"),
        _ => String::new(),
    }
}

/// The first `limit` logs of all these ranges, as `id` and `created_at`. They are at most
/// [`MAX_RANGES`], of which none has a log of another; the last one is repeated up to a power
/// of two, without its logs: so there are few different texts.
pub(super) fn select(
    backend: DbBackend,
    ranges: &[IndexRange],
    range: Range,
    direction: Direction,
    limit: i64,
) -> Query<'static> {
    let order = direction.sql();
    let mut values = Vec::with_capacity(ranges.len() * 8);
    let mut part = |part: &IndexRange, limit: i64| {
        let from = part.from(backend, range, &mut values);
        values.push(limit.into());
        format!("SELECT id, created_at {from} ORDER BY {order} LIMIT ?")
    };
    let sql = match ranges {
        [only] => part(only, limit),
        _ => {
            let parts = filled_up(ranges).enumerate().map(|(number, (of, is_repeated))| {
                let limit = if is_repeated { 0 } else { limit };
                format!("SELECT * FROM ({}) AS s{number}", part(of, limit))
            });
            let parts = parts.collect::<Vec<_>>().join(" UNION ALL ");
            values.push(limit.into());
            format!("SELECT id, created_at FROM ({parts}) AS s ORDER BY {order} LIMIT ?")
        }
    };
    with(sql, values)
}

/// How many logs there are in all these ranges, as `logs`. They are as for [`select`].
pub(super) fn count(backend: DbBackend, ranges: &[IndexRange], range: Range) -> Query<'static> {
    let mut values = Vec::with_capacity(ranges.len() * 8);
    let parts = filled_up(ranges).map(|(of, is_repeated)| {
        let from = of.from(backend, range, &mut values);
        values.push(i64::from(!is_repeated).into());
        format!("(SELECT COUNT(*) {from}) * CAST(? AS bigint)")
    });
    let sql = format!("SELECT {} AS logs", parts.collect::<Vec<_>>().join(" + "));
    with(sql, values)
}

/// The ranges and their last one again up to a power of two, which is said of it then.
fn filled_up(ranges: &[IndexRange]) -> impl Iterator<Item = (&IndexRange, bool)> {
    let repeated = ranges.len()..ranges.len().next_power_of_two();
    let last = repeated.filter_map(|_| ranges.last()).map(|last| (last, true));
    ranges.iter().map(|range| (range, false)).chain(last)
}

impl IndexRange {
    /// The end of a query that reads this range, whose values it adds.
    fn from(&self, backend: DbBackend, range: Range, values: &mut Vec<Param<'static>>) -> String {
        values.extend([self.account_id.into(), self.bucket_id.into()]);
        values.extend(self.kind.values());
        values.extend(range.values());
        format!(
            "FROM delivery{} WHERE account_id = ? AND bucket_id = ?{} AND {RANGE}",
            indexed_by(backend, self.kind.index()),
            self.kind.condition(),
        )
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{SecretKey, Storage, StorageOptions, fault::DatabaseError, tx::Read};

    async fn plan(storage: &Storage, query: Query<'_>) -> Result<Vec<String>, DatabaseError> {
        let sql = format!("EXPLAIN QUERY PLAN {}", query.sql).into();
        storage.database().read.query(Query { sql, ..query }, |row| row.get("detail")).await
    }

    #[tokio::test]
    async fn a_range_is_one_end_of_one_index() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
        let options = StorageOptions::new(url.parse()?, SecretKey::generate()?);
        let storage = Storage::connect(&options).await?;
        let source = Uuid::max();
        let kinds = [
            Kind::Ended(1),
            Kind::Answered(5),
            Kind::Waiting { source },
            Kind::ForClients { source },
            Kind::Unleased { source, now: 1 },
            Kind::Pending,
        ];
        for kind in kinds {
            for direction in [Direction::OldestFirst, Direction::NewestFirst] {
                let range = IndexRange { account_id: Uuid::nil(), bucket_id: Uuid::nil(), kind };
                let query = select(DbBackend::Sqlite, &[range], Range::ALL, direction, 9);
                let plan = plan(&storage, query).await?;
                assert_eq!(plan.len(), 1, "neither a scan nor a sort: {plan:?}");
                assert!(plan[0].starts_with("SEARCH delivery USING"), "{plan:?}");
                assert!(plan[0].contains(kind.index()), "{plan:?}");
                assert!(plan[0].contains("(created_at,id)>(?,?)"), "{plan:?}");
            }
        }
        storage.close().await;
        Ok(())
    }
}
