//! Replays and erasures. One node at a time works on each, and any node continues it after a
//! crash.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Notify, task::JoinSet};
use uuid::Uuid;

use super::RelayOptions;
use crate::{
    clock::{Clock, Timestamp, sleep_until},
    error::{Error, ErrorKind},
};

/// How long a node holds a piece of work. The node renews this more often.
pub(super) const HOLD: Duration = Duration::from_secs(15);
/// How soon work is looked at again that waits for room or for the store.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How often a node of a shared store looks for work of other nodes.
const SHARED: Duration = Duration::from_secs(5);
/// How many pieces of work run here concurrently; others wait.
const AT_ONCE: usize = 64;

/// Work of one kind.
pub(super) trait Held: Send + Sync + 'static {
    /// A piece of work, and what this node remembers of it.
    type Item: Send;
    /// What the log calls it.
    const WHAT: &'static str;

    /// The clock, the options, and the notice of new work.
    fn parts(&self) -> (&dyn Clock, &RelayOptions, &Notify);

    /// When the next piece of work can be claimed: now, or when a hold ends.
    fn wakes_at(&self) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send;

    /// Holds work that no node holds, `limit` pieces at most.
    fn claim(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Self::Item>, Error>> + Send;

    /// Identifies a piece of work in the log.
    fn id(item: &Self::Item) -> Uuid;

    /// Makes the next step of a piece of work. Returns when the step after it is due; none when
    /// the work is over, or another node holds it.
    fn turn(
        self: &Arc<Self>,
        item: &mut Self::Item,
    ) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send;

    /// Ends a piece of work that cannot continue. The account reads the error in it.
    fn fail(
        self: &Arc<Self>,
        item: &mut Self::Item,
        error: &Error,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Works for as long as this is awaited. Without work the store is asked nothing, unless several
/// nodes share it.
pub(super) async fn keep_on<W: Held>(work: &Arc<W>) {
    let mut running = JoinSet::new();
    let (clock, options, changed) = work.parts();
    loop {
        let wake = claim(work, &mut running).await.unwrap_or_else(|error| {
            tracing::error!(%error, "{} cannot be read", W::WHAT);
            Some(clock.now() + LOOK_AGAIN)
        });
        let shared = options.crons_max_age.map(|_| clock.now() + SHARED);
        let next = wake.into_iter().chain(shared).min();
        tokio::select! {
            () = sleep_until(clock, next) => {}
            () = changed.notified() => {}
            Some(_) = running.join_next() => {}
        }
    }
}

/// Begins work that no node holds. Returns when to look again.
async fn claim<W: Held>(
    work: &Arc<W>,
    running: &mut JoinSet<()>,
) -> Result<Option<Timestamp>, Error> {
    let now = work.parts().0.now();
    let wake = work.wakes_at().await?;
    let room = AT_ONCE.saturating_sub(running.len());
    if room == 0 {
        return Ok(None);
    }
    if wake.is_none_or(|wake| wake > now) {
        return Ok(wake);
    }
    for item in work.claim(now, room).await? {
        let work = Arc::clone(work);
        running.spawn(go_on(work, item));
    }
    work.wakes_at().await
}

/// Continues a piece of work until it is over, or until another node holds it.
async fn go_on<W: Held>(work: Arc<W>, mut item: W::Item) {
    let (clock, id) = (work.parts().0, W::id(&item));
    tracing::info!(%id, "one of the {} continues", W::WHAT);
    loop {
        let until = match work.turn(&mut item).await {
            Ok(Some(until)) => until,
            Ok(None) => return,
            Err(error) => {
                if error.kind() == ErrorKind::Invalid {
                    // The account reads the error. It can quote the account's filter.
                    tracing::info!(%id, "one of the {} cannot continue", W::WHAT);
                    if work.fail(&mut item, &error).await.is_ok() {
                        return;
                    }
                } else {
                    tracing::warn!(%id, %error, "one of the {} waits", W::WHAT);
                }
                clock.now() + LOOK_AGAIN
            }
        };
        clock.sleep_until(until).await;
    }
}
