//! Durations and sizes as an operator writes them.

use std::time::Duration;

use super::Retention;

/// `500ms`, `30s`, `5m` or `1h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let number: u64 = number.parse().map_err(|_| duration_help(text))?;
    let millis = match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let millis = millis.and_then(|factor: u64| number.checked_mul(factor));
    millis.map(Duration::from_millis).ok_or_else(|| duration_help(text))
}

fn duration_help(text: &str) -> String {
    format!("{text:?} is not a duration such as 500ms, 30s, 5m or 1h")
}

/// As [`duration`], days like `30d`, or `forever`.
pub(super) fn retention(text: &str) -> Result<Retention, String> {
    if text == "forever" {
        return Ok(Retention(None));
    }
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    let kept = match days {
        Some(days) => Ok(Duration::from_secs(24 * 60 * 60) * days),
        None => duration(text),
    };
    let help = |_| format!("{text:?} is not a duration such as 30d or 12h, and not forever");
    kept.map(|kept| Retention(Some(kept))).map_err(help)
}

/// `4096`, `64KiB`, `3MiB` or `1GiB`.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let help = || format!("{text:?} is not a size such as 4096, 64KiB, 3MiB or 1GiB");
    let (number, unit) = split(text);
    let number: usize = number.parse().map_err(|_| help())?;
    let factor = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(help()),
    };
    number.checked_mul(factor).ok_or_else(help)
}

/// A number, or `all`.
pub(super) fn count_or_all(text: &str) -> Result<usize, String> {
    if text == "all" {
        return Ok(usize::MAX);
    }
    text.parse().map_err(|_| format!("{text:?} is not a number such as 10, and not all"))
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        for wrong in ["", "30", "s", "-1s", "1.5s", "30 s", "1d", "18446744073709551615h"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn retentions() {
        assert_eq!(retention("forever"), Ok(Retention(None)));
        assert_eq!(retention("30d"), Ok(Retention(Some(Duration::from_secs(2_592_000)))));
        assert_eq!(retention("2s"), Ok(Retention(Some(Duration::from_secs(2)))));
        for wrong in ["", "30", "d", "-1d", "never", "99999999999d"] {
            assert!(retention(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn counts_or_all() {
        assert_eq!(count_or_all("0"), Ok(0));
        assert_eq!(count_or_all("10"), Ok(10));
        assert_eq!(count_or_all("all"), Ok(usize::MAX));
        for wrong in ["", "-1", "every", "1.5"] {
            assert!(count_or_all(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("64KiB"), Ok(64 << 10));
        assert_eq!(bytes("3MiB"), Ok(3 << 20));
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        for wrong in ["", "MiB", "3MB", "-1", "1.5MiB", "18446744073709551615GiB"] {
            assert!(bytes(wrong).is_err(), "{wrong:?}");
        }
    }
}
