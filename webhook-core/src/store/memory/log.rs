//! The logs in memory.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::{
    MemoryStore,
    catalog::{Group, Shelf, Span},
    delivery::{Found, log},
    queue::Queue,
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId},
    model::{Attempt, DeliveryStatus, Log, LogHead},
    store::{
        ClientReport, CountQuery, DayCount, Drain, Drained, EraseWebhook, ErasedWebhook, LogCursor,
        LogHeads, LogOrder, LogPage, LogQuery, LogSearch, LogStore, LogsFound, MinuteCount,
        OldLogs, Reported, Scan,
    },
};

/// How many logs a search looks at while it has the store locked.
const AT_ONCE: usize = 32;

fn logs(found: Vec<Found>) -> Vec<Log> {
    found.into_iter().map(log).collect()
}

/// The shelves that have what a query asks for.
fn shelves(query: &LogQuery) -> impl Fn(&Shelf) -> bool + Copy {
    let LogQuery { bucket_id, status, .. } = *query;
    move |shelf| {
        bucket_id.is_none_or(|bucket| shelf.bucket_id == bucket)
            && status.is_none_or(|status| shelf.group.has(status))
    }
}

impl Queue {
    fn read(&self, account: AccountId, cursors: &[LogCursor]) -> Vec<Found> {
        cursors.iter().filter_map(|cursor| self.find(account, cursor.id)).collect()
    }

    fn page(&self, account: AccountId, query: &LogQuery) -> (Vec<Found>, u64, bool) {
        let LogQuery { from, to, before, offset, limit, .. } = *query;
        let shelves = shelves(query);
        let span = Span { from, to, ..Span::default() };
        let total = self.index.catalog.count(account, shelves, span);
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let some = skip.saturating_add(limit).saturating_add(1);
        let found = self.index.catalog.newest(account, shelves, Span { before, ..span }, some);
        let page = found.get(skip..).unwrap_or_default();
        let has_more = page.len() > limit;
        (self.read(account, &page[..page.len().min(limit)]), total, has_more)
    }

    /// The next logs that a search looks at.
    fn batch(&self, account: AccountId, search: &LogSearch, scan: &Scan<'_>) -> Vec<Found> {
        let LogQuery { from, to, .. } = search.query;
        let shelves = shelves(&search.query);
        let span = Span { from, to, before: scan.before(), after: scan.after() };
        let catalog = &self.index.catalog;
        let batch = match search.order {
            LogOrder::NewestFirst => catalog.newest(account, shelves, span, AT_ONCE),
            LogOrder::OldestFirst(_) => catalog.oldest(account, shelves, span, AT_ONCE),
        };
        self.read(account, &batch)
    }

    fn drain(&mut self, account: AccountId, drain: &Drain) -> Result<(Vec<Found>, bool), Error> {
        let Drain { buckets, output_id, after, since, now, .. } = drain;
        let leased = self.index.leased(account, *now);
        let limit = drain.room(leased.len())?;
        let shelves = |shelf: &Shelf| {
            shelf.group == Group::Waiting
                && (buckets.is_empty() || buckets.contains(&shelf.bucket_id))
                && output_id.is_none_or(|output| shelf.output_id == Some(output))
        };
        let span = Span { from: Some(*since), after: *after, ..Span::default() };
        let some = limit.saturating_add(leased.len()).saturating_add(1);
        let mut taken = self.index.catalog.oldest(account, shelves, span, some);
        taken.retain(|cursor| !leased.contains(&cursor.id));
        let has_more = taken.len() > limit;
        taken.truncate(limit);
        for cursor in &taken {
            self.change(cursor.id, |row| {
                row.leased_until = drain.leased_until();
                if row.leased_until.is_none() {
                    row.status = DeliveryStatus::Sent;
                    row.handed_over = true;
                }
                row.updated_at = *now;
            });
        }
        let found = self.read(account, &taken);
        for webhook in found.iter().map(|(webhook, _)| webhook.id).collect::<BTreeSet<_>>() {
            self.forget_if_done(webhook);
        }
        Ok((found, has_more))
    }

    fn report(
        &mut self,
        account: AccountId,
        report: &ClientReport,
    ) -> Result<(Found, bool), Error> {
        let ClientReport { id, now, status, status_code, retries, duration, .. } = *report;
        let find = |queue: &Self| queue.find(account, id).ok_or_else(|| Error::not_found("log"));
        let found = find(self)?;
        if !self.rows.get(&id).is_some_and(|row| row.takes(report)) {
            return Ok((found, false));
        }
        let attempt = Attempt {
            status_code,
            response_headers: report.response_headers.clone(),
            response_body: report.response_body.clone(),
            duration,
            error: None,
        };
        self.change(id, |row| {
            row.status = match status {
                DeliveryStatus::Preparing => DeliveryStatus::Received,
                status => status,
            };
            row.handed_over &= !row.status.is_final();
            row.leased_until = report.leased_until(row.leased_until);
            row.attempts = retries.saturating_add(1);
            row.last = Some(attempt.into());
            row.updated_at = now;
        });
        let webhook = found.0.id;
        // Before it is changed, or the store would have to copy the webhook.
        drop(found);
        self.forget_if_done(webhook);
        let found = find(self)?;
        self.make_room(0, 0);
        Ok((found, true))
    }

    fn purge(&mut self, old: &OldLogs, limit: usize) -> u64 {
        let gone = self.index.catalog.oldest_at_rest(old, limit);
        for LogCursor { id, .. } in &gone {
            self.remove(*id);
        }
        self.index.counters.forget_erased(old);
        u64::try_from(gone.len()).unwrap_or(u64::MAX)
    }
}

#[async_trait]
impl LogStore for MemoryStore {
    async fn logs(&self, account: AccountId, query: &LogQuery) -> Result<LogPage, Error> {
        let (found, total, has_more) = self.queue().page(account, query);
        Ok(LogPage { logs: logs(found), total, has_more })
    }

    async fn heads(&self, account: AccountId, query: &LogQuery) -> Result<LogHeads, Error> {
        let (found, total, has_more) = self.queue().page(account, query);
        let heads = found.iter().map(|(webhook, delivery)| LogHead::new(webhook, delivery));
        Ok(LogHeads { heads: heads.collect(), total, has_more })
    }

    async fn search(&self, account: AccountId, search: &LogSearch) -> Result<LogsFound, Error> {
        let mut scan = Scan::new(search);
        loop {
            let found = logs(self.queue().batch(account, search, &scan));
            if found.is_empty() {
                return Ok(scan.end(true));
            }
            if !found.into_iter().all(|log| scan.look(log)) || !scan.has_time() {
                return Ok(scan.end(false));
            }
            tokio::task::yield_now().await;
        }
    }

    async fn days(&self, account: AccountId, query: &CountQuery) -> Result<Vec<DayCount>, Error> {
        Ok(self.queue().index.counters.days(account, query))
    }

    async fn minutes(
        &self,
        account: AccountId,
        query: &CountQuery,
    ) -> Result<Vec<MinuteCount>, Error> {
        Ok(self.queue().index.counters.minutes(account, query))
    }

    async fn received(&self, account: AccountId, moment: Timestamp) -> Result<u64, Error> {
        Ok(self.queue().index.counters.received(account, moment))
    }

    async fn drain(&self, account: AccountId, drain: &Drain) -> Result<Drained, Error> {
        let (found, has_more) = self.queue().drain(account, drain)?;
        Ok(Drained { logs: logs(found), has_more })
    }

    async fn waiting(
        &self,
        account: AccountId,
        buckets: &[BucketId],
        after: Option<LogCursor>,
        limit: usize,
    ) -> Result<Vec<Log>, Error> {
        let shelves = |shelf: &Shelf| {
            shelf.group == Group::Waiting
                && shelf.output_id.is_some()
                && buckets.contains(&shelf.bucket_id)
        };
        let found = {
            let queue = self.queue();
            let span = Span { after, ..Span::default() };
            queue.read(account, &queue.index.catalog.oldest(account, shelves, span, limit))
        };
        Ok(logs(found))
    }

    async fn report(&self, account: AccountId, report: &ClientReport) -> Result<Reported, Error> {
        let (found, taken) = self.queue().report(account, report)?;
        Ok(Reported { log: log(found), taken })
    }

    async fn purge(&self, old: &OldLogs, limit: usize) -> Result<u64, Error> {
        Ok(self.queue().purge(old, limit))
    }

    async fn erase(
        &self,
        account: AccountId,
        erase: &EraseWebhook,
    ) -> Result<ErasedWebhook, Error> {
        self.erase_webhook(account, erase)
    }

    async fn forget_seen(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        Ok(self.queue().seen.forget(now, limit) as u64)
    }
}
