//! Bars over time, drawn by the server.

use askama::Template;
use webhook_core::{Timestamp, store::MinuteCount};

use crate::show;

/// How high the drawing is, in its own units.
const HEIGHT: u64 = 96;
const WIDTH: u64 = 20;

/// A part of a bar.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) class: &'static str,
    pub(crate) y: u64,
    pub(crate) height: u64,
}

/// One stretch of time.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) href: String,
    pub(crate) x: u64,
    pub(crate) sums: Sums,
    pub(crate) parts: Vec<Part>,
}

/// Stacked bars. The same numbers are in a table below them.
#[derive(Debug, Template)]
#[template(path = "bars.html")]
pub(crate) struct Bars {
    pub(crate) title: String,
    pub(crate) width: u64,
    pub(crate) height: u64,
    pub(crate) most: u64,
    pub(crate) bars: Vec<Bar>,
}

/// Deliveries by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) sent: u64,
    pub(crate) failed: u64,
    pub(crate) rejected: u64,
    pub(crate) waiting: u64,
}

impl Sums {
    pub(crate) fn of<'a>(minutes: impl IntoIterator<Item = &'a MinuteCount>) -> Self {
        let mut sums = Self::default();
        for (status, count) in minutes.into_iter().flat_map(|minute| &minute.counts) {
            let sum = match *status {
                "sent" => &mut sums.sent,
                "failed" => &mut sums.failed,
                "rejected" => &mut sums.rejected,
                _ => &mut sums.waiting,
            };
            *sum += count;
        }
        sums
    }

    pub(crate) fn total(&self) -> u64 {
        self.sent + self.failed + self.rejected + self.waiting
    }

    /// How many of a hundred were not rejected; none before any came.
    pub(crate) fn passed_of_hundred(&self) -> Option<u64> {
        let total = self.total();
        (total > 0).then(|| (total - self.rejected) * 100 / total)
    }

    /// How many of a hundred of those that have ended were sent; none before any has.
    pub(crate) fn sent_of_hundred(&self) -> Option<u64> {
        let ended = self.sent + self.failed;
        (ended > 0).then(|| self.sent * 100 / ended)
    }
}

/// The last 24 hours, hour by hour. `list` is the address of the list of webhooks with its
/// filters, to which a bar adds its hour.
pub(crate) fn hours(minutes: &[MinuteCount], now: Timestamp, list: &str) -> Bars {
    const HOUR: i64 = 3_600;
    let last = now.as_secs().div_euclid(HOUR) * HOUR;
    let mut bars = Vec::new();
    for number in 0..24 {
        let from = last - (23 - number) * HOUR;
        let within = |minute: &&MinuteCount| (from..from + HOUR).contains(&minute.minute.as_secs());
        bars.push((from, Sums::of(minutes.iter().filter(within))));
    }
    let most = bars.iter().map(|(_, sums)| sums.total()).max().unwrap_or_default();
    let scale = |count: u64| match count {
        0 => 0,
        count => (count * HEIGHT / most.max(1)).max(2),
    };
    let bars = bars.into_iter().zip(0..).map(|((from, sums), number)| {
        let stacked = [
            ("bar-sent", sums.sent),
            ("bar-rejected", sums.rejected),
            ("bar-waiting", sums.waiting),
            ("bar-failed", sums.failed),
        ];
        let mut y = HEIGHT;
        let mut parts = Vec::new();
        for (class, count) in stacked.into_iter().filter(|(_, count)| *count > 0) {
            let height = scale(count).min(y);
            y -= height;
            parts.push(Part { class, y, height });
        }
        Bar {
            label: show::hour(Timestamp::from_secs(from)),
            href: format!("{list}from={from}&to={}", from + HOUR - 1),
            x: number * WIDTH,
            sums,
            parts,
        }
    });
    let title = "Deliveries of the last 24 hours".to_owned();
    Bars { title, width: 24 * WIDTH, height: HEIGHT, most, bars: bars.collect() }
}
