//! The query strings of operations on logs.

use std::time::Duration;

use http::Method;
use serde::Deserialize;
use webhook_core::{
    Error,
    admin::{DayQuery, DrainQuery, LogQuery, MinuteQuery},
    store::LogFilter,
};

use crate::query::{
    Moment, age, bucket, duration, id, moment, number, output, place, reason, status, status_codes,
    truth,
};

/// Which logs are listed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LogRequest {
    /// The bucket's ID or name.
    bucket: String,
    /// The status's name or integer.
    status: String,
    /// The first moment.
    from: String,
    /// The last moment, inclusive: of a day, the whole day.
    to: String,
    /// Where the page before ended.
    cursor: String,
    limit: String,
    offset: String,
    /// What a search asks for, beside the above.
    #[serde(flatten)]
    filter: FilterRequest,
}

/// What logs are filtered by, one by one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FilterRequest {
    /// The method, in either case.
    method: String,
    /// Part of what followed the input's address.
    path: String,
    /// `404`, or a class: `5xx`.
    status_code: String,
    /// The input's ID.
    input: String,
    /// The output's ID.
    output: String,
    /// `300ms`, `1.5s`, or nanoseconds.
    min_duration: String,
    /// Its word.
    reason: String,
    /// `true` or `false`.
    verified: String,
    /// The replay's ID.
    replay: String,
    /// `Name:text`.
    header: String,
    /// `path:text`.
    payload: String,
    /// Part of anything.
    search: String,
}

impl FilterRequest {
    fn read(&self) -> Result<LogFilter, Error> {
        let mut filter = LogFilter::default();
        let Self { method, path, status_code, input, output, min_duration, .. } = self;
        if !method.is_empty() {
            let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes());
            let method = method.map_err(|_| Error::invalid("method", "is no method"))?;
            filter.method = Some(method);
        }
        filter.path = Some(path.clone()).filter(|path| !path.is_empty());
        filter.status_code = status_codes(status_code)?;
        filter.input_id = id("input", input)?;
        filter.output_id = id("output", output)?;
        filter.min_duration = duration("min_duration", min_duration)?;
        filter.reason = reason(&self.reason)?;
        filter.replay_id = id("replay", &self.replay)?;
        filter.verified = truth("verified", &self.verified)?;
        if !self.header.is_empty() {
            filter.set_header(&self.header)?;
        }
        if !self.payload.is_empty() {
            filter.set_payload(&self.payload)?;
        }
        if !self.search.is_empty() {
            filter.set_text(&self.search)?;
        }
        Ok(filter)
    }
}

impl LogRequest {
    /// Which logs, and what they are filtered by.
    pub(crate) fn read(self) -> Result<(LogQuery, LogFilter), Error> {
        let mut query = LogQuery::default();
        query.limit = number("limit", &self.limit, 1..=LogQuery::MAX_LIMIT, query.limit)?;
        let offsets = 0..=LogQuery::MAX_OFFSET;
        query.offset = number("offset", &self.offset, offsets, query.offset).map_err(|_| {
            let most = LogQuery::MAX_OFFSET;
            let reason = format!("must be a whole number from 0 to {most}; further on use cursor");
            Error::invalid("offset", reason)
        })?;
        query.status = status(&self.status)?;
        query.from = moment("from", &self.from)?.map(|moment| moment.start);
        query.to = moment("to", &self.to)?.map(Moment::end);
        query.before = place(&self.cursor)?;
        query.bucket = bucket(self.bucket);
        Ok((query, self.filter.read()?))
    }
}

/// Which logs are counted per day.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DayRequest {
    /// The first day.
    from: String,
    /// The last day, inclusive.
    to: String,
    /// The bucket's ID or name.
    #[serde(rename = "bucketId", alias = "bucket_id", alias = "bucket")]
    bucket: String,
}

impl DayRequest {
    pub(crate) fn read(self) -> Result<DayQuery, Error> {
        let mut query = DayQuery::default();
        query.from = moment("from", &self.from)?.map(|moment| moment.start);
        query.to = moment("to", &self.to)?.map(Moment::end);
        query.bucket = bucket(self.bucket);
        Ok(query)
    }
}

/// Which logs are counted per minute.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MinuteRequest {
    /// The first minute.
    from: String,
    /// The last minute, inclusive.
    to: String,
    /// The bucket's ID or name.
    #[serde(rename = "bucket_id", alias = "bucketId", alias = "bucket")]
    bucket: String,
    /// The output's ID.
    output_id: String,
    /// The status's name or integer.
    status: String,
    /// The status code of the last attempt.
    status_code: String,
}

impl MinuteRequest {
    pub(crate) fn read(self) -> Result<MinuteQuery, Error> {
        let mut query = MinuteQuery::default();
        query.from = moment("from", &self.from)?.map(|moment| moment.start);
        query.to = moment("to", &self.to)?.map(Moment::end);
        query.status = status(&self.status)?;
        query.output_id = output("output_id", &self.output_id)?;
        if !self.status_code.is_empty() {
            let codes = 0..=MinuteQuery::MAX_STATUS_CODE;
            query.status_code = Some(number("status_code", &self.status_code, codes, 0)?);
        }
        query.bucket = bucket(self.bucket);
        Ok(query)
    }
}

/// Which webhooks a consumer wants.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DrainRequest {
    /// The bucket's ID or name.
    bucket: String,
    /// The output's ID.
    output: String,
    limit: String,
    /// How old they may be.
    max_age: String,
    /// The `next_cursor` of the answer before.
    cursor: String,
    /// `auto` or `manual`.
    ack: String,
    /// For how long, with `manual`.
    lease: String,
}

/// How long webhooks are leased where nobody says it.
const LEASE: Duration = Duration::from_secs(60);

impl DrainRequest {
    pub(crate) fn read(self) -> Result<DrainQuery, Error> {
        let mut query = DrainQuery::default();
        query.limit = number("limit", &self.limit, 1..=DrainQuery::MAX_LIMIT, query.limit)?;
        query.max_age = age(&self.max_age)?.unwrap_or(query.max_age);
        query.cursor = place(&self.cursor)?;
        query.output_id = output("output", &self.output)?;
        query.bucket = bucket(self.bucket);
        let lease = duration("lease", &self.lease)?;
        query.lease = match (&*self.ack, lease) {
            ("manual", lease) => Some(lease.unwrap_or(LEASE)),
            ("" | "auto", None) => None,
            ("" | "auto", Some(_)) => {
                return Err(Error::invalid("lease", "goes with ack=manual only"));
            }
            _ => return Err(Error::invalid("ack", "must be auto or manual")),
        };
        Ok(query)
    }
}
