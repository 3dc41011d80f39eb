//! Retry policies of other services, as durability.

use serde_json::{Map, Value, json};

const SECOND: u64 = 1_000_000_000;
/// The longest wait that there is.
const LONGEST: u64 = 30 * 24 * 60 * 60 * SECOND;
/// The most waits.
const MAX_DELAYS: u64 = 100;

/// What an output needs to be tried `count` times more, `interval` nanoseconds apart, or twice as
/// long each time.
pub(super) fn policy(count: u64, interval: u64, exponential: bool) -> Map<String, Value> {
    let mut fields = Map::new();
    if count == 0 {
        fields.insert("retries".to_owned(), json!(-1));
        return fields;
    }
    let delays = (0..count.min(MAX_DELAYS)).scan(interval, |next, _| {
        let delay = (*next).clamp(SECOND, LONGEST);
        if exponential {
            *next = next.saturating_mul(2);
        }
        Some(delay)
    });
    let delays: Vec<_> = delays.collect();
    let durability = json!({"enabled": true, "schedule": "custom", "custom_delays": delays});
    fields.insert("durability".to_owned(), durability);
    fields
}

/// A throttle of so many per interval.
pub(super) fn rate(rate: u64, interval: &str) -> Value {
    json!({"enabled": true, "mode": "rate", "rate": rate, "interval": interval})
}

/// Nanoseconds: a number of seconds, or a text such as `10s`, `1m30s` or `500ms`.
pub(super) fn nanoseconds(value: &Value) -> Option<u64> {
    if let Some(seconds) = value.as_u64() {
        return seconds.checked_mul(SECOND);
    }
    let mut rest = value.as_str()?;
    let mut all = 0_u64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let factor = match &rest[..end] {
            "ms" => SECOND / 1_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3_600 * SECOND,
            _ => return None,
        };
        all = all.checked_add(number.checked_mul(factor)?)?;
        rest = &rest[end..];
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits() {
        let delays = |count, interval, exponential| {
            policy(count, interval, exponential)["durability"]["custom_delays"].clone()
        };
        assert_eq!(delays(2, 5 * SECOND, false), json!([5 * SECOND, 5 * SECOND]));
        assert_eq!(delays(3, SECOND, true), json!([SECOND, 2 * SECOND, 4 * SECOND]));
        assert_eq!(delays(200, 1, true).as_array().map(Vec::len), Some(100));
        assert_eq!(policy(0, 1, true)["retries"], -1);
    }

    #[test]
    fn durations() {
        for (value, wanted) in [
            (json!(3), Some(3 * SECOND)),
            (json!("1m30s"), Some(90 * SECOND)),
            (json!("500ms"), Some(SECOND / 2)),
            (json!("s"), None),
            (json!("5"), None),
            (json!(-1), None),
            (json!("99999999999999h"), None),
        ] {
            assert_eq!(nanoseconds(&value), wanted, "{value}");
        }
    }
}
