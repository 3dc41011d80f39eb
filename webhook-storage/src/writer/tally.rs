//! Running counts of logs, changed in the transactions that change the logs.

use std::{
    collections::BTreeMap,
    ops::{AddAssign, SubAssign},
};

use foldhash::HashMap;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, QueryResult, Value, prelude::Uuid};
use webhook_core::{
    Month,
    model::{DeliveryStatus, Webhook},
    store::MAX_COUNTED_DURATION,
};

use super::statement::over_all;
use crate::entity::{delivery::number, millis, moment};

pub(crate) const MINUTE_MILLIS: i64 = 60_000;
pub(crate) const DAY_MILLIS: i64 = 24 * 60 * MINUTE_MILLIS;

/// What a tally counts over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Span {
    Ever,
    Day,
    Minute,
    /// Webhooks, where the others count logs: see [`Tallies::receive`].
    Month,
}

impl Span {
    pub(crate) const fn number(self) -> i64 {
        self as i64
    }

    /// The first moment of the tally that counts what was stored at `created_at`.
    fn moment(self, created_at: i64) -> i64 {
        match self {
            Self::Ever => 0,
            Self::Day => created_at.div_euclid(DAY_MILLIS).saturating_mul(DAY_MILLIS),
            Self::Minute => created_at.div_euclid(MINUTE_MILLIS).saturating_mul(MINUTE_MILLIS),
            Self::Month => millis(Month::of(moment(created_at)).start),
        }
    }
}

/// The columns of a delivery that [`Counted::read`] reads.
pub(crate) const COLUMNS: &str =
    "account_id, bucket_id, output_id, created_at, status, status_code, attempts, duration_ns";

/// A log as it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    pub(crate) account_id: Uuid,
    pub(crate) bucket_id: Uuid,
    pub(crate) output_id: Option<Uuid>,
    pub(crate) created_at: i64,
    status: i64,
    status_code: i64,
    retries: i64,
    micros: i64,
}

impl Counted {
    /// A log that is open: what attempts brought counts with the outcome.
    pub(crate) fn open(
        account_id: Uuid,
        bucket_id: Uuid,
        output_id: Option<Uuid>,
        created_at: i64,
    ) -> Self {
        let status = number(DeliveryStatus::Received);
        Self {
            account_id,
            bucket_id,
            output_id,
            created_at,
            status,
            status_code: 0,
            retries: 0,
            micros: 0,
        }
    }

    /// The same log as it was while it was open.
    pub(crate) fn while_open(self) -> Self {
        Self::open(self.account_id, self.bucket_id, self.output_id, self.created_at)
    }

    /// The same log with this status and what attempts brought.
    pub(crate) fn with(
        self,
        status: i64,
        status_code: i64,
        attempts: i64,
        duration_ns: i64,
    ) -> Self {
        let is_open = [DeliveryStatus::Received, DeliveryStatus::Preparing]
            .into_iter()
            .any(|open| number(open) == status);
        if is_open {
            return self.while_open();
        }
        let longest = i64::try_from(MAX_COUNTED_DURATION.as_micros()).unwrap_or(i64::MAX);
        Self {
            status,
            status_code,
            retries: (attempts - 1).max(0),
            micros: (duration_ns / 1_000).clamp(0, longest),
            ..self
        }
    }

    pub(crate) fn read(row: &QueryResult) -> Result<Self, DbErr> {
        let open = Self::open(
            row.try_get_by("account_id")?,
            row.try_get_by("bucket_id")?,
            row.try_get_by("output_id")?,
            row.try_get_by("created_at")?,
        );
        open.with_status(row, row.try_get_by("status")?)
    }

    /// The same log as it was when it had this status, and all else as in `row`.
    pub(crate) fn with_status(self, row: &QueryResult, status: i64) -> Result<Self, DbErr> {
        let status_code: Option<i64> = row.try_get_by("status_code")?;
        let duration_ns: Option<i64> = row.try_get_by("duration_ns")?;
        Ok(self.with(
            status,
            status_code.unwrap_or_default(),
            row.try_get_by("attempts")?,
            duration_ns.unwrap_or_default(),
        ))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) span: Span,
    pub(super) account_id: Uuid,
    pub(super) bucket_id: Uuid,
    pub(super) moment: i64,
    pub(super) output_id: Uuid,
    pub(super) status: i64,
    pub(super) status_code: i64,
    pub(super) retries: i64,
}

/// By how much a tally changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) key: Key,
    pub(super) logs: i64,
    pub(super) micros: i64,
}

/// By how much tallies change. They are written in order and last in a
/// transaction: so transactions that run at once do not lock crosswise, and
/// hold a tally that all of them change no longer than their commit takes.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    /// Of minutes and months: those of longer spans follow from the minutes.
    changes: HashMap<Key, (i64, i64)>,
}

impl AddAssign<Counted> for Tallies {
    fn add_assign(&mut self, counted: Counted) {
        self.change(counted, 1);
    }
}

impl SubAssign<Counted> for Tallies {
    fn sub_assign(&mut self, counted: Counted) {
        self.change(counted, -1);
    }
}

const INSERT: &str = "INSERT INTO tally (span, account_id, bucket_id, moment, output_id, status, \
    status_code, retries, logs, micros) VALUES ";

const OR_CHANGE: &str = " ON CONFLICT (span, account_id, bucket_id, moment, output_id, status, \
    status_code, retries) DO UPDATE SET logs = tally.logs + excluded.logs, \
    micros = tally.micros + excluded.micros";

impl Tallies {
    fn change(&mut self, counted: Counted, by: i64) {
        let Counted { account_id, bucket_id, output_id, created_at, .. } = counted;
        let Counted { status, status_code, retries, micros, .. } = counted;
        let key = Key {
            span: Span::Minute,
            account_id,
            bucket_id,
            moment: Span::Minute.moment(created_at),
            output_id: output_id.unwrap_or_default(),
            status,
            status_code,
            retries,
        };
        let (logs, sum) = self.changes.entry(key).or_default();
        *logs += by;
        *sum += by * micros;
    }

    /// Counts a webhook that is new; nothing ever takes it away again.
    pub(crate) fn receive(&mut self, webhook: &Webhook) {
        let nil = Uuid::nil();
        let key = Key {
            span: Span::Month,
            account_id: webhook.account_id.as_uuid(),
            bucket_id: nil,
            moment: Span::Month.moment(millis(webhook.received_at)),
            output_id: nil,
            status: 0,
            status_code: 0,
            retries: 0,
        };
        self.changes.entry(key).or_default().0 += 1;
    }

    /// The tallies that change, in order.
    pub(super) fn changes(self) -> impl Iterator<Item = Change> {
        let mut changes = BTreeMap::<Key, (i64, i64)>::new();
        for (key, (logs, micros)) in self.changes {
            let spans: &[_] = match key.span {
                Span::Minute => &[Span::Ever, Span::Day, Span::Minute],
                _ => &[key.span],
            };
            for span in spans.iter().copied() {
                let moment = span.moment(key.moment);
                let sums = changes.entry(Key { span, moment, ..key }).or_default();
                *sums = (sums.0 + logs, sums.1 + micros);
            }
        }
        let changes = changes.into_iter().filter(|(_, change)| *change != (0, 0));
        changes.map(|(key, (logs, micros))| Change { key, logs, micros })
    }

    pub(crate) async fn write(self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        let rows: Vec<_> = self.changes().map(row).collect();
        for upsert in over_all(transaction.get_database_backend(), INSERT, rows, OR_CHANGE) {
            transaction.execute_raw(upsert).await?;
        }
        Ok(())
    }
}

fn row(Change { key, logs, micros }: Change) -> [Value; 10] {
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
