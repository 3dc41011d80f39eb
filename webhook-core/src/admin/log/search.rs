//! Searches in logs.

use super::{Admin, Caller, LogQuery, query::within};
use crate::{
    error::Error,
    store::{self, LogFilter, LogSearch, LogsFound, ScanBounds},
};

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
        if offset > 0 {
            return Err(Error::invalid("offset", "is not for searches: use the cursor"));
        }
        let reading = self.reading(caller, "bucket", bucket.as_ref()).await?;
        let Some(bucket_id) = reading.filter() else {
            return Ok(LogsFound { complete: true, ..LogsFound::default() });
        };
        let account = caller.account_id();
        let most = self.options.max_searches_per_account;
        let _entered = self.searching.enter(account, most, "searches running")?;
        let query = store::LogQuery { bucket_id, status, from, to, before, offset, limit };
        let bounds = ScanBounds {
            max_bytes: self.options.max_search_bytes,
            max_time: self.options.max_search_time,
        };
        self.stores.logs.search(account, &LogSearch::new(query, filter, bounds)).await
    }
}
