//! `@every 1h30m`

use std::time::Duration;

use jiff::SignedDuration;

use crate::cron::{InvalidCron, invalid};

/// A leap year.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// A period of whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Every {
    secs: i64,
}

impl Every {
    /// Reads what follows `@every`.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidCron> {
        let period = text.trim();
        if period.is_empty() || !text.starts_with(char::is_whitespace) {
            return Err(invalid("@every needs a period after it, such as @every 1h30m"));
        }
        let wrong = || invalid(format!("@every: {period:?} is not a period such as 1h30m or 90s"));
        // Nothing but what Go programs write: jiff reads much more.
        if !period.chars().all(|c| c.is_ascii_digit() || matches!(c, 'h' | 'm' | 's' | '.')) {
            return Err(wrong());
        }
        let duration: SignedDuration = period.parse().map_err(|_| wrong())?;
        if duration.subsec_nanos() != 0 || duration.as_secs() < 1 {
            return Err(invalid("@every: the period must be whole seconds, at least 1s"));
        }
        if duration.unsigned_abs() > LONGEST {
            return Err(invalid("@every: the period must be at most 8784h (366 days)"));
        }
        Ok(Self { secs: duration.as_secs() })
    }

    pub(crate) const fn period(self) -> Duration {
        Duration::from_secs(self.secs.unsigned_abs())
    }

    /// The first run after `after`. Periods are counted from the start, which
    /// is the first run, or from the whole second in which the cron was made.
    /// All in milliseconds.
    pub(crate) fn next_after(self, after: i64, created_at: i64, starts_at: Option<i64>) -> i64 {
        let (origin, first) = match starts_at {
            Some(start) => (start, 0),
            None => (created_at.div_euclid(1000) * 1000, 1),
        };
        let period = self.secs * 1000;
        let elapsed = after.saturating_sub(origin).div_euclid(period);
        let run = elapsed.saturating_add(1).max(first);
        origin.saturating_add(run.saturating_mul(period))
    }
}
