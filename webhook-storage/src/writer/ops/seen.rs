//! Which of the webhooks that are to be stored came before.
//!
//! A webhook whose input deduplicates has keys; others cost nothing here. The unique index
//! of `seen` decides: whoever inserts a key second waits until the first one's transaction
//! has ended, and goes ahead if that failed.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use sea_orm::prelude::Uuid;
use webhook_core::store::{Accept, Accepted, Seen};

use crate::{
    entity::millis,
    fault::DatabaseError,
    tx::{Insert, MAX_ROWS, Param, Row, Tx, over_set, with},
};

/// A key that somebody has stays that one's.
static SEEN: LazyLock<Insert<6>> = LazyLock::new(|| {
    let columns = "key, input_id, webhook_id, log_id, until, duplicates";
    Insert::new("seen", columns, " ON CONFLICT (key, input_id) DO NOTHING")
});

/// How often keys are inserted that are neither inserted nor there, because they were
/// purged in between.
const TRIES: usize = 3;

/// A key of an input.
type Key = ([u8; 32], Uuid);

/// Who has a key.
#[derive(Clone, Copy, Debug)]
struct Holder {
    webhook_id: Uuid,
    log_id: Uuid,
    until: i64,
    duplicates: i64,
}

/// What there is to be done for the accepts of a batch.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// The duplicates among them by their webhooks, each as what is left to be stored of it.
    duplicates: BTreeMap<Uuid, (Accepted, Option<Accept>)>,
    /// How many duplicates more came of each webhook.
    counts: BTreeMap<Uuid, i64>,
}

impl Sorted {
    /// What became of the webhook, if it is a duplicate, and what is stored of it.
    pub(super) fn duplicate(&self, accept: &Accept) -> Option<&(Accepted, Option<Accept>)> {
        self.duplicates.get(&accept.webhook.id.as_uuid())
    }

    /// Counts the duplicates on the webhooks that they are duplicates of.
    pub(super) async fn count(&self, tx: &impl Tx) -> Result<(), DatabaseError> {
        let count = "UPDATE webhook SET duplicates = COALESCE(duplicates, 0) + ? WHERE id = ?";
        for (webhook, more) in &self.counts {
            tx.execute(with(count, [(*more).into(), (*webhook).into()])).await?;
        }
        Ok(())
    }
}

/// Finds the duplicates among `accepts`, which are in the order of their identifiers, and
/// remembers the keys of the others.
pub(super) async fn sort<A: Borrow<Accept>>(
    tx: &impl Tx,
    accepts: &[&A],
) -> Result<Sorted, DatabaseError> {
    let has_keys = |accept: &&A| !Borrow::<Accept>::borrow(*accept).seen.is_empty();
    if !accepts.iter().any(has_keys) {
        return Ok(Sorted::default());
    }
    let accepts: Vec<&Accept> = accepts.iter().map(|accept| (*accept).borrow()).collect();
    // In one order everywhere, so that two transactions do not wait for each other crosswise.
    let mut wanted = BTreeMap::new();
    for accept in &accepts {
        for seen in &accept.seen {
            wanted.entry(key(accept, seen)).or_insert_with(|| holder(accept, seen));
        }
    }
    let rows: Vec<_> = wanted.iter().collect();
    let inserted = tx.insert(&SEEN, &rows, |(key, holder)| values(key, holder)).await?;
    let keys: usize = accepts.iter().map(|accept| accept.seen.len()).sum();
    if inserted == rows.len() as u64 && keys == rows.len() {
        return Ok(Sorted::default());
    }
    let mut held = held(tx, &wanted).await?;
    for _ in 1..TRIES {
        let missing: Vec<_> = rows.iter().filter(|(key, _)| !held.contains_key(*key)).collect();
        if missing.is_empty() {
            break;
        }
        tx.insert(&SEEN, &missing, |(key, holder)| values(key, holder)).await?;
        held = self::held(tx, &wanted).await?;
    }
    decide(tx, &accepts, held).await
}

/// Who has these keys, which nobody changes until the transaction ends.
async fn held(
    tx: &impl Tx,
    wanted: &BTreeMap<Key, Holder>,
) -> Result<BTreeMap<Key, Holder>, DatabaseError> {
    let tail = format!(" ORDER BY key, input_id{}", tx.on_postgres(" FOR UPDATE"));
    let head = "SELECT key, input_id, webhook_id, log_id, until, duplicates FROM seen \
        WHERE key IN ";
    let keys: Vec<_> = wanted.keys().map(|(key, _)| key).collect();
    let mut held = BTreeMap::new();
    for some in keys.chunks(MAX_ROWS) {
        let some = some.iter().map(|key| Param::from(&key[..]));
        held.extend(tx.query(over_set(head, [], some, &tail), read).await?);
    }
    Ok(held)
}

/// Goes through the webhooks in order. One that is a duplicate has none of its keys.
async fn decide(
    tx: &impl Tx,
    accepts: &[&Accept],
    stored: BTreeMap<Key, Holder>,
) -> Result<Sorted, DatabaseError> {
    let mut sorted = Sorted::default();
    let mine: BTreeSet<_> = accepts.iter().map(|accept| accept.webhook.id.as_uuid()).collect();
    // What the batch itself has inserted is not anybody's yet.
    let others = stored.iter().filter(|(_, holder)| !mine.contains(&holder.webhook_id));
    let mut holders: BTreeMap<_, _> = others.map(|(key, holder)| (*key, *holder)).collect();
    for accept in accepts {
        let received_at = millis(accept.webhook.received_at);
        let id = accept.webhook.id.as_uuid();
        let is_taken = |seen: &Seen| {
            let holder = holders.get(&key(accept, seen));
            holder.is_some_and(|holder| holder.webhook_id != id && received_at < holder.until)
        };
        let Some(place) = accept.seen.iter().position(is_taken) else {
            for seen in &accept.seen {
                let held = holders.entry(key(accept, seen)).or_insert_with(|| holder(accept, seen));
                // One that is stored again keeps what it has.
                if held.webhook_id != id {
                    *held = holder(accept, seen);
                }
            }
            continue;
        };
        let Some(first) = holders.get_mut(&key(accept, &accept.seen[place])) else { continue };
        let log = u32::try_from(first.duplicates).unwrap_or(u32::MAX) < Seen::MAX_LOGS;
        first.duplicates += 1;
        *sorted.counts.entry(first.webhook_id).or_default() += 1;
        let of = webhook_core::WebhookId::from_uuid(first.webhook_id);
        let log_id = webhook_core::DeliveryId::from_uuid(first.log_id);
        let kept = log.then(|| accept.duplicate_of(log_id));
        sorted.duplicates.insert(id, (Accepted::Duplicate { of }, kept));
    }
    for (key, stored) in &stored {
        match holders.get(key) {
            None => {
                let remove = "DELETE FROM seen WHERE key = ? AND input_id = ?";
                tx.execute(with(remove, [(&key.0[..]).into(), key.1.into()])).await?;
            }
            Some(holder)
                if (holder.webhook_id, holder.duplicates)
                    != (stored.webhook_id, stored.duplicates) =>
            {
                let update = "UPDATE seen SET webhook_id = ?, log_id = ?, until = ?, \
                    duplicates = ? WHERE key = ? AND input_id = ?";
                let [key, input, webhook, log, until, duplicates] = values(key, holder);
                let values = [webhook, log, until, duplicates, key, input];
                tx.execute(with(update, values)).await?;
            }
            Some(_) => {}
        }
    }
    Ok(sorted)
}

fn key(accept: &Accept, seen: &Seen) -> Key {
    (seen.key, accept.webhook.input_id.as_uuid())
}

fn holder(accept: &Accept, seen: &Seen) -> Holder {
    let log = accept.deliveries.iter().map(|delivery| delivery.id.as_uuid()).min();
    Holder {
        webhook_id: accept.webhook.id.as_uuid(),
        log_id: log.unwrap_or_default(),
        until: millis(seen.until),
        duplicates: 0,
    }
}

fn values<'a>(key: &'a Key, holder: &Holder) -> [Param<'a>; 6] {
    [
        (&key.0[..]).into(),
        key.1.into(),
        holder.webhook_id.into(),
        holder.log_id.into(),
        holder.until.into(),
        holder.duplicates.into(),
    ]
}

fn read(row: &Row<'_>) -> Result<(Key, Holder), DatabaseError> {
    let stored: Vec<u8> = row.get("key")?;
    // A key of another length is nobody's.
    let key = <[u8; 32]>::try_from(stored).unwrap_or_default();
    let holder = Holder {
        webhook_id: row.get("webhook_id")?,
        log_id: row.get("log_id")?,
        until: row.get("until")?,
        duplicates: row.get("duplicates")?,
    };
    Ok(((key, row.get("input_id")?), holder))
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use std::sync::Arc;

    use sea_orm::DbBackend;

    use super::*;
    use crate::tx::{Query, Read, ReadRow, UpdateEach};

    /// A transaction in which any statement is a defect.
    struct Untouched;

    impl Read for Untouched {
        fn backend(&self) -> DbBackend {
            DbBackend::Sqlite
        }

        async fn query<R>(&self, query: Query<'_>, _: ReadRow<R>) -> Result<Vec<R>, DatabaseError> {
            panic!("{}", query.sql)
        }
    }

    impl Tx for Untouched {
        async fn run(&self, sql: &str) -> Result<(), DatabaseError> {
            panic!("{sql}")
        }

        async fn execute(&self, query: Query<'_>) -> Result<u64, DatabaseError> {
            panic!("{}", query.sql)
        }

        async fn insert<T: Sync, const N: usize>(
            &self,
            _: &Insert<N>,
            rows: &[T],
            _: fn(&T) -> [Param<'_>; N],
        ) -> Result<u64, DatabaseError> {
            panic!("an insertion of {} rows", rows.len())
        }

        async fn update_each<T: Sync, const N: usize>(
            &self,
            _: &UpdateEach<N>,
            rows: &[T],
            _: fn(&T) -> [Param<'_>; N],
        ) -> Result<Vec<bool>, DatabaseError> {
            panic!("an update of {} rows", rows.len())
        }
    }

    #[tokio::test]
    async fn webhooks_without_keys_cost_no_statement() -> Result<(), DatabaseError> {
        let accepts = [crate::writer::tests::accept(7), crate::writer::tests::accept(0)];
        let sorted = sort(&Untouched, &accepts.each_ref()).await?;
        assert!(accepts.iter().all(|accept| sorted.duplicate(accept).is_none()));
        sorted.count(&Untouched).await
    }

    #[tokio::test]
    #[should_panic(expected = "an insertion of 1 rows")]
    async fn a_webhook_with_a_key_is_looked_for() {
        let mut accept = crate::writer::tests::accept(7);
        let until = webhook_core::Timestamp::from_secs(1);
        accept.seen = vec![Seen { key: [7; 32], until }];
        assert_eq!(Arc::strong_count(&accept.webhook), 1);
        drop(sort(&Untouched, &[&accept]).await);
    }
}
