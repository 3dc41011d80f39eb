//! What Go's `time` package answers, case by case, and the named layouts.

use super::super::Budget;
use super::super::date::{self, Instant, Zone};
use super::cases::{Value, check};

fn zone(name: &[u8]) -> Zone {
    let name = std::str::from_utf8(name).expect("a zone's name is text");
    Zone::named(name).expect("the built-in database has this zone")
}

#[test]
fn layouts_write_and_read_as_in_go() {
    let count = check(include_str!("goldens/go.txt"), |case, budget| {
        if case.function == "format" {
            let nanos =
                u32::try_from(case.int_or(1, 0)).expect("nanoseconds are below a thousand million");
            let instant = Instant { seconds: case.int_or(0, 0), nanos };
            return Ok(vec![Value::Bytes(date::format(
                instant,
                case.bytes(2),
                &zone(case.bytes(3)),
                budget,
            )?)]);
        }
        Ok(match date::parse(case.bytes(0), case.bytes(1), &zone(case.bytes(2)), budget) {
            // Go's zones of long ago are those of another version of the database.
            Ok(_) if case.expected == Ok(vec![Value::Bool(true)]) => vec![Value::Bool(true)],
            Ok(instant) => vec![Value::Int(instant.seconds), Value::Int(i64::from(instant.nanos))],
            Err(_) => vec![Value::Nil],
        })
    });
    assert!(count > 3000);
}

#[test]
fn a_layout_may_be_named() {
    let instant = Instant { seconds: 1_709_210_096, nanos: 5_000_000 };
    let written = |layout: &[u8]| {
        let text = date::format(instant, layout, &Zone::utc(), &mut Budget::default())
            .expect("enough budget");
        String::from_utf8(text).expect("layouts write text")
    };
    assert_eq!(written(b"RFC3339"), "2024-02-29T12:34:56Z");
    assert_eq!(written(b"RFC3339Nano"), "2024-02-29T12:34:56.005Z");
    assert_eq!(written(b"RFC1123"), "Thu, 29 Feb 2024 12:34:56 UTC");
    assert_eq!(written(b"Kitchen"), "12:34PM");
    assert_eq!(written(b"DateTime"), "2024-02-29 12:34:56");
    let read = date::parse(b"2024-02-29", b"DateOnly", &Zone::utc(), &mut Budget::default());
    assert_eq!(read, Ok(Instant { seconds: 1_709_164_800, nanos: 0 }));
}

#[test]
fn what_does_not_fit_says_what_and_where() {
    let error = |value: &[u8]| {
        date::parse(value, b"RFC3339", &Zone::utc(), &mut Budget::default())
            .expect_err("not a date")
            .to_string()
    };
    assert_eq!(
        error(b"2024-02-29 12:00"),
        r#"parsing time "2024-02-29 12:00" as "2006-01-02T15:04:05Z07:00": cannot parse " 12:00" as "T""#
    );
    assert!(error(b"2023-02-29T12:00:00Z").ends_with("day out of range"));
    assert!(error(b"2024-02-29T12:00:00Z!").ends_with(r#"extra text: "!""#));
}
