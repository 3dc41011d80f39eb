//! Webhooks for consumers that ask for them, and what consumers say became of webhooks.

use std::time::Duration;

use futures_util::future::join_all;

use super::{Admin, BucketRef, Caller, count::before, query::within};
use crate::{
    error::{Error, ErrorKind, invalid_if},
    id::{BucketId, DeliveryId, OutputId},
    model::{Acknowledgement, DeliveryStatus, Log, LogReport},
    store::{BucketStore, ClientReport, Drain, Drained, LogCursor, Reported},
};

/// What a consumer wants; the default is all that the caller reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrainQuery {
    /// Only of this bucket; of all that the caller reaches without it.
    pub bucket: Option<BucketRef>,
    /// Only of this output.
    pub output_id: Option<OutputId>,
    /// How many, 100; 1 to [`MAX_LIMIT`](Self::MAX_LIMIT).
    pub limit: usize,
    /// How old they may be, 24 hours.
    pub max_age: Duration,
    /// The [`next`](Handed::next) of the answer before. It is given back when
    /// there is nothing new, and has no other effect: what was handed out is never
    /// handed out again, and a place in time would pass over webhooks that were
    /// received earlier and stored later.
    pub cursor: Option<LogCursor>,
    /// For how long they are this consumer's, which then says what became of each;
    /// [`MIN_LEASE`](Self::MIN_LEASE) to [`MAX_LEASE`](Self::MAX_LEASE). Without it they
    /// are handed out for good.
    pub lease: Option<Duration>,
}

impl DrainQuery {
    /// Webhooks at once at most.
    pub const MAX_LIMIT: usize = 100;
    /// The shortest lease.
    pub const MIN_LEASE: Duration = Duration::from_secs(1);
    /// The longest one.
    pub const MAX_LEASE: Duration = Duration::from_secs(12 * 60 * 60);
}

/// Refuses a lease that is out of its bounds.
fn lease(lease: Duration) -> Result<Duration, Error> {
    match (DrainQuery::MIN_LEASE..=DrainQuery::MAX_LEASE).contains(&lease) {
        true => Ok(lease),
        false => Err(Error::invalid("lease", "must be from 1 second to 12 hours")),
    }
}

impl Default for DrainQuery {
    fn default() -> Self {
        Self {
            bucket: None,
            output_id: None,
            limit: Self::MAX_LIMIT,
            max_age: Duration::from_secs(24 * 60 * 60),
            cursor: None,
            lease: None,
        }
    }
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
    /// consumer, for good or for the time of a [lease](DrainQuery::lease).
    /// This is subscribing: an access token needs no API access.
    /// Buckets whose `stream` is off hand out nothing; naming one is
    /// [`Forbidden`](ErrorKind::Forbidden).
    pub async fn drain(&self, caller: &Caller, query: &DrainQuery) -> Result<Handed, Error> {
        let DrainQuery { ref bucket, output_id, limit, max_age, cursor, lease: wanted } = *query;
        within("limit", limit, 1..=DrainQuery::MAX_LIMIT)?;
        let lease = wanted.map(lease).transpose()?;
        let Some(buckets) = self.drained(caller, bucket.as_ref()).await? else {
            return Ok(Handed { logs: Vec::new(), has_more: false, next: cursor });
        };
        let now = self.now();
        let since = before(now, max_age);
        let max_leased = self.options.max_leased_webhooks;
        let drain = Drain { buckets, output_id, after: None, since, now, limit, lease, max_leased };
        let Drained { logs, has_more } =
            self.stores.logs.drain(caller.account_id(), &drain).await?;
        let next = logs.last().map(LogCursor::of).or(cursor);
        Ok(Handed { logs, has_more, next })
    }

    /// The buckets to drain, empty for all; none when there is nothing to drain.
    async fn drained(
        &self,
        caller: &Caller,
        bucket: Option<&BucketRef>,
    ) -> Result<Option<Vec<BucketId>>, Error> {
        if let Some(bucket) = bucket {
            let bucket = self.find_bucket(caller, "bucket", bucket).await?;
            return match bucket.spec.stream {
                true => Ok(Some(vec![bucket.id])),
                false => Err(Error::new(
                    ErrorKind::Forbidden,
                    "forbidden: bucket: it does not hand out webhooks (its stream is off)",
                )),
            };
        }
        let mut buckets = self.stores.documents.buckets(caller.account_id()).await?;
        let all = buckets.len();
        buckets.retain(|bucket| bucket.spec.stream && caller.reaches(bucket));
        let ids: Vec<_> = match buckets.len() == all {
            true => Vec::new(),
            false => buckets.iter().map(|bucket| bucket.id).collect(),
        };
        Ok((!buckets.is_empty()).then_some(ids))
    }
}

impl Admin {
    /// Takes a client's report on a webhook. Every credential that may subscribe may
    /// report, also an access token without API access. A second final report
    /// changes nothing.
    pub async fn report(
        &self,
        caller: &Caller,
        id: DeliveryId,
        report: LogReport,
    ) -> Result<Log, Error> {
        let LogReport { status, status_code, lease, .. } = report;
        invalid_if(status_code > 999, "status_code", "must be at most 999")?;
        let status = status.unwrap_or(match status_code {
            200..=300 => DeliveryStatus::Sent,
            _ => DeliveryStatus::Failed,
        });
        let lease = prolonged(status, lease)?;
        if caller.is_scoped() {
            self.reached_log(caller, id).await?;
        }
        let report = ClientReport {
            id,
            now: self.now(),
            status,
            status_code,
            response_headers: report.response_headers.0,
            response_body: report.response_body,
            retries: report.retries,
            duration: Duration::from_millis(report.duration_ms),
            lease,
        };
        Ok(self.relay.clients.report(caller.account_id(), report).await?.log)
    }

    /// Takes one report for many webhooks and returns the webhooks for which it counted: the others
    /// are missing, have an earlier report, or are not for clients. It needs the same rights as
    /// [`report`](Self::report).
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) for less than one and more than
    /// [`MAX_LIMIT`](DrainQuery::MAX_LIMIT) webhooks; [`Forbidden`](ErrorKind::Forbidden) when one
    /// is out of the caller's scope, and then none is reported on.
    pub async fn acknowledge(
        &self,
        caller: &Caller,
        acknowledgement: Acknowledgement,
    ) -> Result<Vec<DeliveryId>, Error> {
        let Acknowledgement { mut ids, status, lease } = acknowledgement;
        within("ids", ids.len(), 1..=DrainQuery::MAX_LIMIT)
            .map_err(|_| Error::invalid("ids", "must be 1 to 100 IDs of logs"))?;
        let status = status.unwrap_or(DeliveryStatus::Sent);
        let lease = prolonged(status, lease)?;
        ids.sort_unstable();
        ids.dedup();
        if caller.is_scoped() {
            for id in &ids {
                match self.reached_log(caller, *id).await {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        let now = self.now();
        // Concurrently, so that they share a commit.
        let reports = join_all(ids.iter().map(|id| {
            let report = ClientReport { lease, ..ClientReport::new(*id, now, status) };
            self.relay.clients.report(caller.account_id(), report)
        }));
        let mut taken = Vec::with_capacity(ids.len());
        for (id, reported) in ids.iter().zip(reports.await) {
            match reported {
                Ok(Reported { taken: true, .. }) => taken.push(*id),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }
}

/// How much longer a client has what it has leased; zero says nothing.
fn prolonged(status: DeliveryStatus, lease: Duration) -> Result<Option<Duration>, Error> {
    if lease.is_zero() {
        return Ok(None);
    }
    let reason = "goes with the status preparing only";
    invalid_if(status != DeliveryStatus::Preparing, "lease", reason)?;
    self::lease(lease).map(Some)
}
