//! Whether a value is within the bounds of its field.

use std::time::Duration;

use super::{Field, typed::duration_text};

/// A text: its length and its characters.
pub(super) fn text(text: &str, field: &Field) -> Result<(), String> {
    if text.is_empty() {
        return if field.required { Err("must not be empty".to_owned()) } else { Ok(()) };
    }
    if field.required && text.trim().is_empty() {
        return Err("must not be empty".to_owned());
    }
    if field.is_name && text.trim() != text {
        return Err("must not start or end with blanks".to_owned());
    }
    if field.max > 0 && text.len() > field.max {
        return Err(format!("must be at most {} bytes long, not {}", field.max, text.len()));
    }
    let is_allowed = |c: char| !c.is_control() || (field.lines > 0 && "\n\r\t".contains(c));
    if !field.raw && !text.chars().all(is_allowed) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(())
}

/// How many entries there are, and how long they are together.
pub(super) fn entries(count: usize, bytes: usize, field: &Field) -> Result<(), String> {
    if field.required && count == 0 {
        return Err("must have at least one".to_owned());
    }
    if field.max > 0 && count > field.max {
        return Err(format!("at most {} are possible, not {count}", field.max));
    }
    if field.max_bytes > 0 && bytes > field.max_bytes {
        return Err(format!("must be at most {} bytes together, not {bytes}", field.max_bytes));
    }
    Ok(())
}

/// A number of this unit, which is empty or begins with a blank.
pub(super) fn number(number: i64, unit: &str, field: &Field) -> Result<(), String> {
    let Some((least, most)) = field.range else { return Ok(()) };
    if is_within(number, field) {
        return Ok(());
    }
    let zero = if field.or_zero { "0 or " } else { "" };
    Err(format!("must be {zero}from {least} to {most}{unit}, not {number}"))
}

/// A duration, whose bounds are said as people type them and as they are on the wire.
pub(super) fn duration(duration: Duration, field: &Field) -> Result<(), String> {
    let Some((least, most)) = field.range else { return Ok(()) };
    if is_within(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX), field) {
        return Ok(());
    }
    let text = |nanos: i64| duration_text(Duration::from_nanos(nanos.unsigned_abs()));
    Err(match least {
        0 => format!("must be at most {} ({most} nanoseconds)", text(most)),
        _ => {
            let zero = if field.or_zero { "0 or " } else { "" };
            let (short, long) = (text(least), text(most));
            format!("must be {zero}from {short} to {long} ({least} to {most} nanoseconds)")
        }
    })
}

fn is_within(number: i64, field: &Field) -> bool {
    let is_zero = field.or_zero && number == 0;
    is_zero || field.range.is_none_or(|(least, most)| (least..=most).contains(&number))
}
