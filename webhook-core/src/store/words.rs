//! A filter in the words of the query string, as what the store looks for.

use std::{ops::RangeInclusive, time::Duration};

use http::Method;

use crate::{
    clock::Timestamp,
    error::Error,
    id::Id,
    model::{DeliveryStatus, Reason, ReplayFilter},
    store::{LogFilter, LogQuery},
};

/// The latest moment that has a date of four digits.
const LAST_SECOND: i64 = 253_402_300_799;

impl ReplayFilter {
    /// What a log is looked at for.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) names the field that cannot be read.
    pub fn log_filter(&self) -> Result<LogFilter, Error> {
        let mut filter = LogFilter::default();
        if !self.method.is_empty() {
            let method = Method::from_bytes(self.method.to_ascii_uppercase().as_bytes());
            let method = method.map_err(|_| Error::invalid("filter.method", "is no method"))?;
            filter.method = Some(method);
        }
        filter.path = Some(self.path.clone()).filter(|path| !path.is_empty());
        filter.status_code = said(&self.status_code, "filter.status_code", status_codes)?;
        filter.input_id = said(&self.input, "filter.input", id)?;
        filter.outputs = said(&self.output, "filter.output", id)?.into_iter().collect();
        filter.min_duration = said(&self.min_duration, "filter.min_duration", duration)?;
        filter.reason = said(&self.reason, "filter.reason", reason)?;
        filter.verified = said(&self.verified, "filter.verified", truth)?;
        let within = |error: Error| Error::new(error.kind(), format!("filter.{error}"));
        if !self.header.is_empty() {
            filter.set_header(&self.header).map_err(within)?;
        }
        if !self.payload.is_empty() {
            filter.set_payload(&self.payload).map_err(within)?;
        }
        if !self.search.is_empty() {
            filter.set_text(&self.search).map_err(within)?;
        }
        Ok(filter)
    }

    /// Which logs are looked at, nothing that is stored at `until` or later among them. The
    /// bucket is left to who knows its name.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) names the field that cannot be read.
    pub fn log_query(&self, until: Timestamp) -> Result<LogQuery, Error> {
        let mut query = LogQuery::new(1);
        query.status = said(&self.status, "filter.status", status)?;
        query.from = said(&self.from, "filter.from", moment)?.map(|(start, _)| start);
        let to = said(&self.to, "filter.to", moment)?.map(|(start, lasts)| start + lasts);
        query.to = Some(to.map_or(until, |to| to.min(until)));
        Ok(query)
    }
}

/// Reads a field that says something.
fn said<T>(
    text: &str,
    field: &str,
    read: fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Error> {
    match text {
        "" => Ok(None),
        text => read(text).map(Some).map_err(|reason| Error::invalid(field, reason)),
    }
}

fn id<K>(text: &str) -> Result<Id<K>, String> {
    text.parse().map_err(|error: crate::id::InvalidId| error.to_string())
}

fn status(text: &str) -> Result<DeliveryStatus, String> {
    let known = "preparing, sent, failed, stalled, received, rejected, or their integers 0 to 5";
    DeliveryStatus::from_wire(text).ok_or_else(|| format!("must be one of {known}"))
}

fn reason(word: &str) -> Result<Reason, String> {
    Reason::from_wire(word).ok_or_else(|| {
        let known = Reason::ALL.map(Reason::as_str).join(", ");
        format!("must be one of {known}")
    })
}

fn truth(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

fn status_codes(text: &str) -> Result<RangeInclusive<u16>, String> {
    let class = |text: &str| {
        let class: u16 = text.to_ascii_lowercase().strip_suffix("xx")?.parse().ok()?;
        (1..=5).contains(&class).then(|| class * 100..=class * 100 + 99)
    };
    let code = || text.parse().ok().filter(|code| *code <= 999).map(|code| code..=code);
    class(text).or_else(code).ok_or_else(|| {
        "must be a status code from 0 (no answer) to 999, or a class such as 5xx".to_owned()
    })
}

fn duration(text: &str) -> Result<Duration, String> {
    let nanoseconds = text.parse().ok().map(Duration::from_nanos);
    let with_unit = || text.parse::<jiff::SignedDuration>().ok().and_then(|it| it.try_into().ok());
    nanoseconds
        .or_else(with_unit)
        .ok_or_else(|| "must be a duration such as 300ms or 1.5s, or nanoseconds".to_owned())
}

/// A moment, and how long what was written lasts.
fn moment(text: &str) -> Result<(Timestamp, Duration), String> {
    read_moment(text)
        .ok_or_else(|| "must be YYYY-MM-DD, a time as in RFC 3339, or unix seconds".to_owned())
}

fn read_moment(text: &str) -> Option<(Timestamp, Duration)> {
    let second = Duration::from_secs(1);
    if let Ok(secs) = text.parse::<i64>() {
        return (0..=LAST_SECOND).contains(&secs).then_some((Timestamp::from_secs(secs), second));
    }
    if text.len() == 10 {
        let date: jiff::civil::Date = text.parse().ok()?;
        let start = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond();
        return Some((Timestamp::from_millis(start), second * 86_400));
    }
    let moment: jiff::Timestamp = text.parse().ok()?;
    let is_whole = moment.subsec_nanosecond() == 0;
    let lasts = if is_whole { second } else { Duration::from_millis(1) };
    Some((Timestamp::from_millis(moment.as_millisecond()), lasts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_that_cannot_be_read_is_named() {
        for (field, wrong) in [
            ("input", "x"),
            ("output", "x"),
            ("status", "lost"),
            ("status_code", "6xx"),
            ("reason", "Rules"),
            ("method", "G T"),
            ("min_duration", "long"),
            ("verified", "1"),
            ("from", "yesterday"),
            ("to", "-5"),
            ("search", "ab"),
            ("header", "no colon"),
            ("payload", ":text"),
        ] {
            let json = serde_json::json!({ field: wrong });
            let filter: ReplayFilter = serde_json::from_value(json).expect("text");
            let read = filter.log_filter().and(filter.log_query(Timestamp::default()).map(drop));
            let read = read.map(drop).and(filter.log_filter().map(drop));
            let error = read.expect_err(field).to_string();
            assert!(error.starts_with(&format!("filter.{field}: ")), "{error}");
        }
        let unknown = serde_json::from_str::<ReplayFilter>(r#"{"colour":"red"}"#);
        assert!(unknown.expect_err("no such field").to_string().contains("colour"));
    }

    #[test]
    fn it_is_closed_at_a_moment_and_says_what_is_written() {
        let filter: ReplayFilter =
            serde_json::from_str(r#"{"from":1704164645,"to":"2024-01-02","verified":true}"#)
                .expect("a filter");
        let until = Timestamp::from_secs(2_000_000_000);
        let query = filter.log_query(until).expect("read");
        assert_eq!(query.from, Some(Timestamp::from_secs(1_704_164_645)));
        assert_eq!(query.to, Some(Timestamp::from_secs(1_704_240_000)));
        assert_eq!(filter.log_filter().expect("read").verified, Some(true));
        let now = Timestamp::from_secs(1_704_164_700);
        assert_eq!(filter.log_query(now).expect("read").to, Some(now));
        assert_eq!(ReplayFilter::default().log_query(now).expect("read").to, Some(now));
        let text = serde_json::to_string(&filter).expect("JSON");
        assert_eq!(serde_json::from_str::<ReplayFilter>(&text).expect("the same"), filter);
    }
}
