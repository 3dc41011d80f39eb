//! Which logs come next.

use std::{sync::Arc, time::Duration};

use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, BucketId, DeliveryId},
    model::{Erasure, Log, Replay, ReplayFilter, ReplayOrder},
    store::{
        DeliveryStore, LogCursor, LogFilter, LogOrder, LogQuery, LogSearch, LogStore, ScanBounds,
    },
};

/// How far one look goes.
const BOUNDS: ScanBounds = ScanBounds { max_bytes: 16 << 20, max_time: Duration::from_millis(300) };

/// The logs that a replay finds, in its order.
#[derive(Debug)]
pub(crate) struct Source {
    logs: Arc<dyn LogStore>,
    deliveries: Arc<dyn DeliveryStore>,
    account: AccountId,
    query: LogQuery,
    filter: LogFilter,
    order: ReplayOrder,
    /// Sorted in the replay's order; empty when the filter names none.
    ids: Vec<DeliveryId>,
}

/// The logs of an account that pass a filter, up to a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'w> {
    account: AccountId,
    bucket: Option<BucketId>,
    filter: &'w ReplayFilter,
    until: Timestamp,
    order: ReplayOrder,
}

impl<'w> From<&'w Replay> for Wanted<'w> {
    fn from(replay: &'w Replay) -> Self {
        let Replay { account_id: account, bucket_id: bucket, created_at: until, spec, .. } = replay;
        let (filter, order) = (&spec.filter, spec.order);
        Self { account: *account, bucket: *bucket, filter, until: *until, order }
    }
}

impl<'w> From<&'w Erasure> for Wanted<'w> {
    fn from(erasure: &'w Erasure) -> Self {
        let Erasure { account_id: account, bucket_id: bucket, created_at: until, spec, .. } =
            erasure;
        let (filter, order) = (&spec.filter, ReplayOrder::Receipt);
        Self { account: *account, bucket: *bucket, filter, until: *until, order }
    }
}

/// The place that a stored cursor stands for; none for the start, whose cursor is empty.
pub(crate) fn place(cursor: &str) -> Result<Option<LogCursor>, Error> {
    match cursor {
        "" => Ok(None),
        cursor => cursor.parse().map(Some).map_err(|error| Error::invalid("cursor", error)),
    }
}

/// What a look found.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// The logs.
    pub(crate) logs: Vec<Log>,
    /// How far it looked; none when it is where it was.
    pub(crate) until: Option<LogCursor>,
    /// Whether there are no more.
    pub(crate) complete: bool,
}

impl Source {
    /// The logs that are wanted.
    ///
    /// # Errors
    ///
    /// `Invalid` when the filter cannot be read.
    pub(crate) fn new(
        wanted: Wanted<'_>,
        logs: Arc<dyn LogStore>,
        deliveries: Arc<dyn DeliveryStore>,
    ) -> Result<Self, Error> {
        let Wanted { account, bucket, filter, until, order } = wanted;
        let mut ids = filter.ids.clone();
        ids.sort_unstable();
        ids.dedup();
        if order == ReplayOrder::Newest {
            ids.reverse();
        }
        let mut query = filter.log_query(until)?;
        query.bucket_id = bucket;
        Ok(Self { logs, deliveries, account, query, filter: filter.log_filter()?, order, ids })
    }

    /// The next logs after a place, `most` at most.
    pub(crate) async fn next(
        &self,
        place: Option<LogCursor>,
        most: usize,
    ) -> Result<Looked, Error> {
        if !self.ids.is_empty() {
            return self.named(place, most).await;
        }
        let mut query = self.query.clone();
        query.limit = most;
        let order = match self.order {
            ReplayOrder::Receipt => LogOrder::OldestFirst(place),
            ReplayOrder::Newest => {
                query.before = place;
                LogOrder::NewestFirst
            }
        };
        let mut search = LogSearch::new(query, self.filter.clone(), BOUNDS);
        search.order = order;
        let found = self.logs.search(self.account, &search).await?;
        let until = found.scanned_until;
        Ok(Looked { logs: found.logs, until, complete: found.complete })
    }

    /// The next of the logs that the filter names.
    async fn named(&self, place: Option<LogCursor>, most: usize) -> Result<Looked, Error> {
        let passed = |id: &DeliveryId| {
            place.is_some_and(|place| match self.order {
                ReplayOrder::Receipt => *id <= place.id,
                ReplayOrder::Newest => *id >= place.id,
            })
        };
        let mut left = self.ids.iter().filter(|id| !passed(id)).copied();
        let mut looked = Looked::default();
        for id in left.by_ref().take(most) {
            // Its place among the named ones is its ID.
            looked.until = Some(LogCursor { created_at: Timestamp::default(), id });
            let log = self.deliveries.log(self.account, id).await?;
            looked.logs.extend(log.filter(|log| self.means(log)));
        }
        looked.complete = left.next().is_none();
        Ok(looked)
    }

    fn means(&self, log: &Log) -> bool {
        let LogQuery { bucket_id, status, from, to, .. } = self.query;
        let created_at = log.delivery.created_at;
        bucket_id.is_none_or(|bucket| bucket == log.webhook.bucket_id)
            && status.is_none_or(|status| status == log.delivery.status)
            && from.is_none_or(|from| from <= created_at)
            && to.is_none_or(|to| created_at < to)
            && self.filter.matches(log)
    }
}
