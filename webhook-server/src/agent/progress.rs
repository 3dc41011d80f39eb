//! How far something has come: a bar on a terminal, a line now and then elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a bar that nothing happens to is drawn anew.
const REDRAWN: Duration = Duration::from_millis(250);
/// How long nothing is printed where there is no terminal.
const QUIET: Duration = Duration::from_secs(10);

/// How far something has come, on standard error.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    /// What is counted, before each count.
    what: &'static str,
    /// When the last line was printed where standard error is no terminal.
    said_at: Option<Instant>,
    /// The last of them.
    said: String,
}

impl Progress {
    /// Shows `what` from now on; without a total nobody knows how much there is.
    pub(super) fn new(what: &'static str, total: Option<u64>) -> Self {
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let template = match total {
            Some(_) => "{prefix} [{bar:30}] {human_pos}/{human_len} {msg} {elapsed}, {eta} left",
            None => "{prefix} {spinner} {human_pos} {msg} {elapsed}",
        };
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.set_prefix(what);
        if !bar.is_hidden() {
            bar.enable_steady_tick(REDRAWN);
        }
        Self { bar, what, said_at: None, said: String::new() }
    }

    /// It has come so far.
    pub(super) fn set(&mut self, position: u64, message: &str) {
        self.bar.set_position(position);
        self.bar.set_message(message.to_owned());
        if self.bar.is_hidden() && self.said_at.is_none_or(|at| at.elapsed() >= QUIET) {
            self.say(position, message);
        }
    }

    /// It is over; what was shown last stays.
    pub(super) fn finish(mut self, position: u64, message: &str) {
        self.bar.set_position(position);
        match self.bar.is_hidden() {
            true => self.say(position, message),
            false => self.bar.abandon_with_message(message.to_owned()),
        }
    }

    /// Prints what belongs elsewhere, and the bar below it.
    pub(super) fn aside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// A line, unless the last one was the same.
    fn say(&mut self, position: u64, message: &str) {
        let of = self.bar.length().map(|total| format!(" of {total}")).unwrap_or_default();
        let line = format!("{} {position}{of}{}{message}", self.what, separator(message));
        self.said_at = Some(Instant::now());
        if line != self.said {
            eprintln!("{line}");
            self.said = line;
        }
    }
}

fn separator(message: &str) -> &'static str {
    if message.is_empty() { "" } else { ": " }
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressDrawTarget;

    use super::*;

    #[test]
    fn lines_are_printed_now_and_then_where_there_is_no_terminal() {
        let mut progress = Progress::new("queued", Some(30));
        progress.bar.set_draw_target(ProgressDrawTarget::hidden());
        progress.set(1, "sent 0");
        assert_eq!(progress.said, "queued 1 of 30: sent 0");
        progress.set(2, "sent 1");
        assert_eq!(progress.said, "queued 1 of 30: sent 0", "not so soon");
        progress.said_at = Instant::now().checked_sub(QUIET);
        progress.set(3, "");
        assert_eq!(progress.said, "queued 3 of 30");
    }

    #[test]
    fn the_templates_can_be_read() {
        for total in [None, Some(5)] {
            let progress = Progress::new("queued", total);
            assert_eq!(progress.bar.length(), total);
            progress.finish(3, "sent 3");
        }
    }
}
