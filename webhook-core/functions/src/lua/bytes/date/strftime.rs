//! `os.date`.

use std::fmt::Write as _;

use super::civil::Civil;
use super::fields::{DateTable, is_representable};
use super::zone::{Shown, Zone};
use super::{MONTHS, WEEKDAYS, name};
use crate::lua::bytes::{Budget, Error};

/// The most bytes of a format that an error shows.
const MAX_SHOWN: usize = 64;

/// What `os.date` returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Date {
    /// For a format.
    Text(Vec<u8>),
    /// For `*t`.
    Table(DateTable),
}

/// `os.date(format, seconds)` with the clocks of `zone`, or of UTC when the format begins with `!`.
///
/// The conversions are those of C99 in the C locale, with their `E` and `O` forms.
///
/// # Errors
/// An unknown conversion, a year that C's `int` does not hold, or the budget.
pub fn date(format: &[u8], seconds: i64, zone: &Zone, budget: &mut Budget) -> Result<Date, Error> {
    let (format, (civil, shown)) = match format.strip_prefix(b"!") {
        Some(format) => (format, Zone::gmt().civil_at(seconds)),
        None => (format, zone.civil_at(seconds)),
    };
    if !is_representable(civil.year) {
        return Err(Error::message("date result cannot be represented in this installation"));
    }
    if format == b"*t" {
        return Ok(Date::Table(DateTable::new(&civil, &shown)));
    }
    let mut out = Vec::with_capacity(format.len().min(1024) * 2);
    let mut rest = format;
    while let Some(percent) = memchr::memchr(b'%', rest) {
        let (literal, directive) = rest.split_at(percent);
        budget.append(&mut out, literal)?;
        budget.charge(4)?;
        let (conversion, len) = conversion(directive)?;
        let mut text = String::new();
        write(conversion, &civil, &shown, &mut text);
        budget.append(&mut out, text.as_bytes())?;
        rest = directive.get(len..).unwrap_or_default();
    }
    budget.append(&mut out, rest)?;
    Ok(Date::Text(out))
}

/// The conversion at the start of `directive`, and the length of its text.
fn conversion(directive: &[u8]) -> Result<(u8, usize), Error> {
    let found = match directive.get(1..).unwrap_or_default() {
        [b'E', letter, ..] => b"cCxXyY".contains(letter).then_some((*letter, 3)),
        [b'O', letter, ..] => b"deHImMSuUVwWy".contains(letter).then_some((*letter, 3)),
        [letter, ..] => {
            b"aAbBcCdDeFgGhHIjmMnprRStTuUVwWxXyYzZ%".contains(letter).then_some((*letter, 2))
        }
        [] => None,
    };
    found.ok_or_else(|| {
        // Lua shows all of the format from here to a zero; this much of it is enough.
        let text = directive.get(..MAX_SHOWN).unwrap_or(directive);
        let shown =
            String::from_utf8_lossy(text.split(|byte| *byte == 0).next().unwrap_or_default());
        Error::argument("date", 1, format!("invalid conversion specifier '{shown}'"))
    })
}

fn write(conversion: u8, civil: &Civil, shown: &Shown, out: &mut String) {
    let Civil { year, month, day, hour, minute, second, weekday, year_day } = *civil;
    let all = |letters: &[u8], out: &mut String| {
        for (index, letter) in letters.iter().enumerate() {
            if index > 0 {
                out.push(match letters {
                    b"mdy" => '/',
                    b"Ymd" => '-',
                    _ => ':',
                });
            }
            write(*letter, civil, shown, out);
        }
    };
    // Writing to a string never fails.
    let _ = match conversion {
        b'a' => write!(out, "{}", name(&WEEKDAYS, weekday, 3)),
        b'A' => write!(out, "{}", name(&WEEKDAYS, weekday, usize::MAX)),
        b'b' | b'h' => write!(out, "{}", name(&MONTHS, month - 1, 3)),
        b'B' => write!(out, "{}", name(&MONTHS, month - 1, usize::MAX)),
        b'c' => {
            let (weekday, month) = (name(&WEEKDAYS, weekday, 3), name(&MONTHS, month - 1, 3));
            write!(out, "{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
        }
        b'C' => write!(out, "{:02}", year.div_euclid(100)),
        b'd' => write!(out, "{day:02}"),
        b'D' | b'x' => return all(b"mdy", out),
        b'e' => write!(out, "{day:2}"),
        b'F' => return all(b"Ymd", out),
        b'g' => write!(out, "{:02}", civil.iso_week().0.rem_euclid(100)),
        b'G' => write!(out, "{}", civil.iso_week().0),
        b'H' => write!(out, "{hour:02}"),
        b'I' => write!(out, "{:02}", civil.hour_of_half()),
        b'j' => write!(out, "{year_day:03}"),
        b'm' => write!(out, "{month:02}"),
        b'M' => write!(out, "{minute:02}"),
        b'n' => writeln!(out),
        b'p' => write!(out, "{}", if hour < 12 { "AM" } else { "PM" }),
        b'r' => {
            all(b"IMS", out);
            write!(out, " {}", if hour < 12 { "AM" } else { "PM" })
        }
        b'R' => return all(b"HM", out),
        b'S' => write!(out, "{second:02}"),
        b't' => write!(out, "\t"),
        b'T' | b'X' => return all(b"HMS", out),
        b'u' => write!(out, "{}", (weekday + 6) % 7 + 1),
        b'U' => write!(out, "{:02}", (year_day + 6 - weekday) / 7),
        b'V' => write!(out, "{:02}", civil.iso_week().1),
        b'w' => write!(out, "{weekday}"),
        b'W' => write!(out, "{:02}", (year_day + 6 - (weekday + 6) % 7) / 7),
        b'y' => write!(out, "{:02}", year.rem_euclid(100)),
        b'Y' => write!(out, "{year}"),
        b'z' => {
            let minutes = shown.offset_seconds.abs() / 60;
            let sign = if shown.offset_seconds < 0 { '-' } else { '+' };
            write!(out, "{sign}{:02}{:02}", minutes / 60, minutes % 60)
        }
        b'Z' => write!(out, "{}", shown.abbreviation),
        _ => write!(out, "%"),
    };
}
