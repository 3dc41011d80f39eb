//! Lists of logs, and searches in them.

use std::{fmt::Display, ops::RangeInclusive};

use super::{super::AdminOptions, Admin, BucketRef, Caller};
use crate::{
    clock::Timestamp,
    error::{Error, invalid_if},
    model::{DeliveryStatus, Log, LogHead},
    store::{self, LogCursor, LogFilter, LogHeads, LogPage, LogSearch, LogsFound, ScanBounds},
};

/// Which logs are listed; the default is the newest of the account.
///
/// ```
/// use webhook_core::{admin::LogQuery, model::DeliveryStatus};
///
/// let mut query = LogQuery::default();
/// query.bucket = Some("orders".into());
/// query.status = Some(DeliveryStatus::Failed);
/// query.limit = 100;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogQuery {
    /// Only of this bucket. An access token that reaches several has to name one.
    pub bucket: Option<BucketRef>,
    /// Only in this status; `Received` and `Preparing` each find both.
    pub status: Option<DeliveryStatus>,
    /// Stored at or after.
    pub from: Option<Timestamp>,
    /// Stored before.
    pub to: Option<Timestamp>,
    /// Older than this place: where the page before ended.
    pub before: Option<LogCursor>,
    /// How many, 25; 1 to [`MAX_LIMIT`](Self::MAX_LIMIT).
    pub limit: usize,
    /// Skip so many, at most [`MAX_OFFSET`](Self::MAX_OFFSET). The cost grows
    /// with it; `before` is free and reaches any log.
    pub offset: u64,
}

impl LogQuery {
    /// Logs on a page at most.
    pub const MAX_LIMIT: usize = 100;
    /// Logs that are skipped at most.
    pub const MAX_OFFSET: u64 = 10_000;
}

impl Default for LogQuery {
    fn default() -> Self {
        Self {
            bucket: None,
            status: None,
            from: None,
            to: None,
            before: None,
            limit: 25,
            offset: 0,
        }
    }
}

/// A page of logs.
#[derive(Clone, Debug, PartialEq)]
pub struct LogsPage {
    /// The logs, newest first.
    pub logs: Vec<Log>,
    /// How many match in all.
    pub total: u64,
    /// How many were asked for.
    pub limit: usize,
    /// How many were skipped.
    pub offset: u64,
    /// Where the page ends; none after the last.
    pub next: Option<LogCursor>,
}

/// A page of logs without their content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadsPage {
    /// What is on the page, newest first.
    pub heads: Vec<LogHead>,
    /// How many match in all.
    pub total: u64,
    /// Where the page ends; none after the last.
    pub next: Option<LogCursor>,
}

impl Admin {
    /// A page of the logs of the account, newest first.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) for a limit or an offset out of bounds, and when
    /// the access token reaches several buckets and `query` names none.
    pub async fn logs(&self, caller: &Caller, query: &LogQuery) -> Result<LogsPage, Error> {
        let LogQuery { limit, offset, .. } = *query;
        let Some(query) = self.listed(caller, query).await? else {
            return Ok(LogsPage { logs: Vec::new(), total: 0, limit, offset, next: None });
        };
        let page = self.stores.logs.logs(caller.account_id(), &query).await?;
        let LogPage { logs, total, has_more } = page;
        let next = logs.last().filter(|_| has_more).map(LogCursor::of);
        Ok(LogsPage { logs, total, limit, offset, next })
    }

    /// As [`logs`](Self::logs), without their content: a page costs the same however large its
    /// webhooks are.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn log_heads(&self, caller: &Caller, query: &LogQuery) -> Result<HeadsPage, Error> {
        let Some(query) = self.listed(caller, query).await? else {
            return Ok(HeadsPage { heads: Vec::new(), total: 0, next: None });
        };
        let page = self.stores.logs.heads(caller.account_id(), &query).await?;
        let LogHeads { heads, total, has_more } = page;
        let cursor = |head: &LogHead| LogCursor { created_at: head.created_at, id: head.id };
        let next = heads.last().filter(|_| has_more).map(cursor);
        Ok(HeadsPage { heads, total, next })
    }

    /// What a store is asked for; none when the caller reaches no bucket.
    async fn listed(
        &self,
        caller: &Caller,
        query: &LogQuery,
    ) -> Result<Option<store::LogQuery>, Error> {
        caller.require_api_access()?;
        let LogQuery { ref bucket, status, from, to, before, limit, offset } = *query;
        within("limit", limit, 1..=LogQuery::MAX_LIMIT)?;
        let most = LogQuery::MAX_OFFSET;
        invalid_if(
            offset > most,
            "offset",
            format_args!("must be at most {most}: use the cursor"),
        )?;
        let reading = self.reading(caller, "bucket", bucket.as_ref()).await?;
        let query =
            |bucket_id| store::LogQuery { bucket_id, status, from, to, before, offset, limit };
        Ok(reading.filter().map(query))
    }
}

/// Refuses a number that is out of its bounds.
pub(crate) fn within<T: PartialOrd + Display>(
    field: &str,
    number: T,
    range: RangeInclusive<T>,
) -> Result<(), Error> {
    if range.contains(&number) {
        return Ok(());
    }
    let (least, most) = (range.start(), range.end());
    Err(Error::invalid(field, format!("must be a whole number from {least} to {most}")))
}

impl Admin {
    /// The newest logs of `query` that pass `filter`. It looks at logs one by one and stops
    /// after [`max_search_bytes`](super::super::AdminOptions::max_search_bytes) or
    /// [`max_search_time`](super::super::AdminOptions::max_search_time): ask again with
    /// [`scanned_until`](LogsFound::scanned_until) as [`before`](LogQuery::before) until it is
    /// [`complete`](LogsFound::complete).
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) as for [`logs`](Admin::logs), and for an offset,
    /// which a search has not; [`Busy`](crate::ErrorKind::Busy) when the account searches too often
    /// at the same time.
    pub async fn search_logs(
        &self,
        caller: &Caller,
        query: &LogQuery,
        filter: LogFilter,
    ) -> Result<LogsFound, Error> {
        caller.require_api_access()?;
        let LogQuery { ref bucket, status, from, to, before, limit, offset } = *query;
        within("limit", limit, 1..=LogQuery::MAX_LIMIT)?;
        invalid_if(offset > 0, "offset", "is not for searches: use the cursor")?;
        let reading = self.reading(caller, "bucket", bucket.as_ref()).await?;
        let Some(bucket_id) = reading.filter() else {
            return Ok(LogsFound { complete: true, ..LogsFound::default() });
        };
        let account = caller.account_id();
        let _entered = self.enter_search(account)?;
        let query = store::LogQuery { bucket_id, status, from, to, before, offset, limit };
        let search = LogSearch::new(query, filter, self.scan_bounds());
        self.stores.logs.search(account, &search).await
    }

    /// How far one call looks.
    pub(in crate::admin) const fn scan_bounds(&self) -> ScanBounds {
        let AdminOptions { max_search_bytes: max_bytes, max_search_time: max_time, .. } =
            self.options;
        ScanBounds { max_bytes, max_time }
    }
}
