//! `time.format` with a Go reference layout.

use std::fmt::Write as _;

use super::go_chunk::{self, Chunk, OffsetStyle};
use super::zone::Zone;
use super::{Instant, MONTHS, WEEKDAYS, name};
use crate::lua::bytes::{Budget, Error};

/// The most digits of a fraction of a second; more are not written.
const NANO_DIGITS: usize = 9;

/// Writes `instant` with the clocks of `zone` as Go's reference time is written in `layout`, which may also be the
/// name of one of Go's layouts, such as `RFC3339`.
///
/// # Errors
/// The budget.
pub fn format(
    instant: Instant,
    layout: &[u8],
    zone: &Zone,
    budget: &mut Budget,
) -> Result<Vec<u8>, Error> {
    let (civil, shown) = zone.civil_at(instant.seconds);
    let mut out = Vec::new();
    let mut rest = go_chunk::resolve(layout);
    while let Some((before, chunk, behind)) = go_chunk::next(rest) {
        budget.append(&mut out, before)?;
        budget.charge_scan(rest.len() - behind.len() + 64)?;
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = match chunk {
            Chunk::LongMonth => write!(text, "{}", name(&MONTHS, civil.month - 1, usize::MAX)),
            Chunk::Month => write!(text, "{}", name(&MONTHS, civil.month - 1, 3)),
            Chunk::NumMonth => write!(text, "{}", civil.month),
            Chunk::ZeroMonth => write!(text, "{:02}", civil.month),
            Chunk::LongWeekday => write!(text, "{}", name(&WEEKDAYS, civil.weekday, usize::MAX)),
            Chunk::Weekday => write!(text, "{}", name(&WEEKDAYS, civil.weekday, 3)),
            Chunk::Day => write!(text, "{}", civil.day),
            Chunk::UnderDay => write!(text, "{:2}", civil.day),
            Chunk::ZeroDay => write!(text, "{:02}", civil.day),
            Chunk::UnderYearDay => write!(text, "{:3}", civil.year_day),
            Chunk::ZeroYearDay => write!(text, "{:03}", civil.year_day),
            Chunk::Hour => write!(text, "{:02}", civil.hour),
            Chunk::Hour12 => write!(text, "{}", civil.hour_of_half()),
            Chunk::ZeroHour12 => write!(text, "{:02}", civil.hour_of_half()),
            Chunk::Minute => write!(text, "{}", civil.minute),
            Chunk::ZeroMinute => write!(text, "{:02}", civil.minute),
            Chunk::Second => write!(text, "{}", civil.second),
            Chunk::ZeroSecond => write!(text, "{:02}", civil.second),
            Chunk::LongYear => {
                let sign = if civil.year < 0 { "-" } else { "" };
                write!(text, "{sign}{:04}", civil.year.unsigned_abs())
            }
            Chunk::Year => write!(text, "{:02}", civil.year.max(0) % 100),
            Chunk::UpperHalf => write!(text, "{}", if civil.hour < 12 { "AM" } else { "PM" }),
            Chunk::LowerHalf => write!(text, "{}", if civil.hour < 12 { "am" } else { "pm" }),
            Chunk::ZoneName => write!(text, "{}", shown.abbreviation),
            Chunk::Offset(style) => {
                write_offset(style, shown.offset_seconds, &mut text);
                Ok(())
            }
            Chunk::Fraction { digits, trim_zeros } => {
                let separator = rest.get(before.len()).copied().unwrap_or(b'.');
                write_fraction(instant.nanos, separator, digits, trim_zeros, &mut text);
                Ok(())
            }
        };
        budget.append(&mut out, text.as_bytes())?;
        rest = behind;
    }
    budget.charge_scan(rest.len())?;
    budget.append(&mut out, rest)?;
    Ok(out)
}

fn write_offset(style: OffsetStyle, offset_seconds: i64, out: &mut String) {
    if style.z_for_utc && offset_seconds == 0 {
        out.push('Z');
        return;
    }
    // Go cuts the seconds off before it looks at the sign.
    let minutes = offset_seconds / 60;
    let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.abs());
    let colon = if style.colon { ":" } else { "" };
    let _ = write!(out, "{sign}{:02}", minutes / 60);
    if style.minutes {
        let _ = write!(out, "{colon}{:02}", minutes % 60);
    }
    if style.seconds {
        let _ = write!(out, "{colon}{:02}", (offset_seconds % 60).abs());
    }
}

fn write_fraction(nanos: u32, separator: u8, digits: usize, trim_zeros: bool, out: &mut String) {
    let all = format!("{nanos:09}");
    let cut = all.get(..digits.min(NANO_DIGITS)).unwrap_or_default();
    let shown = if trim_zeros { cut.trim_end_matches('0') } else { cut };
    if trim_zeros && shown.is_empty() {
        return;
    }
    out.push(char::from(separator));
    out.push_str(shown);
}
