//! Replays are in the control database, what they make in the shards of the webhooks.
//!
//! A step writes to the shards first and then moves the place on in the control database.
//! Whoever repeats a step after a crash finds in each shard what of it is there already. So
//! that nobody else writes meanwhile, each shard has a row of the replay that says who goes on
//! with it: it is changed first, and a step of anybody else writes nothing from then on.

use std::{
    collections::{BTreeMap, HashSet},
    mem,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use futures_util::future::try_join_all;
use tokio::sync::Mutex as Turn;
use uuid::Uuid;
use webhook_core::{
    AccountId, Error, NodeId, OutputId, ReplayId, Timestamp, WebhookId,
    model::{Replay, ReplayStatus, ReplayTotals},
    store::{ClaimReplays, FeedReplay, ReplayItem, ReplayStore, ReplayedWebhook},
};

use super::{ShardedStorage, locked, registry, shard::Shard, slots::failed};
use crate::{
    Storage,
    entity::replay::{Model, insert_once},
    tx::{MAX_ROWS, Param, Read, Row, Tx, over_set, with},
};

/// How many replays are kept in mind beside those that are being fed.
const KEPT_IN_MIND: usize = 4_096;

/// What this server knows of replays that it goes on with.
#[derive(Debug, Default)]
pub(super) struct Feeding(Mutex<BTreeMap<ReplayId, Arc<Turn<Fed>>>>);

/// What is known of one.
#[derive(Debug, Default)]
struct Fed {
    /// The shards where nobody else writes.
    fenced: HashSet<u16>,
    /// Whether a step may be in some shards and not in the control database.
    is_unsure: bool,
}

impl Feeding {
    fn of(&self, id: ReplayId) -> Arc<Turn<Fed>> {
        let mut feeding = locked(&self.0);
        if feeding.len() >= KEPT_IN_MIND {
            feeding.retain(|_, fed| Arc::strong_count(fed) > 1);
        }
        Arc::clone(feeding.entry(id).or_default())
    }

    fn forget(&self, id: ReplayId) {
        locked(&self.0).remove(&id);
    }
}

#[async_trait]
impl ReplayStore for ShardedStorage {
    async fn create_replay(&self, replay: &Replay, most: usize) -> Result<(), Error> {
        self.control().create_replay(replay, most).await
    }

    async fn replay(&self, account: AccountId, id: ReplayId) -> Result<Option<Replay>, Error> {
        self.control().replay(account, id).await
    }

    async fn replays(
        &self,
        account: AccountId,
        before: Option<ReplayId>,
        limit: usize,
    ) -> Result<Vec<Replay>, Error> {
        self.control().replays(account, before, limit).await
    }

    async fn replay_totals(&self, ids: &[ReplayId]) -> Result<Vec<ReplayTotals>, Error> {
        let shards = self.shared.slots.all().await;
        let counted = shards.iter().map(|it| it.ask(it.storage.replay_totals(ids)));
        let mut sums = vec![ReplayTotals::default(); ids.len()];
        for totals in try_join_all(counted).await? {
            for (sum, more) in sums.iter_mut().zip(totals) {
                sum.queued += more.queued;
                sum.sent += more.sent;
                sum.failed += more.failed;
                sum.rejected += more.rejected;
            }
        }
        Ok(sums)
    }

    async fn change_replay(
        &self,
        replay: &Replay,
        from: ReplayStatus,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let changed = self.control().change_replay(replay, from, now).await?;
        if changed && replay.status != ReplayStatus::Running {
            self.shared.feeding.forget(replay.id);
            self.end_everywhere(replay, now).await;
        }
        Ok(changed)
    }

    async fn claim_replays(&self, claim: ClaimReplays) -> Result<Vec<Replay>, Error> {
        let claimed = self.control().claim_replays(claim).await?;
        claimed.iter().for_each(|replay| self.shared.feeding.forget(replay.id));
        Ok(claimed)
    }

    async fn replays_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        self.control().replays_wake_at().await
    }

    async fn release_replays(&self, node: NodeId) -> Result<(), Error> {
        self.control().release_replays(node).await
    }

    async fn replay_waiting(&self, id: ReplayId) -> Result<Vec<(OutputId, u64)>, Error> {
        let shards = self.shared.slots.all().await;
        let waiting = shards.iter().map(|it| it.ask(it.storage.replay_waiting(id)));
        let mut sums = BTreeMap::<_, u64>::new();
        for (output, logs) in try_join_all(waiting).await?.into_iter().flatten() {
            *sums.entry(output).or_default() += logs;
        }
        Ok(sums.into_iter().collect())
    }

    async fn feed_replay(&self, mut feed: FeedReplay) -> Result<Option<Vec<bool>>, Error> {
        let turn = self.shared.feeding.of(feed.id);
        let mut fed = turn.lock().await;
        let items = mem::take(&mut feed.items);
        let mut queued = vec![false; items.len()];
        let groups = self.by_shard(items).await?;
        if groups.keys().any(|number| *number != registry::CONTROL)
            && !self.control().is_at(&feed).await?
        {
            return Ok(None);
        }
        let (mut of_control, mut skipped) = (Vec::new(), 0);
        for (number, Group { shard, items }) in groups {
            if number == registry::CONTROL {
                of_control = items;
                continue;
            }
            let (numbers, items): (Vec<_>, Vec<_>) =
                self.not_fed(&mut fed, &shard, &feed, items).await?.into_iter().unzip();
            fed.is_unsure = true;
            let mut some = feed.clone();
            (some.from, some.to) = (String::new(), String::new());
            (some.skipped, some.items) = (0, items);
            let Some(written) = shard.ask(shard.storage.feed_replay(some)).await? else {
                // Somebody else goes on with it.
                *fed = Fed::default();
                return Ok(None);
            };
            skipped += written.iter().filter(|queued| !**queued).count();
            numbers.into_iter().zip(written).for_each(|(number, it)| queued[number] = it);
        }
        let wrote = fed.is_unsure;
        feed.skipped += u64::try_from(skipped).unwrap_or(u64::MAX);
        let (numbers, items): (Vec<_>, Vec<_>) = of_control.into_iter().unzip();
        feed.items = items;
        let (account, id, now) = (feed.account, feed.id, feed.now);
        let Some(written) = self.control().feed_replay(feed).await? else {
            *fed = Fed::default();
            if wrote {
                self.end_if_over(account, id, now).await?;
            }
            return Ok(None);
        };
        fed.is_unsure = false;
        numbers.into_iter().zip(written).for_each(|(number, it)| queued[number] = it);
        Ok(Some(queued))
    }
}

/// What of a step is written to one shard, with the places of the items.
struct Group {
    shard: Arc<Shard>,
    items: Vec<(usize, ReplayItem)>,
}

impl ShardedStorage {
    /// The items by where they are written; those of webhooks that are gone go to the control
    /// database, which passes over them.
    async fn by_shard(&self, items: Vec<ReplayItem>) -> Result<BTreeMap<u16, Group>, Error> {
        let mut groups = BTreeMap::<u16, Group>::new();
        if items.is_empty() {
            return Ok(groups);
        }
        let stored = |item: &ReplayItem| match &item.webhook {
            ReplayedWebhook::Stored { id, .. } => Some(*id),
            ReplayedWebhook::Received(_) => None,
        };
        let ids: Vec<WebhookId> = items.iter().filter_map(stored).collect();
        let found = self.of_webhooks(&ids).await?;
        for (number, item) in items.into_iter().enumerate() {
            let shard = match &item.webhook {
                ReplayedWebhook::Stored { id, .. } => found.get(id).cloned(),
                ReplayedWebhook::Received(accept) => {
                    let place = self.shared.slots.of(accept.webhook.bucket_id).await?;
                    self.stand_for(&place.current, &accept.runs).await?;
                    Some(place.current)
                }
            };
            let control = || self.shared.opened.first().cloned();
            let Some(shard) = shard.or_else(control) else { continue };
            let group = groups.entry(shard.number);
            let group = group.or_insert_with(|| Group { shard, items: Vec::new() });
            group.items.push((number, item));
        }
        Ok(groups)
    }

    /// Those of the items that are not in the shard, where nobody else writes from now on.
    async fn not_fed(
        &self,
        fed: &mut Fed,
        shard: &Arc<Shard>,
        feed: &FeedReplay,
        mut items: Vec<(usize, ReplayItem)>,
    ) -> Result<Vec<(usize, ReplayItem)>, Error> {
        let is_fenced = fed.fenced.contains(&shard.number);
        if is_fenced && !fed.is_unsure {
            return Ok(items);
        }
        if !is_fenced {
            let replay = self.control().replay(feed.account, feed.id).await?;
            let replay = replay.ok_or_else(|| Error::not_found("replay"))?;
            shard.ask(shard.storage.fence(&replay, feed.node)).await?;
            fed.fenced.insert(shard.number);
        }
        let of: Vec<_> = items.iter().map(|(_, item)| item.of.as_uuid()).collect();
        let there = shard.ask(shard.storage.fed(feed.id, &of)).await?;
        items.retain(|(_, item)| !there.contains(&item.of.as_uuid()));
        Ok(items)
    }

    /// Has nobody write for a replay that does not run any more, and withdraws what waits of
    /// one that was cancelled. What is left behind is not attempted: who is about to asks.
    async fn end_everywhere(&self, replay: &Replay, now: Timestamp) {
        let shards = self.shared.slots.all().await;
        for shard in shards.iter().filter(|shard| shard.number != registry::CONTROL) {
            let ended = shard.ask(async {
                shard.storage.change_replay(replay, ReplayStatus::Running, now).await?;
                if replay.finished_at.is_some() {
                    shard.storage.unfence(replay.id).await?;
                }
                Ok(())
            });
            if let Err(error) = ended.await {
                let shard = shard.number;
                tracing::warn!(shard, replay = %replay.id, %error, "it is not ended there");
            }
        }
    }

    async fn end_if_over(
        &self,
        account: AccountId,
        id: ReplayId,
        now: Timestamp,
    ) -> Result<(), Error> {
        let replay = self.control().replay(account, id).await?;
        if let Some(replay) = replay.filter(|it| it.status == ReplayStatus::Cancelled) {
            self.end_everywhere(&replay, now).await;
        }
        Ok(())
    }
}

impl Storage {
    /// Whether the replay runs, is held by the node and is at the place that the step is from.
    async fn is_at(&self, feed: &FeedReplay) -> Result<bool, Error> {
        let find = "SELECT id FROM replay WHERE id = ? AND account_id = ? \
            AND status = 'running' AND held_by = ? AND place = ?";
        let values = [
            feed.id.as_uuid().into(),
            feed.account.as_uuid().into(),
            feed.node.as_uuid().into(),
            feed.from.as_str().into(),
        ];
        let write = &self.database().write;
        let found = Read::query_one(write, with(find, values), |row| row.get::<Uuid>("id")).await;
        Ok(found.map_err(failed)?.is_some())
    }

    /// Has this node write for the replay here, and nobody else.
    async fn fence(&self, replay: &Replay, node: NodeId) -> Result<(), Error> {
        let row = Model::of(replay)?;
        let transaction = self.database().begin().await.map_err(failed)?;
        let fenced = async {
            Tx::insert(&*transaction, &insert_once(), std::slice::from_ref(&row), Model::values)
                .await?;
            let take = "UPDATE replay SET held_by = ?, status = 'running', place = '', \
                wakes_at = NULL WHERE id = ?";
            let values = [node.as_uuid().into(), replay.id.as_uuid().into()];
            Tx::execute(&*transaction, with(take, values)).await
        };
        let fenced = fenced.await.map(drop).map_err(failed);
        self.database().finish(transaction, fenced, "replay").await
    }

    async fn unfence(&self, id: ReplayId) -> Result<(), Error> {
        let forget = with("DELETE FROM replay WHERE id = ?", [id.as_uuid().into()]);
        Tx::execute(&self.database().write, forget).await.map(drop).map_err(failed)
    }

    /// Of which of these logs the replay has made something here.
    async fn fed(&self, id: ReplayId, of: &[Uuid]) -> Result<HashSet<Uuid>, Error> {
        let head = "SELECT DISTINCT replay_of FROM delivery WHERE replay_id = ? AND replay_of IN ";
        let mut fed = HashSet::new();
        for some in of.chunks(MAX_ROWS) {
            let set = some.iter().map(|id| Param::from(*id));
            let find = over_set(head, [id.as_uuid().into()], set, "");
            let read = |row: &Row<'_>| row.get::<Uuid>("replay_of");
            fed.extend(Read::query(&self.database().write, find, read).await.map_err(failed)?);
        }
        Ok(fed)
    }
}
