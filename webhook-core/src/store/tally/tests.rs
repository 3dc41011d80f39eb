//! What counts as what.

use super::*;

const AT: Timestamp = Timestamp::from_millis(DAY_MILLIS + 90_000);

fn open() -> CountedLog {
    CountedLog::open(AccountId::generate(), BucketId::generate(), None, AT)
}

#[test]
fn what_attempts_bring_counts_with_the_outcome() {
    let open = open();
    assert_eq!(open.key.minute.as_millis(), DAY_MILLIS + 60_000);
    for status in [DeliveryStatus::Received, DeliveryStatus::Preparing] {
        assert_eq!(open.with_outcome(status, 503, 3, 5_000_000), open, "{status:?}");
    }
    let sent = open.with_outcome(DeliveryStatus::Sent, 200, 3, 1_999);
    let LogKey { status, status_code, retries, .. } = sent.key;
    assert_eq!((status, status_code, retries), (DeliveryStatus::Sent, 200, 2));
    assert_eq!(sent.micros, 1, "whole microseconds, so that any order adds up to zero");
    assert_eq!(sent.while_open(), open);
    let long = open.with_outcome(DeliveryStatus::Failed, 0, 0, i64::MAX);
    assert_eq!((long.key.retries, long.micros), (0, 3_600_000_000));
}

#[test]
fn what_is_taken_back_leaves_nothing() {
    let mut counters = LogCounters::default();
    let sent = open().with_outcome(DeliveryStatus::Sent, 200, 1, 7_000);
    counters.add(sent.while_open());
    counters.replace(sent.while_open(), sent);
    assert_eq!(counters.logs().collect::<Vec<_>>(), [(sent.key, LogCount { logs: 1, micros: 7 })]);
    counters.subtract(sent);
    assert!(counters.is_empty());
}

#[test]
fn statistics_are_of_whole_units() {
    let mut counters = LogCounters::default();
    let first = open();
    counters.add(first.with_outcome(DeliveryStatus::Sent, 200, 3, 4_000_000));
    counters.add(first.with_outcome(DeliveryStatus::Failed, 0, 2, 9_000_000));
    counters.add(first);
    counters.receive(first.key.account_id, Month::of(AT));
    assert_eq!(counters.received_in(first.key.account_id, AT), 1);
    let query = CountQuery { from: Some(AT), to: Some(AT), ..CountQuery::default() };
    let days = counters.days(&query);
    let [day] = days.as_slice() else { panic!("one day: {days:?}") };
    assert_eq!((day.received, day.success, day.failures), (3, 1, 1));
    assert_eq!((day.retried, day.retry_count, day.max_retries), (2, 3, 2));
    let minutes = counters.minutes(&query);
    let [minute] = minutes.as_slice() else { panic!("one minute: {minutes:?}") };
    assert_eq!(minute.minute, first.key.minute);
    assert_eq!(minute.counts[DeliveryStatus::Received.as_str()], 1);
    assert!((minute.latency_ms_avg - 4.0).abs() < 1e-9, "of those that were answered");
    let later = Timestamp::from_millis(AT.as_millis() + MINUTE_MILLIS);
    let query = CountQuery { from: Some(later), ..query };
    assert!(counters.minutes(&query).is_empty());
}
