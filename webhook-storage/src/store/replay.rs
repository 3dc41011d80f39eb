//! Replays.

use std::collections::HashMap;

use async_trait::async_trait;
use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, Error, NodeId, OutputId, ReplayId, Timestamp,
    model::{Replay, ReplayStatus, ReplayTotals},
    store::{ClaimWork, FeedReplay, ReplayItem, ReplayStore, ReplayedWebhook},
};

use super::held;
use crate::{
    Storage,
    entity::{Table, delivery, replay::Model},
    fault::About,
    objects::Bodies,
    tx::{Param, Read, Row, Tx, over_set, with},
    writer::{ChangeReplay, FeedOp},
};

const WHAT: &str = "replay";

const WAITING: &str = "SELECT output_id, COUNT(*) AS logs FROM delivery WHERE replay_id = ? \
    AND due_at IS NOT NULL AND attempts = 0 GROUP BY output_id";

#[async_trait]
impl ReplayStore for Storage {
    async fn create_replay(&self, replay: &Replay, most: usize) -> Result<(), Error> {
        let row = Model::of(replay)?;
        let transaction = self.begin(WHAT).await?;
        let created = create(&*transaction, replay, &row, most).await;
        self.database().finish(transaction, created, WHAT).await
    }

    async fn replay(&self, account: AccountId, id: ReplayId) -> Result<Option<Replay>, Error> {
        let row = held::one::<Model>(self.database(), account, id.as_uuid()).await?;
        row.map(Model::read).transpose()
    }

    async fn replays(
        &self,
        account: AccountId,
        before: Option<ReplayId>,
        limit: usize,
    ) -> Result<Vec<Replay>, Error> {
        let before = before.map_or(Uuid::max(), |id| id.as_uuid());
        let values = [account.as_uuid().into(), before.into(), Param::count(limit)];
        let tail = "WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ?";
        let rows = Model::select(&self.database().read, tail, values).await;
        rows?.into_iter().map(Model::read).collect()
    }

    async fn replay_totals(&self, ids: &[ReplayId]) -> Result<Vec<ReplayTotals>, Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let head = "SELECT replay_id, status, COUNT(*) AS logs FROM delivery WHERE replay_id IN ";
        let wanted = ids.iter().map(|id| Param::from(id.as_uuid()));
        let count = over_set(head, [], wanted, " GROUP BY replay_id, status");
        let read = |row: &Row<'_>| {
            Ok((row.get::<Uuid>("replay_id")?, row.get::<i64>("status")?, row.get::<i64>("logs")?))
        };
        let rows = self.database().read.query(count, read).await?;
        let mut totals = HashMap::<_, ReplayTotals>::new();
        for (id, status, logs) in rows {
            if let Some(status) = delivery::status(status) {
                totals.entry(id).or_default().count(status, logs.unsigned_abs());
            }
        }
        Ok(ids.iter().map(|id| totals.get(&id.as_uuid()).copied().unwrap_or_default()).collect())
    }

    async fn change_replay(
        &self,
        replay: &Replay,
        from: ReplayStatus,
        now: Timestamp,
    ) -> Result<bool, Error> {
        self.write(ChangeReplay { replay: Box::new(replay.clone()), from, now }).await
    }

    async fn claim_replays(&self, claim: ClaimWork) -> Result<Vec<Replay>, Error> {
        let rows = held::claim(self.database(), claim).await;
        rows.about(WHAT)?.into_iter().map(Model::read).collect()
    }

    async fn replays_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        Ok(held::wakes_at::<Model>(self.database()).await?)
    }

    async fn release_replays(&self, node: NodeId) -> Result<(), Error> {
        held::release::<Model>(self.database(), node).await.about(WHAT)
    }

    async fn replay_waiting(&self, id: ReplayId) -> Result<Vec<(OutputId, u64)>, Error> {
        let read = |row: &Row<'_>| {
            Ok((row.get::<Option<Uuid>>("output_id")?, row.get::<i64>("logs")?.unsigned_abs()))
        };
        let waiting = with(WAITING, [id.as_uuid().into()]);
        let rows = self.database().read.query(waiting, read).await?;
        Ok(rows
            .into_iter()
            .filter_map(|(id, logs)| Some((OutputId::from_uuid(id?), logs)))
            .collect())
    }

    async fn feed_replay(&self, feed: FeedReplay) -> Result<Option<Vec<bool>>, Error> {
        match self.bodies() {
            None => self.write(FeedOp::of(feed, &HashMap::new())?).await,
            Some(bodies) => self.feed_with(bodies, feed).await,
        }
    }
}

impl Storage {
    /// Puts the bodies of what is received again, and leaves out what has lost its own.
    async fn feed_with(
        &self,
        bodies: &Bodies,
        mut feed: FeedReplay,
    ) -> Result<Option<Vec<bool>>, Error> {
        let mut objects = HashMap::new();
        for item in &feed.items {
            if let ReplayedWebhook::Received(accept) = &item.webhook
                && let Some(object) = bodies.put(&accept.webhook).await?
            {
                objects.insert(object.webhook, object);
            }
        }
        let is_there = |item: &ReplayItem| match &item.webhook {
            ReplayedWebhook::Stored { id, .. } => !bodies.is_gone(*id),
            ReplayedWebhook::Received(_) => true,
        };
        let there: Vec<_> = feed.items.iter().map(is_there).collect();
        let mut kept = there.iter();
        feed.items.retain(|_| kept.next() == Some(&true));
        feed.skipped += (there.len() - feed.items.len()) as u64;
        let queued = self.write(FeedOp::of(feed, &objects)?).await?;
        let expanded = |queued: Vec<bool>| {
            let mut queued = queued.into_iter();
            there.iter().map(|there| *there && queued.next() == Some(true)).collect()
        };
        Ok(queued.map(expanded))
    }
}

async fn create(tx: &impl Tx, replay: &Replay, row: &Model, most: usize) -> Result<(), Error> {
    let open = held::open::<Model>(tx, replay.account_id).await.about(WHAT)?;
    let open = open.into_iter().map(Model::read).collect::<Result<Vec<_>, _>>()?;
    replay.may_begin(open.iter(), most)?;
    tx.insert(&Model::insert(""), std::slice::from_ref(row), Model::values).await.about(WHAT)?;
    held::trim::<Model>(tx, replay.account_id).await.about(WHAT)
}
