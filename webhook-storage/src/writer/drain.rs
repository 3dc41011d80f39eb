//! Handing webhooks to consumers.

use std::collections::HashSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Value, prelude::Uuid};
use webhook_core::{
    DeliveryId,
    model::DeliveryStatus,
    store::{Drain, Drained, LogCursor},
};

use super::{
    Outcome,
    batch::{Answers, Failure},
    claim, settle,
    statement::{MAX_ROWS, over_set, with},
    tally::{COLUMNS, Counted, Tallies},
};
use crate::{
    database::Database,
    entity::{delivery::number, millis},
    listing::{self, Direction, Kind, Range, Shelf},
};

/// The most logs of one drain.
const MAX_LOGS: usize = 1_024;

/// What those who drain one account hold in turn, with 32 bits of its ID.
const LOCK_CLASS: i32 = 0x6472_6169;

/// Drains come first in a transaction: a lock that is waited for before there
/// are any rows to hold cannot be waited for crosswise.
pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    drains: &[(usize, (Uuid, &Drain))],
    max_bytes: usize,
    tallies: &mut Tallies,
    answers: &mut Answers,
) -> Result<(), Failure> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        take_turns(transaction, drains).await?;
    }
    for (number, (account, drain)) in drains {
        let drained = take(transaction, *account, drain, max_bytes, tallies).await?;
        answers.push((*number, Ok(Outcome::Drained(drained))));
    }
    Ok(())
}

/// Lets one transaction at a time drain an account: two that looked for the
/// oldest logs at once would find the same.
async fn take_turns(
    transaction: &DatabaseTransaction,
    drains: &[(usize, (Uuid, &Drain))],
) -> Result<(), DbErr> {
    let key = |account: &Uuid| {
        let [.., a, b, c, d] = *account.as_bytes();
        i32::from_be_bytes([a, b, c, d])
    };
    let mut keys: Vec<_> = drains.iter().map(|(_, (account, _))| key(account)).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let lock = "SELECT pg_advisory_xact_lock(?, ?)";
        let values = [LOCK_CLASS.into(), key.into()];
        transaction.query_one_raw(with(DbBackend::Postgres, lock, values)).await?;
    }
    Ok(())
}

async fn take(
    transaction: &DatabaseTransaction,
    account: Uuid,
    drain: &Drain,
    max_bytes: usize,
    tallies: &mut Tallies,
) -> Result<Drained, DbErr> {
    let shelves = shelves(transaction, account, drain).await?;
    let range = Range::ALL.from(Some(drain.since)).after(drain.after);
    let limit = drain.limit.min(MAX_LOGS);
    let some = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut found =
        listing::first(transaction, &shelves, range, Direction::OldestFirst, some).await?;
    let mut has_more = found.len() > limit;
    found.truncate(limit);
    let loaded = listing::load(transaction, &found, max_bytes).await?;
    has_more |= loaded.is_cut;
    for (id, error) in &loaded.broken {
        claim::give_up(transaction, id.as_uuid(), error, tallies).await?;
    }
    let mut logs = loaded.logs;
    let cursors: Vec<_> = logs.iter().map(LogCursor::of).collect();
    let taken = mark(transaction, &cursors, drain, tallies).await?;
    logs.retain_mut(|log| {
        log.delivery.status = DeliveryStatus::Sent;
        log.delivery.updated_at = drain.now;
        taken.contains(&log.delivery.id.as_uuid())
    });
    Ok(Drained { logs, has_more })
}

/// Where the webhooks lie that the consumer asked for.
async fn shelves(
    transaction: &DatabaseTransaction,
    account_id: Uuid,
    drain: &Drain,
) -> Result<Vec<Shelf>, DbErr> {
    let Drain { buckets, output_id, .. } = drain;
    let received = Some(number(DeliveryStatus::Received));
    let sources = listing::sources(transaction, account_id, received).await?.into_iter();
    let wanted = sources.filter(|(bucket, output)| {
        (buckets.is_empty() || buckets.iter().any(|id| id.as_uuid() == *bucket))
            && output_id.is_none_or(|id| *output == Some(id.as_uuid()))
    });
    let shelf = |(bucket_id, output): (Uuid, Option<Uuid>)| Shelf {
        account_id,
        bucket_id,
        kind: Kind::ForClients { source: output.unwrap_or(bucket_id) },
    };
    Ok(wanted.map(shelf).collect())
}

/// Marks the logs as sent, and returns those that nobody took meanwhile.
async fn mark(
    transaction: &DatabaseTransaction,
    cursors: &[LogCursor],
    drain: &Drain,
    tallies: &mut Tallies,
) -> Result<HashSet<Uuid>, DbErr> {
    let backend = transaction.get_database_backend();
    let head = "UPDATE delivery SET status = ?, handed_over = TRUE, updated_at = ? WHERE id IN ";
    let head = with(backend, head, [(); 2].map(|()| Value::Int(None))).sql;
    let tail = format!(
        " AND due_at IS NULL AND status IN (0, 4) RETURNING id, webhook_id, ephemeral, {COLUMNS}"
    );
    let (mut taken, mut ephemeral) = (HashSet::new(), HashSet::new());
    for some in cursors.chunks(MAX_ROWS) {
        let values = vec![number(DeliveryStatus::Sent).into(), millis(drain.now).into()];
        let ids = some.iter().map(|cursor| Value::from(cursor.id.as_uuid()));
        for row in transaction.query_all_raw(over_set(backend, &head, values, ids, &tail)).await? {
            let counted = Counted::read(&row)?;
            *tallies -= counted.while_open();
            *tallies += counted;
            taken.insert(row.try_get_by("id")?);
            if row.try_get_by("ephemeral")? {
                ephemeral.insert(row.try_get_by("webhook_id")?);
            }
        }
    }
    settle::forget(transaction, ephemeral).await?;
    Ok(taken)
}

/// Lets logs wait again that were drained for somebody who is gone. The content
/// of ephemeral ones is gone too: those stay `sent`.
pub(super) async fn give_back(database: &Database, ids: Vec<DeliveryId>) -> Result<(), DbErr> {
    let backend = database.backend();
    let transaction = database.begin().await?;
    let mut tallies = Tallies::default();
    let head = "UPDATE delivery SET status = 4, handed_over = FALSE WHERE id IN ";
    let tail = format!(" AND handed_over AND status = 1 AND NOT ephemeral RETURNING {COLUMNS}");
    for some in ids.chunks(MAX_ROWS) {
        let ids = some.iter().map(|id| Value::from(id.as_uuid()));
        for row in transaction.query_all_raw(over_set(backend, head, vec![], ids, &tail)).await? {
            let open = Counted::read(&row)?;
            tallies -= open.with_status(&row, number(DeliveryStatus::Sent))?;
            tallies += open;
        }
    }
    tallies.write(&transaction).await?;
    transaction.commit().await
}
