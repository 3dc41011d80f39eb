//! The running counts of logs in the table `tally`, and what changes in them.
//!
//! Transactions that change logs [append](crate::fold) their changes; a transaction of its own
//! writes them here.

use std::{collections::BTreeMap, sync::LazyLock};

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, OutputId,
    model::DeliveryStatus,
    store::tally::{self, CountedLog, DAY_MILLIS, LogCount, LogCounters, LogKey},
};

use crate::{
    entity::{
        delivery::{number, status},
        millis, moment,
    },
    fault::DatabaseError,
    tx::{Insert, Param, Row, Tx},
};

/// What a row counts over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Span {
    Ever,
    Day,
    Minute,
    /// Webhooks, where the others count logs: see [`LogCounters::receive`].
    Month,
    /// Logs that were erased, by their minute. They count in statistics.
    Erased,
}

impl Span {
    pub(crate) const fn number(self) -> i64 {
        self as i64
    }
}

/// The columns of a delivery that [`counted`] reads.
pub(crate) const COLUMNS: &str =
    "account_id, bucket_id, output_id, created_at, status, status_code, attempts, duration_ns";

/// The delivery of this row as it is counted.
pub(crate) fn counted(row: &Row<'_>) -> Result<CountedLog, DatabaseError> {
    counted_with(row, row.get("status")?)
}

/// The delivery of this row as it was counted when it had this status.
pub(crate) fn counted_with(row: &Row<'_>, number: i64) -> Result<CountedLog, DatabaseError> {
    let open = CountedLog::open(
        AccountId::from_uuid(row.get("account_id")?),
        BucketId::from_uuid(row.get("bucket_id")?),
        row.get::<Option<_>>("output_id")?.map(OutputId::from_uuid),
        moment(row.get("created_at")?),
    );
    let status_code: Option<i64> = row.get("status_code")?;
    let attempts: i64 = row.get("attempts")?;
    let duration_ns: Option<i64> = row.get("duration_ns")?;
    Ok(open.with_outcome(
        status(number).unwrap_or(DeliveryStatus::Received),
        status_code.and_then(|code| code.try_into().ok()).unwrap_or_default(),
        attempts.try_into().unwrap_or_default(),
        duration_ns.unwrap_or_default(),
    ))
}

/// A delivery that a statement has changed.
pub(crate) struct Changed {
    pub(crate) id: Uuid,
    pub(crate) webhook_id: Uuid,
    pub(crate) ephemeral: bool,
    /// As what it is counted now.
    pub(crate) counted: CountedLog,
}

impl Changed {
    /// Reads it from `id, webhook_id, ephemeral` and [`COLUMNS`].
    pub(crate) fn of_row(row: &Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get("id")?,
            webhook_id: row.get("webhook_id")?,
            ephemeral: row.get("ephemeral")?,
            counted: counted(row)?,
        })
    }
}

/// The key of a row, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) span: Span,
    pub(crate) account_id: Uuid,
    pub(crate) bucket_id: Uuid,
    /// The first moment of the span.
    pub(crate) moment: i64,
    /// Nil for none.
    pub(crate) output_id: Uuid,
    pub(crate) status: i64,
    pub(crate) status_code: i64,
    pub(crate) retries: i64,
}

impl Key {
    /// The key of this row, whose span is known to who asked.
    pub(crate) fn of_row(row: &Row<'_>, span: Span) -> Result<Self, DatabaseError> {
        Ok(Self {
            span,
            account_id: row.get("account_id")?,
            bucket_id: row.get("bucket_id")?,
            moment: row.get("moment")?,
            output_id: row.get("output_id")?,
            status: row.get("status")?,
            status_code: row.get("status_code")?,
            retries: row.get("retries")?,
        })
    }
}

/// By how much a row changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) key: Key,
    pub(crate) logs: i64,
    pub(crate) micros: i64,
}

static CHANGE: LazyLock<Insert<10>> = LazyLock::new(|| {
    Insert::or_change(
        "tally",
        "span, account_id, bucket_id, moment, output_id, status, status_code, retries, logs, \
         micros",
        " ON CONFLICT (span, account_id, bucket_id, moment, output_id, status, status_code, \
         retries) DO UPDATE SET logs = tally.logs + excluded.logs, \
         micros = tally.micros + excluded.micros",
    )
});

/// Changes the rows of all spans by changes of minutes and months.
pub(crate) async fn write(tx: &impl Tx, changes: Vec<Change>) -> Result<(), DatabaseError> {
    tx.insert(&CHANGE, &spans(changes.into_iter()), values).await?;
    Ok(())
}

/// Adds erased logs to the tallies that statistics count. No other function writes these rows.
pub(crate) async fn write_erased(tx: &impl Tx, erased: &LogCounters) -> Result<(), DatabaseError> {
    let of_minute = |(key, LogCount { logs, micros, .. })| {
        let key = Key { span: Span::Erased, ..minute(&key) };
        Change { key, logs, micros }
    };
    let mut changes: Vec<_> = erased.logs().map(of_minute).collect();
    changes.sort_unstable_by_key(|change| change.key);
    tx.insert(&CHANGE, &changes, values).await?;
    Ok(())
}

/// The minutes and months that change, in order: the others follow from them.
pub(crate) fn changes(counters: &LogCounters) -> Vec<Change> {
    let logs = counters.logs().map(|(key, LogCount { logs, micros, .. })| Change {
        key: minute(&key),
        logs,
        micros,
    });
    let received = counters.received().map(|(account, month, webhooks)| {
        let key = Key {
            span: Span::Month,
            account_id: account.as_uuid(),
            bucket_id: Uuid::nil(),
            moment: millis(month),
            output_id: Uuid::nil(),
            status: 0,
            status_code: 0,
            retries: 0,
        };
        Change { key, logs: webhooks, micros: 0 }
    });
    let mut changes: Vec<_> = logs.chain(received).collect();
    changes.sort_unstable_by_key(|change| change.key);
    changes
}

/// What changes of minutes and months change in all spans, in order.
pub(crate) fn spans(changes: impl Iterator<Item = Change>) -> Vec<Change> {
    let mut sums = BTreeMap::<Key, (i64, i64)>::new();
    for Change { key, logs, micros } in changes {
        let spans: &[_] = match key.span {
            Span::Minute => &[Span::Ever, Span::Day, Span::Minute],
            _ => &[key.span],
        };
        for span in spans.iter().copied() {
            let moment = match span {
                Span::Ever => 0,
                Span::Day => millis(tally::floor(moment(key.moment), DAY_MILLIS)),
                Span::Minute | Span::Month | Span::Erased => key.moment,
            };
            let sums = sums.entry(Key { span, moment, ..key }).or_default();
            *sums = (sums.0 + logs, sums.1 + micros);
        }
    }
    let changed = sums.into_iter().filter(|(_, change)| *change != (0, 0));
    changed.map(|(key, (logs, micros))| Change { key, logs, micros }).collect()
}

/// The row that counts these logs over their minute.
fn minute(key: &LogKey) -> Key {
    Key {
        span: Span::Minute,
        account_id: key.account_id.as_uuid(),
        bucket_id: key.bucket_id.as_uuid(),
        moment: millis(key.minute),
        output_id: key.output_id.map(|id| id.as_uuid()).unwrap_or_default(),
        status: number(key.status),
        status_code: key.status_code.into(),
        retries: key.retries.into(),
    }
}

fn values(change: &Change) -> [Param<'_>; 10] {
    let Change { key, logs, micros } = *change;
    [
        key.span.number().into(),
        key.account_id.into(),
        key.bucket_id.into(),
        key.moment.into(),
        key.output_id.into(),
        key.status.into(),
        key.status_code.into(),
        key.retries.into(),
        logs.into(),
        micros.into(),
    ]
}
