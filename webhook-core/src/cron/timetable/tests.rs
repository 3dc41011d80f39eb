use std::collections::BTreeSet;

use jiff::civil::DateTime;
use proptest::prelude::*;

use super::*;

fn at(text: &str) -> i64 {
    let moment: jiff::Timestamp = text.parse().expect(text);
    moment.as_millisecond()
}

fn show(moment: i64) -> String {
    jiff::Timestamp::from_millisecond(moment).expect("in range").to_string()
}

fn timetable(schedule: &str, timezone: &str) -> Timetable {
    Timetable::new(schedule, timezone, at("2026-01-01T00:00:00Z")).expect(schedule)
}

/// The first `count` runs after `after`.
fn runs(schedule: &str, timezone: &str, after: &str, count: usize) -> Vec<String> {
    let timetable = timetable(schedule, timezone);
    let next = |run: &i64| timetable.next_after(*run);
    let runs = std::iter::successors(timetable.next_after(at(after)), next);
    runs.take(count).map(show).collect()
}

fn refusal(schedule: &str) -> String {
    let refused = Timetable::new(schedule, "UTC", 0);
    refused.expect_err(schedule).to_string()
}

#[test]
fn spring_forward() {
    let berlin = |schedule, after| runs(schedule, "Europe/Berlin", after, 3);
    // A fixed time in the skipped hour runs right after it.
    assert_eq!(
        berlin("30 2 * * *", "2026-03-28T00:00:00Z"),
        ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]
    );
    // Once, however many fall into it, and even if it coincides with another.
    assert_eq!(
        berlin("0,20,40 2,3 * * *", "2026-03-28T12:00:00Z"),
        ["2026-03-29T01:00:00Z", "2026-03-29T01:20:00Z", "2026-03-29T01:40:00Z"]
    );
    // What follows the wall clock does not see the hour.
    assert_eq!(
        berlin("*/30 2 * * *", "2026-03-28T12:00:00Z"),
        ["2026-03-30T00:00:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:00:00Z"]
    );
    assert_eq!(
        berlin("15 * * * *", "2026-03-29T00:00:00Z"),
        ["2026-03-29T00:15:00Z", "2026-03-29T01:15:00Z", "2026-03-29T02:15:00Z"]
    );
}

#[test]
fn fall_back() {
    let new_york = |schedule, after, count| runs(schedule, "America/New_York", after, count);
    // 1 o'clock comes twice on 1 November: a fixed time runs in the first.
    assert_eq!(
        new_york("30 1 * * *", "2026-11-01T00:00:00Z", 2),
        ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]
    );
    assert_eq!(
        new_york("30 1 * * *", "2026-11-01T06:10:00Z", 1),
        ["2026-11-02T06:30:00Z"],
        "seen from the second 1 o'clock as well"
    );
    // What follows the wall clock runs in both.
    assert_eq!(
        new_york("*/30 1 * * *", "2026-11-01T00:00:00Z", 5),
        [
            "2026-11-01T05:00:00Z",
            "2026-11-01T05:30:00Z",
            "2026-11-01T06:00:00Z",
            "2026-11-01T06:30:00Z",
            "2026-11-02T06:00:00Z",
        ]
    );
    assert_eq!(
        new_york("0 * * * *", "2026-11-01T04:30:00Z", 4),
        [
            "2026-11-01T05:00:00Z",
            "2026-11-01T06:00:00Z",
            "2026-11-01T07:00:00Z",
            "2026-11-01T08:00:00Z",
        ]
    );
}

#[test]
fn a_day_that_is_left_out_is_no_daylight_saving() {
    // Samoa had no 30 December 2011.
    assert_eq!(
        runs("0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", 2),
        ["2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z"]
    );
}

#[test]
fn month_ends_and_leap_days() {
    let utc = |schedule, after, count| runs(schedule, "UTC", after, count);
    assert_eq!(
        utc("0 0 31 * *", "2026-01-31T00:00:00Z", 3),
        ["2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z"]
    );
    assert_eq!(
        utc("59 23 28-31 2 *", "2027-12-31T23:59:59Z", 3),
        ["2028-02-28T23:59:00Z", "2028-02-29T23:59:00Z", "2029-02-28T23:59:00Z"]
    );
    assert_eq!(
        utc("0 0 29 2 *", "2096-02-29T00:00:00Z", 2),
        ["2104-02-29T00:00:00Z", "2108-02-29T00:00:00Z"],
        "2100 has none"
    );
    // A leap day that is a Sunday; a star makes both fields count.
    // Leap days on a Sunday or a Saturday.
    assert_eq!(
        utc("0 0 29 2 */6", "2088-03-01T00:00:00Z", 2),
        ["2116-02-29T00:00:00Z", "2128-02-29T00:00:00Z"],
        "a star: both fields count"
    );
}

#[test]
fn days_of_month_and_week() {
    let of_2026 = |schedule: &str| runs(schedule, "UTC", "2026-01-01T00:00:00Z", 3);
    let midnight = |days: [&str; 3]| days.map(|day| format!("2026-01-{day}T00:00:00Z"));
    // 1 January 2026 is a Thursday.
    assert_eq!(of_2026("0 0 13 * FRI"), midnight(["02", "09", "13"]), "either is enough");
    assert_eq!(
        of_2026("0 0 */2 * 5"),
        ["2026-01-09T00:00:00Z", "2026-01-23T00:00:00Z", "2026-02-13T00:00:00Z"],
        "a star: both must match"
    );
    for sunday in ["0", "7", "SUN", "sun", "0-0", "7-7", "0,7"] {
        assert_eq!(of_2026(&format!("0 0 ? * {sunday}")), midnight(["04", "11", "18"]), "{sunday}");
    }
    for weekend in ["SAT-SUN", "6-7", "sat,0", "6/1,SUN"] {
        assert_eq!(
            of_2026(&format!("0 0 * * {weekend}")),
            midnight(["03", "04", "10"]),
            "{weekend}"
        );
    }
}

#[test]
fn names_steps_and_lists() {
    let first = |schedule: &str| runs(schedule, "UTC", "2026-01-01T00:00:00Z", 1).remove(0);
    assert_eq!(first("0 0 1 JUN,dec *"), "2026-06-01T00:00:00Z");
    assert_eq!(first("0 0 1 Nov-Dec *"), "2026-11-01T00:00:00Z");
    assert_eq!(first("50/5 * * * *"), "2026-01-01T00:50:00Z");
    assert_eq!(first("5-20/7,59 3 * * *"), "2026-01-01T03:05:00Z");
    for (macros, fields) in [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * SUN"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        (" @hourly ", "0 * * * *"),
    ] {
        let of = |schedule| runs(schedule, "Europe/Berlin", "2026-02-03T04:05:06Z", 9);
        assert_eq!(of(macros), of(fields), "{macros}");
    }
}

#[test]
fn days_that_depend_on_the_month() {
    // 1 January 2026 is a Thursday; the ends of the months are a Saturday, twice, and a Tuesday.
    for (schedule, days) in [
        ("0 0 L * *", ["01-31", "02-28", "03-31"]),
        ("0 0 l-3 * *", ["01-28", "02-25", "03-28"]),
        ("0 0 LW * *", ["01-30", "02-27", "03-31"]),
        ("0 0 17W * ?", ["01-16", "02-17", "03-17"]),
        ("0 0 18w * *", ["01-19", "02-18", "03-18"]),
        ("0 0 31W * *", ["01-30", "03-31", "05-29"]),
        ("0 0 1W 2,3,8 *", ["02-02", "03-02", "08-03"]),
        ("0 0 * * 5L", ["01-30", "02-27", "03-27"]),
        ("0 0 ? * sunL", ["01-25", "02-22", "03-29"]),
        ("0 0 * * 7#1", ["01-04", "02-01", "03-01"]),
        ("0 0 * * FRI#5", ["01-30", "05-29", "07-31"]),
        ("0 0 1,L 2-12 *", ["02-01", "02-28", "03-01"]),
        ("0 0 L 1,2 MON#1", ["01-05", "01-31", "02-02"]),
    ] {
        let expected = days.map(|day| format!("2026-{day}T00:00:00Z"));
        assert_eq!(runs(schedule, "UTC", "2025-12-31T12:00:00Z", 3), expected, "{schedule}");
    }
    assert_eq!(
        runs("0 0 1W 11 *", "UTC", "2025-12-31T12:00:00Z", 1),
        ["2026-11-02T00:00:00Z"],
        "a Sunday"
    );
}

#[test]
fn a_sixth_field_before_the_others_has_the_seconds() {
    assert_eq!(
        runs("*/20 59 23 * * *", "UTC", "2026-01-01T23:59:30Z", 3),
        ["2026-01-01T23:59:40Z", "2026-01-02T23:59:00Z", "2026-01-02T23:59:20Z"]
    );
    assert_eq!(
        runs("15 30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
        ["2026-03-29T01:00:00Z", "2026-03-30T00:30:15Z"],
        "a fixed time in a skipped hour runs right after it"
    );
    assert_eq!(
        runs("* * * * * *", "UTC", "2026-01-01T00:00:00.001Z", 2),
        ["2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"]
    );
    assert_eq!(
        runs("0 30 2 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", 400),
        runs("30 2 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", 400)
    );
}

#[test]
fn a_schedule_can_begin_with_its_time_zone() {
    for schedule in ["TZ=europe/berlin 30 2 * * *", " CRON_TZ=Europe/Berlin  30 2 * * *"] {
        for field in ["", "UTC", "Europe/Berlin"] {
            let timetable = timetable(schedule, field);
            assert_eq!(timetable.zone_name(), "Europe/Berlin", "{schedule} with {field:?}");
            let next = timetable.next_after(at("2026-06-01T00:00:00Z")).map(show);
            assert_eq!(next.as_deref(), Some("2026-06-01T00:30:00Z"));
        }
        let refused = Timetable::new(schedule, "Europe/London", 0).expect_err("two zones");
        assert_eq!(refused.field, "timezone");
        assert!(refused.reason.contains("leave this field empty"), "{refused}");
    }
    assert_eq!(timetable("TZ=Asia/Tokyo @daily", "").zone_name(), "Asia/Tokyo");
}

#[test]
fn every_is_counted_from_the_start_or_the_creation() {
    let created = at("2026-03-28T22:00:00.700Z");
    let every = Timetable::new("@every 1h30m", "Europe/Berlin", created).expect("valid");
    let runs = |timetable: &Timetable, after| {
        let next = |run: &i64| timetable.next_after(*run);
        let runs = std::iter::successors(timetable.next_after(after), next);
        runs.take(3).map(show).collect::<Vec<_>>()
    };
    let expected = ["2026-03-28T23:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:30:00Z"];
    assert_eq!(runs(&every, created), expected);
    assert_eq!(runs(&every, 0), expected, "never before it was made");
    let (start, end) = (at("2026-04-01T00:00:00Z"), at("2026-04-01T01:30:00Z"));
    let bounded = every.between(Some(start), Some(end)).expect("valid");
    assert_eq!(
        runs(&bounded, created),
        ["2026-04-01T00:00:00Z", "2026-04-01T01:30:00Z"],
        "both ends are included"
    );
    for (period, secs) in [("90s", 90), ("1.5h", 5_400), ("1h0m1s", 3_601), ("8784h", 31_622_400)] {
        let every = timetable(&format!("@every {period}"), "UTC");
        assert_eq!(every.shortest_period(), Duration::from_secs(secs), "{period}");
    }
}

#[test]
fn starts_and_ends_are_included() {
    let (start, end) = (at("2026-05-01T12:00:00Z"), at("2026-05-02T12:00:00Z"));
    let timetable = timetable("0 12 * * *", "UTC").between(Some(start), Some(end));
    let timetable = timetable.expect("valid");
    let mut next = timetable.next_after(at("2026-01-01T00:00:00Z"));
    assert_eq!(next, Some(at("2026-05-01T12:00:00Z")));
    next = timetable.next_after(at("2026-05-01T12:00:00Z"));
    assert_eq!(next, Some(at("2026-05-02T12:00:00Z")));
    assert_eq!(timetable.next_after(at("2026-05-02T12:00:00Z")), None);
}

#[test]
fn a_late_run_is_caught_up_within_its_period() {
    let hourly = timetable("0 * * * *", "UTC");
    let due = at("2026-05-01T01:00:00Z");
    for (now, run) in [
        ("2026-05-01T01:00:00Z", "2026-05-01T01:00:00Z"),
        ("2026-05-01T01:59:59Z", "2026-05-01T01:00:00Z"),
        ("2026-05-01T02:00:00Z", "2026-05-01T01:00:00Z"),
        ("2026-05-01T02:00:00.001Z", "2026-05-01T02:00:00Z"),
        ("2026-05-01T05:30:00Z", "2026-05-01T05:00:00Z"),
        ("2031-05-01T05:30:00Z", "2031-05-01T05:00:00Z"),
    ] {
        assert_eq!(hourly.catch_up(due, at(now)), Some(at(run)), "{now}");
    }
    let second = timetable("@every 1s", "UTC");
    let now = at("2036-01-01T00:00:00.500Z");
    assert_eq!(second.catch_up(due, now), Some(at("2036-01-01T00:00:00Z")));

    let over = hourly.between(None, Some(at("2026-05-01T03:00:00Z"))).expect("valid");
    assert_eq!(over.catch_up(due, at("2026-05-01T03:40:00Z")), Some(at("2026-05-01T03:00:00Z")));
    assert_eq!(over.catch_up(due, at("2026-05-01T04:40:00Z")), None);
}

#[test]
fn refusals_name_the_part() {
    for (schedule, said) in [
        ("", "must not be empty"),
        ("* * * * * * *", "not 7 fields"),
        ("* * * *", "not 4 fields"),
        ("60 * * * * *", "second: 60 is not from 0 to 59"),
        ("L * * * * *", "second: \"L\" is not a number"),
        ("TZ=UTC", "must not be empty"),
        ("TZ=Mars/Phobos * * * * *", "\"Mars/Phobos\" is not an IANA time zone"),
        ("* * L-31 * *", "day of month: \"L-31\" is not L-1 to L-30"),
        ("* * L-0 * *", "day of month: \"L-0\" is not"),
        ("* * 32W * *", "day of month: 32 is not from 1 to 31"),
        ("* * W * *", "day of month: "),
        ("* * 30W 2 *", "day of month: 30W never comes in the month 2"),
        ("* * L-29 2 *", "day of month: L-29 never comes in the month 2"),
        ("* * * * L", "day of week: L needs a weekday, such as 5L"),
        ("* * * * 5#6", "day of week: \"5#6\" ends with no number from #1 to #5"),
        ("* * * * 5#", "day of week: "),
        ("* * * * #2", "day of week: "),
        ("* * */30 2 5#2", "day of month: "),
        ("x * * * *", "minute: \"x\" is not a number"),
        ("-1 * * * *", "minute: "),
        ("+1 * * * *", "minute: "),
        ("1,,2 * * * *", "minute: there is an empty element"),
        ("? * * * *", "minute: "),
        ("* 23-1 * * *", "hour: the range 23-1 ends before it begins"),
        ("* */0 * * *", "hour: the step \"0\""),
        ("* */24 * * *", "hour: the step \"24\""),
        ("* 1-2-3 * * *", "hour: "),
        ("* * 32 * *", "day of month: 32 is not from 1 to 31"),
        ("* * 31 4,6,9,11 *", "day of month: 31 never comes in the month 4,6,9,11"),
        ("* * 30-31 FEB ?", "day of month: 30-31 never comes"),
        ("* * * 13 *", "month: 13"),
        ("* * * JANUARY *", "month: \"JANUARY\" is neither a number nor a name from JAN to DEC"),
        ("* * * * MON-9", "day of week: 9"),
        ("* * * * 99999999999", "day of week: "),
        ("@reboot", "\"@reboot\" is none of"),
        ("@every", "@every needs a period"),
        ("@every1h", "@every needs a period"),
        ("@every 1d", "@every: \"1d\" is not a period"),
        ("@every 1.5s", "@every: the period must be whole seconds"),
        ("@every -1h", "@every: "),
        ("@every 8785h", "@every: the period must be at most"),
        ("@every 99999999999999999999h", "@every: "),
    ] {
        let text = refusal(schedule);
        assert!(text.starts_with("schedule: ") && text.contains(said), "{schedule:?}: {text}");
    }
    assert!(timetable("0 0 31 2 MON", "UTC").next_after(0).is_some(), "Mondays");
    for zone in ["Mars/Phobos", "CET+1", " ", "Etc/Unknown", "../UTC"] {
        let refused = Timetable::new("@daily", zone, 0);
        assert!(refused.expect_err(zone).to_string().starts_with("timezone: "), "{zone}");
    }
    assert_eq!(timetable("@daily", "america/new_york").zone_name(), "America/New_York");
    assert_eq!(timetable("@daily", "").zone_name(), "UTC");
}

#[test]
fn shortest_periods() {
    for (schedule, seconds) in [
        ("* * * * *", 60),
        ("*/7 * * * *", 4 * 60),
        ("0 * * * *", 60 * 60),
        ("0,59 0,23 * * *", 60),
        ("30 9,17 * * 1-5", 8 * 60 * 60),
        ("0 0 29 2 *", 24 * 60 * 60),
        ("* * * * * *", 1),
        ("*/25 * * * * *", 10),
        ("30 0 12 * * *", 24 * 60 * 60),
    ] {
        let shortest = timetable(schedule, "UTC").shortest_period();
        assert_eq!(shortest, Duration::from_secs(seconds), "{schedule}");
    }
}

/// A field as a list of values, none for `*`.
type Parts = [Option<BTreeSet<u8>>; 5];

fn field(min: u8, max: u8) -> impl Strategy<Value = Option<BTreeSet<u8>>> {
    let values = prop::collection::btree_set(min..=max, 1..4);
    prop_oneof![1 => Just(None), 2 => values.prop_map(Some)]
}

fn text(parts: &Parts) -> String {
    let field = |values: &Option<BTreeSet<u8>>| match values {
        None => "*".to_owned(),
        Some(values) => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    };
    parts.each_ref().map(field).join(" ")
}

/// Whether the wall clock shows a time that matches.
fn matches(parts: &Parts, shown: DateTime) -> bool {
    let [minute, hour, day, month, weekday] = parts;
    let has = |values: &Option<BTreeSet<u8>>, value: i8| {
        values.as_ref().is_none_or(|values| values.contains(&value.unsigned_abs()))
    };
    let weekdays = has(weekday, shown.weekday().to_sunday_zero_offset());
    let days = has(day, shown.day());
    let day = if day.is_some() && weekday.is_some() { days || weekdays } else { days && weekdays };
    has(minute, shown.minute()) && has(hour, shown.hour()) && has(month, shown.month()) && day
}

/// Minute by minute, by the book.
fn oracle(parts: &Parts, zone: &TimeZone, from: jiff::Timestamp, minutes: i64) -> Vec<i64> {
    let fixed = parts[0].is_some() && parts[1].is_some();
    let step = jiff::SignedDuration::from_mins(1);
    let mut latest = zone.to_datetime(from - jiff::SignedDuration::from_hours(4));
    let mut found = Vec::new();
    for minute in -240..=minutes {
        let moment = from + jiff::SignedDuration::from_mins(minute);
        let shown = zone.to_datetime(moment);
        let runs = if fixed {
            // What is shown for the first time, and what was skipped before it.
            let mut next = latest + step;
            let mut runs = false;
            while next <= shown {
                runs |= matches(parts, next);
                next += step;
            }
            latest = latest.max(shown);
            runs
        } else {
            matches(parts, shown)
        };
        if runs && minute > 0 {
            found.push(moment.as_millisecond());
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn next_runs_are_those_of_an_oracle(
        minute in field(0, 59),
        hour in field(0, 4),
        day in field(1, 31),
        month in field(1, 12),
        weekday in field(0, 6),
        place in prop::sample::select(&[
            ("Europe/Berlin", "2026-03-28T22:00:00Z"),
            ("Europe/Berlin", "2026-10-24T22:00:00Z"),
            ("America/New_York", "2026-03-08T00:00:00Z"),
            ("America/New_York", "2026-11-01T00:00:00Z"),
            ("Australia/Lord_Howe", "2026-04-04T10:00:00Z"),
            ("Australia/Lord_Howe", "2026-10-03T10:00:00Z"),
            ("Asia/Kathmandu", "2028-02-28T12:00:00Z"),
            ("Africa/Casablanca", "2026-02-14T22:00:00Z"),
        ]),
        offset in 0_i64..600,
    ) {
        let parts = [minute, hour, day, month, weekday];
        let Ok(timetable) = Timetable::new(&text(&parts), place.0, 0) else {
            return Ok(());
        };
        let zone = TimeZone::get(place.0).expect("known");
        let from: jiff::Timestamp = place.1.parse().expect("a time");
        let from = from + jiff::SignedDuration::from_mins(offset);
        let until = (from + jiff::SignedDuration::from_mins(2_000)).as_millisecond();
        let expected = oracle(&parts, &zone, from, 2_000);
        let first = timetable.next_after(from.as_millisecond());
        let runs = std::iter::successors(first, |run| timetable.next_after(*run));
        let runs: Vec<_> = runs.take_while(|run| *run <= until).collect();
        prop_assert_eq!(runs, expected, "{} in {}", text(&parts), place.0);
    }

    #[test]
    fn any_text_parses_or_is_refused(text in "[ -~]{0,40}", stars in "[*?0-9,/ -]{5,20}") {
        for text in [text, stars] {
            match Timetable::new(&text, "Europe/Berlin", 0) {
                Ok(timetable) => {
                    let next = timetable.next_after(at("2026-01-01T00:00:00Z"));
                    prop_assert!(next.is_some(), "{} runs some time", text);
                }
                Err(error) => prop_assert!(error.to_string().starts_with("schedule: ")),
            }
        }
    }
}

#[test]
fn without_the_database_only_utc_is_taken() {
    for name in ["", "UTC", "utc"] {
        assert_eq!(utc_alone(name), Ok(TimeZone::UTC), "{name:?}");
    }
    for name in ["Europe/Berlin", "Etc/UTC", "nowhere"] {
        let refusal = utc_alone(name).expect_err(name);
        assert!(refusal.contains("time-zones"), "{refusal}");
    }
}
