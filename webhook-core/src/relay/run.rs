//! What runs beside the webhooks: deliveries that wait, crons and notifications.

use super::{Relay, held::keep_on};
use crate::error::Error;

impl Relay {
    /// Delivers and runs crons until `shutdown`, then ends the attempts that run.
    pub(super) async fn run_alone(&self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        self.start().await?;
        tokio::select! {
            () = shutdown => {}
            // What this node held is the other's, and so is its name in the store.
            error = self.deliverer.run() => return Err(error),
            () = self.crons.run() => {}
            () = self.notifier.run() => {}
            () = keep_on(&self.replays) => {}
            () = keep_on(&self.eraser) => {}
        }
        self.stop().await
    }

    /// Runs the crons that are due, delivers everything that is due and returns when nothing is
    /// due: for tests and for programs that run from time to time. Replays wait for
    /// [`run`](Self::run). The caller does not call both concurrently.
    pub async fn run_until_idle(&self) -> Result<(), Error> {
        self.start().await?;
        while self.deliverer.cancel_some().await? {}
        self.crons.start_due().await?;
        self.deliverer.idle().await;
        self.notifier.tell_due().await?;
        self.deliverer.idle().await;
        self.stop().await
    }

    async fn start(&self) -> Result<(), Error> {
        // Nothing of another process is released, if it has this node's name and is alive.
        self.deliverer.begin().await?;
        self.crons.release().await?;
        self.notifier.look_everywhere().await?;
        self.replays.release().await?;
        self.eraser.release().await?;
        self.deliverer.start().await
    }

    async fn stop(&self) -> Result<(), Error> {
        let stopped = self.deliverer.stop().await;
        self.crons.release().await?;
        self.replays.release().await?;
        self.eraser.release().await?;
        stopped
    }
}
