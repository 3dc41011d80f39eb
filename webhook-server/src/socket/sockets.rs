//! What the sockets share: their bounds, their number, and their end.

use std::{net::IpAddr, sync::Arc, time::Duration};

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::task::TaskTracker;

use crate::{
    auth::network,
    config::SocketConfig,
    shares::{Share, Shares},
};

/// All sockets of the server.
#[derive(Debug)]
pub(crate) struct Sockets {
    /// For clients that have said who they are.
    slots: Arc<Semaphore>,
    /// For those that have not: strangers take no place from the others.
    unknown: Shares<Option<IpAddr>>,
    open: Gauge,
    /// The conversations.
    pub(super) tasks: TaskTracker,
    pub(super) ping_interval: Duration,
    pub(super) write_timeout: Duration,
    stop: watch::Sender<bool>,
}

/// The right to say who one is.
pub(super) type Stranger = Share<Option<IpAddr>>;

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
            unknown: Shares::new(config.max_unauthenticated_sockets as usize),
            open,
            tasks: TaskTracker::new(),
            ping_interval: config.socket_ping_interval,
            write_timeout: config.socket_write_timeout,
            stop: watch::Sender::new(false),
        }
    }

    /// Whether one more could be open.
    pub(super) fn has_room(&self) -> bool {
        self.slots.available_permits() > 0
    }

    /// The right of one more from this address to say who it is, unless there
    /// are too many who have not.
    pub(super) fn stranger(&self, ip: Option<IpAddr>) -> Option<Stranger> {
        let mut share = self.unknown.of(ip.map(network));
        share.grow(1).then_some(share)
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
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends when the server does.
    pub(super) async fn stopped(&self) {
        // The sender lives as long as this does.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }
}
