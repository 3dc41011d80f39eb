//! The query strings of operations on logs. The comments on their fields are the descriptions in
//! the document.

use std::time::Duration;

use http::Method;
use serde::Deserialize;
use utoipa::IntoParams;
use webhook_core::{
    Error,
    admin::{DayQuery, DrainQuery, LogQuery, MinuteQuery},
    store::LogFilter,
};

use crate::api::query::{
    Moment, age, bucket, duration, id, moment, number, place, reason, status, status_codes, truth,
};

/// Which logs are listed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct LogRequest {
    /// The bucket's ID or name
    bucket: String,
    /// How many; 25 when it is not said
    #[param(value_type = u64, minimum = 1, maximum = 100)]
    limit: String,
    /// How many logs to skip, at most 10 000; the cost grows with it, so use `cursor`
    #[param(value_type = u64, maximum = 10_000)]
    offset: String,
    /// The first moment: `YYYY-MM-DD` (UTC), RFC 3339, or unix seconds
    from: String,
    /// The last moment, inclusive: of a day, the whole day
    to: String,
    /// `sent`, `failed`, … or the integer; `received` and `preparing` each find both
    status: String,
    /// The `next_cursor` of the page before
    cursor: String,
    /// The filters of a search.
    #[serde(flatten)]
    #[param(ignore)]
    filter: FilterRequest,
}

/// What logs are filtered by, one by one.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct FilterRequest {
    /// Search: received with this method
    method: String,
    /// Search: what followed the input's address has this in it
    path: String,
    /// Search: the last attempt's status code, or a class: `404`, `5xx`; 0 is no answer
    status_code: String,
    /// Search: the input's ID
    input: String,
    /// Search: the output's ID
    output: String,
    /// Search: the last attempt took so long: `300ms`, `1.5s`, or nanoseconds
    min_duration: String,
    /// Search: the `reason` of the log: `signature`, `duplicate`, `rules`, …
    reason: String,
    /// Search: whether the webhook is from whom it says it is; those of inputs that do not
    /// verify are neither
    #[param(value_type = bool)]
    verified: String,
    /// Search: made by this replay: its ID
    replay: String,
    /// Search: a header contains this text, as `Name:text`; with `Name:`, the header exists
    header: String,
    /// Search: the body has this at a path, as `path:text`
    payload: String,
    /// Search: the path, the query, a header, the body, the answer or the error has this in
    /// it, ASCII letters in either case; 3 to 256 bytes
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
        filter.outputs = id("output", output)?.into_iter().collect();
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
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct DayRequest {
    /// The first day; 30 days before the last when it is not said, 366 at most
    from: String,
    /// The last day, inclusive; today when it is not said
    to: String,
    /// The bucket's ID or name
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
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct MinuteRequest {
    /// The first minute; a day before the last when it is not said, 7 days at most
    from: String,
    /// The last minute, inclusive; now when it is not said
    to: String,
    /// The bucket's ID or name
    #[serde(rename = "bucket_id", alias = "bucketId", alias = "bucket")]
    bucket: String,
    /// The output's ID
    output_id: String,
    /// The status's name or integer
    status: String,
    /// The status code of the last attempt
    #[param(value_type = u16)]
    status_code: String,
}

impl MinuteRequest {
    pub(crate) fn read(self) -> Result<MinuteQuery, Error> {
        let mut query = MinuteQuery::default();
        query.from = moment("from", &self.from)?.map(|moment| moment.start);
        query.to = moment("to", &self.to)?.map(Moment::end);
        query.status = status(&self.status)?;
        query.output_id = id("output_id", &self.output_id)?;
        if !self.status_code.is_empty() {
            let codes = 0..=MinuteQuery::MAX_STATUS_CODE;
            query.status_code = Some(number("status_code", &self.status_code, codes, 0)?);
        }
        query.bucket = bucket(self.bucket);
        Ok(query)
    }
}

/// Which webhooks a consumer wants.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct DrainRequest {
    /// The bucket's ID or name
    bucket: String,
    /// The output's ID
    output: String,
    /// How many; 100 when it is not said. Fewer come when they are large
    #[param(value_type = u64, minimum = 1, maximum = 100)]
    limit: String,
    /// How old they may be, such as `24h`, which it is when it is not said
    max_age: String,
    /// The `next_cursor` of the answer before. It changes nothing: what was handed out is
    /// never handed out again
    cursor: String,
    /// `manual` leases the webhooks; `auto`, the default, hands them out
    /// permanently
    ack: String,
    /// With `ack=manual`: for how long, such as `5m` or in nanoseconds, 1 second to 12 hours;
    /// `60s` when it is not said
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
        query.output_id = id("output", &self.output)?;
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
