use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::*;

fn micros() -> impl Strategy<Value = Duration> {
    (0..=u32::MAX).prop_map(|micros| Duration::from_micros(micros.into()))
}

fn address() -> impl Strategy<Value = SocketAddr> {
    let v4 = any::<u32>().prop_map(|bits| IpAddr::from(Ipv4Addr::from_bits(bits)));
    let v6 = any::<u128>().prop_map(|bits| IpAddr::from(Ipv6Addr::from_bits(bits)));
    (prop_oneof![v4, v6, Just(IpAddr::from([127, 0, 0, 1]))], any::<u16>()).prop_map(Into::into)
}

fn attempt() -> impl Strategy<Value = PastAttempt> {
    let kinds = (select(Trigger::ALL), option::of(select(FailureKind::ALL)));
    let next = option::of((any::<i64>(), select(NextBecause::ALL)));
    let times = ([(); 4].map(|()| option::of(micros())), micros(), option::of(address()));
    let numbers = (any::<u32>(), any::<i64>(), any::<u32>(), any::<u16>(), any::<bool>());
    (kinds, next, times, numbers).prop_map(
        |((trigger, failure), next, (times, total, address), numbers)| {
            let (number, at_ms, queued_ms, status_code, reused) = numbers;
            PastAttempt {
                queued: Duration::from_millis(queued_ms.into()),
                failure,
                timings: timings(times, total, address, reused),
                next,
                ..PastAttempt::new(number, trigger, at_ms, status_code)
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(attempts in vec(attempt(), 0..20)) {
        prop_assert_eq!(code::decode(&code::encode(&attempts)), attempts);
    }

    #[test]
    fn the_first_and_the_last_are_kept_within_the_bound(attempts in vec(attempt(), 1..150)) {
        let history = attempts.iter().fold(History::default(), |so_far, next| so_far.with(*next));
        prop_assert!(history.as_bytes().len() <= History::MAX_BYTES);
        let kept = history.attempts();
        let first = attempts.len().min(History::FIRST);
        prop_assert_eq!(&kept[..first], &attempts[..first]);
        let last = kept.len() - first;
        prop_assert!(last <= History::LAST);
        prop_assert_eq!(&kept[first..], &attempts[attempts.len() - last..]);
        prop_assert!(attempts.len() <= first || last > 0, "the newest is always there");
    }

    #[test]
    fn no_bytes_are_an_error(bytes in vec(any::<u8>(), 0..300), version in any::<bool>()) {
        let bytes = if version { [&[1], &bytes[..]].concat() } else { bytes };
        let history = History::from_bytes(bytes.into());
        let next = PastAttempt::new(1, Trigger::First, 0, 200);
        prop_assert!(history.with(next).as_bytes().len() <= History::MAX_BYTES);
    }
}

/// A webhook that arrives at once: what most deliveries keep.
fn usual(number: u32) -> PastAttempt {
    let micros = |micros| Some(Duration::from_micros(micros));
    let times = [micros(1_800), micros(12_000), micros(25_000), micros(80_000)];
    let address = Some(SocketAddr::from(([203, 0, 113, 7], 443)));
    let at_ms = 1_767_225_600_000 + i64::from(number) * 3_600_000;
    PastAttempt {
        timings: timings(times, Duration::from_micros(119_000), address, false),
        ..PastAttempt::new(number, Trigger::First, at_ms, 200)
    }
}

#[test]
fn one_attempt_takes_a_few_dozen_bytes_and_all_of_them_fit() {
    assert_eq!(History::default().with(usual(1)).as_bytes().len(), 32);
    let all = (1..=500).fold(History::default(), |so_far, number| so_far.with(usual(number)));
    let numbers: Vec<_> = all.attempts().iter().map(|attempt| attempt.number).collect();
    let expected: Vec<_> = (1..=8).chain(445..=500).collect();
    assert_eq!(numbers, expected, "{} bytes", all.as_bytes().len());
}

#[test]
fn longer_than_can_be_kept_is_kept_as_the_longest() {
    let year = Duration::from_secs(365 * 86_400);
    let long = PastAttempt {
        queued: year,
        timings: timings([Some(year); 4], year, None, false),
        ..usual(1)
    };
    let kept = History::default().with(long).attempts()[0];
    assert_eq!(kept.queued, Duration::from_millis(u32::MAX.into()));
    assert_eq!(kept.timings.total, Duration::from_micros(u32::MAX.into()));
}

#[test]
fn what_went_wrong_is_told_by_the_part_that_did_not_end() {
    let some = Some(Duration::ZERO);
    let connect = |parts| {
        let error = ForwardError::Connect { reason: String::new(), source: None, timings: None };
        FailureKind::of(&error.timed(timings(parts, Duration::ZERO, None, false)))
    };
    assert_eq!(connect([some, None, None, None]), FailureKind::Resolve);
    assert_eq!(connect([some, some, None, None]), FailureKind::Connect);
    assert_eq!(connect([None, some, None, None]), FailureKind::Connect);
    assert_eq!(connect([some, some, some, None]), FailureKind::Tls);
    let late = ForwardError::Timeout { after: Duration::ZERO, timings: None };
    assert_eq!(FailureKind::of(&late), FailureKind::Timeout);
}

#[test]
fn words_and_numbers_are_each_ones_own() {
    for number in 0..=u8::MAX {
        let known = FailureKind::ALL.iter().filter(|kind| kind.number() == number);
        assert!(known.count() <= 1);
    }
    assert_eq!(NextBecause::RetryAfter.as_str(), "retry_after");
    assert_eq!(Trigger::of_number(9), None);
}
