//! Moments in Go's reference layouts, as the scripts' `time` module reads and writes them: the part of the language
//! that [`LAYOUTS`](super::moments::LAYOUTS) needs, with fractional seconds accepted on reading as Go does.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The layout's elements, longest first where one opens another.
const ELEMENTS: &[&str] = &[
    "January", "Jan", "Monday", "Mon", "MST", "2006", "Z07:00", "-0700", "15", "01", "02", "04",
    "05", "PM", "2", "3", ".000",
];

fn next_element(layout: &str) -> Option<&'static str> {
    ELEMENTS.iter().copied().find(|element| layout.starts_with(element))
}

/// Writes the moment in UTC; `None` outside the years 1 to 9999.
pub(crate) fn format(moment: Timestamp, layout: &str) -> Option<String> {
    let t = Offset::UTC.to_datetime(moment);
    if t.year() < 1 {
        return None;
    }
    let hour12 = (t.hour() + 11) % 12 + 1;
    let month = MONTHS.get(usize::from(t.month().unsigned_abs()).checked_sub(1)?)?;
    let weekday =
        DAYS.get(usize::from(t.date().weekday().to_monday_zero_offset().unsigned_abs()))?;
    let mut out = String::with_capacity(layout.len() + 8);
    let mut rest = layout;
    while !rest.is_empty() {
        let Some(element) = next_element(rest) else {
            let mut characters = rest.chars();
            out.extend(characters.next());
            rest = characters.as_str();
            continue;
        };
        out.push_str(&match element {
            "January" => (*month).to_owned(),
            "Jan" => month.chars().take(3).collect(),
            "Monday" => (*weekday).to_owned(),
            "Mon" => weekday.chars().take(3).collect(),
            "MST" => "UTC".to_owned(),
            "2006" => format!("{:04}", t.year()),
            "Z07:00" => "Z".to_owned(),
            "-0700" => "+0000".to_owned(),
            "15" => format!("{:02}", t.hour()),
            "3" => hour12.to_string(),
            "01" => format!("{:02}", t.month()),
            "02" => format!("{:02}", t.day()),
            "2" => t.day().to_string(),
            "04" => format!("{:02}", t.minute()),
            "05" => format!("{:02}", t.second()),
            "PM" => if t.hour() < 12 { "AM" } else { "PM" }.to_owned(),
            _ => format!(".{:03}", t.subsec_nanosecond() / 1_000_000),
        });
        rest = rest.get(element.len()..).unwrap_or_default();
    }
    Some(out)
}

#[derive(Default)]
struct Fields {
    year: i16,
    month: i8,
    day: i8,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
    offset_seconds: i32,
    afternoon: Option<bool>,
}

/// Reads a moment; a text without an offset is in UTC. Layouts without a full date read nothing.
pub(crate) fn parse(text: &str, layout: &str) -> Option<Timestamp> {
    let mut fields = Fields::default();
    let mut text = text;
    let mut rest = layout;
    while !rest.is_empty() {
        match next_element(rest) {
            Some(element) => {
                rest = rest.get(element.len()..)?;
                text = read(text, element, &mut fields)?;
                // As in Go: a fraction may follow the seconds although the layout has none.
                if element == "05"
                    && !rest.starts_with(".0")
                    && let Some((after, nanosecond, _)) = fraction(text)
                {
                    fields.nanosecond = nanosecond;
                    text = after;
                }
            }
            None => {
                let mut characters = rest.chars();
                text = text.strip_prefix(characters.next()?)?;
                rest = characters.as_str();
            }
        }
    }
    if !text.is_empty() {
        return None;
    }
    let hour = match fields.afternoon {
        Some(_) if !(1..=12).contains(&fields.hour) => return None,
        Some(afternoon) => fields.hour % 12 + if afternoon { 12 } else { 0 },
        None => fields.hour,
    };
    let Fields { year, month, day, minute, second, nanosecond, offset_seconds, .. } = fields;
    let civil = DateTime::new(year, month, day, hour, minute, second, nanosecond).ok()?;
    let zone = TimeZone::fixed(Offset::from_seconds(offset_seconds).ok()?);
    civil.to_zoned(zone).ok().map(|zoned| zoned.timestamp())
}

fn read<'t>(text: &'t str, element: &str, fields: &mut Fields) -> Option<&'t str> {
    let name = |names: &[&str], short: bool| {
        names.iter().enumerate().find_map(|(index, name)| {
            let name = if short { name.get(..3)? } else { name };
            let head = text.get(..name.len())?;
            head.eq_ignore_ascii_case(name).then(|| (index, text.get(name.len()..)))
        })
    };
    match element {
        "January" | "Jan" => {
            let (index, rest) = name(&MONTHS, element == "Jan")?;
            fields.month = i8::try_from(index + 1).ok()?;
            rest
        }
        "Monday" | "Mon" => name(&DAYS, element == "Mon")?.1,
        "MST" => text.strip_prefix("UTC").or_else(|| text.strip_prefix("GMT")),
        "PM" => {
            fields.afternoon = match text.get(..2)?.to_ascii_uppercase().as_str() {
                "AM" => Some(false),
                "PM" => Some(true),
                _ => return None,
            };
            text.get(2..)
        }
        "2006" => digits(text, 4, 4).map(|(value, rest)| {
            fields.year = value;
            rest
        }),
        "Z07:00" => match text.strip_prefix('Z') {
            Some(rest) => Some(rest),
            None => offset(text, true, fields),
        },
        "-0700" => offset(text, false, fields),
        ".000" => {
            let (rest, nanosecond, read) = fraction(text)?;
            fields.nanosecond = nanosecond;
            (read == 3).then_some(rest)
        }
        _ => {
            let (value, rest) =
                digits(text, if element.starts_with('0') || element == "15" { 2 } else { 1 }, 2)?;
            let value = i8::try_from(value).ok()?;
            match element {
                "15" | "3" => fields.hour = value,
                "01" => fields.month = value,
                "02" | "2" => fields.day = value,
                "04" => fields.minute = value,
                "05" => fields.second = value,
                _ => return None,
            }
            Some(rest)
        }
    }
}

fn digits(text: &str, least: usize, most: usize) -> Option<(i16, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let value = text.get(..count)?.parse().ok()?;
    (count >= least).then_some((value, text.get(count..)?))
}

/// What follows the fraction, its nanoseconds and its number of digits.
fn fraction(text: &str) -> Option<(&str, i32, usize)> {
    let rest = text.strip_prefix('.')?;
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    let shown: String = rest.get(..count.min(9))?.to_owned();
    let value: i32 = format!("{shown:0<9}").parse().ok()?;
    (count > 0).then_some((rest.get(count..)?, value, count))
}

fn offset<'t>(text: &'t str, colon: bool, fields: &mut Fields) -> Option<&'t str> {
    let (sign, rest) = match text.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, text.strip_prefix('-')?),
    };
    let (hours, rest) = digits(rest, 2, 2)?;
    let rest = if colon { rest.strip_prefix(':')? } else { rest };
    let (minutes, rest) = digits(rest, 2, 2)?;
    fields.offset_seconds = sign * (i32::from(hours) * 3600 + i32::from(minutes) * 60);
    (hours < 24 && minutes < 60).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_fractions_and_names() {
        let seconds = |text, layout| parse(text, layout).map(|t| t.as_second());
        let rfc3339 = "2006-01-02T15:04:05Z07:00";
        assert_eq!(seconds("2024-03-05T14:07:09+02:00", rfc3339), Some(1_709_640_429));
        assert_eq!(seconds("2024-03-05T12:07:09.25Z", rfc3339), Some(1_709_640_429));
        assert_eq!(
            seconds("Tue, 05 Mar 2024 12:07:09 GMT", "Mon, 02 Jan 2006 15:04:05 MST"),
            Some(1_709_640_429)
        );
        assert_eq!(seconds("mar 5, 2024 3:04 PM", "Jan 2, 2006 3:04 PM"), Some(1_709_651_040));
        assert_eq!(seconds("2024-02-30", "2006-01-02"), None);
        assert_eq!(seconds("2024-03-05 trailing", "2006-01-02"), None);
        assert_eq!(seconds("13:00 XM", "3:04 PM"), None);
    }
}
