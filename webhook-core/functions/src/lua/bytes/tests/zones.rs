//! Zones other than UTC, where the answer is known from the zone's rules.

use super::super::date::{self, Date, DateTable, Instant, Zone};
use super::super::{Arg, Budget, Error};

fn berlin() -> Zone {
    Zone::named("Europe/Berlin").expect("a zone of the database")
}

fn written(format: &str, seconds: i64, zone: &Zone) -> String {
    match date::date(format.as_bytes(), seconds, zone, &mut Budget::default())
        .expect("a valid format")
    {
        Date::Text(text) => String::from_utf8(text).expect("text"),
        Date::Table(table) => panic!("a table for {format}: {table:?}"),
    }
}

fn time(hour: i64, month: i64, day: i64, isdst: Arg<'static>) -> Result<(i64, DateTable), Error> {
    let field = |name: &str| match name {
        "year" => Arg::Int(2024),
        "month" => Arg::Int(month),
        "day" => Arg::Int(day),
        "hour" => Arg::Int(hour),
        "min" => Arg::Int(30),
        "sec" => Arg::Nil,
        _ => isdst,
    };
    date::time(field, &berlin(), &mut Budget::default())
}

#[test]
fn a_date_shows_its_zone() {
    assert_eq!(written("%F %T %z %Z", 1_720_000_000, &berlin()), "2024-07-03 11:46:40 +0200 CEST");
    assert_eq!(written("%F %T %z %Z", 1_704_100_000, &berlin()), "2024-01-01 10:06:40 +0100 CET");
    assert_eq!(written("!%F %T %z %Z", 1_704_100_000, &berlin()), "2024-01-01 09:06:40 +0000 GMT");
    assert_eq!(written("%z %Z", 0, &Zone::utc()), "+0000 UTC");
}

#[test]
fn an_hour_that_comes_twice_follows_isdst() {
    // On 2024-10-27 the clocks go from 03:00 back to 02:00, at 01:00 UTC.
    let first = 1_729_989_000;
    assert_eq!(time(2, 10, 27, Arg::Nil).expect("valid").0, first);
    assert_eq!(time(2, 10, 27, Arg::Bool(true)).expect("valid").0, first);
    let (second, table) = time(2, 10, 27, Arg::Bool(false)).expect("valid");
    assert_eq!((second, table.hour, table.isdst), (first + 3_600, 2, false));
}

#[test]
fn an_hour_that_is_skipped_moves_on() {
    // On 2024-03-31 the clocks go from 02:00 to 03:00.
    let (seconds, table) = time(2, 3, 31, Arg::Nil).expect("valid");
    assert_eq!((seconds, table.hour, table.min, table.isdst), (1_711_848_600, 3, 30, true));
}

#[test]
fn the_second_before_1970_is_a_time() {
    // C cannot tell it from a failure, so Lua refuses it.
    let field = |name: &str| match name {
        "year" => Arg::Int(1969),
        "month" => Arg::Int(12),
        "day" => Arg::Int(31),
        "hour" => Arg::Int(23),
        "min" | "sec" => Arg::Int(59),
        _ => Arg::Nil,
    };
    assert_eq!(date::time(field, &Zone::utc(), &mut Budget::default()).expect("valid").0, -1);
}

#[test]
fn an_unknown_zone_is_named() {
    let error = Zone::named("Mars/Base").expect_err("not on Earth");
    assert_eq!(error.to_string(), "unknown time zone Mars/Base");
    assert!(Zone::named("../etc/passwd").is_err());
}

#[test]
fn seconds_with_a_fraction_round_to_nanoseconds() {
    assert_eq!(Instant::from_seconds(1.25), Some(Instant { seconds: 1, nanos: 250_000_000 }));
    assert_eq!(Instant::from_seconds(-0.25), Some(Instant { seconds: -1, nanos: 750_000_000 }));
    assert_eq!(Instant::from_seconds(f64::NAN), None);
    assert_eq!(Instant::from_seconds(1e300), None);
    assert!((Instant { seconds: -1, nanos: 750_000_000 }.to_seconds() + 0.25).abs() < 1e-9);
}
