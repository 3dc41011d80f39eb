//! Reading logs back, and what clients report about them.

use std::{collections::BTreeMap, fmt, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;

use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, DeliveryId, OutputId},
    model::{DeliveryStatus, Log, LogHead},
    store::{EraseWebhook, ErasedWebhook, LogCursor, LogSearch, LogsFound},
};

/// The reading side of the rows that [`DeliveryStore`](super::DeliveryStore) writes.
///
/// The order of logs is that of `created_at` and, within a millisecond, of
/// their IDs. Pages, totals and statistics come from indexes and running
/// counts, never from a scan of the logs: they stay quick with millions of rows.
///
/// # What is counted as what
///
/// Whether a log that is not final waits or is being attempted changes by the
/// millisecond. Filters and counts take `received` and `preparing` for one
/// state: asking for either finds both, and both count as `received`. What
/// attempts bring (status code, duration, retries) is counted with the outcome;
/// until then a log counts with status code 0, without duration and retries.
/// In sums a duration of more than [`MAX_COUNTED_DURATION`] counts as that.
///
/// # How much at once
///
/// Calls that return logs return fewer than their limit when these are many
/// bytes, but at least one if there is any; `has_more` says that some are left.
#[async_trait]
pub trait LogStore: Send + Sync + fmt::Debug {
    /// A page of the account's logs, newest first.
    async fn logs(&self, account: AccountId, query: &LogQuery) -> Result<LogPage, Error>;

    /// A page of the account's logs without their content, which need not be read.
    async fn heads(&self, account: AccountId, query: &LogQuery) -> Result<LogHeads, Error> {
        let LogPage { logs, total, has_more } = self.logs(account, query).await?;
        Ok(LogHeads { heads: logs.iter().map(LogHead::of).collect(), total, has_more })
    }

    /// Looks at the account's logs one by one, newest first or in the search's
    /// [order](LogSearch::order), and returns those that pass the
    /// filter. It stops at its limit and at its bounds, and says how far it came; who asks again
    /// from there on sees every log once. It keeps nobody waiting who stores something. A
    /// store that keeps large bodies elsewhere may look for text and places without them.
    async fn search(&self, account: AccountId, search: &LogSearch) -> Result<LogsFound, Error>;

    /// Counts per UTC day, oldest first; days without logs are left out.
    async fn days(&self, account: AccountId, query: &CountQuery) -> Result<Vec<DayCount>, Error>;

    /// Counts per minute, oldest first; minutes without logs are left out.
    async fn minutes(
        &self,
        account: AccountId,
        query: &CountQuery,
    ) -> Result<Vec<MinuteCount>, Error>;

    /// How many webhooks the account has received in the calendar month (UTC)
    /// that `moment` lies in. A webhook counts once, however many outputs it
    /// has and however often it is sent; removing old logs takes nothing away.
    async fn received(&self, account: AccountId, moment: Timestamp) -> Result<u64, Error>;

    /// Takes the oldest `received` logs that no relay delivers (of internal
    /// outputs, or of buckets without outputs) and marks them `sent`, in one
    /// transaction: no two calls ever return the same log. What is returned has
    /// its content; of ephemeral webhooks nobody else sees it again.
    ///
    /// With a [`lease`](Drain::lease) they stay `received`, with their content, and no call returns
    /// them before the lease is over or a [report](Self::report) gives them back. Where an
    /// account has too many leased that is [`Busy`](crate::ErrorKind::Busy).
    async fn drain(&self, account: AccountId, drain: &Drain) -> Result<Drained, Error>;

    /// The `received` logs of internal outputs of these buckets that no relay
    /// delivers, oldest first: what an agent gets that comes back. No buckets,
    /// no logs. To see all, ask again after the last until nothing comes.
    async fn waiting(
        &self,
        account: AccountId,
        buckets: &[BucketId],
        after: Option<LogCursor>,
        limit: usize,
    ) -> Result<Vec<Log>, Error>;

    /// Writes what a client did with a webhook and returns the log. A log that
    /// is final already, or that a relay has still to attempt, is returned
    /// unchanged; a missing one is not found. Handing it over in a
    /// [`drain`](Self::drain) is not an end: the first
    /// [outcome](ClientReport::is_outcome) that is reported after it is written,
    /// whatever it says. Of a lease each report but `preparing` is the end
    /// ([`ClientReport::leased_until`]). The erasing of ephemeral webhooks
    /// is as in [`settle`](super::DeliveryStore::settle): the returned log has
    /// what is left.
    async fn report(&self, account: AccountId, report: &ClientReport) -> Result<Reported, Error>;

    /// Removes logs that are too old and that no relay has still to attempt, the oldest days
    /// (UTC) first, at most `limit`; webhooks go with their last log, and counts go down. Returns
    /// how many logs went: fewer than `limit` when no more are left.
    async fn purge(&self, old: &OldLogs, limit: usize) -> Result<u64, Error>;

    /// Removes a webhook of the account whole, in one transaction: all of its deliveries,
    /// whether or not a relay has still to attempt them, the runs of functions on them, and
    /// its content. Lists and their totals have its logs no more. [Days](Self::days),
    /// [minutes](Self::minutes) and [months](Self::received) count them as before, until
    /// [`purge`](Self::purge) comes to their time. Its [keys](super::Accept::seen), which are
    /// digests, stay until they end, so that a twin is still a duplicate.
    ///
    /// # Errors
    /// * [`NotFound`](crate::ErrorKind::NotFound): the account has no such webhook.
    /// * [`Conflict`](crate::ErrorKind::Conflict): a node whose lease lasts holds one of its
    ///   deliveries and has not [given it up](EraseWebhook::given_up), or a consumer has
    ///   leased one. Nothing is changed.
    async fn erase(&self, account: AccountId, erase: &EraseWebhook)
    -> Result<ErasedWebhook, Error>;

    /// Does what the store needs from time to time, at least every hour, such as making room for
    /// what comes after `now`. Most need nothing.
    async fn maintain(&self, _now: Timestamp) -> Result<(), Error> {
        Ok(())
    }

    /// Forgets [keys of webhooks](super::Accept::seen) that make no duplicate any more at
    /// `now`, those that ended first, at most `limit`. Returns how many went: fewer than
    /// `limit` when no more are left.
    async fn forget_seen(&self, now: Timestamp, limit: usize) -> Result<u64, Error>;
}

/// The longest duration that goes into sums and averages.
pub const MAX_COUNTED_DURATION: Duration = Duration::from_secs(3_600);

/// Which logs are too old.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OldLogs {
    /// Only of this account.
    pub account_id: Option<AccountId>,
    /// Only of this bucket.
    pub bucket_id: Option<BucketId>,
    /// Only those that are failed or stalled, or only the others.
    pub failed: Option<bool>,
    /// Stored before.
    pub before: Timestamp,
}

impl OldLogs {
    /// All that were stored before `before`.
    #[must_use]
    pub const fn new(before: Timestamp) -> Self {
        Self { account_id: None, bucket_id: None, failed: None, before }
    }

    /// Whether logs in this status are meant.
    #[must_use]
    pub fn has(&self, status: DeliveryStatus) -> bool {
        let failed = matches!(status, DeliveryStatus::Failed | DeliveryStatus::Stalled);
        self.failed.is_none_or(|wanted| wanted == failed)
    }
}

/// Which logs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LogQuery {
    /// Only of this bucket.
    pub bucket_id: Option<BucketId>,
    /// Only in this status.
    pub status: Option<DeliveryStatus>,
    /// Stored at or after.
    pub from: Option<Timestamp>,
    /// Stored before.
    pub to: Option<Timestamp>,
    /// Only older than this place: that of the last log of the page before.
    pub before: Option<LogCursor>,
    /// Skip so many, after `before`. The cost grows with it; cursors are free.
    pub offset: u64,
    /// At most so many.
    pub limit: usize,
}

impl LogQuery {
    /// The newest logs, so many at most.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }
}

/// A page of logs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LogPage {
    /// The logs on the page.
    pub logs: Vec<Log>,
    /// How many match without regard to `before`, `offset` and `limit`.
    pub total: u64,
    /// Whether older ones match.
    pub has_more: bool,
}

impl LogPage {
    /// These logs of so many.
    #[must_use]
    pub const fn new(logs: Vec<Log>, total: u64, has_more: bool) -> Self {
        Self { logs, total, has_more }
    }
}

/// A page of logs without their content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogHeads {
    /// What is on the page.
    pub heads: Vec<LogHead>,
    /// As in [`LogPage`].
    pub total: u64,
    /// Whether older ones match.
    pub has_more: bool,
}

impl LogHeads {
    /// These of so many.
    #[must_use]
    pub const fn new(heads: Vec<LogHead>, total: u64, has_more: bool) -> Self {
        Self { heads, total, has_more }
    }
}

/// Which logs are counted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CountQuery {
    /// Only of this bucket.
    pub bucket_id: Option<BucketId>,
    /// Only of this output.
    pub output_id: Option<OutputId>,
    /// Only in this status.
    pub status: Option<DeliveryStatus>,
    /// Only with this status code.
    pub status_code: Option<u16>,
    /// Stored at or after; rounded down to the minute or day.
    pub from: Option<Timestamp>,
    /// Stored before; rounded up to the minute or day.
    pub to: Option<Timestamp>,
}

/// Counts of one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DayCount {
    /// The day's first moment, UTC.
    pub day: Timestamp,
    /// All logs.
    pub received: u64,
    /// Those that were sent.
    pub success: u64,
    /// Those that failed.
    pub failures: u64,
    /// Those that were attempted more than once.
    pub retried: u64,
    /// Attempts beyond the first, of all together.
    pub retry_count: u64,
    /// Attempts beyond the first, of the log that has most.
    pub max_retries: u64,
}

/// Counts of one minute.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MinuteCount {
    /// The minute's first moment.
    pub minute: Timestamp,
    /// Logs by status.
    pub counts: BTreeMap<&'static str, u64>,
    /// The average duration of attempts that were answered, in milliseconds.
    pub latency_ms_avg: f64,
    /// As in [`DayCount`].
    pub retried: u64,
    /// As in [`DayCount`].
    pub retry_count: u64,
    /// As in [`DayCount`].
    pub max_retries: u64,
}

/// A consumer's request for webhooks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Drain {
    /// Only of these buckets; empty for all of the account.
    pub buckets: Vec<BucketId>,
    /// Only of this output.
    pub output_id: Option<OutputId>,
    /// Only newer than this place.
    pub after: Option<LogCursor>,
    /// Only stored at or after.
    pub since: Timestamp,
    /// The current moment.
    pub now: Timestamp,
    /// At most so many.
    pub limit: usize,
    /// For how long they are the consumer's; none hands them out for good.
    pub lease: Option<Duration>,
    /// How many may be leased of the account at once, 10 000.
    pub max_leased: usize,
}

impl Drain {
    /// A request for what waits in all buckets.
    #[must_use]
    pub const fn new(now: Timestamp, limit: usize) -> Self {
        Self {
            buckets: Vec::new(),
            output_id: None,
            after: None,
            since: Timestamp::from_millis(0),
            now,
            limit,
            lease: None,
            max_leased: 10_000,
        }
    }

    /// Until when they are leased.
    #[must_use]
    pub fn leased_until(&self) -> Option<Timestamp> {
        self.lease.map(|lease| self.now + lease)
    }

    /// How many may be handed out to this one where so many are leased.
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::ErrorKind::Busy) when none may.
    pub fn room(&self, leased: usize) -> Result<usize, Error> {
        match self.max_leased.saturating_sub(leased) {
            _ if self.lease.is_none() => Ok(self.limit),
            0 => {
                let message = format!("{} webhooks are leased: report on some", self.max_leased);
                Err(Error::busy(message, Duration::from_secs(1)))
            }
            room => Ok(self.limit.min(room)),
        }
    }
}

/// What a consumer gets.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Drained {
    /// The webhooks, oldest first: as `sent`, or as `received` when they are leased.
    pub logs: Vec<Log>,
    /// Whether more are waiting.
    pub has_more: bool,
}

impl Drained {
    /// These webhooks, and whether more are waiting.
    #[must_use]
    pub const fn new(logs: Vec<Log>, has_more: bool) -> Self {
        Self { logs, has_more }
    }
}

/// What a client did with a webhook.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientReport {
    /// The log.
    pub id: DeliveryId,
    /// The current moment.
    pub now: Timestamp,
    /// What became of it. `Preparing` is kept as `Received`: it still waits.
    pub status: DeliveryStatus,
    /// The target's status; 0 when there was no answer.
    pub status_code: u16,
    /// The target's headers.
    pub response_headers: HeaderMap,
    /// The target's body.
    pub response_body: Bytes,
    /// Attempts beyond the first.
    pub retries: u32,
    /// How long the last one took.
    pub duration: Duration,
    /// With `Preparing`: how much longer from `now` on the client has it, if it has leased it.
    pub lease: Option<Duration>,
}

impl ClientReport {
    /// A report without an answer of the target.
    #[must_use]
    pub fn new(id: DeliveryId, now: Timestamp, status: DeliveryStatus) -> Self {
        Self {
            id,
            now,
            status,
            status_code: 0,
            response_headers: HeaderMap::new(),
            response_body: Bytes::new(),
            retries: 0,
            duration: Duration::ZERO,
            lease: None,
        }
    }

    /// What becomes of a lease by this report: `Preparing` leaves or prolongs it, `Received` gives
    /// the webhook back, and with an outcome nobody has to wait for another.
    #[must_use]
    pub fn leased_until(&self, before: Option<Timestamp>) -> Option<Timestamp> {
        let before = before.filter(|_| self.status == DeliveryStatus::Preparing)?;
        Some(self.lease.map_or(before, |lease| self.now + lease))
    }

    /// Whether it says how the client's attempts ended, be it only for now. Others
    /// say that the webhook waits at the client, which a log that was drained
    /// says already.
    #[must_use]
    pub const fn is_outcome(&self) -> bool {
        self.status.is_final() || matches!(self.status, DeliveryStatus::Stalled)
    }
}

/// What a report did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reported {
    /// The log after the report.
    pub log: Log,
    /// Whether the report was taken: not when the log was final already, or is a
    /// relay's; nor when it was handed over and the report is no outcome.
    pub taken: bool,
}

impl Reported {
    /// The log after a report, and whether that was taken.
    #[must_use]
    pub const fn new(log: Log, taken: bool) -> Self {
        Self { log, taken }
    }
}
