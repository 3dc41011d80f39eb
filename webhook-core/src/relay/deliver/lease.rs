//! The lease of this node: for as long as it lasts, what the node holds is its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU8, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};

use crate::{
    clock::{Clock, Skew, StoreClock, Timestamp},
    error::Error,
    id::NodeId,
    store::{DeliveryStore, Extended},
};

/// A clock that is off by less is as good as any.
const NOTICED: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct Lease {
    node: NodeId,
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
        Self { node, length, deliveries, clock, said: AtomicU8::new(0), until, extending }
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
        let until = self.clock.now() + self.length;
        let extended = self.deliveries.extend_lease(self.node, until).await?;
        self.until.store(until.as_millis(), Ordering::Release);
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

    /// Reads the clock of a store that is `shared`. A machine whose clock is off by a
    /// quarter of the lease is refused: its identifiers would be of another time.
    pub(super) async fn begin(&self, shared: bool) -> Result<(), Error> {
        if !shared {
            return Ok(());
        }
        let _one_at_a_time = self.extending.lock().await;
        let (_, skew) = self.renew_once().await?;
        match skew.filter(|skew| skew.size() >= self.length / 4) {
            Some(skew) => {
                let reason = format!("this machine's is {skew}: set it, by NTP for example");
                Err(Error::invalid("clock", reason))
            }
            None => self.renew().await.map(|_| ()),
        }
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
