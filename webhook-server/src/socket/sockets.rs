//! What the sockets share: their bounds, their number, and their end.

use std::{sync::Arc, time::Duration};

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::config::SocketConfig;

/// All sockets of the server.
#[derive(Debug)]
pub(crate) struct Sockets {
    slots: Arc<Semaphore>,
    count: u32,
    open: Gauge,
    pub(super) ping_interval: Duration,
    pub(super) write_timeout: Duration,
    stop: watch::Sender<bool>,
}

/// The right to be open; counted for as long as it lives.
#[derive(Debug)]
pub(super) struct Slot {
    _permit: OwnedSemaphorePermit,
    open: Gauge,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl Sockets {
    pub(crate) fn new(config: &SocketConfig, open: Gauge) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(config.max_sockets as usize)),
            count: config.max_sockets,
            open,
            ping_interval: config.socket_ping_interval,
            write_timeout: config.socket_write_timeout,
            stop: watch::Sender::new(false),
        }
    }

    /// The right to open one more, unless there are too many.
    pub(super) fn slot(&self) -> Option<Slot> {
        let permit = Arc::clone(&self.slots).try_acquire_owned().ok()?;
        self.open.inc();
        Some(Slot { _permit: permit, open: self.open.clone() })
    }

    /// Tells all clients that the server ends, and waits until they are gone.
    pub(crate) async fn close(&self) {
        self.stop.send_replace(true);
        // It is never closed.
        let _ = self.slots.acquire_many(self.count).await;
    }

    /// Ends when the server does.
    pub(super) async fn stopped(&self) {
        // The sender lives as long as this does.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }
}
