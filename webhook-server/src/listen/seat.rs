//! What one connection is doing at the moment.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    task::AbortHandle,
    time::{Instant, sleep, sleep_until},
};

/// A value of [`Seat::idle`]: a request is being answered.
const BUSY: u64 = 0;
/// A value of [`Seat::idle`]: the connection is closed to make room for another one and
/// takes no further request.
const EVICTED: u64 = u64::MAX;

/// The state of a connection. [`Slots`](super::slots::Slots) reads it to find the connection
/// that has been idle for longest, and the connection's own timeouts read it.
#[derive(Debug)]
pub(crate) struct Seat {
    /// [`BUSY`], [`EVICTED`], or the moment since which the connection is idle, in
    /// milliseconds since `clock` plus one. A part of a request does not change it, so that
    /// a client cannot keep its slot by sending single bytes.
    idle: AtomicU64,
    /// The moment that idle times count from; the same for all connections, so that they
    /// can be compared.
    clock: Instant,
    /// Ends the task that serves the connection.
    task: OnceLock<AbortHandle>,
    /// How many requests hyper has brought whose answers have not been sent completely.
    in_hand: AtomicUsize,
    /// The number of the last such request.
    last: AtomicU64,
    /// The answers that wait for the client to read, by the request's number, with the
    /// moment when the client last read something of each.
    unread: Mutex<BTreeMap<u64, Instant>>,
    /// Whether hyper has brought any request.
    spoke: AtomicBool,
    /// Whether a request came over HTTP/2.
    http2: AtomicBool,
    /// Whether the next answer is the last one.
    closes: AtomicBool,
    /// Whether the last request was answered before all of it had arrived: then the client
    /// still sends, and the connection reads on for a moment after its end.
    answered_early: AtomicBool,
}

impl Seat {
    /// The state of a connection that was just opened.
    pub(super) fn new(clock: Instant) -> Self {
        let seat = Self {
            idle: AtomicU64::new(BUSY),
            clock,
            task: OnceLock::new(),
            in_hand: AtomicUsize::new(0),
            last: AtomicU64::new(0),
            unread: Mutex::default(),
            spoke: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            closes: AtomicBool::new(false),
            answered_early: AtomicBool::new(false),
        };
        seat.wait();
        seat
    }

    /// Remembers the task that serves the connection, for [`Self::evict`].
    pub(super) fn served_by(&self, task: AbortHandle) {
        let _ = self.task.set(task);
    }

    /// Says that a request is being answered; `false` when the connection is about to be
    /// closed and must not take it.
    pub(crate) fn begin(&self) -> bool {
        let is_open = self.idle.swap(BUSY, Ordering::AcqRel) != EVICTED;
        if !is_open {
            self.idle.store(EVICTED, Ordering::Release);
        }
        is_open
    }

    /// Says that the connection waits for its client: it is idle from now on, unless a
    /// request is being answered or it was idle before.
    pub(super) fn wait(&self) {
        let is_busy = || self.idle.load(Ordering::Relaxed) == BUSY;
        if is_busy() && self.in_hand.load(Ordering::Acquire) == 0 {
            let now = u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(EVICTED);
            let now = now.saturating_add(1).min(EVICTED - 1);
            let _ = self.idle.compare_exchange(BUSY, now, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// The moment since which the connection is idle, as [`Seat::evict`] takes it, and how
    /// long that is; none while a request is being answered.
    pub(super) fn idle(&self) -> Option<(u64, Duration)> {
        let since = self.idle.load(Ordering::Acquire);
        let is_idle =
            ![BUSY, EVICTED].contains(&since) && self.in_hand.load(Ordering::Acquire) == 0;
        let age = || self.clock.elapsed().saturating_sub(Duration::from_millis(since));
        is_idle.then(|| (since, age()))
    }

    /// Closes the connection if it is still idle since that moment.
    pub(super) fn evict(&self, since: u64) {
        if let Some(task) = self.task.get()
            && self
                .idle
                .compare_exchange(since, EVICTED, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        {
            task.abort();
        }
    }

    /// Counts a request that hyper brought, before it begins, and gives it a number.
    pub(super) fn take(&self) -> u64 {
        self.in_hand.fetch_add(1, Ordering::AcqRel);
        self.spoke.store(true, Ordering::Relaxed);
        self.answered_early.store(false, Ordering::Relaxed);
        self.last.fetch_add(1, Ordering::Relaxed)
    }

    /// Says that the answer was sent completely, or that its client is gone.
    pub(super) fn finish(&self, number: u64) {
        self.unread().remove(&number);
        if self.in_hand.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wait();
        }
    }

    /// Says that the client has something of this answer to read.
    pub(super) fn offer(&self, number: u64) {
        self.unread().insert(number, Instant::now());
    }

    /// Says that the client read something of this answer.
    pub(super) fn progress(&self, number: u64) {
        if let Some(since) = self.unread().get_mut(&number) {
            *since = Instant::now();
        }
    }

    /// Says that the handler has produced nothing more of this answer yet.
    pub(super) fn withhold(&self, number: u64) {
        self.unread().remove(&number);
    }

    fn unread(&self) -> MutexGuard<'_, BTreeMap<u64, Instant>> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when the client has read nothing of one of its answers for this long.
    pub(super) async fn unread_for(&self, timeout: Duration) {
        loop {
            let now = Instant::now();
            let oldest = self.unread().values().min().copied().unwrap_or(now);
            let until = oldest + timeout;
            if until <= now {
                return;
            }
            sleep_until(until).await;
        }
    }

    /// Returns when hyper has not brought a request within this time.
    pub(super) async fn silent_for(&self, timeout: Duration) {
        sleep(timeout).await;
        if self.spoke.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }

    /// Says that a request came over HTTP/2.
    pub(crate) fn speak_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
    }

    pub(super) fn speaks_http2(&self) -> bool {
        self.http2.load(Ordering::Relaxed)
    }

    /// Says that the next answer is the last one.
    pub(super) fn close_after_answer(&self) {
        self.closes.store(true, Ordering::Relaxed);
    }

    pub(crate) fn closes_after_answer(&self) -> bool {
        self.closes.load(Ordering::Relaxed)
    }

    /// Says that the request is answered although not all of it has arrived.
    pub(crate) fn answer_early(&self) {
        self.answered_early.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_answered_early(&self) -> bool {
        self.answered_early.load(Ordering::Relaxed)
    }
}
