//! How long things took.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::Outcome;

/// Microseconds are counted up to two minutes, to three digits.
const LONGEST_MICROS: u64 = 120_000_000;

/// Steps of a curve from one nine to the next.
const STEPS: u32 = 10;
/// 99.99 %, past which a pass has too few events.
const NINES: u32 = 4;

/// Counts durations.
#[derive(Debug)]
pub(crate) struct Stopwatch(Histogram<u64>);

impl Stopwatch {
    pub(crate) fn new() -> Outcome<Self> {
        Ok(Self(Histogram::new_with_max(LONGEST_MICROS, 3)?))
    }

    pub(crate) fn record(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn add(&mut self, other: &Self) -> Outcome<()> {
        Ok(self.0.add(&other.0)?)
    }

    pub(crate) fn latency(&self) -> Latency {
        let at = |quantile| self.0.value_at_quantile(quantile) as f64 / 1_000.0;
        let count = self.0.len();
        let curve = (0..=NINES * STEPS).map(|step| f64::from(step) / f64::from(STEPS));
        let curve = curve.take_while(|nines| count as f64 >= 10_f64.powf(*nines));
        Latency {
            count,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            curve: curve.map(|nines| (nines, at(1.0 - 10_f64.powf(-nines)))).collect(),
        }
    }
}

/// Percentiles, in milliseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) count: u64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    /// Nines and milliseconds: 0 is the fastest, 1 is 90 %, 2 is 99 %.
    pub(crate) curve: Vec<(f64, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_what_was_recorded() {
        let mut watch = Stopwatch::new().expect("a histogram");
        for millis in 1..=1_000 {
            watch.record(Duration::from_millis(millis));
        }
        let latency = watch.latency();
        assert_eq!(latency.count, 1_000);
        for (found, expected) in [
            (latency.p50, 500.0),
            (latency.p90, 900.0),
            (latency.p99, 990.0),
            (latency.p999, 999.0),
            (latency.curve[10].1, 900.0),
        ] {
            assert!((found / expected - 1.0).abs() < 0.002, "{found} is not {expected}");
        }
        // There is no 99.99 % of a thousand.
        assert_eq!(latency.curve.last().map(|(nines, _)| *nines), Some(3.0));
    }
}
