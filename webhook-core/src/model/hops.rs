//! How many relays a webhook has passed, so that a loop ends.
//!
//! A received webhook has the count in [`Checks::hops`](super::Checks::hops), and a request that
//! leaves has it in a header. Each request that a webhook causes carries the count plus one: a
//! delivery, a request of a function, and the webhook of a notification.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header with the count.
pub static HEADER: HeaderName = HeaderName::from_static("x-webhook-relay-hops");

/// The largest count that a header may say.
pub const MAX: u16 = 999;

/// Reads how many relays a request with these headers has passed: the largest number from 0 to
/// [`MAX`] in the header. Any other text counts as 0.
///
/// ```
/// use http::HeaderMap;
/// use webhook_core::model::hops;
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(hops::of(&headers), 0);
/// hops::write(7, &mut headers);
/// assert_eq!((hops::of(&headers), &headers["x-webhook-relay-hops"]), (8, &"8".parse().unwrap()));
/// ```
#[must_use]
pub fn of(headers: &HeaderMap) -> u16 {
    let counts = headers.get_all(&HEADER).iter().filter_map(|value| {
        let digits = value.to_str().ok()?;
        // A sign would be read as well.
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    });
    counts.filter(|count| *count <= MAX).max().unwrap_or(0)
}

/// Writes the count for a request that a webhook with `hops` causes. A map that holds as many
/// headers as it can, far more than any server takes, stays unchanged.
pub fn write(hops: u16, headers: &mut HeaderMap) {
    let next = match hops {
        0 => HeaderValue::from_static("1"),
        hops => HeaderValue::from(hops.saturating_add(1).min(MAX)),
    };
    let _ = headers.try_insert(&HEADER, next);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_count_as_none() {
        let of = |values: &[&'static str]| {
            let values = values.iter().map(|value| HeaderValue::from_static(value));
            of(&values.map(|value| (HEADER.clone(), value)).collect())
        };
        for wrong in ["", "-1", "+1", "1.0", "1 2", "1, 2", "0x1", "one", "1000", "99999999999"] {
            assert_eq!(of(&[wrong]), 0, "{wrong}");
        }
        for (count, said) in [(0, "0"), (8, "8"), (8, "008"), (999, "999")] {
            assert_eq!(of(&[said]), count, "{said}");
        }
        // A proxy may have added another header.
        assert_eq!(of(&["2", "5", "no"]), 5);
    }

    #[test]
    fn a_full_map_stays_unchanged() {
        let mut headers = HeaderMap::new();
        let names = (0..).filter_map(|number| HeaderName::try_from(format!("x-{number}")).ok());
        for name in names {
            if headers.try_insert(name, HeaderValue::from_static("1")).is_err() {
                break;
            }
        }
        let full = headers.len();
        write(0, &mut headers);
        assert_eq!((headers.len(), of(&headers)), (full, 0));
    }

    #[test]
    fn the_largest_count_stays() {
        let mut headers = HeaderMap::new();
        write(MAX, &mut headers);
        assert_eq!(of(&headers), MAX);
    }
}
