//! The elements of a Go reference layout.

/// What stands in a layout for a part of a time: each is written as in Go's reference time,
/// `Mon Jan 2 15:04:05 MST 2006`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperHalf,
    LowerHalf,
    ZoneName,
    /// An offset from UTC.
    Offset(OffsetStyle),
    /// A fraction of a second with as many digits.
    Fraction {
        digits: usize,
        trim_zeros: bool,
    },
}

/// How an offset from UTC is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffsetStyle {
    /// `Z` for UTC.
    pub(super) z_for_utc: bool,
    pub(super) colon: bool,
    pub(super) minutes: bool,
    pub(super) seconds: bool,
}

/// The layouts that Go names, with their names.
const NAMED: [(&str, &str); 19] = [
    ("Layout", "01/02 03:04:05PM '06 -0700"),
    ("ANSIC", "Mon Jan _2 15:04:05 2006"),
    ("UnixDate", "Mon Jan _2 15:04:05 MST 2006"),
    ("RubyDate", "Mon Jan 02 15:04:05 -0700 2006"),
    ("RFC822", "02 Jan 06 15:04 MST"),
    ("RFC822Z", "02 Jan 06 15:04 -0700"),
    ("RFC850", "Monday, 02-Jan-06 15:04:05 MST"),
    ("RFC1123", "Mon, 02 Jan 2006 15:04:05 MST"),
    ("RFC1123Z", "Mon, 02 Jan 2006 15:04:05 -0700"),
    ("RFC3339", "2006-01-02T15:04:05Z07:00"),
    ("RFC3339Nano", "2006-01-02T15:04:05.999999999Z07:00"),
    ("Kitchen", "3:04PM"),
    ("Stamp", "Jan _2 15:04:05"),
    ("StampMilli", "Jan _2 15:04:05.000"),
    ("StampMicro", "Jan _2 15:04:05.000000"),
    ("StampNano", "Jan _2 15:04:05.000000000"),
    ("DateTime", "2006-01-02 15:04:05"),
    ("DateOnly", "2006-01-02"),
    ("TimeOnly", "15:04:05"),
];

/// The layout that `layout` names, or itself.
pub(super) fn resolve(layout: &[u8]) -> &[u8] {
    NAMED
        .iter()
        .find(|(name, _)| name.as_bytes() == layout)
        .map_or(layout, |(_, named)| named.as_bytes())
}

/// Offsets, longest first, as behind their `-` or `Z`.
const OFFSETS: [(&[u8], bool, bool, bool); 5] = [
    (b"070000", false, true, true),
    (b"07:00:00", true, true, true),
    (b"0700", false, true, false),
    (b"07:00", true, true, false),
    (b"07", false, false, false),
];

/// What is written as just these bytes, before what only begins like it.
const FIXED: [(&[u8], Chunk); 23] = [
    (b"January", Chunk::LongMonth),
    (b"Monday", Chunk::LongWeekday),
    (b"MST", Chunk::ZoneName),
    (b"002", Chunk::ZeroYearDay),
    (b"01", Chunk::ZeroMonth),
    (b"02", Chunk::ZeroDay),
    (b"03", Chunk::ZeroHour12),
    (b"04", Chunk::ZeroMinute),
    (b"05", Chunk::ZeroSecond),
    (b"06", Chunk::Year),
    (b"15", Chunk::Hour),
    (b"1", Chunk::NumMonth),
    (b"2006", Chunk::LongYear),
    (b"2", Chunk::Day),
    (b"__2", Chunk::UnderYearDay),
    (b"_2", Chunk::UnderDay),
    (b"3", Chunk::Hour12),
    (b"4", Chunk::Minute),
    (b"5", Chunk::Second),
    (b"PM", Chunk::UpperHalf),
    (b"pm", Chunk::LowerHalf),
    (b"Jan", Chunk::Month),
    (b"Mon", Chunk::Weekday),
];

/// The first element of `layout`: the text before it, the element, the text behind it.
pub(super) fn next(layout: &[u8]) -> Option<(&[u8], Chunk, &[u8])> {
    (0..layout.len()).find_map(|at| {
        let text = layout.get(at..)?;
        let (chunk, len) = at_start(text)?;
        Some((layout.get(..at)?, chunk, text.get(len..)?))
    })
}

fn at_start(text: &[u8]) -> Option<(Chunk, usize)> {
    let first = *text.first()?;
    match first {
        b'J' | b'M' | b'0'..=b'5' | b'_' | b'P' | b'p' => {
            let (written, chunk) = FIXED.iter().find(|(written, _)| text.starts_with(written))?;
            let behind = text.get(written.len());
            match chunk {
                // `Month` is a word, not a weekday with something behind it.
                Chunk::Month | Chunk::Weekday if behind.is_some_and(u8::is_ascii_lowercase) => None,
                // The underscore of `_2006` is one.
                Chunk::UnderDay if text.starts_with(b"_2006") => None,
                _ => Some((*chunk, written.len())),
            }
        }
        b'-' | b'Z' => {
            let style = OFFSETS
                .iter()
                .find(|(written, ..)| text.get(1..).is_some_and(|t| t.starts_with(written)));
            style.map(|&(written, colon, minutes, seconds)| {
                let style = OffsetStyle { z_for_utc: first == b'Z', colon, minutes, seconds };
                (Chunk::Offset(style), written.len() + 1)
            })
        }
        b'.' | b',' => {
            let digit = *text.get(1).filter(|byte| matches!(byte, b'0' | b'9'))?;
            let digits = text.iter().skip(1).take_while(|byte| **byte == digit).count();
            if text.get(digits + 1).is_some_and(u8::is_ascii_digit) {
                return None;
            }
            Some((Chunk::Fraction { digits, trim_zeros: digit == b'9' }, digits + 1))
        }
        _ => None,
    }
}
