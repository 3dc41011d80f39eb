//! `os.date`, `os.time`, and the reference layouts of Go for `time.format` and `time.parse`.
//!
//! Zones come from the time zone database that is built in, never from the machine. Nothing here reads a clock.

mod civil;
mod fields;
mod go_chunk;
mod go_format;
mod go_parse;
mod go_scan;
mod strftime;
mod zone;

use crate::list::list_of;

pub use fields::{DateTable, time};
pub use go_format::format;
pub use go_parse::parse;
pub use strftime::{Date, date};
pub use zone::Zone;

/// A point in time: seconds since 1970 and nanoseconds behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    /// Whole seconds since the start of 1970 in UTC, rounded down.
    pub seconds: i64,
    /// Nanoseconds behind them, below 1 000 000 000.
    pub nanos: u32,
}

impl Instant {
    /// The instant that a script's number of seconds stands for; `None` when it is not finite or too large.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let whole = super::number::float_to_integer(seconds.floor())?;
        let nanos = ((seconds - seconds.floor()) * 1e9).round() as u32;
        Some(match nanos {
            0..1_000_000_000 => Self { seconds: whole, nanos },
            _ => Self { seconds: whole.saturating_add(1), nanos: 0 },
        })
    }

    /// The instant as a script's number of seconds, with a fraction.
    #[must_use]
    pub fn to_seconds(self) -> f64 {
        self.seconds as f64 + f64::from(self.nanos) / 1e9
    }
}

const MONTHS: [&str; 12] = list_of(
    "January February March April May June July August September October November December",
);

const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The name at `index`, cut to `len` characters.
fn name(names: &'static [&'static str], index: u32, len: usize) -> &'static str {
    let full = names.get(index as usize).copied().unwrap_or_default();
    full.get(..len).unwrap_or(full)
}
