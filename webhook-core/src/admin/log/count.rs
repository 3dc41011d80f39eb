//! Counts per day and per minute.

use std::time::Duration;

use serde::Deserialize;

use super::{
    Admin, Caller,
    query::{self, Moment, moment, number},
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::OutputId,
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

/// Which logs are counted per day. Empty text is nothing said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DayRequest {
    /// The first day; 30 days before the last when nothing is said. At most
    /// 366 days are counted.
    pub from: String,
    /// The last day, inclusive; today when nothing is said.
    pub to: String,
    /// The bucket's ID or name.
    #[serde(rename = "bucketId", alias = "bucket_id", alias = "bucket")]
    pub bucket: String,
}

/// Which logs are counted per minute. Empty text is nothing said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct MinuteRequest {
    /// The first minute; a day before the last when nothing is said. At most
    /// seven days are counted.
    pub from: String,
    /// The last minute, inclusive; now when nothing is said.
    pub to: String,
    /// The bucket's ID or name.
    #[serde(rename = "bucket_id", alias = "bucketId", alias = "bucket")]
    pub bucket: String,
    /// The output's ID.
    pub output_id: String,
    /// The status's name or integer.
    pub status: String,
    /// The status code of the last attempt.
    pub status_code: String,
}

impl Admin {
    /// The logs of the account counted per day (UTC), oldest first; days
    /// without logs are left out.
    pub async fn days(
        &self,
        caller: &Caller,
        request: &DayRequest,
    ) -> Result<Vec<DayCount>, Error> {
        caller.require_api_access()?;
        let DayRequest { from, to, bucket } = request;
        let (from, to) = self.range(from, to, DEFAULT_DAYS, MAX_DAYS)?;
        let reading = self.reading(caller, "bucketId", bucket).await?;
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
        request: &MinuteRequest,
    ) -> Result<Vec<MinuteCount>, Error> {
        caller.require_api_access()?;
        let MinuteRequest { from, to, bucket, output_id, status, status_code } = request;
        let (from, to) = self.range(from, to, DEFAULT_MINUTE_DAYS, MAX_MINUTE_DAYS)?;
        let status = query::status(status)?;
        let output_id = output("output_id", output_id)?;
        let status_code = match status_code.is_empty() {
            true => None,
            false => Some(number("status_code", status_code, 0..=999_u16, 0)?),
        };
        let reading = self.reading(caller, "bucket_id", bucket).await?;
        let Some(bucket_id) = reading.filter() else { return Ok(Vec::new()) };
        let (from, to) = (Some(from), Some(to));
        let query = CountQuery { bucket_id, output_id, status, status_code, from, to };
        self.stores.logs.minutes(caller.account_id(), &query).await
    }

    /// The range that is meant, from inclusive, to exclusive.
    fn range(
        &self,
        from: &str,
        to: &str,
        default_days: u32,
        max_days: u32,
    ) -> Result<(Timestamp, Timestamp), Error> {
        let from = moment("from", from)?.map(|moment| moment.start);
        let to = moment("to", to)?.map(Moment::end);
        let to = to.unwrap_or_else(|| self.now() + Duration::from_millis(1));
        let from = from.unwrap_or_else(|| before(to, DAY * default_days));
        if from >= to {
            return Err(Error::invalid("from", "must not be after to"));
        }
        if to.since(from) > DAY * max_days {
            return Err(Error::invalid(
                "from",
                format!("must be at most {max_days} days before to"),
            ));
        }
        Ok((from, to))
    }
}

pub(in crate::admin) fn before(moment: Timestamp, duration: Duration) -> Timestamp {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(moment.as_millis().saturating_sub(millis))
}

pub(super) fn output(field: &str, text: &str) -> Result<Option<OutputId>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|error| Error::invalid(field, error))
}
