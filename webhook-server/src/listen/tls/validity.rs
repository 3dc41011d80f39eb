//! Until when a certificate is valid (RFC 5280, 4.1).

use jiff::{civil::DateTime, tz::TimeZone};
use webhook_core::Timestamp;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xA0;

/// The last second of a certificate; none when it says none that can be read.
pub(super) fn end(certificate: &[u8]) -> Option<Timestamp> {
    let (outer, _) = value(certificate, SEQUENCE)?;
    let (mut rest, _) = value(outer, SEQUENCE)?;
    if let Some((_, after)) = value(rest, VERSION) {
        rest = after;
    }
    // Serial number, algorithm, issuer.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        (_, rest) = value(rest, tag)?;
    }
    let (validity, _) = value(rest, SEQUENCE)?;
    let after_first = |tag| value(validity, tag).map(|(_, rest)| rest);
    let rest = after_first(UTC_TIME).or_else(|| after_first(GENERALIZED_TIME))?;
    match value(rest, UTC_TIME) {
        Some((text, _)) => moment(&in_full(std::str::from_utf8(text).ok()?)?),
        None => moment(std::str::from_utf8(value(rest, GENERALIZED_TIME)?.0).ok()?),
    }
}

/// The content of the value of this tag that `input` begins with, and what is after it.
fn value(input: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = input.split_first()?;
    let (&first, rest) = rest.split_first().filter(|_| found == tag)?;
    let (length, rest) = match first {
        0..=0x7F => (usize::from(first), rest),
        0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            (bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// A time whose year has two digits, which are those of 1950 to 2049, with all four.
fn in_full(text: &str) -> Option<String> {
    let year: u8 = text.get(..2)?.parse().ok()?;
    Some(format!("{}{text}", if year >= 50 { "19" } else { "20" }))
}

fn moment(text: &str) -> Option<Timestamp> {
    let time = DateTime::strptime("%Y%m%d%H%M%SZ", text).ok()?;
    let zoned = time.to_zoned(TimeZone::UTC).ok()?;
    Some(Timestamp::from_secs(zoned.timestamp().as_second()))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn made(year: i32) -> Vec<u8> {
        let mut params = CertificateParams::new(["a.example".to_owned()]).expect("a name");
        params.not_before = date_time_ymd(1980, 1, 1);
        params.not_after = date_time_ymd(year, 2, 3);
        let key = KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("a certificate").der().to_vec()
    }

    #[test]
    fn the_end_is_read_in_both_forms() {
        assert_eq!(end(&made(2031)), Some(Timestamp::from_secs(1_927_843_200)));
        // From 2050 on the year has four digits.
        assert_eq!(end(&made(2060)), Some(Timestamp::from_secs(2_842_992_000)));
        assert_eq!(end(&made(1999)), Some(Timestamp::from_secs(918_000_000)));
    }

    #[test]
    fn what_is_cut_or_no_certificate_has_none() {
        let whole = made(2031);
        for length in 0..whole.len() {
            assert_eq!(end(&whole[..length]), None, "{length} bytes");
        }
        for wrong in [&b"no certificate"[..], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[]] {
            assert_eq!(end(wrong), None);
        }
    }
}
