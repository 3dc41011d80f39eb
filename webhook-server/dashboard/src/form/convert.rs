//! Between what is typed and what is on the wire.

use serde_json::{Map, Value, json};

use super::Kind;

/// What is on the wire for what was typed; none for the default.
pub(super) fn value(kind: Kind, typed: &str) -> Result<Option<Value>, String> {
    let trimmed = typed.trim();
    Ok(match kind {
        Kind::Text | Kind::Select => Some(json!(trimmed)),
        Kind::Password | Kind::Area => Some(json!(typed)),
        Kind::Check => Some(json!(typed == "true")),
        _ if trimmed.is_empty() => None,
        Kind::Number => {
            let number: Result<i64, _> = trimmed.parse();
            Some(json!(number.map_err(|_| format!("must be a whole number, not {trimmed:?}"))?))
        }
        Kind::Headers => Some(headers(typed)?),
        Kind::Duration => Some(json!(nanoseconds(trimmed)?)),
        Kind::Durations => {
            let each = trimmed.split(',').map(|text| nanoseconds(text.trim()));
            Some(json!(each.collect::<Result<Vec<_>, _>>()?))
        }
    })
}

/// What is shown for what is on the wire.
pub(super) fn text(kind: Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Headers, Value::Object(headers)) => header_lines(headers),
        (Kind::Duration, value) => duration(value.as_i64().unwrap_or_default()),
        (Kind::Durations, Value::Array(list)) => {
            let each = list.iter().map(|value| duration(value.as_i64().unwrap_or_default()));
            each.collect::<Vec<_>>().join(", ")
        }
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
