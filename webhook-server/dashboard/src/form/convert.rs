//! Between what is typed and what is on the wire.

use serde_json::{Map, Value, json};

use super::Kind;
use crate::moment;

/// What is typed for a time that does not come.
const NEVER: &str = "never";

/// What is on the wire for what was typed; none for the default.
pub(super) fn value(kind: Kind, typed: &str) -> Result<Option<Value>, String> {
    let trimmed = typed.trim();
    Ok(match kind {
        Kind::Text | Kind::Select => Some(json!(trimmed)),
        Kind::Password | Kind::Area => Some(json!(typed)),
        Kind::Secret | Kind::SecretArea => Some(json!(trimmed)),
        Kind::Check => Some(json!(typed == "true")),
        Kind::Lines => Some(lines(typed).collect()),
        Kind::Parts => Some(lines(typed).map(part).collect::<Result<_, _>>()?),
        Kind::Moment if trimmed.is_empty() => Some(json!(0)),
        Kind::Moment => {
            let (start, _) = moment::read(trimmed).ok_or(moment::EXPECTED)?;
            Some(json!(start.as_secs()))
        }
        Kind::Json if !trimmed.is_empty() => {
            let value = serde_json::from_str(trimmed).map_err(|error| error.to_string())?;
            Some(value)
        }
        _ if trimmed.is_empty() => None,
        Kind::Number => {
            let number: Result<i64, _> = trimmed.parse();
            Some(json!(number.map_err(|_| format!("must be a whole number, not {trimmed:?}"))?))
        }
        Kind::Word => Some(trimmed.parse::<u16>().map_or_else(|_| json!(trimmed), |it| json!(it))),
        Kind::Headers => Some(headers(typed)?),
        Kind::Decimal => {
            let number = trimmed.parse().ok().filter(|number: &f64| number.is_finite());
            Some(json!(number.ok_or_else(|| format!("must be a number, not {trimmed:?}"))?))
        }
        Kind::Limit if trimmed.eq_ignore_ascii_case(NEVER) => Some(json!(0)),
        Kind::Duration | Kind::Limit => Some(json!(nanoseconds(trimmed)?)),
        Kind::Durations => {
            let each = trimmed.split(',').map(|text| nanoseconds(text.trim()));
            Some(json!(each.collect::<Result<Vec<_>, _>>()?))
        }
        Kind::Json => None,
    })
}

/// What is shown for what is on the wire.
pub(super) fn text(kind: Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Headers, Value::Object(headers)) => header_lines(headers),
        (Kind::Limit, value) if value.as_i64() == Some(0) => NEVER.to_owned(),
        (Kind::Duration | Kind::Limit, value) => duration(value.as_i64().unwrap_or_default()),
        (Kind::Durations, Value::Array(list)) => {
            let each = list.iter().map(|value| duration(value.as_i64().unwrap_or_default()));
            each.collect::<Vec<_>>().join(", ")
        }
        (Kind::Lines, Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        }
        (Kind::Parts, Value::Array(list)) => {
            let word =
                |part: &Value, name: &str| part[name].as_str().unwrap_or_default().to_owned();
            let each = list.iter().map(|it| format!("{} {}", word(it, "source"), word(it, "name")));
            each.collect::<Vec<_>>().join("\n")
        }
        (Kind::Moment, value) => moment_text(value.as_i64().unwrap_or_default()),
        (Kind::Json, Value::Object(_)) => serde_json::to_string_pretty(value).unwrap_or_default(),
        // The API's zero says nothing.
        (Kind::Number, Value::Number(number)) if number.as_i64() == Some(0) => String::new(),
        (_, Value::String(text)) => text.clone(),
        (_, Value::Null) => String::new(),
        (_, value) => value.to_string(),
    }
}

fn headers(typed: &str) -> Result<Value, String> {
    let mut headers = Map::new();
    for (number, line) in typed.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| format!("line {} must be a name, a colon and a value", number + 1))?;
        let values = headers.entry(name.trim()).or_insert_with(|| json!([]));
        if let Value::Array(values) = values {
            values.push(json!(value.trim()));
        }
    }
    Ok(Value::Object(headers))
}

fn header_lines(headers: &Map<String, Value>) -> String {
    let mut lines = Vec::new();
    for (name, values) in headers {
        let values = values.as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.extend(values.map(|value| format!("{name}: {value}")));
    }
    lines.join("\n")
}

fn lines(typed: &str) -> impl Iterator<Item = &str> {
    typed.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn part(line: &str) -> Result<Value, String> {
    let (source, name) = line
        .split_once(char::is_whitespace)
        .ok_or_else(|| format!("{line:?} must be header, query or payload, a space and a name"))?;
    Ok(json!({"source": source, "name": name.trim()}))
}

fn moment_text(seconds: i64) -> String {
    match jiff::Timestamp::from_second(seconds) {
        Ok(moment) if seconds != 0 => moment.to_string(),
        _ => String::new(),
    }
}

/// The units, the longest first, in nanoseconds.
const UNITS: [(&str, i64); 6] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("ns", 1),
];

fn nanoseconds(text: &str) -> Result<i64, String> {
    let help = || format!("{text:?} is not a duration such as 500ms, 30s, 5m, 1h or 2d");
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: i64 = number.parse().map_err(|_| help())?;
    if number == 0 && unit.is_empty() {
        return Ok(0);
    }
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    factor.and_then(|factor| number.checked_mul(factor)).ok_or_else(help)
}

fn duration(nanoseconds: i64) -> String {
    if nanoseconds == 0 {
        return String::new();
    }
    let unit = UNITS.iter().find(|(_, factor)| nanoseconds % factor == 0);
    unit.map_or_else(String::new, |(name, factor)| format!("{}{name}", nanoseconds / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_again() {
        for (kind, wire) in [
            (Kind::Moment, json!(1_767_312_000)),
            (Kind::Moment, json!(0)),
            (Kind::Lines, json!(["payload.a", "query.b"])),
            (Kind::Parts, json!([{"source": "header", "name": "X-Id"}])),
            (Kind::Word, json!("same")),
            (Kind::Word, json!(208)),
            (Kind::Json, json!({"a": [1]})),
            (Kind::Limit, json!(0)),
            (Kind::Limit, json!(3_600_000_000_000_i64)),
            (Kind::Decimal, json!(0.7)),
        ] {
            assert_eq!(value(kind, &text(kind, &wire)), Ok(Some(wire)));
        }
        assert_eq!(text(Kind::Moment, &json!(1_767_312_000)), "2026-01-02T00:00:00Z");
        assert_eq!(value(Kind::Moment, "2026-01-02"), Ok(Some(json!(1_767_312_000))));
        assert_eq!(text(Kind::Limit, &json!(0)), "never");
        assert_eq!(value(Kind::Limit, ""), Ok(None), "the default");
        for (kind, wrong) in [
            (Kind::Moment, "soon"),
            (Kind::Parts, "header"),
            (Kind::Json, "{"),
            (Kind::Limit, "ever"),
            (Kind::Decimal, "half"),
            (Kind::Decimal, "inf"),
        ] {
            assert!(value(kind, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_read_as_they_are_shown() {
        for text in ["1ns", "500ms", "30s", "90s", "5m", "1h", "36h", "2d"] {
            assert_eq!(nanoseconds(text).map(duration).as_deref(), Ok(text));
        }
        assert_eq!(duration(60_000_000_000), "1m");
        assert_eq!(nanoseconds("0"), Ok(0));
        for wrong in ["", "5", "s", "-1s", "1.5s", "1 s", "99999999999d"] {
            assert!(nanoseconds(wrong).is_err(), "{wrong:?}");
        }
    }
}
