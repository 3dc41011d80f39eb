//! Which webhooks a list shows, as its address says.

use jiff::{civil::Date, tz::TimeZone};
use webhook_core::{
    Error, Timestamp,
    admin::LogQuery,
    model::{Bucket, DeliveryStatus, Log, Reason},
    store::{LogCursor, LogFilter},
};

use super::Asked;
use crate::{Dashboard, session::Session};

/// Which webhooks a list shows.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) query: LogQuery,
    /// What logs are looked at for, one by one; empty for a list that needs no search.
    pub(crate) filter: LogFilter,
}

/// What a list shows.
pub(crate) struct Found {
    pub(crate) logs: Vec<Log>,
    /// How many there are in all; none of a search, which does not know it.
    pub(crate) total: Option<u64>,
    /// Where the next page begins.
    pub(crate) next: Option<LogCursor>,
}

impl Wanted {
    /// The first page of it.
    ///
    /// # Errors
    ///
    /// As the API's list of logs.
    pub(crate) async fn find(
        &self,
        dashboard: &Dashboard,
        session: &Session,
    ) -> Result<Found, Error> {
        let (admin, caller) = (dashboard.admin(), &session.caller);
        if self.filter.is_empty() {
            let found = admin.logs(caller, &self.query).await?;
            return Ok(Found { logs: found.logs, total: Some(found.total), next: found.next });
        }
        let found = admin.search_logs(caller, &self.query, self.filter.clone()).await?;
        let next = found.scanned_until.filter(|_| !found.complete);
        Ok(Found { logs: found.logs, total: None, next })
    }
}

/// The filters that an address names.
///
/// # Errors
///
/// With the filter that cannot be read.
pub(crate) fn read(asked: &Asked, buckets: &[Bucket], scoped: bool) -> Result<Wanted, Error> {
    let mut query = LogQuery::default();
    query.bucket = asked.get("bucket").map(Into::into);
    if query.bucket.is_none() && scoped {
        // A token that reaches several has to name one.
        query.bucket = buckets.first().map(|bucket| bucket.id.into());
    }
    if let Some(text) = asked.get("status") {
        let status = DeliveryStatus::from_wire(text);
        query.status = Some(status.ok_or_else(|| Error::invalid("status", "is unknown"))?);
    }
    if let Some(text) = asked.get("from") {
        query.from = Some(moment("from", text)?.0);
    }
    if let Some(text) = asked.get("to") {
        query.to = Some(moment("to", text)?.1);
    }
    if let Some(text) = asked.get("cursor") {
        let place = text.parse().map_err(|_| Error::invalid("cursor", "is no place in the log"))?;
        query.before = Some(place);
    }
    if let Some(text) = asked.get("limit") {
        query.limit = text.parse().map_err(|_| Error::invalid("limit", "must be a number"))?;
    }
    let mut filter = LogFilter::default();
    if let Some(text) = asked.get("reason") {
        let reason = Reason::from_wire(text);
        filter.reason = Some(reason.ok_or_else(|| Error::invalid("reason", "is unknown"))?);
    }
    if let Some(text) = asked.get("verified") {
        let verified = text.parse();
        let wrong = |_| Error::invalid("verified", "must be true or false");
        filter.verified = Some(verified.map_err(wrong)?);
    }
    if let Some(text) = asked.get("search") {
        filter.set_text(text)?;
    }
    Ok(Wanted { query, filter })
}

/// A day, a moment of RFC 3339, or unix seconds: its start and its end.
fn moment(field: &str, text: &str) -> Result<(Timestamp, Timestamp), Error> {
    let millis = |moment: jiff::Timestamp| Timestamp::from_millis(moment.as_millisecond());
    if let Ok(seconds) = text.parse::<i64>() {
        let end = seconds.saturating_add(1);
        return Ok((Timestamp::from_secs(seconds), Timestamp::from_secs(end)));
    }
    let day = text.parse::<Date>().ok().filter(|_| text.len() == 10);
    if let Some(zoned) = day.and_then(|day| day.to_zoned(TimeZone::UTC).ok()) {
        let start = millis(zoned.timestamp());
        return Ok((start, start + std::time::Duration::from_secs(86_400)));
    }
    match text.parse::<jiff::Timestamp>() {
        Ok(moment) => {
            let start = millis(moment);
            Ok((start, start + std::time::Duration::from_millis(1)))
        }
        Err(_) => Err(Error::invalid(
            field,
            "must be a day like 2026-01-31, a moment like 2026-01-31T12:00:00Z, or unix seconds",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, value: &str) -> Asked {
        Asked(vec![(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn days_are_whole_and_both_ends_count() -> Result<(), Error> {
        let day = read(&asked("to", "2023-11-14"), &[], false)?.query;
        assert_eq!(day.to, Some(Timestamp::from_secs(1_700_006_400)));
        let day = read(&asked("from", "2023-11-14"), &[], false)?.query;
        assert_eq!(day.from, Some(Timestamp::from_secs(1_699_920_000)));
        let second = read(&asked("to", "1700000000"), &[], false)?.query;
        assert_eq!(second.to, Some(Timestamp::from_secs(1_700_000_001)));
        read(&asked("from", "2023-11-14T22:13:20Z"), &[], false)?;
        Ok(())
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (name, value) in [
            ("from", "yesterday"),
            ("to", "2023-13-01"),
            ("status", "lost"),
            ("cursor", "x"),
            ("limit", "-1"),
            ("reason", "bad luck"),
            ("verified", "perhaps"),
            ("search", "ab"),
        ] {
            let error = read(&asked(name, value), &[], false).expect_err(value);
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }
}
