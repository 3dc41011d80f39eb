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
        self, Buckets, Direction::NewestFirst, Direction::OldestFirst, IndexRange, Kind, Places,
        Range, Source,
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
    account: Uuid,
    bucket: Option<BucketId>,
) -> Result<Buckets, Error> {
    let sources = match bucket {
        Some(_) => Vec::new(),
        None => listing::sources(tx, deltas, account, None).await.map_err(read_error)?,
    };
    Ok(buckets_of(account, bucket, &sources))
}

fn buckets_of(account_id: Uuid, bucket: Option<BucketId>, sources: &[Source]) -> Buckets {
    let mut ids: Vec<_> = match bucket {
        Some(bucket) => vec![bucket.as_uuid()],
        None => sources.iter().map(|source| source.bucket_id).collect(),
    };
    ids.dedup();
    Buckets { account_id, ids }
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
        let LogQuery { status, from, to, before, offset, limit, .. } = query;
        let sources = listing::sources(snapshot, deltas, account, None).await;
        let sources = sources.map_err(read_error)?;
        let bucket = query.bucket_id.map(|bucket| bucket.as_uuid());
        let places = Places::new(account, bucket, *status, &sources);
        let buckets = buckets_of(account, query.bucket_id, &sources);
        let (buckets, stretch) = ((&buckets, &places), (*from, *to));
        let total = listing::total(snapshot, deltas, buckets, *status, stretch).await;
        let total = total.map_err(read_error)?;
        let limit = u64::try_from(*limit).unwrap_or(u64::MAX);
        // One more, to know whether there are more; there are not more than all.
        let some = offset.saturating_add(limit).saturating_add(1).min(total);
        if total == 0 || some <= *offset {
            return Ok(LogPage::new(Vec::new(), total, false));
        }
        let range = Range::ALL.from(*from).to(*to).before(*before);
        let cursors = places.first(snapshot, range, NewestFirst, some).await;
        let cursors = cursors.map_err(read_error)?;
        let skip = usize::try_from(*offset).unwrap_or(usize::MAX);
        let page = cursors.get(skip..).unwrap_or_default();
        let shown = page.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let loaded = listing::load(snapshot, &page[..shown], self.read_bytes()).await;
        let loaded = loaded.map_err(read_error)?;
        let has_more = loaded.is_cut || page.len() > shown;
        Ok(LogPage::new(loaded.logs, total, has_more))
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
        let wanted = sources
            .filter(|source| buckets.iter().any(|bucket| bucket.as_uuid() == source.bucket_id));
        let range_of = |Source { bucket_id, output_id, .. }: Source| {
            let kind = Kind::ForClients { source: output_id? };
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
