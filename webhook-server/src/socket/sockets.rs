//! What all sockets share: bounds, the count of open ones, and the end of the server.

use std::{net::IpAddr, sync::Arc, time::Duration};

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::task::TaskTracker;

use super::recheck::Rechecks;
use crate::{
    config::SocketConfig,
    state::{
        AppState, network,
        shares::{Share, Shares},
    },
};

/// All sockets of the server.
#[derive(Debug)]
pub(crate) struct Sockets {
    /// Authenticates clients, and has what they ask for.
    pub(super) state: AppState,
    /// One permit for each client that may be connected after it has authenticated.
    slots: Arc<Semaphore>,
    /// Places for clients that have not authenticated yet, so that they take none from
    /// those that have.
    unknown: Shares<Option<IpAddr>>,
    /// The metric of open sockets.
    open: Gauge,
    /// The tasks of all clients, which the end of the server waits for.
    pub(super) tasks: TaskTracker,
    /// How often a client is asked whether it is still there.
    pub(super) ping_interval: Duration,
    /// How long a client may take to read a frame.
    pub(super) write_timeout: Duration,
    /// The credentials of clients that subscribe.
    pub(super) rechecks: Arc<Rechecks>,
    /// Tells all clients that the server ends.
    stop: watch::Sender<bool>,
}

/// The place of a client that has not authenticated yet.
pub(super) type Stranger = Share<Option<IpAddr>>;

/// The place of a client that has authenticated. It is counted until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    /// The client's part in the bound on all of them.
    _permit: OwnedSemaphorePermit,
    /// Counts one less on drop.
    open: Gauge,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl Sockets {
    pub(crate) fn new(state: AppState, config: &SocketConfig) -> Self {
        let open = state.metrics().sockets.clone();
        Self {
            state,
            slots: Arc::new(Semaphore::new(config.max_sockets as usize)),
            unknown: Shares::new(config.max_unauthenticated_sockets as usize),
            open,
            tasks: TaskTracker::new(),
            ping_interval: config.socket_ping_interval,
            write_timeout: config.socket_write_timeout,
            rechecks: Arc::default(),
            stop: watch::Sender::new(false),
        }
    }

    /// Whether there is a place for another client.
    pub(super) fn has_room(&self) -> bool {
        self.slots.available_permits() > 0
    }

    /// A place for another client of this address that has not authenticated yet, unless
    /// all are taken.
    pub(super) fn stranger(&self, ip: Option<IpAddr>) -> Option<Stranger> {
        let mut share = self.unknown.of(ip.map(network));
        share.grow(1).then_some(share)
    }

    /// A place for another client that has authenticated, unless all are taken.
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

    /// Returns when the server ends.
    pub(super) async fn stopped(&self) {
        // The sender lives as long as this does.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }
}
