//! Logs.

use async_trait::async_trait;
use sea_orm::{DatabaseTransaction, prelude::Uuid};
use webhook_core::{
    AccountId, BucketId, Error, Timestamp,
    model::Log,
    store::{
        ClientReport, CountQuery, DayCount, Drain, Drained, EraseWebhook, ErasedWebhook, LogCursor,
        LogHeads, LogOrder, LogPage, LogQuery, LogSearch, LogStore, LogsFound, MinuteCount,
        OldLogs, Reported, Scan,
        tally::{self, DAY_MILLIS, LogSums, MINUTE_MILLIS},
    },
};

use crate::{
    Storage,
    entity::millis,
    fault::About,
    fold::Deltas,
    listing::{
        self, Buckets, Direction::NewestFirst, Direction::OldestFirst, IndexRange, Kind, Loaded,
        Places, Range, Source,
    },
    objects::StoredBody,
    tally::Span,
    tx::{Param, Read, Tx, with},
    writer::{InAccount, Taken},
};

/// How many logs a search reads with one query.
const LOOKED_AT_ONCE: u64 = 128;

/// How many bytes of logs it reads before it looks at them and at the time.
const SEARCHED_AT_ONCE_BYTES: usize = 4 << 20;

#[async_trait]
impl LogStore for Storage {
    async fn logs(&self, account: AccountId, query: &LogQuery) -> Result<LogPage, Error> {
        let read = self.count(account, async |snapshot, deltas| {
            let found = found_by(snapshot, deltas, account.as_uuid(), query).await?;
            let loaded = listing::load(snapshot, &found.cursors, self.read_bytes()).await;
            Ok((loaded?, found))
        });
        let (mut loaded, found) = read.await?;
        self.show(&mut loaded.logs, loaded.objects).await?;
        Ok(LogPage::new(loaded.logs, found.total, loaded.is_cut || found.has_more))
    }

    async fn heads(&self, account: AccountId, query: &LogQuery) -> Result<LogHeads, Error> {
        self.count(account, async |snapshot, deltas| {
            let found = found_by(snapshot, deltas, account.as_uuid(), query).await?;
            let heads = listing::heads(snapshot, &found.cursors).await?;
            Ok(LogHeads::new(heads, found.total, found.has_more))
        })
        .await
    }

    async fn search(&self, account: AccountId, search: &LogSearch) -> Result<LogsFound, Error> {
        let database = self.database();
        let snapshot = database.snapshot_on(&database.search).await.about("database")?;
        let found = self.found(&snapshot, account.as_uuid(), search).await;
        // Nothing was written: this only ends the snapshot.
        snapshot.commit().await.about("database")?;
        let (found, objects) = found?;
        match objects.is_empty() {
            true => Ok(found),
            false => self.show_found(found, objects).await,
        }
    }

    async fn days(&self, account: AccountId, query: &CountQuery) -> Result<Vec<DayCount>, Error> {
        Ok(tally::days(self.sums(account, (Span::Day, DAY_MILLIS), query).await?))
    }

    async fn minutes(
        &self,
        account: AccountId,
        query: &CountQuery,
    ) -> Result<Vec<MinuteCount>, Error> {
        Ok(tally::minutes(self.sums(account, (Span::Minute, MINUTE_MILLIS), query).await?))
    }

    async fn received(&self, account: AccountId, moment: Timestamp) -> Result<u64, Error> {
        self.count(account, async |snapshot, deltas| {
            let received = listing::received(snapshot, deltas, account.as_uuid(), moment);
            received.await.map_err(Error::from)
        })
        .await
    }

    async fn drain(&self, account: AccountId, drain: &Drain) -> Result<Drained, Error> {
        let op = || InAccount { account: account.as_uuid(), what: drain.clone() };
        let taken = self.write(op()).await?;
        match taken.objects.is_empty() {
            true => Ok(taken.what),
            false => self.drained(op(), taken).await,
        }
    }

    async fn waiting(
        &self,
        account: AccountId,
        buckets: &[BucketId],
        after: Option<LogCursor>,
        limit: usize,
    ) -> Result<Vec<Log>, Error> {
        let mut after = after;
        loop {
            let loaded = self.count(account, async |snapshot, deltas| {
                let asked = (buckets, after);
                self.waiting_in(snapshot, deltas, account.as_uuid(), asked, limit).await
            });
            let loaded = loaded.await?;
            let last = loaded.logs.last().map(LogCursor::of);
            let shown = self.show_waiting(loaded).await?;
            // A page of nothing but bodies that are gone is not the end.
            if last.is_none() || !shown.is_empty() {
                return Ok(shown);
            }
            after = last;
        }
    }

    async fn report(&self, account: AccountId, report: &ClientReport) -> Result<Reported, Error> {
        let report = InAccount { account: account.as_uuid(), what: report.clone() };
        let Taken { what: mut reported, objects } = *self.write(report).await?;
        // It is written: that is not taken back for the want of a body.
        if let Err(error) = self.show(std::slice::from_mut(&mut reported.log), objects).await {
            tracing::warn!(%error, "a reported log is returned without its body");
        }
        Ok(reported)
    }

    async fn purge(&self, old: &OldLogs, limit: usize) -> Result<u64, Error> {
        self.purge_old(old, limit).await
    }

    async fn erase(
        &self,
        account: AccountId,
        erase: &EraseWebhook,
    ) -> Result<ErasedWebhook, Error> {
        self.erase_webhook(account, erase).await
    }

    #[cfg(feature = "postgres")]
    async fn maintain(&self, now: Timestamp) -> Result<(), Error> {
        crate::days::make_ahead(self.database(), now).await
    }

    async fn forget_seen(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        // What others look at now goes the next time.
        let skip = self.database().write.on_postgres(" FOR UPDATE SKIP LOCKED");
        let forget = format!(
            "DELETE FROM seen WHERE (key, input_id) IN \
             (SELECT key, input_id FROM seen WHERE until <= ? ORDER BY until LIMIT ?{skip})"
        );
        let forget = with(forget, [millis(now).into(), Param::count(limit)]);
        self.database().write.execute(forget).await.about("webhook")
    }
}

/// A page of logs that are not read yet.
struct Found {
    cursors: Vec<LogCursor>,
    total: u64,
    has_more: bool,
}

async fn found_by(
    snapshot: &DatabaseTransaction,
    deltas: &Deltas,
    account: Uuid,
    query: &LogQuery,
) -> Result<Found, Error> {
    let LogQuery { status, from, to, before, offset, limit, .. } = query;
    let sources = listing::sources(snapshot, deltas, account, None).await?;
    let bucket = query.bucket_id.map(|bucket| bucket.as_uuid());
    let places = Places::new(account, bucket, *status, &sources);
    let buckets = buckets_of(account, query.bucket_id, &sources);
    let (buckets, stretch) = ((&buckets, &places), (*from, *to));
    let total = listing::total(snapshot, deltas, buckets, *status, stretch).await?;
    let limit = u64::try_from(*limit).unwrap_or(u64::MAX);
    // One more, to know whether there are more; there are not more than all.
    let some = offset.saturating_add(limit).saturating_add(1).min(total);
    if total == 0 || some <= *offset {
        return Ok(Found { cursors: Vec::new(), total, has_more: false });
    }
    let range = Range::ALL.from(*from).to(*to).before(*before);
    let mut cursors = places.first(snapshot, range, NewestFirst, some).await?;
    cursors.drain(..cursors.len().min(usize::try_from(*offset).unwrap_or(usize::MAX)));
    let shown = cursors.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
    let has_more = cursors.len() > shown;
    cursors.truncate(shown);
    Ok(Found { cursors, total, has_more })
}

/// The bucket that was asked for, or those of the account that have logs.
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
        let counted = match Deltas::of(&snapshot, account.as_uuid()).await {
            Ok(deltas) => read(&snapshot, &deltas).await,
            Err(error) => Err(error.into()),
        };
        // Nothing was written: this only ends the snapshot.
        snapshot.commit().await.about("database")?;
        counted
    }

    /// What the logs of a query count, by units of time.
    async fn sums(
        &self,
        account: AccountId,
        unit: (Span, i64),
        query: &CountQuery,
    ) -> Result<Vec<LogSums>, Error> {
        self.count(account, async |snapshot, deltas| {
            let account = account.as_uuid();
            let mut buckets = buckets_of(account, query.bucket_id, &[]);
            if query.bucket_id.is_none() {
                let sources = listing::sources(snapshot, deltas, account, None).await?;
                buckets.ids = sources.into_iter().map(|source| source.bucket_id).collect();
                buckets.ids.extend(listing::buckets_of_erased(snapshot, account).await?);
                buckets.ids.sort_unstable();
                buckets.ids.dedup();
            }
            Ok(listing::sums(snapshot, deltas, &buckets, unit, query).await?)
        })
        .await
    }

    async fn found(
        &self,
        snapshot: &DatabaseTransaction,
        account: Uuid,
        search: &LogSearch,
    ) -> Result<(LogsFound, Vec<StoredBody>), Error> {
        let LogQuery { bucket_id, status, from, to, .. } = &search.query;
        let deltas = Deltas::of(snapshot, account).await?;
        let sources = listing::sources(snapshot, &deltas, account, None).await?;
        let bucket = bucket_id.map(|bucket| bucket.as_uuid());
        let codes = search.filter.status_code.as_ref();
        let answered = codes.and_then(|codes| Places::answered(account, bucket, codes, &sources));
        let places = answered.unwrap_or_else(|| Places::new(account, bucket, *status, &sources));
        let range = Range::ALL.from(*from).to(*to);
        let direction = match search.order {
            LogOrder::NewestFirst => NewestFirst,
            LogOrder::OldestFirst(_) => OldestFirst,
        };
        // Bodies that are objects are not looked into.
        let (mut scan, mut objects) = (Scan::new(search), Vec::new());
        loop {
            let range = range.before(scan.before()).after(scan.after());
            let cursors = places.first(snapshot, range, direction, LOOKED_AT_ONCE).await?;
            let Some(last) = cursors.last() else { return Ok((scan.end(true), objects)) };
            let bytes = self.read_bytes().min(SEARCHED_AT_ONCE_BYTES);
            let loaded = listing::load(snapshot, &cursors, bytes).await?;
            objects.extend(loaded.objects);
            if !loaded.logs.into_iter().all(|log| scan.look(log)) {
                return Ok((scan.end(false), objects));
            }
            if !loaded.is_cut {
                scan.skip(*last);
            }
            if !scan.has_time() {
                return Ok((scan.end(false), objects));
            }
        }
    }

    async fn waiting_in(
        &self,
        snapshot: &DatabaseTransaction,
        deltas: &Deltas,
        account_id: Uuid,
        (buckets, after): (&[BucketId], Option<LogCursor>),
        limit: usize,
    ) -> Result<Loaded, Error> {
        let sources = listing::for_clients(snapshot, deltas, account_id).await?.into_iter();
        let wanted = sources
            .filter(|source| buckets.iter().any(|bucket| bucket.as_uuid() == source.bucket_id));
        let range_of = |Source { bucket_id, output_id, .. }: Source| {
            let kind = Kind::ForClients { source: output_id? };
            Some(IndexRange { account_id, bucket_id, kind })
        };
        let ranges: Vec<_> = wanted.filter_map(range_of).collect();
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        let range = Range::ALL.after(after);
        let cursors = listing::first(snapshot, &ranges, range, OldestFirst, limit).await?;
        listing::load(snapshot, &cursors, self.read_bytes()).await.map_err(Error::from)
    }
}
