//! Replays in memory.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;

use super::{MemoryStore, queue::Queue, row::Arrival};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    id::{AccountId, DeliveryId, NodeId, OutputId, ReplayId},
    model::{DeliveryStatus, Reason, Replay, ReplayStatus, ReplayTotals, Replayed},
    store::{
        ClaimWork, FeedReplay, KEPT_WORK, Redeliver, ReplayItem, ReplayStore, ReplayedWebhook,
    },
};

/// Every replay.
#[derive(Default)]
pub(super) struct Replays {
    rows: BTreeMap<ReplayId, Row>,
}

struct Row {
    replay: Replay,
    held: Option<(NodeId, Timestamp)>,
    /// When it was made or resumed.
    wakes_at: Timestamp,
    /// The logs that it made; some may be gone.
    made: Vec<DeliveryId>,
}

impl Row {
    fn wakes_at(&self) -> Option<Timestamp> {
        let runs = self.replay.status == ReplayStatus::Running;
        runs.then(|| self.held.map_or(self.wakes_at, |(_, until)| until))
    }
}

impl Replays {
    /// Forgets the oldest of an account that are over and too many.
    fn trim(&mut self, account: AccountId) {
        let over = |(_, row): &(&ReplayId, &Row)| {
            row.replay.account_id == account && row.replay.status.is_over()
        };
        let old: Vec<_> = self.rows.iter().rev().filter(over).skip(KEPT_WORK).collect();
        let old: Vec<_> = old.into_iter().map(|(id, _)| *id).collect();
        for id in old {
            self.rows.remove(&id);
        }
    }
}

impl Queue {
    /// Queues an item; which logs that made, or none when its webhook is erased or gone.
    fn replay(
        &mut self,
        feed: &FeedReplay,
        item: ReplayItem,
    ) -> Result<Option<Vec<DeliveryId>>, Error> {
        let (queued, made) = match item.webhook {
            ReplayedWebhook::Stored { id: webhook_id, deliveries, processed } => {
                let made: Vec<_> = deliveries.iter().map(|delivery| delivery.id).collect();
                let again = Redeliver { webhook_id, deliveries, processed, now: feed.now };
                (self.redeliver(feed.account, again), made)
            }
            ReplayedWebhook::Received(accept) => {
                let made: Vec<_> = accept.deliveries.iter().map(|delivery| delivery.id).collect();
                (self.insert(Arrival::of(*accept)).map(drop), made)
            }
        };
        match queued {
            Ok(()) => {
                let replay = Replayed { id: feed.id, of: item.of };
                for id in &made {
                    self.change(*id, |row| row.replay = Some(Box::new(replay)));
                }
                Ok(Some(made))
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Conflict) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn withdraw(&mut self, made: &[DeliveryId], now: Timestamp) {
        for id in made {
            let waits = self
                .rows
                .get(id)
                .filter(|row| row.due_at.is_some() && row.held_by.is_none() && row.attempts == 0);
            let Some(webhook) = waits.map(|row| row.webhook_id) else { continue };
            self.change(*id, |row| {
                (row.due_at, row.status) = (None, DeliveryStatus::Rejected);
                (row.reason, row.updated_at) = (Some(Reason::Cancelled), now);
                let last = std::sync::Arc::make_mut(row.last.get_or_insert_default());
                last.error = Some(ReplayTotals::WITHDRAWN.to_owned());
            });
            self.forget_if_done(webhook);
        }
    }

    fn totals(&self, made: &[DeliveryId]) -> ReplayTotals {
        let mut totals = ReplayTotals::default();
        for row in made.iter().filter_map(|id| self.rows.get(id)) {
            totals.count(row.status, 1);
        }
        totals
    }
}

#[async_trait]
impl ReplayStore for MemoryStore {
    async fn create_replay(&self, replay: &Replay, most: usize) -> Result<(), Error> {
        let mut replays = self.replays.lock();
        let others = replays.rows.values().map(|row| &row.replay);
        let others = others.filter(|other| other.account_id == replay.account_id);
        replay.may_begin(others, most)?;
        let wakes_at = replay.created_at;
        let row = Row { replay: replay.clone(), held: None, wakes_at, made: Vec::new() };
        replays.rows.insert(replay.id, row);
        replays.trim(replay.account_id);
        Ok(())
    }

    async fn replay(&self, account: AccountId, id: ReplayId) -> Result<Option<Replay>, Error> {
        let replays = self.replays.lock();
        let row = replays.rows.get(&id).filter(|row| row.replay.account_id == account);
        Ok(row.map(|row| row.replay.clone()))
    }

    async fn replays(
        &self,
        account: AccountId,
        before: Option<ReplayId>,
        limit: usize,
    ) -> Result<Vec<Replay>, Error> {
        let replays = self.replays.lock();
        let newest = replays.rows.values().rev().map(|row| &row.replay);
        let found = newest.filter(|replay| {
            replay.account_id == account && before.is_none_or(|before| replay.id < before)
        });
        Ok(found.take(limit).cloned().collect())
    }

    async fn replay_totals(&self, ids: &[ReplayId]) -> Result<Vec<ReplayTotals>, Error> {
        let replays = self.replays.lock();
        let queue = self.queue();
        let totals = |id| replays.rows.get(id).map_or(&[][..], |row: &Row| &row.made);
        Ok(ids.iter().map(|id| queue.totals(totals(id))).collect())
    }

    async fn change_replay(
        &self,
        replay: &Replay,
        from: ReplayStatus,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let mut replays = self.replays.lock();
        let row = replays.rows.get_mut(&replay.id);
        let Some(row) = row.filter(|row| row.replay.status == from) else { return Ok(false) };
        let Replay { status, error, finished_at, spec, .. } = replay.clone();
        (row.replay.status, row.replay.finished_at) = (status, finished_at);
        row.replay.error = error;
        (row.replay.spec.rate, row.replay.spec.interval) = (spec.rate, spec.interval);
        if from != ReplayStatus::Running {
            row.wakes_at = now;
        }
        if status != ReplayStatus::Running {
            row.held = None;
        }
        if status == ReplayStatus::Cancelled {
            self.queue().withdraw(&row.made, now);
        }
        replays.trim(replay.account_id);
        Ok(true)
    }

    async fn claim_replays(&self, claim: ClaimWork) -> Result<Vec<Replay>, Error> {
        let ClaimWork { node, now, until, limit } = claim;
        let mut replays = self.replays.lock();
        let due = |row: &&mut Row| row.wakes_at().is_some_and(|moment| moment <= now);
        let mut claimed = Vec::new();
        for row in replays.rows.values_mut().filter(due).take(limit) {
            row.held = Some((node, until));
            claimed.push(row.replay.clone());
        }
        Ok(claimed)
    }

    async fn replays_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.replays.lock().rows.values().filter_map(Row::wakes_at).min())
    }

    async fn release_replays(&self, node: NodeId) -> Result<(), Error> {
        for row in self.replays.lock().rows.values_mut() {
            row.held = row.held.filter(|(holder, _)| *holder != node);
        }
        Ok(())
    }

    async fn replay_waiting(&self, id: ReplayId) -> Result<Vec<(OutputId, u64)>, Error> {
        let replays = self.replays.lock();
        let queue = self.queue();
        let mut waiting = HashMap::<OutputId, u64>::new();
        let made = replays.rows.get(&id).map_or(&[][..], |row| &row.made);
        for row in made.iter().filter_map(|id| queue.rows.get(id)) {
            if let (Some(output), Some(_), 0) = (row.output_id, row.due_at, row.attempts) {
                *waiting.entry(output).or_default() += 1;
            }
        }
        Ok(waiting.into_iter().collect())
    }

    async fn feed_replay(&self, mut feed: FeedReplay) -> Result<Option<Vec<bool>>, Error> {
        let items = std::mem::take(&mut feed.items);
        let mut replays = self.replays.lock();
        let is_meant = |row: &&mut Row| {
            row.replay.status == ReplayStatus::Running
                && row.replay.cursor == feed.from
                && row.held.is_some_and(|(holder, _)| holder == feed.node)
        };
        let Some(row) = replays.rows.get_mut(&feed.id).filter(is_meant) else { return Ok(None) };
        let (mut queued, mut made) = (Vec::with_capacity(items.len()), Vec::new());
        let mut queue = self.queue();
        for item in items {
            match queue.replay(&feed, item) {
                Ok(logs) => {
                    queued.push(logs.is_some());
                    made.extend(logs.into_iter().flatten());
                }
                Err(error) => {
                    made.iter().for_each(|id| queue.remove(*id));
                    return Err(error);
                }
            }
        }
        let left_out = queued.iter().filter(|queued| !**queued).count();
        row.replay.skipped += feed.skipped + u64::try_from(left_out).unwrap_or(u64::MAX);
        row.replay.cursor = feed.to;
        row.held = Some((feed.node, feed.until));
        row.made.extend(made);
        Ok(Some(queued))
    }
}
