//! One step of a replay: some logs are found, and what is made of them is queued.

use std::{collections::HashMap, sync::Arc};

use super::{
    Replays, Source,
    items::{Item, outputs, targets},
    source::{Looked, place},
};
use crate::{
    error::{Error, ErrorKind},
    id::OutputId,
    model::{Log, Output, Replay},
    relay::held::HOLD,
    store::{FeedReplay, LogCursor},
};

/// How many webhooks one step queues at most.
pub(super) const MOST: usize = 100;

/// What a step came to.
#[derive(Debug)]
pub(super) enum Stepped {
    /// So many webhooks were queued; there may be more.
    Queued(usize),
    /// An output has enough of them for now.
    Blocked,
    /// There are no more.
    End,
    /// The replay does not run any more, or another node goes on with it.
    Lost,
}

impl Replays {
    /// Queues the next webhooks of a replay, `most` at most.
    pub(super) async fn step(
        self: &Arc<Self>,
        replay: &Replay,
        most: usize,
    ) -> Result<Stepped, Error> {
        let deliveries = self.resender.intake.deliveries.clone();
        let source = Source::new(replay.into(), self.logs.clone(), deliveries)?;
        let place = place(&replay.cursor)?;
        let Looked { logs, mut until, complete } = source.next(place, most.min(MOST)).await?;
        let mut waiting: HashMap<_, _> =
            self.store.replay_waiting(replay.id).await?.into_iter().collect();
        let (mut items, mut skipped, mut is_blocked) = (Vec::new(), 0, false);
        let (mut before, found) = (place, logs.len());
        for log in logs {
            let here = match replay.spec.filter.ids.is_empty() {
                true => LogCursor::of(&log),
                false => LogCursor { created_at: Default::default(), id: log.delivery.id },
            };
            match self.item(replay, log, &mut waiting).await? {
                Made::Item(item) => items.push(*item),
                Made::Nothing => skipped += 1,
                Made::Later => {
                    (until, is_blocked) = (before, true);
                    break;
                }
            }
            before = Some(here);
        }
        if is_blocked && items.is_empty() && skipped == 0 {
            return Ok(Stepped::Blocked);
        }
        let queued = items.len();
        let to = until.or(place).map_or_else(String::new, |place| place.to_string());
        if !self.queue(replay, to, skipped, items).await? {
            return Ok(Stepped::Lost);
        }
        Ok(match () {
            () if complete && !is_blocked => Stepped::End,
            // What is passed over takes none of the rate, and much of it would keep the others.
            () if is_blocked && queued == 0 && found > 0 => Stepped::Blocked,
            () => Stepped::Queued(queued),
        })
    }

    async fn item(
        &self,
        replay: &Replay,
        log: Log,
        waiting: &mut HashMap<OutputId, u64>,
    ) -> Result<Made, Error> {
        if log.delivery.replay.as_ref().is_some_and(|of| of.id == replay.id) {
            return Ok(Made::Nothing);
        }
        let Some(bucket) = self.bucket_for(&log, &replay.spec).await? else {
            return Ok(Made::Nothing);
        };
        let targets = targets(Some(&bucket), &log, &replay.spec);
        if targets.is_empty() {
            return Ok(Made::Nothing);
        }
        let most = u64::from(replay.spec.max_waiting);
        let is_full = |output: &Output| waiting.get(&output.id).is_some_and(|it| *it >= most);
        if targets.iter().flatten().any(|output| is_full(output)) {
            return Ok(Made::Later);
        }
        let now = self.clock.now();
        match self.resender.item(&bucket, &targets, log, &replay.spec, now).await {
            Ok(Some(item)) => {
                outputs(&item).for_each(|output| *waiting.entry(output).or_default() += 1);
                Ok(Made::Item(Box::new(item)))
            }
            Ok(None) => Ok(Made::Nothing),
            Err(error) if matches!(error.kind(), ErrorKind::Busy | ErrorKind::Unavailable) => {
                Ok(Made::Later)
            }
            // This build cannot evaluate the output's rules.
            Err(error) => {
                tracing::warn!(replay = %replay.id, %error, "a webhook is passed over");
                Ok(Made::Nothing)
            }
        }
    }

    /// Stores what is queued with the place that the replay has come to, and hands it on;
    /// `false` when somebody else was quicker.
    async fn queue(
        self: &Arc<Self>,
        replay: &Replay,
        to: String,
        skipped: u64,
        items: Vec<Item>,
    ) -> Result<bool, Error> {
        let (replays, id) = (Arc::clone(self), replay.id);
        let now = self.clock.now();
        let mut feed = FeedReplay::new(replay, self.node, now, now + HOLD);
        (feed.to, feed.skipped) = (to, skipped);
        feed.items = items.iter().map(Item::to_store).collect();
        // Not to be left half-way when the relay stops.
        let work = async move {
            if items.iter().any(Item::is_held) {
                replays.resender.intake.deliverer.hold_lease().await?;
            }
            let Some(queued) = replays.store.feed_replay(feed).await? else { return Ok(false) };
            for (item, queued) in items.into_iter().zip(queued) {
                if queued {
                    replays.resender.dispatch(item, id, now);
                }
            }
            Ok(true)
        };
        tokio::spawn(work).await.unwrap_or_else(|panic| Err(Error::internal(panic)))
    }
}

/// What is made of a log.
enum Made {
    Item(Box<Item>),
    /// It cannot be sent.
    Nothing,
    /// There is no room for it now.
    Later,
}
