//! What a log counts as: the one truth of every store that keeps running counts.
//!
//! Nothing here reads or writes. A store tells [`LogCounters`] what logs were and what
//! they become; the counters know under which [`LogKey`] that changes what. A store in
//! memory keeps the counters themselves and asks them for statistics, a database is
//! changed by what they add up to, and sums its rows to [`LogSums`], from which
//! [`days`] and [`minutes`] make statistics.

use std::{
    collections::{BTreeMap, hash_map::Entry},
    time::Duration,
};

use foldhash::HashMap;

use super::{CountQuery, DayCount, MAX_COUNTED_DURATION, MinuteCount, OldLogs};
use crate::{
    clock::{Month, Timestamp},
    id::{AccountId, BucketId, OutputId},
    model::DeliveryStatus,
};

/// The milliseconds of a minute.
pub const MINUTE_MILLIS: i64 = 60_000;
/// The milliseconds of a day.
pub const DAY_MILLIS: i64 = 24 * 60 * MINUTE_MILLIS;

/// Under which status a log counts: one that is being attempted waits like any other.
#[must_use]
pub const fn counted_as(status: DeliveryStatus) -> DeliveryStatus {
    match status {
        DeliveryStatus::Preparing => DeliveryStatus::Received,
        status => status,
    }
}

/// What logs that are counted together have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LogKey {
    /// Whose logs they are.
    pub account_id: AccountId,
    /// The bucket that the webhooks came into.
    pub bucket_id: BucketId,
    /// Where they go; none for buckets without outputs.
    pub output_id: Option<OutputId>,
    /// The first moment of the minute in which they were stored.
    pub minute: Timestamp,
    /// Their status, which is never `Preparing`.
    pub status: DeliveryStatus,
    /// What the destination answered; 0 when it did not, or while the log is open.
    pub status_code: u16,
    /// Attempts beyond the first; 0 while the log is open.
    pub retries: u32,
}

/// One log as it is counted.
///
/// What attempts bring counts with the outcome: an open log, which is `Received` or
/// `Preparing`, counts without status code, retries and duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountedLog {
    /// Under what it counts.
    pub key: LogKey,
    /// How long the last attempt took, in microseconds, at most [`MAX_COUNTED_DURATION`].
    pub micros: i64,
}

impl CountedLog {
    /// An open log that was stored at `created_at`.
    #[must_use]
    pub fn open(
        account_id: AccountId,
        bucket_id: BucketId,
        output_id: Option<OutputId>,
        created_at: Timestamp,
    ) -> Self {
        let key = LogKey {
            account_id,
            bucket_id,
            output_id,
            minute: floor(created_at, MINUTE_MILLIS),
            status: DeliveryStatus::Received,
            status_code: 0,
            retries: 0,
        };
        Self { key, micros: 0 }
    }

    /// The same log as it was while it was open.
    #[must_use]
    pub fn while_open(self) -> Self {
        let key =
            LogKey { status: DeliveryStatus::Received, status_code: 0, retries: 0, ..self.key };
        Self { key, micros: 0 }
    }

    /// The same log with this status and what `attempts` attempts brought, the last of
    /// which took so many nanoseconds.
    #[must_use]
    pub fn with_outcome(
        self,
        status: DeliveryStatus,
        status_code: u16,
        attempts: u32,
        duration_ns: i64,
    ) -> Self {
        let status = counted_as(status);
        if status == DeliveryStatus::Received {
            return self.while_open();
        }
        let longest = i64::try_from(MAX_COUNTED_DURATION.as_micros()).unwrap_or(i64::MAX);
        let key = LogKey { status, status_code, retries: attempts.saturating_sub(1), ..self.key };
        Self { key, micros: (duration_ns / 1_000).clamp(0, longest) }
    }
}

/// How many logs, or by how many more or fewer, and how long their last attempts took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogCount {
    /// The logs.
    pub logs: i64,
    /// The microseconds of all of them together.
    pub micros: i64,
}

/// Counts of logs and of received webhooks, or what changes such counts.
#[derive(Clone, Debug, Default)]
pub struct LogCounters {
    /// What is not zero.
    logs: HashMap<LogKey, LogCount>,
    /// Webhooks by account and the first moment of a month.
    received: HashMap<(AccountId, Timestamp), i64>,
}

impl LogCounters {
    /// Counts a log in.
    pub fn add(&mut self, log: CountedLog) {
        self.change(log, 1);
    }

    /// Takes back what [`add`](Self::add) was told.
    pub fn subtract(&mut self, log: CountedLog) {
        self.change(log, -1);
    }

    /// Counts a log in that is counted as something else so far.
    pub fn replace(&mut self, before: CountedLog, after: CountedLog) {
        self.subtract(before);
        self.add(after);
    }

    fn change(&mut self, CountedLog { key, micros }: CountedLog, by: i64) {
        match self.logs.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(LogCount { logs: by, micros: by * micros });
            }
            Entry::Occupied(mut entry) => {
                let count = entry.get_mut();
                *count = LogCount { logs: count.logs + by, micros: count.micros + by * micros };
                if *count == LogCount::default() {
                    entry.remove();
                }
            }
        }
    }

    /// Counts a webhook that is new; nothing ever takes it away again.
    pub fn receive(&mut self, account: AccountId, month: Month) {
        *self.received.entry((account, month.start)).or_default() += 1;
    }

    /// Whether nothing is counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.logs.is_empty() && self.received.is_empty()
    }

    /// The logs by what they have in common, in no order.
    pub fn logs(&self) -> impl Iterator<Item = (LogKey, LogCount)> {
        self.logs.iter().map(|(key, count)| (*key, *count))
    }

    /// The webhooks by account and the first moment of a month, in no order.
    pub fn received(&self) -> impl Iterator<Item = (AccountId, Timestamp, i64)> {
        self.received.iter().map(|((account, month), webhooks)| (*account, *month, *webhooks))
    }

    /// How many webhooks the account received in the month of `moment`.
    #[must_use]
    pub fn received_in(&self, account: AccountId, moment: Timestamp) -> u64 {
        let month = (account, Month::of(moment).start);
        self.received.get(&month).map_or(0, |webhooks| webhooks.unsigned_abs())
    }

    /// The days of what the query counts.
    #[must_use]
    pub fn days(&self, query: &CountQuery) -> Vec<DayCount> {
        days(self.sums(query, DAY_MILLIS))
    }

    /// The minutes of what the query counts.
    #[must_use]
    pub fn minutes(&self, query: &CountQuery) -> Vec<MinuteCount> {
        minutes(self.sums(query, MINUTE_MILLIS))
    }

    /// What the query counts, by moments that are so many milliseconds apart.
    pub(crate) fn sums(
        &self,
        query: &CountQuery,
        unit_millis: i64,
    ) -> impl Iterator<Item = LogSums> {
        let CountQuery { bucket_id, output_id, status, status_code, .. } = *query;
        let status = status.map(counted_as);
        let (from, to) = whole(query, unit_millis);
        let wanted = self.logs.iter().filter(move |(key, _)| {
            key.minute >= from
                && key.minute < to
                && bucket_id.is_none_or(|bucket| key.bucket_id == bucket)
                && output_id.is_none_or(|output| key.output_id == Some(output))
                && status.is_none_or(|status| key.status == status)
                && status_code.is_none_or(|code| key.status_code == code)
        });
        wanted.map(move |(key, count)| LogSums::of(key, *count, unit_millis))
    }
}

/// The last moment of this kind that is not after `moment`: its minute's, or its day's.
#[must_use]
pub const fn floor(moment: Timestamp, unit_millis: i64) -> Timestamp {
    let millis = moment.as_millis();
    Timestamp::from_millis(millis.div_euclid(unit_millis).saturating_mul(unit_millis))
}

/// The first moment of this kind that is not before `moment`.
#[must_use]
pub const fn ceil(moment: Timestamp, unit_millis: i64) -> Timestamp {
    match moment.as_millis().rem_euclid(unit_millis) {
        0 => moment,
        _ => {
            let floor = floor(moment, unit_millis).as_millis();
            Timestamp::from_millis(floor.saturating_add(unit_millis))
        }
    }
}

/// The whole minutes or days that the query counts: from the first moment on, up to the
/// second, which does not belong to it.
#[must_use]
pub fn whole(query: &CountQuery, unit_millis: i64) -> (Timestamp, Timestamp) {
    let (least, most) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
    (
        query.from.map_or(least, |from| floor(from, unit_millis)),
        query.to.map_or(most, |to| ceil(to, unit_millis)),
    )
}

/// Sums over logs of one status and one minute, or one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogSums {
    /// The first moment of the minute or the day.
    pub moment: Timestamp,
    /// The status of the logs, as they are counted.
    pub status: DeliveryStatus,
    /// The logs.
    pub logs: u64,
    /// Those of them whose destination answered.
    pub answered: u64,
    /// The microseconds of the last attempts of those.
    pub micros: u64,
    /// The logs with more than one attempt.
    pub retried: u64,
    /// Attempts beyond the first, of all together.
    pub retry_count: u64,
    /// Attempts beyond the first, of the log that has most.
    pub max_retries: u64,
}

impl LogSums {
    /// No logs.
    #[must_use]
    pub const fn new(moment: Timestamp, status: DeliveryStatus) -> Self {
        Self {
            moment,
            status,
            logs: 0,
            answered: 0,
            micros: 0,
            retried: 0,
            retry_count: 0,
            max_retries: 0,
        }
    }

    fn of(key: &LogKey, count: LogCount, unit_millis: i64) -> Self {
        let (logs, micros) = (count.logs.unsigned_abs(), count.micros.unsigned_abs());
        let (answered, micros) = if key.status_code == 0 { (0, 0) } else { (logs, micros) };
        let retries = u64::from(key.retries);
        Self {
            logs,
            answered,
            micros,
            retried: if retries == 0 { 0 } else { logs },
            retry_count: retries * logs,
            max_retries: retries,
            ..Self::new(floor(key.minute, unit_millis), key.status)
        }
    }
}

/// Statistics by day, oldest first, from sums over days.
#[must_use]
pub fn days(sums: impl IntoIterator<Item = LogSums>) -> Vec<DayCount> {
    let mut days = BTreeMap::<_, DayCount>::new();
    for sums in sums {
        let day = days.entry(sums.moment).or_default();
        day.day = sums.moment;
        day.received += sums.logs;
        match sums.status {
            DeliveryStatus::Sent => day.success += sums.logs,
            DeliveryStatus::Failed => day.failures += sums.logs,
            _ => {}
        }
        day.retried += sums.retried;
        day.retry_count += sums.retry_count;
        day.max_retries = day.max_retries.max(sums.max_retries);
    }
    days.into_values().collect()
}

/// Statistics by minute, oldest first, from sums over minutes.
#[must_use]
pub fn minutes(sums: impl IntoIterator<Item = LogSums>) -> Vec<MinuteCount> {
    let mut minutes = BTreeMap::<_, (MinuteCount, u64, u64)>::new();
    for sums in sums {
        let (minute, answered, micros) = minutes.entry(sums.moment).or_default();
        minute.minute = sums.moment;
        *minute.counts.entry(sums.status.as_str()).or_default() += sums.logs;
        minute.retried += sums.retried;
        minute.retry_count += sums.retry_count;
        minute.max_retries = minute.max_retries.max(sums.max_retries);
        *answered += sums.answered;
        *micros += sums.micros;
    }
    let average = |(mut minute, answered, micros): (MinuteCount, u64, u64)| {
        minute.latency_ms_avg = micros as f64 / 1e3 / answered.max(1) as f64;
        minute
    };
    minutes.into_values().map(average).collect()
}

impl OldLogs {
    /// Whether all logs that are counted under `key` are meant.
    #[must_use]
    pub fn counts(&self, key: &LogKey) -> bool {
        let minute = Duration::from_millis(MINUTE_MILLIS.unsigned_abs());
        key.minute + minute <= self.before
            && self.account_id.is_none_or(|account| key.account_id == account)
            && self.bucket_id.is_none_or(|bucket| key.bucket_id == bucket)
            && self.has(key.status)
    }
}

#[cfg(test)]
mod tests;
