//! What one connection does at the moment.

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

/// Not idle: a request is in hand.
const BUSY: u64 = 0;
/// Chosen to make room: no further request is taken.
const EVICTED: u64 = u64::MAX;

/// A connection as those see it who look for a slot, and who look after answers.
#[derive(Debug)]
pub(crate) struct Seat {
    /// [`BUSY`], [`EVICTED`], or since when it is idle: a millisecond after the
    /// start of `clock` and so on. What comes of a request that is not whole
    /// changes nothing, so that nobody stays by sending byte after byte.
    idle: AtomicU64,
    /// What idle times count from, the same for all.
    clock: Instant,
    task: OnceLock<AbortHandle>,
    /// Requests that hyper has brought and whose answers have not left.
    in_hand: AtomicUsize,
    /// The last number that such a request was given.
    last: AtomicU64,
    /// The answers of which there is something to read, and since when the
    /// client has read nothing.
    unread: Mutex<BTreeMap<u64, Instant>>,
    /// Whether hyper has ever brought a request.
    spoke: AtomicBool,
    /// Whether the last request was answered before it was there.
    answered_early: AtomicBool,
}

impl Seat {
    /// Of a connection that is open from now on.
    pub(super) fn new(clock: Instant) -> Self {
        let seat = Self {
            idle: AtomicU64::new(BUSY),
            clock,
            task: OnceLock::new(),
            in_hand: AtomicUsize::new(0),
            last: AtomicU64::new(0),
            unread: Mutex::default(),
            spoke: AtomicBool::new(false),
            answered_early: AtomicBool::new(false),
        };
        seat.wait();
        seat
    }

    /// What serves the connection.
    pub(super) fn served_by(&self, task: AbortHandle) {
        let _ = self.task.set(task);
    }

    /// Takes a request in hand, unless the connection is about to end.
    pub(crate) fn begin(&self) -> bool {
        let is_open = self.idle.swap(BUSY, Ordering::AcqRel) != EVICTED;
        if !is_open {
            self.idle.store(EVICTED, Ordering::Release);
        }
        is_open
    }

    /// The peer is waited for; idle from now on unless a request is in hand or
    /// it is idle already.
    pub(super) fn wait(&self) {
        let is_busy = || self.idle.load(Ordering::Relaxed) == BUSY;
        if is_busy() && self.in_hand.load(Ordering::Acquire) == 0 {
            let now = u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(EVICTED);
            let now = now.saturating_add(1).min(EVICTED - 1);
            let _ = self.idle.compare_exchange(BUSY, now, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Since when it is idle, for [`Seat::evict`] and for comparison, and for how long.
    pub(super) fn idle(&self) -> Option<(u64, Duration)> {
        let since = self.idle.load(Ordering::Acquire);
        let is_idle =
            ![BUSY, EVICTED].contains(&since) && self.in_hand.load(Ordering::Acquire) == 0;
        let age = || self.clock.elapsed().saturating_sub(Duration::from_millis(since));
        is_idle.then(|| (since, age()))
    }

    /// Ends the connection if it is idle since then.
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

    /// The answer has left, or nobody wants it.
    pub(super) fn finish(&self, number: u64) {
        self.unread().remove(&number);
        if self.in_hand.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wait();
        }
    }

    /// There is something of this answer to read.
    pub(super) fn offer(&self, number: u64) {
        self.unread().insert(number, Instant::now());
    }

    /// Something of this answer was read.
    pub(super) fn progress(&self, number: u64) {
        if let Some(since) = self.unread().get_mut(&number) {
            *since = Instant::now();
        }
    }

    /// There is nothing more of this answer at the moment.
    pub(super) fn withhold(&self, number: u64) {
        self.unread().remove(&number);
    }

    fn unread(&self) -> MutexGuard<'_, BTreeMap<u64, Instant>> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends when the client has read nothing of one of its answers for so long.
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

    /// Ends when hyper has not brought a request within this time.
    pub(super) async fn silent_for(&self, timeout: Duration) {
        sleep(timeout).await;
        if self.spoke.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }

    /// The rest of the request does not matter any more.
    pub(crate) fn answer_early(&self) {
        self.answered_early.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_answered_early(&self) -> bool {
        self.answered_early.load(Ordering::Relaxed)
    }
}
