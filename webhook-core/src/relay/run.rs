//! What runs beside the webhooks: deliveries that wait, crons and notifications.

use std::sync::Arc;

use super::{
    crons::Crons, deliver::Deliverer, erase::Eraser, held::keep_on, notify::Notifier,
    replays::Replays,
};
use crate::error::Error;

/// What is started and stopped together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runner<'a> {
    pub(super) deliverer: &'a Arc<Deliverer>,
    pub(super) crons: &'a Arc<Crons>,
    pub(super) notifier: &'a Arc<Notifier>,
    pub(super) replays: &'a Arc<Replays>,
    pub(super) eraser: &'a Arc<Eraser>,
}

impl Runner<'_> {
    /// Delivers and runs crons until `shutdown`, then finishes what is in flight.
    pub(super) async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        self.start().await?;
        tokio::select! {
            () = shutdown => {}
            // What this node held is the other's, and so is its name in the store.
            error = self.deliverer.run() => return Err(error),
            () = self.crons.run() => {}
            () = self.notifier.run() => {}
            () = keep_on(self.replays) => {}
            () = keep_on(self.eraser) => {}
        }
        self.stop().await
    }

    /// Makes the runs and attempts everything that is due, and returns when nothing is.
    pub(super) async fn run_until_idle(self) -> Result<(), Error> {
        self.start().await?;
        self.crons.start_due().await?;
        self.deliverer.idle().await;
        self.notifier.tell_due().await?;
        self.deliverer.idle().await;
        self.stop().await
    }

    async fn start(self) -> Result<(), Error> {
        // Nothing of another process is released, if it has this node's name and is alive.
        self.deliverer.begin().await?;
        self.crons.release().await?;
        self.notifier.look_everywhere().await?;
        self.replays.release().await?;
        self.eraser.release().await?;
        self.deliverer.start().await
    }

    async fn stop(self) -> Result<(), Error> {
        let stopped = self.deliverer.stop().await;
        self.crons.release().await?;
        self.replays.release().await?;
        self.eraser.release().await?;
        stopped
    }
}
