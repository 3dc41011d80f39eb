//! The running counts of logs in the table `tally`, changed in the transactions that
//! change the logs.

use std::{collections::BTreeMap, sync::LazyLock};

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, OutputId,
    model::DeliveryStatus,
    store::tally::{self, CountedLog, DAY_MILLIS, LogCounters, LogKey, MINUTE_MILLIS},
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

/// The key of a row, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    span: Span,
    account_id: Uuid,
    bucket_id: Uuid,
    /// The first moment of the span.
    moment: i64,
    /// Nil for none.
    output_id: Uuid,
    status: i64,
    status_code: i64,
    retries: i64,
}

/// By how much a row changes.
#[derive(Clone, Copy, Debug)]
struct Change {
    key: Key,
    logs: i64,
    micros: i64,
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

/// Changes the rows by what the counters add up to.
///
/// It comes last in a transaction, and in the order of keys: so transactions that run at once
/// do not lock crosswise, and hold a row that all of them change no longer than their
/// commit takes.
pub(crate) async fn write(tx: &impl Tx, counters: &LogCounters) -> Result<(), DatabaseError> {
    tx.insert(&CHANGE, &changes(counters), values).await?;
    Ok(())
}

/// The rows that change, in order.
fn changes(counters: &LogCounters) -> Vec<Change> {
    let mut changes = BTreeMap::<Key, (i64, i64)>::new();
    for (key, count) in counters.logs() {
        for span in [Span::Ever, Span::Day, Span::Minute] {
            let sums = changes.entry(log_key(&key, span)).or_default();
            *sums = (sums.0 + count.logs, sums.1 + count.micros);
        }
    }
    for (account, month, webhooks) in counters.received() {
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
        changes.insert(key, (webhooks, 0));
    }
    let changes = changes.into_iter().filter(|(_, change)| *change != (0, 0));
    changes.map(|(key, (logs, micros))| Change { key, logs, micros }).collect()
}

/// The row that counts these logs over a span.
fn log_key(key: &LogKey, span: Span) -> Key {
    let moment = match span {
        Span::Day => millis(tally::floor(key.minute, DAY_MILLIS)),
        Span::Minute => millis(tally::floor(key.minute, MINUTE_MILLIS)),
        Span::Ever | Span::Month => 0,
    };
    Key {
        span,
        account_id: key.account_id.as_uuid(),
        bucket_id: key.bucket_id.as_uuid(),
        moment,
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
