//! What carries messages between processes, and loses, delays, doubles and reorders them.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::sleep;
use webhook_core::{
    NodeId,
    cluster::{Broadcast, Inbox, Local, To},
};

use crate::link::Link;

/// How often messages meet with which fault, of a hundred, and how late they are at most.
#[derive(Clone, Copy, Debug)]
struct Faults {
    lost: u8,
    doubled: u8,
    latest: u64,
}

/// The carrier of all processes of a seed.
#[derive(Clone, Debug)]
pub(crate) struct Carrier {
    local: Local,
    faults: Faults,
}

impl Carrier {
    /// In half of the seeds there is none.
    pub(crate) fn new(random: &mut fastrand::Rng) -> Option<Self> {
        let faults = match random.u8(..4) {
            0 => Faults { lost: 0, doubled: 0, latest: 20 },
            1 => Faults {
                lost: random.u8(..=100),
                doubled: random.u8(..=100),
                latest: random.u64(1..5_000),
            },
            _ => return None,
        };
        Some(Self { local: Local::default(), faults })
    }

    /// The same as one process has it.
    pub(crate) fn of(&self, link: &Arc<Link>, seed: u64) -> Arc<dyn Broadcast> {
        let random = Mutex::new(fastrand::Rng::with_seed(seed));
        Arc::new(Connection { carrier: self.clone(), link: link.clone(), random })
    }
}

/// One process's connection, which ends with the process.
struct Connection {
    carrier: Carrier,
    link: Arc<Link>,
    random: Mutex<fastrand::Rng>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("carrier", &self.carrier).finish_non_exhaustive()
    }
}

impl Broadcast for Connection {
    fn publish(&self, to: To, message: Bytes) {
        if self.link.is_dead() {
            return;
        }
        let Faults { lost, doubled, latest } = self.carrier.faults;
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        if random.u8(..100) < lost {
            return;
        }
        let times = if random.u8(..100) < doubled { 2 } else { 1 };
        for _ in 0..times {
            let late = Duration::from_millis(random.u64(..latest));
            let (local, message) = (self.carrier.local.clone(), message.clone());
            tokio::spawn(async move {
                sleep(late).await;
                local.publish(to, message);
            });
        }
    }

    fn subscribe(&self, node: NodeId) -> Box<dyn Inbox> {
        self.carrier.local.subscribe(node)
    }
}
