//! What is asked of one database only where there are several.

use std::collections::HashSet;

use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, BucketId, DeliveryId, Error, NodeId, OutputId, Timestamp, WebhookId,
    model::{DeliveryStatus, Log},
    store::{
        Accept, CountQuery, Drain, LogCursor, OldLogs, Pending, Sweep,
        tally::{DAY_MILLIS, LogSums, MINUTE_MILLIS},
    },
};

use crate::{
    Storage,
    entity::{delivery::number, millis, moment},
    fault::{self, DatabaseError},
    fold,
    listing::{self, Direction},
    store::{buckets_of, stop_deliveries},
    tx::{MAX_ROWS, Param, Read, Row, Tx, over_set, with},
    writer::{lease, leased, ranges, tally::Span},
};

fn failed(error: impl Into<DatabaseError>) -> Error {
    fault::error(error, "database")
}

/// What a drain would take.
#[derive(Debug, Default)]
pub(super) struct Drainable {
    /// How many webhooks the account has leased, where that matters.
    pub(super) leased: usize,
    /// The oldest that wait, one more than were asked for if there are.
    pub(super) cursors: Vec<LogCursor>,
}

impl Storage {
    /// The bucket of an output.
    pub(super) async fn bucket_id_of(&self, output: OutputId) -> Result<Option<BucketId>, Error> {
        let find = "SELECT bucket_id FROM output WHERE id = ?";
        let find = with(find, [output.as_uuid().into()]);
        let read = |row: &Row<'_>| row.get::<Uuid>("bucket_id");
        let found = self.database().routes.query_one(find, read).await.map_err(failed)?;
        Ok(found.map(BucketId::from_uuid))
    }

    /// Which of these webhooks are stored here.
    pub(super) async fn stored(&self, webhooks: &[WebhookId]) -> Result<HashSet<Uuid>, Error> {
        self.known("SELECT id FROM webhook WHERE id IN ", webhooks.iter().map(|id| id.as_uuid()))
            .await
    }

    /// Which of these outputs there are.
    pub(super) async fn outputs_among(&self, ids: &[Uuid]) -> Result<HashSet<Uuid>, Error> {
        self.known("SELECT id FROM output WHERE id IN ", ids.iter().copied()).await
    }

    /// Which of these functions there are.
    pub(super) async fn functions_among(&self, ids: &[Uuid]) -> Result<HashSet<Uuid>, Error> {
        self.known("SELECT id FROM function WHERE id IN ", ids.iter().copied()).await
    }

    async fn known(
        &self,
        head: &str,
        ids: impl Iterator<Item = Uuid>,
    ) -> Result<HashSet<Uuid>, Error> {
        let ids: Vec<_> = ids.collect();
        let mut known = HashSet::with_capacity(ids.len());
        for some in ids.chunks(MAX_ROWS) {
            let find = over_set(head, [], some.iter().map(|id| Param::from(*id)), "");
            let read = |row: &Row<'_>| row.get::<Uuid>("id");
            known.extend(self.database().read.query(find, read).await.map_err(failed)?);
        }
        Ok(known)
    }

    /// Whether the delivery is one of this database.
    pub(super) async fn has_log(&self, account: AccountId, id: DeliveryId) -> Result<bool, Error> {
        let find = "SELECT id FROM delivery WHERE id = ? AND account_id = ?";
        let find = with(find, [id.as_uuid().into(), account.as_uuid().into()]);
        let found = self.database().read.query_one(find, |row| row.get::<Uuid>("id")).await;
        Ok(found.map_err(failed)?.is_some())
    }

    /// Whether the webhook, or one that has a key of it, is stored here.
    pub(super) async fn has_before(&self, accept: &Accept) -> Result<bool, Error> {
        let id = accept.webhook.id;
        if self.stored(&[id]).await?.contains(&id.as_uuid()) {
            return Ok(true);
        }
        if accept.seen.is_empty() {
            return Ok(false);
        }
        let head = "SELECT webhook_id FROM seen WHERE input_id = ? AND until > ? AND key IN ";
        let values =
            [accept.webhook.input_id.as_uuid().into(), millis(accept.webhook.received_at).into()];
        let keys = accept.seen.iter().map(|seen| Param::from(&seen.key[..]));
        let find = over_set(head, values, keys, "");
        let found = self.database().read.query_one(find, |row| row.get::<Uuid>("webhook_id")).await;
        Ok(found.map_err(failed)?.is_some())
    }

    /// Whether another node holds deliveries of the output, and its lease lasts.
    pub(super) async fn is_attended(&self, output: OutputId, sweep: &Sweep) -> Result<bool, Error> {
        let find = "SELECT id FROM delivery WHERE output_id = ? AND held_by IN \
            (SELECT node_id FROM node_lease WHERE until > ? AND node_id <> ?) LIMIT 1";
        let values =
            [output.as_uuid().into(), millis(sweep.now).into(), sweep.node.as_uuid().into()];
        let read = |row: &Row<'_>| row.get::<Uuid>("id");
        let found = self.database().read.query_one(with(find, values), read).await;
        Ok(found.map_err(failed)?.is_some())
    }

    /// Leaves deliveries that a claim took to any node.
    pub(crate) async fn give_back(&self, node: NodeId, taken: &[Pending]) -> Result<(), Error> {
        let freed = lease::give_back(&self.database().write, node, taken).await;
        freed.map_err(|error| fault::error(error, "delivery"))
    }

    /// Ends what waits for these outputs of a bucket.
    pub(super) async fn stop(
        &self,
        account: AccountId,
        bucket: BucketId,
        outputs: Vec<Uuid>,
    ) -> Result<(), Error> {
        let transaction = self.database().begin().await.map_err(failed)?;
        let (account, bucket) = (account.as_uuid(), bucket.as_uuid());
        let stopped = stop_deliveries(&*transaction, account, bucket, outputs).await;
        self.database().finish(transaction, stopped, "delivery").await
    }

    /// What the query counts by day or by minute, so that it can be added up.
    pub(super) async fn sums(
        &self,
        account: AccountId,
        query: &CountQuery,
        by_day: bool,
    ) -> Result<Vec<LogSums>, Error> {
        let of_span = match by_day {
            true => (Span::Day, DAY_MILLIS),
            false => (Span::Minute, MINUTE_MILLIS),
        };
        self.count(account, async |snapshot, deltas| {
            let sources = match query.bucket_id {
                Some(_) => Vec::new(),
                None => listing::sources(snapshot, deltas, account.as_uuid(), None)
                    .await
                    .map_err(failed)?,
            };
            let buckets = buckets_of(account.as_uuid(), query.bucket_id, &sources);
            listing::sums(snapshot, deltas, &buckets, of_span, query).await.map_err(failed)
        })
        .await
    }

    /// As [`waiting`](webhook_core::store::LogStore::waiting); and whether there may be more.
    pub(super) async fn waiting_some(
        &self,
        account: AccountId,
        buckets: &[BucketId],
        after: Option<LogCursor>,
        limit: usize,
    ) -> Result<(Vec<Log>, bool), Error> {
        let found = self.count(account, async |snapshot, deltas| {
            let asked = (buckets, after);
            let mut found =
                self.waiting_in(snapshot, deltas, account.as_uuid(), asked, limit).await?;
            found.is_cut |= found.logs.len() >= limit;
            Ok(found)
        });
        let shown = self.show_waiting(found.await?).await?;
        Ok((shown.logs, shown.is_cut))
    }

    /// What a drain of the account would take.
    pub(super) async fn drainable(
        &self,
        account: AccountId,
        drain: &Drain,
    ) -> Result<Drainable, Error> {
        let snapshot = self.database().snapshot().await.map_err(failed)?;
        let found = async {
            let ranges = ranges(&snapshot, account.as_uuid(), drain).await?;
            let range = listing::Range::ALL.from(Some(drain.since)).after(drain.after);
            let some = u64::try_from(drain.limit).unwrap_or(u64::MAX).saturating_add(1);
            let oldest = Direction::OldestFirst;
            let cursors = listing::first(&snapshot, &ranges, range, oldest, some).await?;
            let leased = leased(&snapshot, account.as_uuid(), drain).await?;
            Ok::<_, DatabaseError>(Drainable { leased, cursors })
        };
        let found = found.await.map_err(failed);
        // Nothing was written: this only ends the snapshot.
        snapshot.commit().await.map_err(failed)?;
        found
    }

    /// The buckets of all accounts that have logs here.
    pub(super) async fn buckets_with_logs(&self) -> Result<HashSet<BucketId>, Error> {
        fold::fold(self.database()).await.map_err(failed)?;
        let find = "SELECT DISTINCT bucket_id FROM tally WHERE span = 0 AND logs > 0";
        let read = |row: &Row<'_>| row.get::<Uuid>("bucket_id");
        let found = self.database().read.query(with(find, []), read).await.map_err(failed)?;
        Ok(found.into_iter().map(BucketId::from_uuid).collect())
    }

    /// The days before [`before`](OldLogs::before) of which there are logs here.
    pub(super) async fn days_before(&self, old: &OldLogs) -> Result<Vec<Timestamp>, Error> {
        fold::fold(self.database()).await.map_err(failed)?;
        let mut find = "SELECT DISTINCT moment FROM tally WHERE span = 1 AND moment < ? \
            AND logs > 0"
            .to_owned();
        let mut values = vec![Param::from(millis(old.before))];
        if let Some(account) = old.account_id {
            find.push_str(" AND account_id = ?");
            values.push(account.as_uuid().into());
        }
        if let Some(bucket) = old.bucket_id {
            find.push_str(" AND bucket_id = ?");
            values.push(bucket.as_uuid().into());
        }
        let read = |row: &Row<'_>| Ok(moment(row.get("moment")?));
        self.database().read.query(with(find, values), read).await.map_err(failed)
    }

    /// The outputs for which something is open here: account, bucket, output.
    pub(super) async fn awaited(&self) -> Result<Vec<[Uuid; 3]>, Error> {
        fold::fold(self.database()).await.map_err(failed)?;
        let find = "SELECT DISTINCT account_id, bucket_id, output_id FROM tally \
            WHERE span = 0 AND status = ? AND logs > 0";
        let read = |row: &Row<'_>| {
            Ok([row.get("account_id")?, row.get("bucket_id")?, row.get::<Uuid>("output_id")?])
        };
        let find = with(find, [number(DeliveryStatus::Received).into()]);
        let found = self.database().read.query(find, read).await.map_err(failed)?;
        Ok(found.into_iter().filter(|[_, _, output]| !output.is_nil()).collect())
    }

    /// The functions of which runs are kept here, and what stands for them.
    pub(super) async fn function_ids(&self) -> Result<Vec<Uuid>, Error> {
        let find = with("SELECT id FROM function", []);
        let found = self.database().read.query(find, |row| row.get::<Uuid>("id")).await;
        found.map_err(failed)
    }

    /// Removes a function, if it is here, with its runs.
    pub(super) async fn forget_function(&self, id: Uuid) -> Result<(), Error> {
        let forget = with("DELETE FROM function WHERE id = ?", [id.into()]);
        let gone = Tx::execute(&self.database().write, forget).await;
        gone.map(drop).map_err(|error| fault::error(error, "function"))
    }

    /// How many deliveries wait here for an attempt, and how many logs there are.
    pub(super) async fn counts(&self) -> Result<(u64, u64), Error> {
        fold::fold(self.database()).await.map_err(failed)?;
        let waiting = "SELECT COUNT(*) AS logs FROM delivery \
            WHERE due_at IS NOT NULL AND held_by IS NULL";
        let held = "SELECT COUNT(*) AS logs FROM delivery WHERE held_by IS NOT NULL";
        let logs = "SELECT CAST(COALESCE(SUM(logs), 0) AS bigint) AS logs FROM tally \
            WHERE span = 0";
        let mut counts = [0; 3];
        for (count, sql) in counts.iter_mut().zip([waiting, held, logs]) {
            let found = self.database().read.query_one(with(sql, []), |row| row.get::<i64>("logs"));
            *count = found.await.map_err(failed)?.unwrap_or_default().unsigned_abs();
        }
        Ok((counts[0] + counts[1], counts[2]))
    }
}
