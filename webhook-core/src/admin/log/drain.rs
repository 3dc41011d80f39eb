//! Webhooks for consumers that ask for them.

use std::time::Duration;

use serde::Deserialize;

use super::{
    Admin, Caller,
    count::{before, output},
    query::{number, place},
};
use crate::{
    error::{Error, ErrorKind},
    id::BucketId,
    model::Log,
    store::{Drain, Drained, LogCursor},
};

/// Webhooks at once, unless the consumer says how many, and at most.
const MAX_LIMIT: usize = 100;
/// How old they may be unless the consumer says so.
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// What a consumer wants. Empty text is nothing said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DrainRequest {
    /// The bucket's ID or name; all that the caller reaches when nothing is said.
    pub bucket: String,
    /// The output's ID.
    pub output: String,
    /// How many, 100; 1 to 100.
    pub limit: String,
    /// How old they may be, 24h; `30m`, `1h30m`.
    pub max_age: String,
    /// The `next_cursor` of the answer before. It is checked and has no effect:
    /// what was handed out is never handed out again, and a place in time would
    /// pass over webhooks that were received earlier and stored later.
    pub cursor: String,
}

/// What a consumer gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed {
    /// The webhooks, oldest first.
    pub logs: Vec<Log>,
    /// Whether more wait.
    pub has_more: bool,
    /// The place of the last webhook; of the request when there are none.
    pub next: Option<LogCursor>,
}

impl Admin {
    /// Hands out the oldest webhooks that wait for clients, each to exactly one
    /// consumer. This is subscribing: an access token needs no API access.
    /// Buckets whose `stream` is off hand out nothing; naming one is
    /// [`Forbidden`](ErrorKind::Forbidden).
    pub async fn drain(&self, caller: &Caller, request: &DrainRequest) -> Result<Handed, Error> {
        let DrainRequest { bucket, output, limit, max_age, cursor } = request;
        let limit = number("limit", limit, 1..=MAX_LIMIT, MAX_LIMIT)?;
        let max_age = age(max_age)?;
        let cursor = place(cursor)?;
        let output_id = self::output("output", output)?;
        let Some(buckets) = self.drained(caller, bucket).await? else {
            return Ok(Handed { logs: Vec::new(), has_more: false, next: cursor });
        };
        let now = self.now();
        let since = before(now, max_age);
        let drain = Drain { buckets, output_id, after: None, since, now, limit };
        let Drained { logs, has_more } =
            self.stores.logs.drain(caller.account_id(), &drain).await?;
        let next = logs.last().map(LogCursor::of).or(cursor);
        Ok(Handed { logs, has_more, next })
    }

    /// The buckets to drain, empty for all; none when there is nothing to drain.
    async fn drained(&self, caller: &Caller, bucket: &str) -> Result<Option<Vec<BucketId>>, Error> {
        if !bucket.is_empty() {
            let bucket = self.find_bucket(caller, "bucket", bucket).await?;
            return match bucket.spec.stream {
                true => Ok(Some(vec![bucket.id])),
                false => Err(Error::new(
                    ErrorKind::Forbidden,
                    "forbidden: bucket: it does not hand out webhooks (its stream is off)",
                )),
            };
        }
        let mut buckets = self.stores.buckets.buckets(caller.account_id()).await?;
        let all = buckets.len();
        buckets.retain(|bucket| bucket.spec.stream && caller.reaches(bucket));
        let ids: Vec<_> = match buckets.len() == all {
            true => Vec::new(),
            false => buckets.iter().map(|bucket| bucket.id).collect(),
        };
        Ok((!buckets.is_empty()).then_some(ids))
    }
}

fn age(text: &str) -> Result<Duration, Error> {
    if text.is_empty() {
        return Ok(DEFAULT_MAX_AGE);
    }
    let age = text.parse::<jiff::SignedDuration>().ok().and_then(|age| age.try_into().ok());
    let age = age.filter(|age: &Duration| !age.is_zero());
    age.ok_or_else(|| Error::invalid("max_age", "must be a duration such as 24h or 30m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        for (text, secs) in
            [("", 86_400), ("24h", 86_400), ("30m", 1_800), ("1h30m", 5_400), ("9s", 9)]
        {
            assert_eq!(age(text).expect(text), Duration::from_secs(secs), "{text}");
        }
        for wrong in ["24", "0s", "-1h", "soon", "1 fortnight", "99999999999999999999h"] {
            let error = age(wrong).expect_err(wrong);
            assert!(error.to_string().starts_with("max_age: "), "{error}");
        }
    }
}
