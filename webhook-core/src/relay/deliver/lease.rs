//! The lease of this node: for as long as it lasts, what the node holds is its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};

use crate::{
    clock::{Clock, Skew, StoreClock, Timestamp},
    error::Error,
    id::NodeId,
    relay::Observer,
    store::{self, DeliveryStore, Extended},
};

/// A clock that is off by less is as good as any.
const NOTICED: Duration = Duration::from_millis(250);

/// How much later than a third of the lease a renewal can be.
const RENEWAL_TAKES: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Lease {
    node: NodeId,
    /// Tells this process from another one of the same name.
    incarnation: i64,
    /// Told when that one has the lease.
    taken: Notify,
    length: Duration,
    deliveries: Arc<dyn DeliveryStore>,
    clock: Arc<StoreClock>,
    observer: Arc<dyn Observer>,
    /// How far apart the clocks were, by what was said of it.
    said: AtomicU8,
    /// Until when it lasts, in milliseconds since 1970.
    until: AtomicI64,
    /// Whether other nodes take what a node holds whose lease is over.
    shared: bool,
    /// How often it began anew.
    term: AtomicU64,
    extending: Mutex<()>,
    /// Told when it was renewed.
    renewed: Notify,
}

/// The time in which the lease was never over: what was held in an earlier one may be another
/// node's by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term(u64);

impl Term {
    /// Of a lease that was never over.
    pub(super) const FIRST: Self = Self(0);
}

impl Lease {
    pub(super) fn new(
        node: NodeId,
        length: Duration,
        shared: bool,
        deliveries: Arc<dyn DeliveryStore>,
        clock: Arc<StoreClock>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self {
            node,
            incarnation: fastrand::i64(1..),
            taken: Notify::new(),
            length,
            deliveries,
            clock,
            observer,
            said: AtomicU8::new(0),
            until: AtomicI64::new(0),
            shared,
            term: AtomicU64::new(0),
            extending: Mutex::new(()),
            renewed: Notify::new(),
        }
    }

    /// The term of what this node takes from now on.
    pub(super) fn term(&self) -> Term {
        Term(self.term.load(Ordering::Acquire))
    }

    /// The term of which deliveries may be attempted; none when the lease is about to end and
    /// cannot be renewed, because others take over what this node holds.
    pub(super) async fn lasting_term(&self) -> Option<Term> {
        if self.lasts() {
            return Some(self.term());
        }
        match self.extending.try_lock() {
            Ok(_one_at_a_time) => drop(self.renew().await),
            // Who renews it now is as good as we are, also when that fails.
            Err(_) => drop(self.extending.lock().await),
        }
        self.lasts().then(|| self.term())
    }

    /// Whether nobody takes what this node holds, also if clocks are somewhat apart.
    fn lasts(&self) -> bool {
        !self.shared || self.left() > self.length / 10
    }

    /// Makes sure that what this node holds stays its own for a while.
    pub(super) async fn hold(&self) -> Result<(), Error> {
        self.renew_below(self.length / 3).await
    }

    /// Renews it when a third of it has passed, so that the two others are there for a store
    /// that is slow.
    pub(super) async fn keep(&self) -> Result<(), Error> {
        self.renew_below(self.length * 2 / 3).await
    }

    async fn renew_below(&self, low: Duration) -> Result<(), Error> {
        if self.left() > low {
            return Ok(());
        }
        let _one_at_a_time = self.extending.lock().await;
        if self.left() > low {
            return Ok(());
        }
        self.renew().await.map(|_| ())
    }

    /// How long it lasts.
    fn left(&self) -> Duration {
        Timestamp::from_millis(self.until.load(Ordering::Acquire)).since(self.clock.now())
    }

    /// Makes it last for its whole length from now on.
    pub(super) async fn extend(&self) -> Result<Extended, Error> {
        let _one_at_a_time = self.extending.lock().await;
        self.renew().await
    }

    async fn renew(&self) -> Result<Extended, Error> {
        let (extended, skew) = self.renew_once().await?;
        self.tell(skew);
        if extended.taken_until.is_some() {
            self.taken.notify_one();
            let pause = Duration::from_secs(1);
            return Err(Error::unavailable("another process has this node's name", pause));
        }
        // Where the store's clock was not known before, the lease was one by the machine's.
        let most = self.length.as_millis() as i64;
        let lasts = self.until.load(Ordering::Acquire) - self.clock.now().as_millis();
        if skew.is_some() && !(most / 2..=most * 3 / 2).contains(&lasts) {
            self.renew_once().await?;
        }
        if let Some(skew) = skew {
            self.observer.leased(self.left(), skew.millis());
        }
        Ok(extended)
    }

    async fn renew_once(&self) -> Result<(Extended, Option<Skew>), Error> {
        let asked = Instant::now();
        let Self { node, incarnation, .. } = *self;
        let until = self.clock.now() + self.length;
        let lease = store::Lease { node, incarnation, until };
        let extended = self.deliveries.extend_lease(lease).await?;
        if extended.taken_until.is_none() {
            if !self.lasts() {
                self.term.fetch_add(1, Ordering::Release);
            }
            self.until.store(until.as_millis(), Ordering::Release);
            self.renewed.notify_one();
        }
        let skew = extended.now.map(|shown| self.clock.read(shown, asked, self.length / 4));
        Ok((extended, skew))
    }

    /// Says once that the clocks have come apart, and once that they agree again.
    fn tell(&self, skew: Option<Skew>) {
        let Some(skew) = skew else { return };
        let level = match skew.size() {
            size if size >= self.length / 4 => 2,
            size if size >= NOTICED => 1,
            _ => 0,
        };
        if self.said.swap(level, Ordering::Relaxed) == level {
            return;
        }
        match level {
            2 => tracing::error!("this machine's clock is {skew}: set it, by NTP for example"),
            1 => tracing::warn!("this machine's clock is {skew}: set it, by NTP for example"),
            _ => tracing::info!("this machine's clock agrees with the database's"),
        }
    }

    /// Takes over what this node held in a former life. Of a store that is shared it reads
    /// the clock: a machine whose clock is off by a quarter of the lease is refused, because
    /// its identifiers would be of another time. So is a process whose name is another's.
    pub(super) async fn begin(&self) -> Result<(), Error> {
        let _one_at_a_time = self.extending.lock().await;
        if !self.shared {
            return self.deliveries.release(self.node, None).await;
        }
        let (extended, skew) = self.renew_once().await?;
        if let Some(skew) = skew.filter(|skew| skew.size() >= self.length / 4) {
            let reason = format!("this machine's is {skew}: set it, by NTP for example");
            return Err(Error::invalid("clock", reason));
        }
        if let Some(until) = extended.taken_until {
            self.outlive(until).await?;
        }
        self.deliveries.release(self.node, None).await?;
        let (extended, _) = self.renew_once().await?;
        extended.taken_until.map_or(Ok(()), |_| Err(name_is_taken()))
    }

    /// Waits for as long as a process that has this node's name, and the lease up to `until`,
    /// takes to extend it; fails when it does.
    async fn outlive(&self, until: Timestamp) -> Result<(), Error> {
        if until <= self.clock.now() {
            return Ok(());
        }
        tokio::time::sleep(self.length / 3 + RENEWAL_TAKES).await;
        let (extended, _) = self.renew_once().await?;
        let is_alive = extended.taken_until.is_some_and(|later| later != until);
        if is_alive { Err(name_is_taken()) } else { Ok(()) }
    }

    /// Returns when another process has this node's name and lease.
    pub(super) async fn lost(&self) -> Error {
        self.taken.notified().await;
        name_is_taken()
    }

    /// Returns when the lease lasts, which may be over.
    pub(super) async fn begun(&self) {
        while self.left().is_zero() {
            self.renewed.notified().await;
        }
    }

    /// Returns when it is time to [`keep`](Self::keep) it.
    pub(super) async fn check_interval(&self) {
        let third = self.length / 3;
        let wait = match self.left() {
            Duration::ZERO => third,
            left => left.saturating_sub(third * 2).clamp(third / 4, third),
        };
        tokio::time::sleep(wait).await;
    }

    /// Nothing is held any more.
    pub(super) fn end(&self) {
        self.until.store(0, Ordering::Release);
    }
}

fn name_is_taken() -> Error {
    Error::invalid(
        "node",
        "another process has this node's name and is alive: each needs a data folder of its own, \
         not a copy of another's",
    )
}
