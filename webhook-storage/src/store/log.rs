//! Logs.

use async_trait::async_trait;
use sea_orm::{DatabaseTransaction, prelude::Uuid};
use webhook_core::{
    AccountId, BucketId, Error, Timestamp,
    model::{DeliveryStatus, Log},
    store::{
        ClientReport, CountQuery, DayCount, Drain, Drained, LogCursor, LogPage, LogQuery, LogStore,
        MinuteCount, Reported,
    },
};

use super::read_error;
use crate::{
    Storage,
    entity::delivery::number,
    fold::Deltas,
    listing::{
        self, Buckets, Direction::NewestFirst, Direction::OldestFirst, IndexRange, Kind, Range,
    },
    tx::Read,
    writer::InAccount,
};

#[async_trait]
impl LogStore for Storage {
    async fn logs(&self, account: AccountId, query: &LogQuery) -> Result<LogPage, Error> {
        self.count(account, async |snapshot, deltas| {
            self.page(snapshot, deltas, account.as_uuid(), query).await
        })
        .await
    }

    async fn days(&self, account: AccountId, query: &CountQuery) -> Result<Vec<DayCount>, Error> {
        self.count(account, async |snapshot, deltas| {
            let buckets = buckets(snapshot, deltas, account.as_uuid(), query.bucket_id).await?;
            listing::days(snapshot, deltas, &buckets, query).await.map_err(read_error)
        })
        .await
    }

    async fn minutes(
        &self,
        account: AccountId,
        query: &CountQuery,
    ) -> Result<Vec<MinuteCount>, Error> {
        self.count(account, async |snapshot, deltas| {
            let buckets = buckets(snapshot, deltas, account.as_uuid(), query.bucket_id).await?;
            listing::minutes(snapshot, deltas, &buckets, query).await.map_err(read_error)
        })
        .await
    }

    async fn received(&self, account: AccountId, moment: Timestamp) -> Result<u64, Error> {
        self.count(account, async |snapshot, deltas| {
            let received = listing::received(snapshot, deltas, account.as_uuid(), moment);
            received.await.map_err(read_error)
        })
        .await
    }

    async fn drain(&self, account: AccountId, drain: &Drain) -> Result<Drained, Error> {
        self.write(InAccount { account: account.as_uuid(), what: drain.clone() }).await
    }

    async fn waiting(
        &self,
        account: AccountId,
        buckets: &[BucketId],
        after: Option<LogCursor>,
        limit: usize,
    ) -> Result<Vec<Log>, Error> {
        self.count(account, async |snapshot, deltas| {
            self.waiting_in(snapshot, deltas, account.as_uuid(), (buckets, after), limit).await
        })
        .await
    }

    async fn report(&self, account: AccountId, report: &ClientReport) -> Result<Reported, Error> {
        let report = InAccount { account: account.as_uuid(), what: report.clone() };
        self.write(report).await.map(|reported| *reported)
    }

    async fn purge(
        &self,
        account: Option<AccountId>,
        before: Timestamp,
        limit: usize,
    ) -> Result<u64, Error> {
        self.purge_old(account, before, limit).await
    }
}

/// The buckets of the account that have logs, or the one that was asked for.
async fn buckets(
    tx: &impl Read,
    deltas: &Deltas,
    account_id: Uuid,
    bucket: Option<BucketId>,
) -> Result<Buckets, Error> {
    let ids = match bucket {
        Some(bucket) => vec![bucket.as_uuid()],
        None => {
            let sources = listing::sources(tx, deltas, account_id, None).await;
            let mut ids: Vec<_> =
                sources.map_err(read_error)?.into_iter().map(|(bucket, _)| bucket).collect();
            ids.dedup();
            ids
        }
    };
    Ok(Buckets { account_id, ids })
}

impl Storage {
    /// Reads what depends on the counts of an account, all as it was at one moment.
    async fn count<T>(
        &self,
        account: AccountId,
        read: impl AsyncFnOnce(&DatabaseTransaction, &Deltas) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let snapshot = self.snapshot().await?;
        let deltas = Deltas::of(&snapshot, account.as_uuid()).await.map_err(read_error);
        let counted = match deltas {
            Ok(deltas) => read(&snapshot, &deltas).await,
            Err(error) => Err(error),
        };
        // Nothing was written: this only ends the snapshot.
        snapshot.commit().await.map_err(read_error)?;
        counted
    }

    async fn page(
        &self,
        snapshot: &DatabaseTransaction,
        deltas: &Deltas,
        account: Uuid,
        query: &LogQuery,
    ) -> Result<LogPage, Error> {
        let LogQuery { status, from, to, offset, limit, .. } = query;
        let buckets = buckets(snapshot, deltas, account, query.bucket_id).await?;
        let total = listing::total(snapshot, deltas, &buckets, *status, (*from, *to)).await;
        let total = total.map_err(read_error)?;
        let limit = u64::try_from(*limit).unwrap_or(u64::MAX);
        // One more, to know whether there are more; there are not more than all.
        let some = offset.saturating_add(limit).saturating_add(1).min(total);
        if total == 0 || some <= *offset {
            return Ok(LogPage { logs: Vec::new(), total, has_more: false });
        }
        let cursors = newest(snapshot, deltas, &buckets, query, some).await?;
        let skip = usize::try_from(*offset).unwrap_or(usize::MAX);
        let page = cursors.get(skip..).unwrap_or_default();
        let shown = page.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let loaded = listing::load(snapshot, &page[..shown], self.read_bytes()).await;
        let loaded = loaded.map_err(read_error)?;
        let has_more = loaded.is_cut || page.len() > shown;
        Ok(LogPage { logs: loaded.logs, total, has_more })
    }

    async fn waiting_in(
        &self,
        snapshot: &DatabaseTransaction,
        deltas: &Deltas,
        account_id: Uuid,
        (buckets, after): (&[BucketId], Option<LogCursor>),
        limit: usize,
    ) -> Result<Vec<Log>, Error> {
        let received = Some(number(DeliveryStatus::Received));
        let sources = listing::sources(snapshot, deltas, account_id, received).await;
        let sources = sources.map_err(read_error)?.into_iter();
        let wanted = sources.filter(|(id, _)| buckets.iter().any(|bucket| bucket.as_uuid() == *id));
        let range_of = |(bucket_id, output): (Uuid, Option<Uuid>)| {
            let kind = Kind::ForClients { source: output? };
            Some(IndexRange { account_id, bucket_id, kind })
        };
        let ranges: Vec<_> = wanted.filter_map(range_of).collect();
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        let range = Range::ALL.after(after);
        let cursors = listing::first(snapshot, &ranges, range, OldestFirst, limit).await;
        let cursors = cursors.map_err(read_error)?;
        let loaded = listing::load(snapshot, &cursors, self.read_bytes()).await;
        Ok(loaded.map_err(read_error)?.logs)
    }
}

/// The newest logs that the query finds, whatever its offset and limit say.
async fn newest(
    snapshot: &DatabaseTransaction,
    deltas: &Deltas,
    buckets: &Buckets,
    query: &LogQuery,
    limit: u64,
) -> Result<Vec<LogCursor>, Error> {
    let LogQuery { bucket_id, status, from, to, before, .. } = *query;
    let account_id = buckets.account_id;
    let range = Range::ALL.from(from).to(to).before(before);
    let first = async |ranges: &[IndexRange]| {
        let found = listing::first(snapshot, ranges, range, NewestFirst, limit).await;
        found.map_err(read_error)
    };
    let each = |kind: Kind| {
        let range_of = move |bucket: &Uuid| IndexRange { account_id, bucket_id: *bucket, kind };
        buckets.ids.iter().map(range_of).collect::<Vec<_>>()
    };
    match status {
        None => first(&each(Kind::All)).await,
        Some(DeliveryStatus::Received | DeliveryStatus::Preparing) => {
            let received = Some(number(DeliveryStatus::Received));
            let sources = listing::sources(snapshot, deltas, account_id, received).await;
            let sources = sources.map_err(read_error)?.into_iter();
            let waiting: Vec<_> = sources
                .filter(|(bucket, _)| bucket_id.is_none_or(|id| id.as_uuid() == *bucket))
                .map(|(bucket_id, output)| {
                    let kind = Kind::Waiting { source: output.unwrap_or(bucket_id) };
                    IndexRange { account_id, bucket_id, kind }
                })
                .collect();
            let bucket = bucket_id.map(|id| id.as_uuid());
            let held = listing::held(snapshot, account_id, bucket, range, NewestFirst, limit);
            let mut found = held.await.map_err(read_error)?;
            found.extend(first(&waiting).await?);
            found.extend(first(&each(Kind::Pending)).await?);
            Ok(listing::merge(found, NewestFirst, limit))
        }
        Some(status) => first(&each(Kind::Ended(number(status)))).await,
    }
}
