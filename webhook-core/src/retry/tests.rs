use http::HeaderValue;
use proptest::prelude::*;

use crate::wire::described;

use super::*;
use crate::model::{Durability, Throttle};

const RECEIVED: Timestamp = Timestamp::from_secs(1_700_000_000);
const RETRYABLE: Outcome = Outcome::Retryable { retry_after: None };

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn retries(retries: i32) -> OutputSpec {
    OutputSpec { retries, ..OutputSpec::default() }
}

fn durable(schedule: RetrySchedule) -> OutputSpec {
    let durability = Durability { enabled: true, schedule, ..Durability::default() };
    OutputSpec { durability, ..OutputSpec::default() }
}

fn custom(delays: &[u64], deadline: u64) -> OutputSpec {
    let mut spec = durable(RetrySchedule::Custom);
    spec.durability.custom_delays = delays.iter().copied().map(secs).collect();
    spec.durability.deadline = secs(deadline);
    spec
}

fn throttled(mut spec: OutputSpec, deadline: Duration) -> OutputSpec {
    spec.throttle = Throttle { enabled: true, deadline, ..Throttle::default() };
    spec
}

/// When each attempt starts, in seconds after receipt, at a destination that
/// fails after `takes`.
fn starts(spec: &OutputSpec, takes: Duration, jitter: f64) -> Vec<Duration> {
    let mut starts = vec![Duration::ZERO];
    let mut now = RECEIVED + takes;
    loop {
        let attempts = u32::try_from(starts.len()).expect("few attempts");
        let progress = Progress { attempts, received_at: RECEIVED, now };
        match next(spec, &progress, RETRYABLE, jitter) {
            Next::RetryAt(at) => {
                starts.push(at.since(RECEIVED));
                now = at + takes;
            }
            Next::GiveUp => return starts,
            Next::Sent => panic!("a failed attempt came to success"),
        }
    }
}

fn delays(spec: &OutputSpec) -> Vec<u64> {
    let starts = starts(spec, Duration::ZERO, 0.5);
    starts.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect()
}

#[test]
fn without_durability_there_are_three_attempts_and_then_the_retries() {
    assert_eq!(delays(&retries(-1)), [0_u64; 0]);
    assert_eq!(delays(&retries(0)), [1, 5]);
    assert_eq!(delays(&retries(1)), [1, 5, 10]);
    let nine = [1, 5, 10, 20, 40, 80, 160, 320, 600, 600, 600];
    assert_eq!(delays(&retries(9)), nine);
    assert_eq!(delays(&retries(i32::MIN)), [0_u64; 0], "negative numbers never loop");
}

#[test]
fn presets_double_up_to_their_longest_delay_and_fill_their_span() {
    let table = [
        (RetrySchedule::Seconds, 1, 300, 25 * 60, 9, 13, 1_411),
        (RetrySchedule::Medium, 10, 3_600, 16 * 3_600, 9, 24, 55_510),
        (RetrySchedule::Long, 30, 86_400, 30 * 86_400, 12, 41, 2_542_050),
    ];
    for (schedule, first, longest, span, doublings, attempts, total) in table {
        let spec = durable(schedule);
        let delays = delays(&spec);
        assert_eq!(delays.len() + 1, attempts, "{schedule:?}");
        assert_eq!(delays.iter().sum::<u64>(), total, "{schedule:?}");
        assert!(total <= span && total + longest > span, "{schedule:?} leaves no attempt out");
        let (growing, constant) = delays.split_at(doublings);
        let expected: Vec<u64> = (0..doublings).map(|doubling| first << doubling).collect();
        assert_eq!(growing, expected, "{schedule:?}");
        assert!(constant.iter().all(|delay| *delay == longest), "{schedule:?}");
        assert_eq!(deadline(&spec, RECEIVED), Some(RECEIVED + secs(span)), "{schedule:?}");
    }
}

#[test]
fn slow_failures_leave_time_for_fewer_attempts() {
    let starts = starts(&durable(RetrySchedule::Seconds), secs(30), 0.5);
    assert!(starts.len() < 13);
    assert!(starts.last().is_some_and(|last| *last <= secs(1_500)));
}

#[test]
fn custom_delays_are_used_once_or_until_the_deadline() {
    assert_eq!(delays(&custom(&[5, 60, 10], 0)), [5, 60, 10]);
    assert_eq!(delays(&custom(&[5, 60, 10], 100)), [5, 60, 10, 10, 10]);
    assert_eq!(delays(&custom(&[5, 60, 10], 65)), [5, 60], "an attempt at the deadline starts");
    assert_eq!(delays(&custom(&[5, 60, 10], 64)), [5]);
    assert_eq!(delays(&custom(&[], 100)), [0_u64; 0]);
}

#[test]
fn a_deadline_ends_a_preset_early_but_never_late() {
    let mut spec = durable(RetrySchedule::Seconds);
    spec.durability.deadline = secs(10);
    assert_eq!(delays(&spec), [1, 2, 4]);
    spec.durability.deadline = secs(3_600);
    assert_eq!(deadline(&spec, RECEIVED), Some(RECEIVED + secs(1_500)));
}

#[test]
fn a_throttles_deadline_does_not_cut_the_retries() {
    assert_eq!(delays(&throttled(retries(1), secs(1))), [1, 5, 10]);
}

#[test]
fn outcomes_follow_the_status() {
    let of = |status| {
        let status = StatusCode::from_u16(status).expect("a status");
        Outcome::of_response(status, &HeaderMap::new(), RECEIVED)
    };
    for status in [200, 201, 204, 299] {
        assert_eq!(of(status), Outcome::Success, "{status}");
    }
    for status in [408, 425, 429, 500, 502, 503, 504, 599] {
        assert_eq!(of(status), RETRYABLE, "{status}");
    }
    for status in [100, 199, 300, 301, 304, 308, 400, 401, 404, 410, 413, 422, 499, 501, 600, 999] {
        assert_eq!(of(status), Outcome::Final, "{status}");
    }
}

#[test]
fn errors_are_retried_unless_another_try_is_pointless() {
    let of = |error: ForwardError| Outcome::of(Err(&error), RECEIVED);
    assert_eq!(
        of(ForwardError::Connect { reason: "refused".into(), source: None, timings: None }),
        RETRYABLE
    );
    assert_eq!(of(ForwardError::Timeout { after: secs(30), timings: None }), RETRYABLE);
    assert_eq!(
        of(ForwardError::Broken { reason: "reset".into(), source: None, timings: None }),
        RETRYABLE
    );
    assert_eq!(of(ForwardError::Refused("127.0.0.1".into())), Outcome::Final);
    assert_eq!(of(ForwardError::Unsendable("no host".into())), Outcome::Final);
}

#[test]
fn success_and_final_failure_end_a_delivery_whatever_is_left() {
    let progress = Progress { attempts: 1, received_at: RECEIVED, now: RECEIVED };
    let spec = durable(RetrySchedule::Long);
    assert_eq!(next(&spec, &progress, Outcome::Success, 0.5), Next::Sent);
    assert_eq!(next(&spec, &progress, Outcome::Final, 0.5), Next::GiveUp);
}

fn asked(text: &str) -> Option<Duration> {
    let value = HeaderValue::from_str(text).expect("a header value");
    retry_after(&HeaderMap::from_iter([(RETRY_AFTER, value)]), RECEIVED)
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    // 2023-11-14T22:13:20Z is the time of receipt.
    let table = [
        ("0", Some(0)),
        ("120", Some(120)),
        (" 120 ", Some(120)),
        ("86400", Some(86_400)),
        ("86401", Some(86_400)),
        ("31536000", Some(86_400)),
        ("31536001", None),
        ("99999999999999999999999999", None),
        ("Tue, 14 Nov 2023 22:14:20 GMT", Some(60)),
        ("Tuesday, 14-Nov-23 22:14:20 GMT", Some(60)),
        ("Tue Nov 14 22:14:20 2023", Some(60)),
        ("Tue, 14 Nov 2023 22:13:20 GMT", Some(0)),
        ("Wed, 21 Oct 2015 07:28:00 GMT", Some(0)),
        ("Wed, 13 Nov 2024 22:13:20 GMT", Some(86_400)),
        ("Wed, 13 Nov 2024 22:13:21 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", None),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("2023-11-14T22:14:20Z", None),
    ];
    for (text, expected) in table {
        assert_eq!(asked(text), expected.map(secs), "{text:?}");
    }
    assert_eq!(retry_after(&HeaderMap::new(), RECEIVED), None);
    let bytes = HeaderValue::from_bytes(b"\xff").expect("a header value");
    assert_eq!(retry_after(&HeaderMap::from_iter([(RETRY_AFTER, bytes)]), RECEIVED), None);
}

#[test]
fn retry_after_counts_on_429_and_503_only() {
    let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static("60"))]);
    for (status, expected) in
        [(429, Some(secs(60))), (503, Some(secs(60))), (500, None), (408, None)]
    {
        let status = StatusCode::from_u16(status).expect("a status");
        let mut response = ForwardResponse::empty(status);
        response.headers = headers.clone();
        let outcome = Outcome::of(Ok(&response), RECEIVED);
        assert_eq!(outcome, Outcome::Retryable { retry_after: expected }, "{status}");
    }
}

#[test]
fn the_next_attempt_waits_for_schedule_and_destination() {
    let due = |spec: &OutputSpec, attempts, asked| {
        let progress = Progress { attempts, received_at: RECEIVED, now: RECEIVED };
        next(spec, &progress, Outcome::Retryable { retry_after: Some(asked) }, 0.5)
    };
    let spec = retries(0);
    assert_eq!(due(&spec, 2, secs(2)), Next::RetryAt(RECEIVED + secs(5)));
    assert_eq!(due(&spec, 2, secs(7)), Next::RetryAt(RECEIVED + secs(7)));
    assert_eq!(due(&spec, 2, secs(u64::MAX)), Next::RetryAt(RECEIVED + MAX_RETRY_AFTER));
    assert_eq!(due(&spec, 3, secs(7)), Next::GiveUp, "asking to wait earns no attempt");
    let spec = durable(RetrySchedule::Seconds);
    assert_eq!(due(&spec, 1, secs(1_500)), Next::RetryAt(RECEIVED + secs(1_500)));
    assert_eq!(due(&spec, 1, secs(1_501)), Next::GiveUp, "it would be after the deadline");
}

#[test]
fn validation_names_the_field() {
    let validate = |spec: &OutputSpec| described::check(spec, "");
    let reason = |spec: OutputSpec| validate(&spec).expect_err("invalid").to_string();
    for number in [-1, 0, 5, MAX_RETRIES] {
        validate(&retries(number)).expect("valid");
    }
    assert!(reason(retries(-2)).starts_with("retries: "));
    assert!(reason(retries(MAX_RETRIES + 1)).starts_with("retries: "));

    validate(&custom(&[1, 30 * 86_400], 30 * 86_400)).expect("valid");
    validate(&durable(RetrySchedule::Long)).expect("valid");
    assert!(reason(custom(&[], 60)).starts_with("durability.custom_delays: "));
    assert!(reason(custom(&[1; 101], 60)).starts_with("durability.custom_delays: "));
    assert!(reason(custom(&[1, 0], 60)).starts_with("durability.custom_delays[1]: "));
    assert!(reason(custom(&[30 * 86_400 + 1], 60)).starts_with("durability.custom_delays[0]: "));
    assert!(reason(custom(&[1], 30 * 86_400 + 1)).starts_with("durability.deadline: "));

    let mut off = custom(&[], 0);
    off.durability.enabled = false;
    validate(&off).expect("a schedule that is off needs no delays");
}

fn any_spec() -> impl Strategy<Value = OutputSpec> {
    let schedules = prop_oneof![
        Just(RetrySchedule::Seconds),
        Just(RetrySchedule::Medium),
        Just(RetrySchedule::Long),
        Just(RetrySchedule::Custom),
    ];
    let durability = (
        any::<bool>(),
        schedules,
        prop::collection::vec(any::<Duration>(), 0..4),
        any::<Duration>(),
    );
    (-3..20_i32, durability, any::<bool>(), any::<Duration>()).prop_map(
        |(retries, (enabled, schedule, custom_delays, deadline), throttled, throttle)| OutputSpec {
            retries,
            durability: Durability {
                enabled,
                schedule,
                custom_delays,
                deadline,
                handoff_after: Duration::ZERO,
            },
            throttle: Throttle { enabled: throttled, deadline: throttle, ..Throttle::default() },
            ..OutputSpec::default()
        },
    )
}

/// A duration as docs/retries.md writes it.
fn written(duration: Duration) -> String {
    let secs = duration.as_secs();
    match secs {
        _ if secs.is_multiple_of(86_400) && secs > 86_400 => format!("{} d", secs / 86_400),
        _ if secs.is_multiple_of(3_600) => format!("{} h", secs / 3_600),
        _ if secs.is_multiple_of(60) => format!("{} min", secs / 60),
        _ => format!("{secs} s"),
    }
}

#[test]
fn the_page_has_the_schedules() {
    use RetrySchedule::{Long, Medium, Seconds};
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/retries.md");
    let page = std::fs::read_to_string(path).expect("docs/retries.md is there");
    for (name, spec) in [
        ("`retries: -1`", retries(-1)),
        ("`retries: 0`, the default", retries(0)),
        ("`retries: 8`", retries(8)),
        ("`schedule: \"seconds\"`", durable(Seconds)),
        ("`schedule: \"medium\"`", durable(Medium)),
        ("`schedule: \"long\"`", durable(Long)),
    ] {
        let mut delays = delays(&spec);
        let attempts = delays.len() + 1;
        let last = delays.last().copied();
        delays.dedup();
        let repeated = delays.len() + 1 < attempts;
        let mut waits: Vec<_> = delays.into_iter().map(|delay| written(secs(delay))).collect();
        if let Some(last) = waits.last_mut().filter(|_| repeated) {
            *last = format!("then {last}");
        }
        let waits = if last.is_none() { "none".to_owned() } else { waits.join(", ") };
        let end = deadline(&spec, RECEIVED).map(|end| format!("{} ", written(end.since(RECEIVED))));
        let row = format!("| {name} | {waits} | {attempts} | {}|\n", end.unwrap_or_default());
        assert!(page.contains(&row), "not on the page: {row}");
    }
    for said in [
        format!("-1 to {MAX_RETRIES}, and"),
        format!(
            "1 to {MAX_CUSTOM_DELAYS} `custom_delays`, each from {} to {}",
            written(MIN_CUSTOM_DELAY),
            written(MAX_DEADLINE)
        ),
        format!("honoured up to {} ", written(MAX_RETRY_AFTER)),
        format!("varied by up to {:.0} %", JITTER * 100.0),
    ] {
        assert!(page.replace('\n', " ").contains(&said), "not on the page: {said}");
    }
    assert_eq!(delays(&custom(&[1, 2], 0)).len() + 1, 3, "one attempt more than there are delays");
}

proptest! {
    #[test]
    fn a_retry_is_never_early_and_never_after_the_deadline(
        spec in any_spec(),
        attempts in any::<u32>(),
        since_receipt in 0..100_000_000_i64,
        asked in any::<Option<Duration>>(),
        jitter in any::<f64>(),
    ) {
        let now = Timestamp::from_millis(RECEIVED.as_millis() + since_receipt);
        let progress = Progress { attempts, received_at: RECEIVED, now };
        let outcome = Outcome::Retryable { retry_after: asked };
        if let Next::RetryAt(at) = next(&spec, &progress, outcome, jitter) {
            let delay = delay_after(&spec, attempts).expect("there is another attempt");
            let at_least = Duration::try_from_secs_f64(delay.as_secs_f64() * 0.8999);
            prop_assert!(at >= now + at_least.unwrap_or(delay));
            prop_assert!(at >= now + asked.unwrap_or_default().min(MAX_RETRY_AFTER));
            prop_assert!(deadline(&spec, RECEIVED).is_none_or(|deadline| at <= deadline));
        }
    }

    #[test]
    fn the_delays_of_presets_never_shrink(attempts in 1..u32::MAX) {
        use RetrySchedule::{Long, Medium, Seconds};
        for spec in [durable(Seconds), durable(Medium), durable(Long), retries(i32::MAX)] {
            prop_assert!(delay_after(&spec, attempts) <= delay_after(&spec, attempts + 1));
        }
    }

    #[test]
    fn presets_end_in_time_with_any_jitter(jitter in 0.0..=1.0_f64, takes in 0..100_u64) {
        use RetrySchedule::{Long, Medium, Seconds};
        for (schedule, span) in [(Seconds, 1_500), (Medium, 57_600), (Long, 2_592_000)] {
            let starts = starts(&durable(schedule), secs(takes), jitter);
            prop_assert!(starts.is_sorted());
            prop_assert!(starts.iter().all(|start| *start <= secs(span)));
        }
    }

    #[test]
    fn jitter_is_at_most_a_tenth_either_way(
        millis in 0..10_000_000_u64,
        jitter in any::<f64>(),
        other in any::<f64>(),
    ) {
        let delay = Duration::from_millis(millis);
        let (a, b) = (jittered(delay, jitter), jittered(delay, other));
        let slack = Duration::from_nanos(1);
        prop_assert!(a + slack >= delay.mul_f64(0.9) && a <= delay.mul_f64(1.1) + slack);
        prop_assert!(jitter.is_nan() || other.is_nan() || jitter > other || a <= b);
    }

    #[test]
    fn any_retry_after_is_read_or_left(text in "\\PC{0,40}", now in any::<i64>()) {
        if let Ok(value) = HeaderValue::from_str(&text) {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value)]);
            let asked = retry_after(&headers, Timestamp::from_millis(now));
            prop_assert!(asked.is_none_or(|asked| asked <= MAX_RETRY_AFTER));
        }
    }
}
