//! Logs: lists are merged by their order, counts are added.

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use futures_util::future::{join_all, try_join_all};
use webhook_core::{
    AccountId, BucketId, Error, ErrorKind, Month, Timestamp,
    model::{Log, LogHead},
    store::{
        ClientReport, CountQuery, DayCount, Drain, Drained, LogCursor, LogHeads, LogOrder, LogPage,
        LogQuery, LogSearch, LogStore, LogsFound, MinuteCount, OldLogs, Reported, tally,
    },
};

use super::{
    ShardedStorage, locked,
    merge::{Merged, Part, merge},
    shard::Shard,
};

/// What a shard counts: an account's webhooks of a month.
pub(super) type Counted = (u16, AccountId, Timestamp);

/// How many counts of months are kept for when a shard is away; then all are counted anew.
const KEPT_COUNTS: usize = 65_536;

#[async_trait]
impl LogStore for ShardedStorage {
    async fn logs(&self, account: AccountId, query: &LogQuery) -> Result<LogPage, Error> {
        let shards = self.of_bucket(query.bucket_id).await?;
        if let [shard] = &shards[..] {
            return shard.ask(shard.storage.logs(account, query)).await;
        }
        let Some(query) = self.without_offset(account, query).await? else {
            let (_, total) = self.heads_of(account, query, 0).await?;
            return Ok(LogPage::new(Vec::new(), total, false));
        };
        let pages = shards.iter().map(|shard| shard.ask(shard.storage.logs(account, &query)));
        let (mut parts, mut total, mut is_cut) = (Vec::with_capacity(shards.len()), 0, false);
        for page in try_join_all(pages).await? {
            let LogPage { logs, total: more, has_more, .. } = page;
            (total, is_cut) = (total + more, is_cut || has_more);
            let until = logs.last().map(LogCursor::of).filter(|_| has_more);
            parts.push(Part { found: logs, until });
        }
        let Merged { found, until } = merge(parts, LogCursor::of, true, query.limit);
        // Of nothing there is no last one.
        let has_more = until.is_some() || query.limit == 0 && is_cut;
        Ok(LogPage::new(found, total, has_more))
    }

    async fn heads(&self, account: AccountId, query: &LogQuery) -> Result<LogHeads, Error> {
        let shards = self.of_bucket(query.bucket_id).await?;
        if let [shard] = &shards[..] {
            return shard.ask(shard.storage.heads(account, query)).await;
        }
        let skipped = usize::try_from(query.offset).unwrap_or(usize::MAX);
        let wanted = skipped.saturating_add(query.limit);
        let (Merged { mut found, until }, total) = self.heads_of(account, query, wanted).await?;
        found.drain(..skipped.min(found.len()));
        Ok(LogHeads::new(found, total, until.is_some()))
    }

    async fn search(&self, account: AccountId, search: &LogSearch) -> Result<LogsFound, Error> {
        let shards = self.of_bucket(search.query.bucket_id).await?;
        if let [shard] = &shards[..] {
            return shard.ask(shard.storage.search(account, search)).await;
        }
        let mut of_each = search.clone();
        of_each.bounds.max_bytes /= shards.len().max(1);
        let found = shards.iter().map(|it| it.ask(it.storage.search(account, &of_each)));
        let newest_first = matches!(search.order, LogOrder::NewestFirst);
        let mut parts = Vec::with_capacity(shards.len());
        // How far those have looked who have looked at everything.
        let mut ends = Vec::new();
        for LogsFound { logs, scanned_until, complete, .. } in try_join_all(found).await? {
            ends.extend(scanned_until.filter(|_| complete));
            parts.push(Part { found: logs, until: scanned_until.filter(|_| !complete) });
        }
        let Merged { found, until } = merge(parts, LogCursor::of, newest_first, search.query.limit);
        let mut all = LogsFound::default();
        all.logs = found;
        all.complete = until.is_none();
        all.scanned_until = match until {
            Some(until) => Some(until),
            None if newest_first => ends.into_iter().min(),
            None => ends.into_iter().max(),
        };
        Ok(all)
    }

    async fn days(&self, account: AccountId, query: &CountQuery) -> Result<Vec<DayCount>, Error> {
        let shards = self.of_bucket(query.bucket_id).await?;
        let sums = shards.iter().map(|it| it.ask(it.storage.sums(account, query, true)));
        Ok(tally::days(try_join_all(sums).await?.into_iter().flatten()))
    }

    async fn minutes(
        &self,
        account: AccountId,
        query: &CountQuery,
    ) -> Result<Vec<MinuteCount>, Error> {
        let shards = self.of_bucket(query.bucket_id).await?;
        let sums = shards.iter().map(|it| it.ask(it.storage.sums(account, query, false)));
        Ok(tally::minutes(try_join_all(sums).await?.into_iter().flatten()))
    }

    /// A shard that does not answer counts what it counted last: it refuses webhooks itself,
    /// and is no reason to refuse those of others.
    async fn received(&self, account: AccountId, moment: Timestamp) -> Result<u64, Error> {
        let shards = self.shared.slots.all().await;
        let month = Month::of(moment).start;
        let counts = shards.iter().map(|it| it.ask(it.storage.received(account, moment)));
        let mut sum = 0;
        for (count, shard) in join_all(counts).await.into_iter().zip(&shards) {
            let key = (shard.number, account, month);
            let mut known = locked(&self.shared.received);
            sum += match count {
                Ok(count) => {
                    if known.len() >= KEPT_COUNTS {
                        known.clear();
                    }
                    known.insert(key, count);
                    count
                }
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    known.get(&key).copied().unwrap_or_default()
                }
                Err(error) => return Err(error),
            };
        }
        Ok(sum)
    }

    async fn drain(&self, account: AccountId, drain: &Drain) -> Result<Drained, Error> {
        let shards = match &drain.buckets[..] {
            [] => self.of_bucket(None).await?,
            buckets => self.of_buckets(buckets).await?,
        };
        if let [shard] = &shards[..] {
            return shard.ask(shard.storage.drain(account, drain)).await;
        }
        let looked = shards.iter().map(|it| it.ask(it.storage.drainable(account, drain)));
        let looked = try_join_all(looked).await?;
        let leased: usize = looked.iter().map(|found| found.leased).sum();
        let room = drain.room(leased)?;
        let mut oldest: Vec<_> = looked
            .iter()
            .zip(&shards)
            .flat_map(|(found, shard)| found.cursors.iter().map(move |it| (*it, shard.number)))
            .collect();
        oldest.sort_unstable();
        let mut has_more = oldest.len() > room;
        oldest.truncate(room);
        let taken = shards.iter().zip(&looked).map(async |(shard, looked)| {
            let mut some = drain.clone();
            some.limit = oldest.iter().filter(|(_, number)| *number == shard.number).count();
            if some.limit == 0 {
                return Ok(Drained::new(Vec::new(), false));
            }
            // What is leased in others is counted as well.
            some.max_leased = drain.max_leased.saturating_sub(leased - looked.leased);
            shard.ask(shard.storage.drain(account, &some)).await
        });
        let (mut logs, mut failed) = (Vec::with_capacity(oldest.len()), None);
        for taken in join_all(taken).await {
            match taken {
                Ok(taken) => {
                    has_more |= taken.has_more;
                    logs.extend(taken.logs);
                }
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed {
            // What others gave is handed out, and nobody gets it again.
            if logs.is_empty() {
                return Err(error);
            }
            tracing::warn!(%error, "what waits in a shard is handed out later");
            has_more = true;
        }
        logs.sort_unstable_by_key(LogCursor::of);
        Ok(Drained::new(logs, has_more))
    }

    async fn waiting(
        &self,
        account: AccountId,
        buckets: &[BucketId],
        after: Option<LogCursor>,
        limit: usize,
    ) -> Result<Vec<Log>, Error> {
        let shards = self.of_buckets(buckets).await?;
        if let [shard] = &shards[..] {
            return shard.ask(shard.storage.waiting(account, buckets, after, limit)).await;
        }
        let found =
            shards.iter().map(|it| it.ask(it.storage.waiting_some(account, buckets, after, limit)));
        let mut parts = Vec::with_capacity(shards.len());
        for (logs, is_cut) in try_join_all(found).await? {
            let until = logs.last().map(LogCursor::of).filter(|_| is_cut);
            parts.push(Part { found: logs, until });
        }
        Ok(merge(parts, LogCursor::of, false, limit).found)
    }

    async fn report(&self, account: AccountId, report: &ClientReport) -> Result<Reported, Error> {
        let shards = self.shared.slots.all().await;
        let looked = shards.iter().map(|it| it.ask(it.storage.has_log(account, report.id)));
        let mut failed = Error::not_found("log");
        for (is_there, shard) in join_all(looked).await.into_iter().zip(&shards) {
            match is_there {
                Ok(true) => return shard.ask(shard.storage.report(account, report)).await,
                Ok(false) => {}
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// One day after the other, in each shard. What is in one that does not answer goes later.
    async fn purge(&self, old: &OldLogs, limit: usize) -> Result<u64, Error> {
        self.tidy_now_and_then().await;
        let shards = self.of_bucket(old.bucket_id).await?;
        if let [shard] = &shards[..] {
            return later(shard, shard.ask(shard.storage.purge(old, limit)).await);
        }
        let (mut days, mut gone) = (BTreeMap::<_, Vec<_>>::new(), 0);
        for shard in &shards {
            let dropped = later(shard, shard.ask(shard.storage.drop_old_days(old)).await)?;
            gone += dropped.logs;
            if dropped.in_use {
                continue;
            }
            let of_shard = shard.ask(shard.storage.days_before(old)).await;
            for day in later(shard, of_shard)? {
                days.entry(day).or_default().push(shard);
            }
        }
        for (day, shards) in days {
            let mut of_day = *old;
            of_day.before = of_day.before.min(day + Duration::from_secs(86_400));
            for shard in shards {
                let left = left_of(limit, gone);
                if left > 0 {
                    gone += later(shard, shard.ask(shard.storage.purge(&of_day, left)).await)?;
                }
            }
        }
        Ok(gone)
    }

    /// A shard that does not answer is maintained later.
    async fn maintain(&self, now: Timestamp) -> Result<(), Error> {
        for shard in self.shared.slots.all().await {
            if let Err(error) = shard.ask(shard.storage.maintain(now)).await {
                tracing::warn!(shard = shard.number, %error, "it is maintained later");
            }
        }
        Ok(())
    }

    async fn forget_seen(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut gone = 0;
        for shard in self.shared.slots.all().await {
            let left = left_of(limit, gone);
            if left > 0 {
                gone += later(&shard, shard.ask(shard.storage.forget_seen(now, left)).await)?;
            }
        }
        Ok(gone)
    }
}

fn left_of(limit: usize, gone: u64) -> usize {
    limit.saturating_sub(usize::try_from(gone).unwrap_or(usize::MAX))
}

/// What is in a shard that does not answer goes later.
fn later<T: Default>(shard: &Shard, gone: Result<T, Error>) -> Result<T, Error> {
    match gone {
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            tracing::warn!(shard = shard.number, %error, "what is old there goes later");
            Ok(T::default())
        }
        gone => gone,
    }
}

impl ShardedStorage {
    /// The shards of these buckets, each once.
    async fn of_buckets(&self, buckets: &[BucketId]) -> Result<Vec<std::sync::Arc<Shard>>, Error> {
        let mut shards = Vec::<std::sync::Arc<Shard>>::new();
        for bucket in buckets {
            for shard in self.shared.slots.of(*bucket).await?.shards() {
                if shards.iter().all(|known| known.number != shard.number) {
                    shards.push(shard);
                }
            }
        }
        Ok(shards)
    }

    /// The first `wanted` heads of the query, whatever its offset, and how many there are.
    async fn heads_of(
        &self,
        account: AccountId,
        query: &LogQuery,
        wanted: usize,
    ) -> Result<(Merged<LogHead>, u64), Error> {
        let shards = self.of_bucket(query.bucket_id).await?;
        let mut query = query.clone();
        (query.offset, query.limit) = (0, wanted);
        let pages = shards.iter().map(|shard| shard.ask(shard.storage.heads(account, &query)));
        let (mut parts, mut total) = (Vec::with_capacity(shards.len()), 0);
        for page in try_join_all(pages).await? {
            let LogHeads { heads, total: more, has_more, .. } = page;
            total += more;
            let until = heads.last().map(place).filter(|_| has_more);
            parts.push(Part { found: heads, until });
        }
        Ok((merge(parts, place, true, wanted), total))
    }

    /// The same query from the place on that its offset leads to; none when there is nothing.
    async fn without_offset(
        &self,
        account: AccountId,
        query: &LogQuery,
    ) -> Result<Option<LogQuery>, Error> {
        let mut from_there = query.clone();
        let skipped = usize::try_from(query.offset).unwrap_or(usize::MAX);
        if skipped > 0 {
            let (skipped_over, _) = self.heads_of(account, query, skipped).await?;
            if skipped_over.until.is_none() {
                return Ok(None);
            }
            from_there.before = skipped_over.found.last().map(place);
            from_there.offset = 0;
        }
        Ok(Some(from_there))
    }
}

fn place(head: &LogHead) -> LogCursor {
    LogCursor { created_at: head.created_at, id: head.id }
}
