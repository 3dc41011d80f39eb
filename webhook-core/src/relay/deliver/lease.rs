//! The lease of this node: for as long as it lasts, what the node holds is its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU8, Ordering},
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
    /// How far apart the clocks were, by what was said of it.
    said: AtomicU8,
    /// Until when it lasts, in milliseconds since 1970.
    until: AtomicI64,
    extending: Mutex<()>,
}

impl Lease {
    pub(super) fn new(
        node: NodeId,
        length: Duration,
        deliveries: Arc<dyn DeliveryStore>,
        clock: Arc<StoreClock>,
    ) -> Self {
        let (until, extending) = (AtomicI64::new(0), Mutex::new(()));
        let (incarnation, taken) = (fastrand::i64(1..), Notify::new());
        let said = AtomicU8::new(0);
        Self { node, incarnation, taken, length, deliveries, clock, said, until, extending }
    }

    /// Makes sure that what this node holds stays its own for a while.
    pub(super) async fn hold(&self) -> Result<(), Error> {
        let low = self.length.as_millis() as i64 / 3;
        let lasts = |now: Timestamp| self.until.load(Ordering::Acquire) - now.as_millis() > low;
        if lasts(self.clock.now()) {
            return Ok(());
        }
        let _one_at_a_time = self.extending.lock().await;
        if lasts(self.clock.now()) {
            return Ok(());
        }
        self.renew().await.map(|_| ())
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
        Ok(extended)
    }

    async fn renew_once(&self) -> Result<(Extended, Option<Skew>), Error> {
        let asked = Instant::now();
        let Self { node, incarnation, .. } = *self;
        let until = self.clock.now() + self.length;
        let lease = store::Lease { node, incarnation, until };
        let extended = self.deliveries.extend_lease(lease).await?;
        if extended.taken_until.is_none() {
            self.until.store(until.as_millis(), Ordering::Release);
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

    /// Takes over what this node held in a former life. Of a store that is `shared` it reads
    /// the clock: a machine whose clock is off by a quarter of the lease is refused, because
    /// its identifiers would be of another time. So is a process whose name is another's.
    pub(super) async fn begin(&self, shared: bool) -> Result<(), Error> {
        let _one_at_a_time = self.extending.lock().await;
        if !shared {
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

    /// Returns when it is time to see whether the lease has to be renewed.
    pub(super) async fn check_interval(&self) {
        tokio::time::sleep(self.length / 3).await;
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
