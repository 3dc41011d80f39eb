//! Which logs a replay or an erasure is about.

use std::time::{Duration, Instant};

use super::{Admin, BucketRef, Caller};
use crate::{
    clock::Timestamp,
    error::{Error, invalid_if},
    id::BucketId,
    model::{Log, ReplayFilter},
    relay::Source,
    store::{BucketStore, LogCursor},
};

/// How many logs are counted; where there are more the count is not exact.
const MAX_COUNTED: u64 = 100_000;
/// How long it is counted.
const MAX_COUNTING: Duration = Duration::from_secs(10);
/// How many logs are looked at together.
const AT_ONCE: usize = 200;

/// A count of the logs that a replay or an erasure finds, within bounds.
#[derive(Debug)]
pub(super) struct Counting {
    source: Source,
    place: Option<LogCursor>,
    started: Instant,
    /// How many logs were found.
    pub(super) logs: u64,
    /// Whether all logs were looked at.
    pub(super) exact: bool,
}

impl Counting {
    pub(super) fn new(source: Source) -> Self {
        Self { source, place: None, started: Instant::now(), logs: 0, exact: false }
    }

    /// The next logs; none when all were looked at, or a bound is reached.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Log>>, Error> {
        if self.exact || self.logs >= MAX_COUNTED || self.started.elapsed() >= MAX_COUNTING {
            return Ok(None);
        }
        let looked = self.source.next(self.place, AT_ONCE).await?;
        self.logs += looked.logs.len() as u64;
        self.place = looked.until.or(self.place);
        self.exact = looked.complete;
        Ok(Some(looked.logs))
    }
}

impl Admin {
    /// Fails for a filter that cannot be read, or that says nothing.
    pub(super) fn check_filter(&self, filter: &ReplayFilter, now: Timestamp) -> Result<(), Error> {
        let most = ReplayFilter::MAX_IDS;
        let named = filter.ids.len();
        invalid_if(named > most, "filter.ids", format_args!("must be at most {most}"))?;
        let reason = "must say which logs; {\"from\": 0} is all of them";
        invalid_if(*filter == ReplayFilter::default(), "filter", reason)?;
        filter.log_filter()?;
        let query = filter.log_query(now)?;
        let reason = "must be before filter.to, and before now";
        invalid_if(query.from >= query.to, "filter.from", reason)
    }

    /// The bucket that a filter is about; none for all of the account.
    pub(super) async fn bucket_of_filter(
        &self,
        caller: &Caller,
        filter: &ReplayFilter,
    ) -> Result<Option<BucketId>, Error> {
        let bucket = (!filter.bucket.is_empty()).then(|| BucketRef::from(&*filter.bucket));
        let reading = self.reading(caller, "filter.bucket", bucket.as_ref()).await?;
        let filter = reading.filter();
        filter.ok_or_else(|| Error::invalid("filter", "the access token reaches nothing"))
    }

    /// Fails when the caller reaches some buckets only and what is `of` this bucket, or of all, is
    /// none of them.
    pub(super) async fn require_reach(
        &self,
        caller: &Caller,
        of: Option<BucketId>,
    ) -> Result<(), Error> {
        if !caller.is_scoped() {
            return Ok(());
        }
        let id = of.ok_or_else(super::caller::out_of_scope)?;
        let bucket = self.stores.documents.bucket(caller.account_id(), id).await?;
        caller.require_scope(&bucket.ok_or_else(super::caller::out_of_scope)?)
    }
}
