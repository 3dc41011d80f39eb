//! Counts per day and per minute.

use std::time::Duration;

use super::{Admin, BucketRef, Caller, query::within};
use crate::{
    clock::Timestamp,
    error::{Error, invalid_if},
    id::OutputId,
    model::DeliveryStatus,
    store::{CountQuery, DayCount, MinuteCount},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The days that are counted unless the caller says which.
const DEFAULT_DAYS: u32 = 30;
/// Days that are counted at once at most.
const MAX_DAYS: u32 = 366;
/// Days whose minutes are counted unless the caller says which.
const DEFAULT_MINUTE_DAYS: u32 = 1;
/// Days whose minutes are counted at once at most.
const MAX_MINUTE_DAYS: u32 = 7;

/// Which logs are counted per day; the default is those of the last 30 days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DayQuery {
    /// Stored at or after; 30 days before `to` without it. At most 366 days are
    /// counted.
    pub from: Option<Timestamp>,
    /// Stored before; up to now without it.
    pub to: Option<Timestamp>,
    /// Only of this bucket. An access token that reaches several has to name one.
    pub bucket: Option<BucketRef>,
}

/// Which logs are counted per minute; the default is those of the last day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MinuteQuery {
    /// Stored at or after; a day before `to` without it. At most seven days are
    /// counted.
    pub from: Option<Timestamp>,
    /// Stored before; up to now without it.
    pub to: Option<Timestamp>,
    /// Only of this bucket. An access token that reaches several has to name one.
    pub bucket: Option<BucketRef>,
    /// Only of this output.
    pub output_id: Option<OutputId>,
    /// Only in this status; `Received` and `Preparing` each count both.
    pub status: Option<DeliveryStatus>,
    /// Only with this status code of the last attempt, at most
    /// [`MAX_STATUS_CODE`](Self::MAX_STATUS_CODE).
    pub status_code: Option<u16>,
}

impl MinuteQuery {
    /// The greatest status code that can be asked for.
    pub const MAX_STATUS_CODE: u16 = 999;
}

impl Admin {
    /// The logs of the account counted per day (UTC), oldest first; days
    /// without logs are left out.
    pub async fn days(&self, caller: &Caller, query: &DayQuery) -> Result<Vec<DayCount>, Error> {
        caller.require_api_access()?;
        let DayQuery { from, to, ref bucket } = *query;
        let (from, to) = self.range(from, to, DEFAULT_DAYS, MAX_DAYS)?;
        let reading = self.reading(caller, "bucketId", bucket.as_ref()).await?;
        let Some(bucket_id) = reading.filter() else { return Ok(Vec::new()) };
        let query =
            CountQuery { bucket_id, from: Some(from), to: Some(to), ..CountQuery::default() };
        self.stores.logs.days(caller.account_id(), &query).await
    }

    /// The logs of the account counted per minute, oldest first; minutes
    /// without logs are left out.
    pub async fn minutes(
        &self,
        caller: &Caller,
        query: &MinuteQuery,
    ) -> Result<Vec<MinuteCount>, Error> {
        caller.require_api_access()?;
        let MinuteQuery { from, to, ref bucket, output_id, status, status_code } = *query;
        let (from, to) = self.range(from, to, DEFAULT_MINUTE_DAYS, MAX_MINUTE_DAYS)?;
        if let Some(code) = status_code {
            within("status_code", code, 0..=MinuteQuery::MAX_STATUS_CODE)?;
        }
        let reading = self.reading(caller, "bucket_id", bucket.as_ref()).await?;
        let Some(bucket_id) = reading.filter() else { return Ok(Vec::new()) };
        let (from, to) = (Some(from), Some(to));
        let query = CountQuery { bucket_id, output_id, status, status_code, from, to };
        self.stores.logs.minutes(caller.account_id(), &query).await
    }

    /// The range that is meant, from inclusive, to exclusive.
    fn range(
        &self,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        default_days: u32,
        max_days: u32,
    ) -> Result<(Timestamp, Timestamp), Error> {
        let to = to.unwrap_or_else(|| self.now() + Duration::from_millis(1));
        let from = from.unwrap_or_else(|| before(to, DAY * default_days));
        invalid_if(from >= to, "from", "must not be after to")?;
        let reason = format_args!("must be at most {max_days} days before to");
        invalid_if(to.since(from) > DAY * max_days, "from", reason)?;
        Ok((from, to))
    }
}

pub(crate) fn before(moment: Timestamp, duration: Duration) -> Timestamp {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(moment.as_millis().saturating_sub(millis))
}
