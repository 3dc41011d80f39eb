//! Which webhooks a list shows, as its address says.

use webhook_core::{
    Error,
    admin::LogQuery,
    model::{Bucket, DeliveryStatus, LogHead, ReplayFilter, described},
    store::{LogCursor, LogFilter},
};

use super::Asked;
use crate::session::Session;

/// Which webhooks a list shows.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) query: LogQuery,
    /// What logs are looked at for, one by one; empty for a list that needs no search.
    pub(crate) filter: LogFilter,
}

/// What a list shows.
pub(crate) struct Found {
    pub(crate) heads: Vec<LogHead>,
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
    pub(crate) async fn find(&self, session: &Session) -> Result<Found, Error> {
        let (admin, caller) = (session.admin(), &session.caller);
        if self.filter.is_empty() {
            let found = admin.log_heads(caller, &self.query).await?;
            return Ok(Found { heads: found.heads, total: Some(found.total), next: found.next });
        }
        let found = admin.search_logs(caller, &self.query, self.filter.clone()).await?;
        let next = found.scanned_until.filter(|_| !found.complete);
        let heads = found.logs.iter().map(LogHead::of).collect();
        Ok(Found { heads, total: None, next })
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
    let moment = |name: &'static str| match asked.get(name).map(described::moment) {
        Some(None) => Err(Error::invalid(name, described::NO_MOMENT)),
        found => Ok(found.flatten()),
    };
    query.from = moment("from")?.map(|(start, _)| start);
    query.to = moment("to")?.map(|(_, end)| end);
    if let Some(text) = asked.get("cursor") {
        let place = text.parse().map_err(|_| Error::invalid("cursor", "is no place in the log"))?;
        query.before = Some(place);
    }
    if let Some(text) = asked.get("limit") {
        query.limit = text.parse().map_err(|_| Error::invalid("limit", "must be a number"))?;
    }
    let mut filter = searched(asked)?;
    if let Some(text) = asked.get("replay") {
        let id = text.parse().map_err(|_| Error::invalid("replay", "is no replay"))?;
        filter.replay_id = Some(id);
    }
    Ok(Wanted { query, filter })
}

/// What logs are looked at for, one by one, in the words of replays.
fn searched(asked: &Asked) -> Result<LogFilter, Error> {
    let text = |name| asked.text(name).to_owned();
    let filter = ReplayFilter {
        input: text("input"),
        output: text("output"),
        status_code: text("status_code"),
        reason: text("reason"),
        method: text("method"),
        path: text("path"),
        min_duration: text("min_duration"),
        verified: text("verified"),
        search: text("search"),
        header: text("header"),
        payload: text("payload"),
        ..ReplayFilter::default()
    };
    filter.log_filter().map_err(|error| {
        let said = error.to_string();
        Error::new(error.kind(), said.strip_prefix("filter.").unwrap_or(&said).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, value: &str) -> Asked {
        Asked(vec![(name.to_owned(), value.to_owned())])
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
            ("output", "shop"),
            ("input", "x"),
            ("method", "a b"),
            ("status_code", "6xx"),
            ("min_duration", "long"),
            ("header", ":"),
            ("payload", "x"),
            ("replay", "last"),
        ] {
            let error = read(&asked(name, value), &[], false).expect_err(value);
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }
}
