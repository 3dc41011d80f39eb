//! Replays: many stored webhooks are sent again, not faster than was asked for.
//!
//! A replay looks at its logs from a place on, queues what it finds and moves the place on, in
//! one transaction ([`step`]). Whoever goes on after a crash goes on there. Several nodes do not
//! do the work of one, because a replay is held while a node goes on with it; that each webhook
//! is queued once follows from the place, not from the hold.

mod items;
mod pace;
mod source;
mod step;

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;
use uuid::Uuid;

#[cfg(feature = "admin")]
pub(in crate::relay) use self::items::targets;
pub(crate) use self::source::Source;
pub(in crate::relay) use self::source::{Looked, place};
use self::{
    pace::{Pace, TICK},
    step::Stepped,
};
use super::resend::Resender;
use crate::{
    clock::{Clock, Timestamp},
    error::Error,
    id::{NodeId, ReplayId},
    model::{Bucket, Log, Replay, ReplaySpec, ReplayStatus},
    relay::{
        RelayOptions, RelayParts,
        held::{HOLD, Held, LOOK_AGAIN},
        watch::Watch,
    },
    store::{ClaimWork, FeedReplay, LogStore, ReplayStore},
};

/// Goes on with replays.
#[derive(Debug)]
pub(crate) struct Replays {
    node: NodeId,
    store: Arc<dyn ReplayStore>,
    logs: Arc<dyn LogStore>,
    resender: Arc<Resender>,
    /// Who is told of the end.
    watch: Arc<Watch>,
    clock: Arc<dyn Clock>,
    options: Arc<RelayOptions>,
    /// Told when one is made or resumed.
    changed: Notify,
}

/// A replay that this node goes on with.
pub(in crate::relay) struct Going {
    replay: Replay,
    pace: Pace,
    /// Whether all of its webhooks are queued.
    all_queued: bool,
    /// How long it then waits before it looks again whether they were sent.
    rest: Duration,
    /// When this node last said that it goes on with it.
    held_at: Timestamp,
}

impl Replays {
    pub(in crate::relay) fn new(
        parts: &RelayParts,
        resender: &Arc<Resender>,
        watch: &Arc<Watch>,
    ) -> Self {
        Self {
            node: parts.node,
            store: parts.stores.replays.clone(),
            logs: parts.stores.logs.clone(),
            resender: resender.clone(),
            watch: watch.clone(),
            clock: parts.clock.clone(),
            options: parts.options.clone(),
            changed: Notify::new(),
        }
    }

    /// Says that a replay was made or resumed.
    pub(in crate::relay) fn changed(&self) {
        self.changed.notify_one();
    }

    /// Leaves what this node goes on with to any node.
    pub(in crate::relay) async fn release(&self) -> Result<(), Error> {
        self.store.release_replays(self.node).await
    }

    /// The bucket of the output that a webhook is sent to again, or of its input.
    pub(in crate::relay) async fn bucket_for(
        &self,
        log: &Log,
        spec: &ReplaySpec,
    ) -> Result<Option<Arc<Bucket>>, Error> {
        let bucket = match spec.to_output.or(log.delivery.output_id) {
            Some(output) => self.resender.buckets.of_output(output).await?,
            None => self.resender.buckets.of_input(log.webhook.input_id).await?,
        };
        Ok(bucket.filter(|bucket| bucket.id == log.webhook.bucket_id))
    }

    /// Ends a replay that somebody else has not ended meanwhile.
    async fn finish(&self, replay: &mut Replay, status: ReplayStatus) -> Result<(), Error> {
        let (from, now) = (replay.status, self.clock.now());
        replay.finish(status, now)?;
        self.watch.replay_ends(replay, &*self.store).await?;
        if self.store.change_replay(replay, from, now).await? {
            tracing::info!(replay = %replay.id, status = status.as_str(), "it is over");
        }
        Ok(())
    }

    /// Says that this node still goes on with it; `false` when it may not.
    async fn hold(&self, replay: &Replay) -> Result<bool, Error> {
        let now = self.clock.now();
        let held = self.store.feed_replay(FeedReplay::new(replay, self.node, now, now + HOLD));
        held.await.map(|held| held.is_some())
    }

    /// Ends what waits here of a replay that was cancelled.
    pub(crate) async fn withdraw(&self, id: ReplayId) {
        self.resender.intake.deliverer.withdraw(id).await;
    }
}

impl Held for Replays {
    type Item = Going;
    const WHAT: &'static str = "replays";

    fn parts(&self) -> (&dyn Clock, &RelayOptions, &Notify) {
        (&*self.clock, &self.options, &self.changed)
    }

    async fn wakes_at(&self) -> Result<Option<Timestamp>, Error> {
        self.store.replays_wake_at().await
    }

    async fn claim(&self, now: Timestamp, limit: usize) -> Result<Vec<Going>, Error> {
        let claim = ClaimWork::new(self.node, now, now + HOLD, limit);
        let replays = self.store.claim_replays(claim).await?.into_iter();
        let going = |replay: Replay| {
            let pace = Pace::new(&replay.spec, now);
            Going { replay, pace, all_queued: false, rest: TICK, held_at: now }
        };
        Ok(replays.map(going).collect())
    }

    fn id(going: &Going) -> Uuid {
        going.replay.id.as_uuid()
    }

    async fn turn(self: &Arc<Self>, going: &mut Going) -> Result<Option<Timestamp>, Error> {
        let Going { replay, pace, all_queued, rest, held_at } = going;
        match self.store.replay(replay.account_id, replay.id).await? {
            Some(stored) if stored.status == ReplayStatus::Running => *replay = stored,
            stored => {
                if stored.is_some_and(|it| it.status == ReplayStatus::Cancelled) {
                    self.withdraw(replay.id).await;
                }
                return Ok(None);
            }
        }
        let now = self.clock.now();
        if now >= *held_at + HOLD / 3 {
            if !self.hold(replay).await? {
                return Ok(None);
            }
            *held_at = now;
        }
        let most = if *all_queued { 0 } else { pace.most(&replay.spec, now) };
        if most > 0 {
            match self.step(replay, most).await? {
                Stepped::Queued(queued) => pace.spend(queued),
                Stepped::Blocked => pace.rest(self.clock.now()),
                Stepped::End => *all_queued = true,
                Stepped::Lost => return Ok(None),
            }
        }
        let soon = self.clock.now() + LOOK_AGAIN;
        if !*all_queued {
            return Ok(Some(pace.next(self.clock.now()).min(soon)));
        }
        if self.store.replay_waiting(replay.id).await?.is_empty() {
            return self.finish(replay, ReplayStatus::Done).await.map(|()| None);
        }
        // Short replays end soon; the store is seldom asked for long ones.
        let until = self.clock.now() + *rest;
        *rest = (*rest * 2).min(LOOK_AGAIN);
        Ok(Some(until))
    }

    async fn fail(self: &Arc<Self>, going: &mut Going, error: &Error) -> Result<(), Error> {
        going.replay.error = error.to_string();
        self.finish(&mut going.replay, ReplayStatus::Failed).await
    }
}
