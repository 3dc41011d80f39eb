//! The log's way to standard error.
//!
//! There is a line for each attempt, and a system call for each line would be a noticeable
//! part of what a delivery costs. So lines wait a moment and are written together. Warnings
//! and errors are written at once, with the lines that wait.

mod fields;

use std::{
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

pub(crate) use fields::Plain;

/// How many bytes may wait. The line that exceeds it is written at once with the others.
const MAX_WAITING_BYTES: usize = 64 * 1024;

/// Writes lines together. Clones share the lines that wait.
#[derive(Clone)]
pub(crate) struct Log {
    shared: Arc<Shared>,
}

struct Shared {
    /// The lines that wait.
    waiting: Mutex<Vec<u8>>,
    /// Notified when the first line begins to wait.
    first: Condvar,
    /// How long a line may wait. With zero every line is written at once.
    delay: Duration,
    /// Where lines are written. It is locked before `waiting`, so that they stay in order.
    out: Mutex<Box<dyn Write + Send>>,
}

impl Log {
    /// Starts a log that writes to `out`, with a thread that writes the lines that wait.
    pub(crate) fn start(out: impl Write + Send + 'static, delay: Duration) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            first: Condvar::new(),
            delay,
            out: Mutex::new(Box::new(out)),
        });
        if delay.is_zero() {
            return Ok(Self { shared });
        }
        let writer = Arc::clone(&shared);
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            loop {
                writer.wait_for_first();
                thread::sleep(writer.delay);
                writer.write_out();
            }
        })?;
        Ok(Self { shared })
    }

    /// Writes the lines that wait.
    pub(crate) fn flush(&self) {
        self.shared.write_out();
    }
}

impl Shared {
    fn add(&self, line: &[u8]) -> usize {
        let mut waiting = lock(&self.waiting);
        if waiting.is_empty() {
            self.first.notify_one();
        }
        waiting.extend_from_slice(line);
        waiting.len()
    }

    fn wait_for_first(&self) {
        let waiting = lock(&self.waiting);
        let until = self.first.wait_while(waiting, |waiting| waiting.is_empty());
        drop(until.unwrap_or_else(PoisonError::into_inner));
    }

    fn write_out(&self) {
        let mut out = lock(&self.out);
        let lines = std::mem::take(&mut *lock(&self.waiting));
        // A closed standard error does not stop the server.
        let _ = out.write_all(&lines).and_then(|()| out.flush());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { shared: &self.shared, waits: false }
    }

    fn make_writer_for(&'a self, of: &Metadata<'_>) -> Line<'a> {
        let waits = *of.level() > Level::WARN && !self.shared.delay.is_zero();
        Line { shared: &self.shared, waits }
    }
}

/// Takes one line.
pub(crate) struct Line<'a> {
    /// Where it waits.
    shared: &'a Shared,
    /// Whether it may wait.
    waits: bool,
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.shared.add(line) >= MAX_WAITING_BYTES || !self.waits {
            self.shared.write_out();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.shared.write_out();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Instant};

    use super::*;

    /// Tells what is written at once.
    pub(super) struct Told(pub(super) mpsc::Sender<String>);

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const LONG: Duration = Duration::from_secs(600);

    fn started(delay: Duration) -> (Log, mpsc::Receiver<String>) {
        let (sender, written) = mpsc::channel();
        (Log::start(Told(sender), delay).expect("a thread"), written)
    }

    fn line(log: &Log, waits: bool, text: &str) {
        let mut line = Line { shared: &log.shared, waits };
        line.write_all(text.as_bytes()).expect("the log takes everything");
    }

    #[test]
    fn lines_are_written_together_and_in_order() {
        let (log, written) = started(LONG);
        line(&log, true, "a\n");
        line(&log, true, "b\n");
        line(&log, false, "warning\n");
        assert_eq!(written.try_recv().as_deref(), Ok("a\nb\nwarning\n"));
        line(&log, true, "c\n");
        log.flush();
        assert_eq!(written.try_recv().as_deref(), Ok("c\n"));
    }

    #[test]
    fn nothing_waits_for_long_and_not_too_much_waits() {
        let delay = Duration::from_millis(20);
        let (log, written) = started(delay);
        let before = Instant::now();
        line(&log, true, "alone\n");
        assert_eq!(written.recv_timeout(LONG).as_deref(), Ok("alone\n"));
        assert!(before.elapsed() >= delay);
        let (log, written) = started(LONG);
        line(&log, true, &"x".repeat(MAX_WAITING_BYTES));
        assert_eq!(written.try_recv().map(|text| text.len()), Ok(MAX_WAITING_BYTES));
    }

    #[test]
    fn without_a_delay_each_line_is_written_at_once() {
        let (log, written) = started(Duration::ZERO);
        tracing::subscriber::with_default(
            tracing_subscriber::fmt().without_time().with_writer(log).finish(),
            || tracing::info!("at once"),
        );
        assert!(written.try_recv().is_ok_and(|line| line.contains("at once")));
    }
}
