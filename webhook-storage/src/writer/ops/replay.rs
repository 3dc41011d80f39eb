//! Steps of replays: what they queue, with the place that they have come to.

use std::collections::{HashMap, HashSet};

use sea_orm::prelude::Uuid;
use webhook_core::{
    DeliveryId, Error, Timestamp,
    model::{DeliveryStatus, Replay, ReplayStatus, ReplayTotals},
    store::{FeedReplay, Redeliver, ReplayItem, ReplayedWebhook, tally::LogCounters},
};

use super::{
    super::job::{Context, Failure, InAccount, Op, Reply},
    accept::Incoming,
    record::{Record, WithRuns},
    redeliver,
    settle::forget,
};
use crate::{
    entity::{delivery::number, json, millis},
    fault::DatabaseError,
    objects::StoredBody,
    tally::{COLUMNS, Changed},
    tx::{Param, Tx, over_set, with},
};

/// A step, whose items are made ready.
#[derive(Debug)]
pub(crate) struct Feed {
    feed: FeedReplay,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    of: DeliveryId,
    /// What is locked of several webhooks is locked in this order.
    webhook: Uuid,
    made: Vec<DeliveryId>,
    write: Write,
}

#[derive(Debug)]
enum Write {
    Again(InAccount<Redeliver>),
    Received(Box<WithRuns<Incoming>>),
}

impl Feed {
    /// With the objects that bodies were put into.
    pub(crate) fn of(
        mut feed: FeedReplay,
        objects: &HashMap<Uuid, StoredBody>,
    ) -> Result<Self, Error> {
        let items = std::mem::take(&mut feed.items).into_iter();
        let items = items.map(|item| Item::of(item, &feed, objects)).collect::<Result<_, _>>()?;
        Ok(Self { feed, items })
    }
}

impl Item {
    fn of(
        item: ReplayItem,
        feed: &FeedReplay,
        objects: &HashMap<Uuid, StoredBody>,
    ) -> Result<Self, Error> {
        let ReplayItem { of, webhook } = item;
        Ok(match webhook {
            ReplayedWebhook::Stored { id, deliveries, processed } => {
                let made = deliveries.iter().map(|delivery| delivery.id).collect();
                let mut what = Redeliver::new(id, deliveries, feed.now);
                what.processed = processed;
                let write = Write::Again(InAccount { account: feed.account.as_uuid(), what });
                Self { of, webhook: id.as_uuid(), made, write }
            }
            ReplayedWebhook::Received(mut accept) => {
                let made = accept.deliveries.iter().map(|delivery| delivery.id).collect();
                let runs = Record::of(std::mem::take(&mut accept.runs), accept.webhook.id)?;
                let webhook = accept.webhook.id.as_uuid();
                let object = objects.get(&webhook).copied();
                let what = Incoming { accept: *accept, object };
                let write = Write::Received(Box::new(WithRuns { what, runs }));
                Self { of, webhook, made, write }
            }
        })
    }
}

/// What is being done is not to be done elsewhere as well: this waits for it.
const ADVANCE: &str = "UPDATE replay SET place = ?, skipped = skipped + ?, wakes_at = ? \
    WHERE id = ? AND account_id = ? AND status = 'running' AND held_by = ? AND place = ?";

impl Op for Feed {
    type Answer = Option<Vec<bool>>;

    fn size_bytes(&self) -> usize {
        let size = |item: &Item| match &item.write {
            Write::Again(again) => again.size_bytes(),
            Write::Received(received) => received.size_bytes(),
        };
        256 + self.items.iter().map(size).sum::<usize>()
    }

    async fn write(&self, tx: &impl Tx, context: &mut Context) -> Result<Reply<Self>, Failure> {
        Ok(Ok(advance(tx, self, context).await?))
    }
}

async fn advance(
    tx: &impl Tx,
    Feed { feed, items }: &Feed,
    context: &mut Context,
) -> Result<Option<Vec<bool>>, Failure> {
    let values = |skipped: u64, from: &str| {
        with(
            ADVANCE,
            [
                feed.to.clone().into(),
                Param::count(skipped),
                millis(feed.until).into(),
                feed.id.as_uuid().into(),
                feed.account.as_uuid().into(),
                feed.node.as_uuid().into(),
                from.to_owned().into(),
            ],
        )
    };
    if tx.execute(values(feed.skipped, &feed.from)).await? == 0 {
        return Ok(None);
    }
    let mut queued = vec![false; items.len()];
    let mut ordered: Vec<_> = items.iter().enumerate().collect();
    ordered.sort_by_key(|(_, item)| item.webhook);
    for (number, item) in ordered {
        queued[number] = queue(tx, feed, item, context).await?;
    }
    let left_out = queued.iter().filter(|queued| !**queued).count();
    if left_out > 0 {
        tx.execute(values(left_out as u64, &feed.to)).await?;
    }
    Ok(Some(queued))
}

/// Queues an item; `false` when its webhook is erased or gone.
async fn queue(
    tx: &impl Tx,
    feed: &FeedReplay,
    item: &Item,
    context: &mut Context,
) -> Result<bool, Failure> {
    let written = match &item.write {
        Write::Again(InAccount { account, what }) => {
            redeliver::add(tx, *account, what, &mut context.counters).await?
        }
        Write::Received(received) => received.write(tx, context).await?.map(drop),
    };
    if written.is_err() {
        return Ok(false);
    }
    let head = "UPDATE delivery SET replay_id = ?, replay_of = ? WHERE id IN ";
    let values = [feed.id.as_uuid().into(), item.of.as_uuid().into()];
    let made = item.made.iter().map(|id| Param::from(id.as_uuid()));
    tx.execute(over_set(head, values, made, "")).await?;
    Ok(true)
}

/// Another status or rate of a replay that has the status `from`.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) replay: Box<Replay>,
    pub(crate) from: ReplayStatus,
    pub(crate) now: Timestamp,
}

/// A hold stays while it runs on.
const CHANGE: &str = "UPDATE replay SET status = ?, error = ?, finished_at = ?, spec = ?, \
    held_by = CASE WHEN ? = 'running' AND status = 'running' THEN held_by ELSE NULL END, \
    wakes_at = CASE WHEN ? <> 'running' THEN NULL WHEN status = 'running' THEN wakes_at \
    ELSE ? END WHERE id = ? AND account_id = ? AND status = ?";

impl Op for Change {
    type Answer = bool;

    fn size_bytes(&self) -> usize {
        1024
    }

    async fn write(&self, tx: &impl Tx, context: &mut Context) -> Result<Reply<Self>, Failure> {
        match json(&self.replay.spec) {
            Ok(spec) => Ok(Ok(apply(tx, self, spec, &mut context.counters).await?)),
            Err(error) => Ok(Err(error)),
        }
    }
}

async fn apply(
    tx: &impl Tx,
    Change { replay, from, now }: &Change,
    spec: String,
    counters: &mut LogCounters,
) -> Result<bool, DatabaseError> {
    let status = replay.status.as_str();
    let values = [
        status.into(),
        crate::entity::delivery::text(&replay.error).into(),
        replay.finished_at.map(millis).into(),
        spec.into(),
        status.into(),
        status.into(),
        millis(*now).into(),
        replay.id.as_uuid().into(),
        replay.account_id.as_uuid().into(),
        from.as_str().into(),
    ];
    if tx.execute(with(CHANGE, values)).await? == 0 {
        return Ok(false);
    }
    if replay.status == ReplayStatus::Cancelled {
        withdraw(tx, replay.id.as_uuid(), *now, counters).await?;
    }
    Ok(true)
}

/// Ends what was never attempted and no node holds.
async fn withdraw(
    tx: &impl Tx,
    replay: Uuid,
    now: Timestamp,
    counters: &mut LogCounters,
) -> Result<(), DatabaseError> {
    let sql = format!(
        "UPDATE delivery SET due_at = NULL, status = ?, status_code = COALESCE(status_code, 0), \
         error = ?, reason = 'cancelled', updated_at = ? WHERE replay_id = ? \
         AND due_at IS NOT NULL AND held_by IS NULL AND attempts = 0 \
         RETURNING id, webhook_id, ephemeral, {COLUMNS}"
    );
    let values = [
        number(DeliveryStatus::Rejected).into(),
        ReplayTotals::WITHDRAWN.into(),
        millis(now).into(),
        replay.into(),
    ];
    let mut ephemeral = HashSet::new();
    for withdrawn in tx.query(with(sql, values), Changed::of_row).await? {
        counters.replace(withdrawn.counted.while_open(), withdrawn.counted);
        if withdrawn.ephemeral {
            ephemeral.insert(withdrawn.webhook_id);
        }
    }
    forget(tx, ephemeral).await
}
