//! The moment that a line begins with.

use std::{
    cell::RefCell,
    fmt::{self, Write},
    time::{SystemTime, UNIX_EPOCH},
};

use jiff::Timestamp;
use tracing_subscriber::fmt::{format::Writer, time::FormatTime};

/// In UTC, with microseconds (RFC 3339). A thread works out a date once a second.
#[derive(Debug)]
pub(crate) struct Moment;

/// A second since 1970, and how it is written.
#[derive(Default)]
struct Second {
    number: u64,
    text: String,
}

thread_local! {
    static LAST: RefCell<Second> = RefCell::default();
}

impl FormatTime for Moment {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        LAST.with_borrow_mut(|last| {
            if last.text.is_empty() || last.number != now.as_secs() {
                let second = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
                let second = Timestamp::from_second(second).unwrap_or(Timestamp::MAX);
                last.number = now.as_secs();
                last.text.clear();
                write!(last.text, "{}", second.strftime("%Y-%m-%dT%H:%M:%S."))?;
            }
            writer.write_str(&last.text)
        })?;
        write!(writer, "{:06}Z", now.subsec_micros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_now_to_the_microsecond() {
        let before = Timestamp::now();
        for _ in 0..3 {
            let mut text = String::new();
            Moment.format_time(&mut Writer::new(&mut text)).expect("a string takes it");
            assert_eq!(text.len(), "2026-11-22T02:26:08.123456Z".len());
            let moment: Timestamp = text.parse().expect("RFC 3339");
            assert!(moment.as_microsecond() >= before.as_microsecond());
            assert!(moment <= Timestamp::now());
        }
    }
}
