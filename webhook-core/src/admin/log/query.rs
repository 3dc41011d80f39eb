//! Lists of logs.

use std::{fmt::Display, ops::RangeInclusive};

use super::{Admin, BucketRef, Caller};
use crate::{
    clock::Timestamp,
    error::Error,
    model::{DeliveryStatus, Log},
    store::{self, LogCursor, LogPage},
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

impl Admin {
    /// A page of the logs of the account, newest first.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) for a limit or an offset out of bounds, and when
    /// the access token reaches several buckets and `query` names none.
    pub async fn logs(&self, caller: &Caller, query: &LogQuery) -> Result<LogsPage, Error> {
        caller.require_api_access()?;
        let LogQuery { ref bucket, status, from, to, before, limit, offset } = *query;
        within("limit", limit, 1..=LogQuery::MAX_LIMIT)?;
        if offset > LogQuery::MAX_OFFSET {
            let most = LogQuery::MAX_OFFSET;
            return Err(Error::invalid(
                "offset",
                format!("must be at most {most}: use the cursor"),
            ));
        }
        let reading = self.reading(caller, "bucket", bucket.as_ref()).await?;
        let Some(bucket_id) = reading.filter() else {
            return Ok(LogsPage { logs: Vec::new(), total: 0, limit, offset, next: None });
        };
        let query = store::LogQuery { bucket_id, status, from, to, before, offset, limit };
        let page = self.stores.logs.logs(caller.account_id(), &query).await?;
        let LogPage { logs, total, has_more } = page;
        let next = logs.last().filter(|_| has_more).map(LogCursor::of);
        Ok(LogsPage { logs, total, limit, offset, next })
    }
}

/// Refuses a number that is out of its bounds.
pub(in crate::admin) fn within<T: PartialOrd + Display>(
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
