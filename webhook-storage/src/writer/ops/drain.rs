//! Handing webhooks to consumers.

use std::collections::HashSet;

use sea_orm::{DbBackend, prelude::Uuid};
use webhook_core::{
    Error,
    model::DeliveryStatus,
    store::{Drain, Drained, LogCursor, tally::LogCounters},
};

use super::{
    super::job::{Context, Failure, InAccount, Op},
    claim::{self, Taken},
    settle,
};
use crate::{
    entity::{delivery::number, millis},
    fault::{DatabaseError, ErrorClass},
    fold::Deltas,
    listing::{self, Direction, IndexRange, Kind, Range, Source},
    tally::{COLUMNS, Changed, counted, counted_with},
    tx::{MAX_ROWS, Param, Read, Tx, over_set, with},
};

/// The most logs of one drain.
const MAX_LOGS: usize = 1_024;

/// What those who drain one account hold in turn, with 32 bits of its ID.
const LOCK_CLASS: i64 = 0x6472_6169;

impl Op for InAccount<Drain> {
    type Answer = Taken<Drained>;

    const IS_TAKEN_BACK: bool = true;

    fn size_bytes(&self) -> usize {
        128 + 16 * self.what.buckets.len()
    }

    fn error_subject(_class: ErrorClass) -> &'static str {
        "log"
    }

    async fn apply(
        tx: &impl Tx,
        drains: &[Self],
        context: &mut Context,
    ) -> Result<Vec<Result<Taken<Drained>, Error>>, Failure> {
        if tx.backend() == DbBackend::Postgres {
            lock_accounts(tx, drains.iter().map(|drain| drain.account)).await?;
        }
        let mut replies = Vec::with_capacity(drains.len());
        for InAccount { account, what } in drains {
            replies.push(match what.room(leased(tx, *account, what).await?) {
                Ok(room) => Ok(take(tx, *account, what, room, context).await?),
                Err(full) => Err(full),
            });
        }
        Ok(replies)
    }

    /// Lets the logs wait again. The content of ephemeral ones is gone: those stay `sent`.
    async fn take_back(
        &self,
        tx: &impl Tx,
        Taken { what: drained, .. }: Taken<Drained>,
        context: &mut Context,
    ) -> Result<(), DatabaseError> {
        let ids: Vec<_> = drained.logs.iter().map(|log| log.delivery.id.as_uuid()).collect();
        if let Some(until) = self.what.leased_until() {
            let head = "UPDATE delivery SET leased_until = NULL WHERE id IN ";
            let tail = format!(" AND leased_until = {}", millis(until));
            for some in ids.chunks(MAX_ROWS) {
                let ids = some.iter().map(|id| Param::from(*id));
                tx.execute(over_set(head, [], ids, &tail)).await?;
            }
            return Ok(());
        }
        let head = "UPDATE delivery SET status = 4, handed_over = FALSE WHERE id IN ";
        let tail = format!(" AND handed_over AND status = 1 AND NOT ephemeral RETURNING {COLUMNS}");
        for some in ids.chunks(MAX_ROWS) {
            let ids = some.iter().map(|id| Param::from(*id));
            let waiting = tx.query(over_set(head, [], ids, &tail), |row| {
                Ok((counted_with(row, number(DeliveryStatus::Sent))?, counted(row)?))
            });
            for (sent, open) in waiting.await? {
                context.counters.replace(sent, open);
            }
        }
        Ok(())
    }
}

/// Lets one transaction at a time drain an account: two that looked for the
/// oldest logs at once would find the same.
async fn lock_accounts(
    tx: &impl Read,
    accounts: impl Iterator<Item = Uuid>,
) -> Result<(), DatabaseError> {
    let key = |account: Uuid| {
        let [.., a, b, c, d] = *account.as_bytes();
        i64::from(i32::from_be_bytes([a, b, c, d]))
    };
    let mut keys: Vec<_> = accounts.map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let lock = "SELECT pg_advisory_xact_lock(CAST(? AS integer), CAST(? AS integer))";
        tx.query(with(lock, [LOCK_CLASS.into(), key.into()]), |_| Ok(())).await?;
    }
    Ok(())
}

/// How many webhooks of the account are leased, where that matters; at most so many as may be.
async fn leased(tx: &impl Read, account: Uuid, drain: &Drain) -> Result<usize, DatabaseError> {
    if drain.lease.is_none() {
        return Ok(0);
    }
    let count = "SELECT COUNT(*) AS logs FROM (SELECT 1 FROM delivery \
        WHERE account_id = ? AND leased_until IS NOT NULL AND leased_until > ? LIMIT ?) AS l";
    let count =
        with(count, [account.into(), millis(drain.now).into(), Param::count(drain.max_leased)]);
    let logs = tx.query_one(count, |row| row.get::<i64>("logs")).await?.unwrap_or_default();
    Ok(usize::try_from(logs).unwrap_or_default())
}

async fn take(
    tx: &impl Tx,
    account: Uuid,
    drain: &Drain,
    room: usize,
    context: &mut Context,
) -> Result<Taken<Drained>, DatabaseError> {
    let ranges = ranges(tx, account, drain).await?;
    let range = Range::ALL.from(Some(drain.since)).after(drain.after);
    let limit = room.min(MAX_LOGS);
    let some = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut found = listing::first(tx, &ranges, range, Direction::OldestFirst, some).await?;
    let mut has_more = found.len() > limit;
    found.truncate(limit);
    let loaded = listing::load(tx, &found, context.claim_bytes).await?;
    has_more |= loaded.is_cut;
    for (id, error) in &loaded.broken {
        claim::give_up(tx, id.as_uuid(), error, claim::UNREADABLE, &mut context.counters).await?;
    }
    let mut logs = loaded.logs;
    let cursors: Vec<_> = logs.iter().map(LogCursor::of).collect();
    let taken = mark(tx, &cursors, drain, &mut context.counters).await?;
    logs.retain_mut(|log| {
        log.delivery.leased_until = drain.leased_until();
        if drain.lease.is_none() {
            log.delivery.status = DeliveryStatus::Sent;
        }
        log.delivery.updated_at = drain.now;
        taken.contains(&log.delivery.id.as_uuid())
    });
    Ok(Taken { what: Drained::new(logs, has_more), objects: loaded.objects })
}

/// Those of these logs that still wait for somebody to ask for them.
pub(crate) async fn waiting(tx: &impl Read, ids: &[Uuid]) -> Result<Vec<Uuid>, DatabaseError> {
    let tail = format!(" AND due_at IS NULL AND status IN (0, 4){}", tx.on_postgres(" FOR UPDATE"));
    let mut waiting = Vec::new();
    for some in ids.chunks(MAX_ROWS) {
        let ids = some.iter().map(|id| Param::from(*id));
        let find = over_set("SELECT id FROM delivery WHERE id IN ", [], ids, &tail);
        waiting.extend(tx.query(find, |row| row.get::<Uuid>("id")).await?);
    }
    Ok(waiting)
}

/// Where the webhooks lie that the consumer asked for.
async fn ranges(
    tx: &impl Read,
    account_id: Uuid,
    drain: &Drain,
) -> Result<Vec<IndexRange>, DatabaseError> {
    let deltas = Deltas::of(tx, account_id).await?;
    let sources = listing::for_clients(tx, &deltas, account_id).await?.into_iter();
    let wanted = sources.filter(|source| {
        (drain.buckets.is_empty()
            || drain.buckets.iter().any(|id| id.as_uuid() == source.bucket_id))
            && drain.output_id.is_none_or(|id| source.output_id == Some(id.as_uuid()))
    });
    let range = |source: Source| IndexRange {
        account_id,
        bucket_id: source.bucket_id,
        kind: Kind::Unleased { source: source.id(), now: millis(drain.now) },
    };
    Ok(wanted.map(range).collect())
}

/// Marks the logs as sent, or as leased, and returns those that nobody took meanwhile.
async fn mark(
    tx: &impl Tx,
    cursors: &[LogCursor],
    drain: &Drain,
    counters: &mut LogCounters,
) -> Result<HashSet<Uuid>, DatabaseError> {
    let until = drain.leased_until();
    let status = match until {
        Some(_) => DeliveryStatus::Received,
        None => DeliveryStatus::Sent,
    };
    let head = "UPDATE delivery SET status = ?, handed_over = ?, leased_until = ?, updated_at = ? \
        WHERE id IN ";
    let tail = format!(
        " AND due_at IS NULL AND status IN (0, 4) RETURNING id, webhook_id, ephemeral, {COLUMNS}"
    );
    let (mut taken, mut ephemeral) = (HashSet::new(), HashSet::new());
    for some in cursors.chunks(MAX_ROWS) {
        let values = [
            number(status).into(),
            until.is_none().into(),
            until.map(millis).into(),
            millis(drain.now).into(),
        ];
        let ids = some.iter().map(|cursor| Param::from(cursor.id.as_uuid()));
        let marked = tx.query(over_set(head, values, ids, &tail), Changed::of_row).await?;
        for Changed { id, webhook_id, ephemeral: is_ephemeral, counted } in marked {
            taken.insert(id);
            if until.is_some() {
                continue;
            }
            counters.replace(counted.while_open(), counted);
            if is_ephemeral {
                ephemeral.insert(webhook_id);
            }
        }
    }
    settle::forget(tx, ephemeral).await?;
    Ok(taken)
}
