//! What pages, totals and counts have to be, reckoned from every single log.

use std::{collections::BTreeMap, time::Duration};

use webhook_core::{
    AccountId, BucketId, Timestamp,
    model::{DeliveryStatus, Log},
    store::{CountQuery, DayCount, LogCursor, LogQuery, MAX_COUNTED_DURATION, MinuteCount, Stores},
};

use crate::sample::with;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

const STATUSES: [DeliveryStatus; 6] = [
    DeliveryStatus::Preparing,
    DeliveryStatus::Sent,
    DeliveryStatus::Failed,
    DeliveryStatus::Stalled,
    DeliveryStatus::Received,
    DeliveryStatus::Rejected,
];

/// Every log of the account, page by page.
pub(crate) async fn walk(stores: &Stores, account: AccountId, query: LogQuery) -> Vec<Log> {
    let mut all = Vec::<Log>::new();
    let mut query = query;
    loop {
        let page = super::page(stores, account, &query).await;
        assert!(page.logs.len() <= query.limit);
        assert!(!page.has_more || !page.logs.is_empty(), "a page that is not the last has logs");
        all.extend(page.logs);
        if !page.has_more {
            assert_eq!(page.total, all.len() as u64, "the total of {query:?}");
            return all;
        }
        query.before = all.last().map(LogCursor::of);
    }
}

/// Fails unless filters give exactly the logs, totals and counts that the account's logs add
/// up to: each bucket with each status, and each pair of them with another third of the spans.
pub(crate) async fn assert_exact(stores: &Stores, account: AccountId) {
    assert_exact_in_spans(stores, account, 3).await;
}

/// The same as [`assert_exact`], for each pair with every span.
pub(crate) async fn assert_every_filter(stores: &Stores, account: AccountId) {
    assert_exact_in_spans(stores, account, 1).await;
}

/// Each pair of a bucket and a status is asked with every span whose number is a multiple of
/// `step`, counted from another first span each time.
async fn assert_exact_in_spans(stores: &Stores, account: AccountId, step: usize) {
    let all = walk(stores, account, LogQuery::new(7)).await;
    let order = all.windows(2).all(|pair| LogCursor::of(&pair[0]) > LogCursor::of(&pair[1]));
    assert!(order, "logs come newest first");
    let buckets = buckets(&all);
    let spans = spans(&all);
    let mut first = (0..step).cycle();
    for bucket_id in &buckets {
        for status in STATUSES.map(Some).into_iter().chain([None]) {
            let first = first.next().unwrap_or(0);
            for (from, to) in spans.iter().copied().skip(first).step_by(step) {
                let query = with(LogQuery::new(all.len() + 1), |query| {
                    query.bucket_id = *bucket_id;
                    query.status = status;
                    query.from = from;
                    query.to = to;
                });
                let expected: Vec<_> = all.iter().filter(|log| matches(log, &query)).collect();
                let found = walk(stores, account, query.clone()).await;
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query:?}");
            }
        }
    }
    for query in count_queries(&all, &buckets, &spans) {
        let days = stores.logs.days(account, &query).await.expect("days can be counted");
        assert_eq!(days, expected_days(&all, &query), "{query:?}");
        let minutes = stores.logs.minutes(account, &query).await.expect("minutes can be counted");
        assert_minutes(&minutes, &expected_minutes(&all, &query), &query);
    }
}

/// None, the buckets of the logs, and one that has none.
fn buckets(all: &[Log]) -> Vec<Option<BucketId>> {
    let mut buckets: Vec<_> = all.iter().map(|log| Some(log.webhook.bucket_id)).collect();
    buckets.sort_unstable();
    buckets.dedup();
    buckets.extend([None, Some(BucketId::generate())]);
    buckets
}

type Span = (Option<Timestamp>, Option<Timestamp>);

/// Spans of time whose ends lie on, beside and between logs, minutes and days.
fn spans(all: &[Log]) -> Vec<Span> {
    let mut spans = vec![(None, None)];
    let at = |index: usize, plus: i64| {
        let log = all.get(index)?;
        Some(Timestamp::from_millis(log.delivery.created_at.as_millis() + plus))
    };
    let floor = |moment: Option<Timestamp>, unit: i64| {
        moment.map(|moment| Timestamp::from_millis(moment.as_millis().div_euclid(unit) * unit))
    };
    let (early, late) = (2 * all.len() / 3, all.len() / 3);
    spans.push((at(early, 0), None));
    spans.push((at(early, 1), at(late, 0)));
    spans.push((None, at(late, 1)));
    spans.push((floor(at(early, 0), MINUTE), floor(at(late, MINUTE), MINUTE)));
    spans.push((floor(at(early, 0), DAY), floor(at(late, DAY), DAY)));
    spans.push((at(early, -30_000), at(early, 40_000)));
    spans.push((at(late, 0), at(early, 0)));
    spans
}

fn is_open(status: DeliveryStatus) -> bool {
    matches!(status, DeliveryStatus::Received | DeliveryStatus::Preparing)
}

fn has_status(log: &Log, status: Option<DeliveryStatus>) -> bool {
    let is = log.delivery.status;
    status.is_none_or(|status| status == is || (is_open(status) && is_open(is)))
}

fn matches(log: &Log, query: &LogQuery) -> bool {
    let created_at = log.delivery.created_at;
    query.bucket_id.is_none_or(|bucket| log.webhook.bucket_id == bucket)
        && has_status(log, query.status)
        && query.from.is_none_or(|from| created_at >= from)
        && query.to.is_none_or(|to| created_at < to)
}

/// The queries that are asked of the counts: each filter alone, and some together.
fn count_queries(all: &[Log], buckets: &[Option<BucketId>], spans: &[Span]) -> Vec<CountQuery> {
    let mut outputs: Vec<_> = all.iter().map(|log| log.delivery.output_id).collect();
    outputs.sort_unstable();
    outputs.dedup();
    let mut queries = Vec::new();
    queries.extend(
        buckets.iter().map(|id| with(CountQuery::default(), |query| query.bucket_id = *id)),
    );
    queries.extend(
        outputs.iter().map(|id| with(CountQuery::default(), |query| query.output_id = *id)),
    );
    for status in STATUSES {
        queries.push(with(CountQuery::default(), |query| query.status = Some(status)));
    }
    for code in [0, 200, 201, 503, 404] {
        queries.push(with(CountQuery::default(), |query| query.status_code = Some(code)));
    }
    for (from, to) in spans.iter().copied() {
        queries.push(with(CountQuery::default(), |query| {
            query.from = from;
            query.to = to;
        }));
        let (bucket_id, output_id) = (buckets[0], outputs.last().copied().flatten());
        let status = Some(DeliveryStatus::Sent);
        queries.push(with(CountQuery::default(), |query| {
            query.bucket_id = bucket_id;
            query.output_id = output_id;
            query.status = status;
            query.from = from;
            query.to = to;
        }));
        queries.push(with(CountQuery::default(), |query| {
            query.bucket_id = bucket_id;
            query.status_code = Some(503);
            query.from = from;
            query.to = to;
        }));
    }
    queries
}

/// As what a log is counted: status, code, retries, duration.
fn counted(log: &Log) -> (DeliveryStatus, u16, u64, Duration) {
    let delivery = &log.delivery;
    match (is_open(delivery.status), &delivery.last) {
        (true, _) => (DeliveryStatus::Received, 0, 0, Duration::ZERO),
        (false, None) => (delivery.status, 0, 0, Duration::ZERO),
        (false, Some(last)) => {
            let retries = u64::from(delivery.attempts.saturating_sub(1));
            let duration = last.duration.min(MAX_COUNTED_DURATION);
            (delivery.status, last.status_code, retries, duration)
        }
    }
}

/// The logs of a query by unit of time.
fn by_unit<'a>(all: &'a [Log], query: &CountQuery, unit: i64) -> BTreeMap<i64, Vec<&'a Log>> {
    let mut units = BTreeMap::<_, Vec<_>>::new();
    for log in all {
        let start = log.delivery.created_at.as_millis().div_euclid(unit) * unit;
        let is_counted = query.bucket_id.is_none_or(|bucket| log.webhook.bucket_id == bucket)
            && query.output_id.is_none_or(|output| log.delivery.output_id == Some(output))
            && has_status(log, query.status)
            && query.status_code.is_none_or(|code| counted(log).1 == code)
            && query.from.is_none_or(|from| start + unit > from.as_millis())
            && query.to.is_none_or(|to| start < to.as_millis());
        if is_counted {
            units.entry(start).or_default().push(log);
        }
    }
    units
}

fn count(some: &[&Log], of: impl Fn(&Log) -> bool) -> u64 {
    some.iter().filter(|log| of(log)).count() as u64
}

fn expected_days(all: &[Log], query: &CountQuery) -> Vec<DayCount> {
    let day = |(start, some): (i64, Vec<&Log>)| {
        with(DayCount::default(), |it| {
            it.day = Timestamp::from_millis(start);
            it.received = some.len() as u64;
            it.success = count(&some, |log| log.delivery.status == DeliveryStatus::Sent);
            it.failures = count(&some, |log| log.delivery.status == DeliveryStatus::Failed);
            it.retried = count(&some, |log| counted(log).2 > 0);
            it.retry_count = some.iter().map(|log| counted(log).2).sum();
            it.max_retries = some.iter().map(|log| counted(log).2).max().unwrap_or_default();
        })
    };
    by_unit(all, query, DAY).into_iter().map(day).collect()
}

fn expected_minutes(all: &[Log], query: &CountQuery) -> Vec<MinuteCount> {
    let minute = |(start, some): (i64, Vec<&Log>)| {
        let mut counts = BTreeMap::new();
        for log in &some {
            *counts.entry(counted(log).0.as_str()).or_default() += 1;
        }
        let answered = some.iter().map(|log| counted(log)).filter(|(_, code, ..)| *code != 0);
        let times: Vec<_> = answered.map(|(.., duration)| duration.as_secs_f64() * 1e3).collect();
        with(MinuteCount::default(), |it| {
            it.minute = Timestamp::from_millis(start);
            it.counts = counts;
            it.latency_ms_avg = times.iter().sum::<f64>() / times.len().max(1) as f64;
            it.retried = count(&some, |log| counted(log).2 > 0);
            it.retry_count = some.iter().map(|log| counted(log).2).sum();
            it.max_retries = some.iter().map(|log| counted(log).2).max().unwrap_or_default();
        })
    };
    by_unit(all, query, MINUTE).into_iter().map(minute).collect()
}

/// Averages may be off by a microsecond.
#[track_caller]
fn assert_minutes(found: &[MinuteCount], expected: &[MinuteCount], query: &CountQuery) {
    assert_eq!(found.len(), expected.len(), "{query:?}: {found:?}, {expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        let off = (found.latency_ms_avg - expected.latency_ms_avg).abs();
        assert!(off <= 1e-3, "{query:?}: {found:?}, {expected:?}");
        let found = with(found.clone(), |count| count.latency_ms_avg = expected.latency_ms_avg);
        assert_eq!(found, *expected, "{query:?}");
    }
}
