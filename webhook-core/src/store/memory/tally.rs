//! Running counts of all logs.

use std::{
    collections::{BTreeMap, btree_map},
    time::Duration,
};

use foldhash::HashMap;

use super::row::Row;
use crate::{
    clock::{Month, Timestamp},
    id::{AccountId, BucketId, OutputId},
    model::{DeliveryStatus, Webhook},
    store::{CountQuery, DayCount, MinuteCount},
};

const MINUTE_MILLIS: i64 = 60_000;
const DAY_MILLIS: i64 = 24 * 60 * MINUTE_MILLIS;

/// As what a log is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Counted {
    pub(super) status: &'static str,
    pub(super) status_code: u16,
    pub(super) retries: u32,
    pub(super) duration: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    minute: i64,
    bucket_id: BucketId,
    output_id: Option<OutputId>,
    status: &'static str,
    status_code: u16,
    retries: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    logs: u64,
    duration: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Tallies {
    accounts: HashMap<AccountId, BTreeMap<Key, Tally>>,
    /// Webhooks by account and the first moment of the month.
    months: HashMap<(AccountId, Timestamp), u64>,
}

fn count(webhook: &Webhook, row: &Row) -> (Key, Duration) {
    let Counted { status, status_code, retries, duration } = row.counted();
    let key = Key {
        minute: row.created_at.as_millis().div_euclid(MINUTE_MILLIS),
        bucket_id: webhook.bucket_id,
        output_id: row.output_id,
        status,
        status_code,
        retries,
    };
    (key, duration)
}

impl Tallies {
    pub(super) fn add(&mut self, webhook: &Webhook, row: &Row) {
        let (key, duration) = count(webhook, row);
        let tallies = self.accounts.entry(webhook.account_id).or_default();
        let tally = tallies.entry(key).or_default();
        tally.logs += 1;
        tally.duration += duration;
    }

    /// Counts a webhook that is new.
    pub(super) fn receive(&mut self, account: AccountId, month: Month) {
        *self.months.entry((account, month.start)).or_default() += 1;
    }

    pub(super) fn received(&self, account: AccountId, moment: Timestamp) -> u64 {
        self.months.get(&(account, Month::of(moment).start)).copied().unwrap_or_default()
    }

    pub(super) fn subtract(&mut self, webhook: &Webhook, row: &Row) {
        let (key, duration) = count(webhook, row);
        let Some(tallies) = self.accounts.get_mut(&webhook.account_id) else { return };
        if let btree_map::Entry::Occupied(mut entry) = tallies.entry(key) {
            let tally = entry.get_mut();
            tally.logs -= 1;
            tally.duration -= duration;
            if tally.logs == 0 {
                entry.remove();
            }
        }
        if tallies.is_empty() {
            self.accounts.remove(&webhook.account_id);
        }
    }

    pub(super) fn days(&self, account: AccountId, query: &CountQuery) -> Vec<DayCount> {
        let mut days = BTreeMap::<_, DayCount>::new();
        for (key, tally) in self.select(account, query, DAY_MILLIS) {
            let day = key.minute.saturating_mul(MINUTE_MILLIS).div_euclid(DAY_MILLIS) * DAY_MILLIS;
            let count = days.entry(day).or_default();
            count.day = Timestamp::from_millis(day);
            count.received += tally.logs;
            if key.status == DeliveryStatus::Sent.as_str() {
                count.success += tally.logs;
            }
            if key.status == DeliveryStatus::Failed.as_str() {
                count.failures += tally.logs;
            }
            if key.retries > 0 {
                count.retried += tally.logs;
            }
            let retries = u64::from(key.retries);
            count.retry_count += retries * tally.logs;
            count.max_retries = count.max_retries.max(retries);
        }
        days.into_values().collect()
    }

    pub(super) fn minutes(&self, account: AccountId, query: &CountQuery) -> Vec<MinuteCount> {
        let mut minutes = BTreeMap::<_, (MinuteCount, u64, Duration)>::new();
        for (key, tally) in self.select(account, query, MINUTE_MILLIS) {
            let (count, answered, duration) = minutes.entry(key.minute).or_default();
            count.minute = Timestamp::from_millis(key.minute.saturating_mul(MINUTE_MILLIS));
            *count.counts.entry(key.status).or_default() += tally.logs;
            if key.retries > 0 {
                count.retried += tally.logs;
            }
            let retries = u64::from(key.retries);
            count.retry_count += retries * tally.logs;
            count.max_retries = count.max_retries.max(retries);
            if key.status_code != 0 {
                *answered += tally.logs;
                *duration += tally.duration;
            }
        }
        let average = |(count, answered, duration): (MinuteCount, u64, Duration)| {
            let latency_ms_avg = duration.as_secs_f64() * 1e3 / answered.max(1) as f64;
            MinuteCount { latency_ms_avg, ..count }
        };
        minutes.into_values().map(average).collect()
    }

    /// What the query counts, in whole units of time.
    fn select(
        &self,
        account: AccountId,
        query: &CountQuery,
        unit_millis: i64,
    ) -> impl Iterator<Item = (&Key, &Tally)> {
        let CountQuery { bucket_id, output_id, status, status_code, from, to } = *query;
        let status = status.map(|status| match status {
            DeliveryStatus::Preparing => DeliveryStatus::Received.as_str(),
            status => status.as_str(),
        });
        let unit = unit_millis / MINUTE_MILLIS;
        let from = from.map(|from| from.as_millis().div_euclid(unit_millis) * unit);
        let to = to.map(|to| {
            let (whole, rest) =
                (to.as_millis().div_euclid(unit_millis), to.as_millis().rem_euclid(unit_millis));
            (whole + i64::from(rest > 0)) * unit
        });
        let tallies = self.accounts.get(&account).into_iter().flatten();
        tallies.filter(move |(key, _)| {
            from.is_none_or(|from| key.minute >= from)
                && to.is_none_or(|to| key.minute < to)
                && bucket_id.is_none_or(|bucket| key.bucket_id == bucket)
                && output_id.is_none_or(|output| key.output_id == Some(output))
                && status.is_none_or(|status| key.status == status)
                && status_code.is_none_or(|code| key.status_code == code)
        })
    }
}
