//! Every log in order of time, by what lists are filtered by.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use foldhash::HashMap;

use super::row::Row;
use crate::{
    clock::Timestamp,
    id::{AccountId, BucketId, DeliveryId, OutputId},
    model::{DeliveryStatus, Webhook},
    store::{LogCursor, OldLogs, tally::counted_as},
};

/// What clients can ask for, in kinds that lists tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// For clients: no relay delivers it.
    Waiting,
    /// Some relay is to attempt it.
    Pending,
    Sent,
    Failed,
    Stalled,
    Rejected,
}

impl Group {
    /// Whether a filter by `status` finds logs of this kind.
    pub(super) fn has(self, status: DeliveryStatus) -> bool {
        match self {
            Self::Pending => counted_as(status) == DeliveryStatus::Received,
            _ => self.status_at_rest() == Some(counted_as(status)),
        }
    }

    /// The status of those that no relay has still to attempt.
    const fn status_at_rest(self) -> Option<DeliveryStatus> {
        match self {
            Self::Pending => None,
            Self::Waiting => Some(DeliveryStatus::Received),
            Self::Sent => Some(DeliveryStatus::Sent),
            Self::Failed => Some(DeliveryStatus::Failed),
            Self::Stalled => Some(DeliveryStatus::Stalled),
            Self::Rejected => Some(DeliveryStatus::Rejected),
        }
    }
}

/// What the logs of one set have in common, beside their account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shelf {
    pub(super) bucket_id: BucketId,
    pub(super) output_id: Option<OutputId>,
    pub(super) group: Group,
}

/// Which logs of a shelf.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    /// Stored at or after.
    pub(super) from: Option<Timestamp>,
    /// Stored before.
    pub(super) to: Option<Timestamp>,
    /// After this place.
    pub(super) after: Option<LogCursor>,
    /// Before this place.
    pub(super) before: Option<LogCursor>,
}

impl Span {
    fn bounds(self) -> (Bound<LogCursor>, Bound<LogCursor>) {
        let first_at = |created_at| {
            let id = DeliveryId::from_uuid(uuid::Uuid::nil());
            LogCursor { created_at, id }
        };
        let from = self.from.map(first_at);
        let start = match (from, self.after) {
            (Some(from), Some(after)) if after < from => Bound::Included(from),
            (_, Some(after)) => Bound::Excluded(after),
            (Some(from), None) => Bound::Included(from),
            (None, None) => Bound::Unbounded,
        };
        let to = self.to.map(first_at);
        let end = [to, self.before].into_iter().flatten().min();
        (start, end.map_or(Bound::Unbounded, Bound::Excluded))
    }
}

type Shelves = BTreeMap<Shelf, BTreeSet<LogCursor>>;

#[derive(Debug, Default)]
pub(super) struct Catalog {
    accounts: HashMap<AccountId, Shelves>,
}

impl Catalog {
    pub(super) fn insert(&mut self, webhook: &Webhook, id: DeliveryId, row: &Row) {
        let (shelf, cursor) = place(webhook, id, row);
        let shelves = self.accounts.entry(webhook.account_id).or_default();
        shelves.entry(shelf).or_default().insert(cursor);
    }

    pub(super) fn remove(&mut self, webhook: &Webhook, id: DeliveryId, row: &Row) {
        let (shelf, cursor) = place(webhook, id, row);
        let Some(shelves) = self.accounts.get_mut(&webhook.account_id) else { return };
        if let Some(logs) = shelves.get_mut(&shelf) {
            logs.remove(&cursor);
            if logs.is_empty() {
                shelves.remove(&shelf);
            }
        }
        if shelves.is_empty() {
            self.accounts.remove(&webhook.account_id);
        }
    }

    /// The first `limit` logs of these shelves, newest first.
    pub(super) fn newest(
        &self,
        account: AccountId,
        shelves: impl Fn(&Shelf) -> bool,
        span: Span,
        limit: usize,
    ) -> Vec<LogCursor> {
        let sets = self.of(account, shelves);
        let mut found: Vec<_> =
            sets.flat_map(|logs| range(logs, span).rev().take(limit)).copied().collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(limit);
        found
    }

    /// The first `limit` logs of these shelves, oldest first.
    pub(super) fn oldest(
        &self,
        account: AccountId,
        shelves: impl Fn(&Shelf) -> bool,
        span: Span,
        limit: usize,
    ) -> Vec<LogCursor> {
        first(self.of(account, shelves), span, limit)
    }

    /// The first `limit` logs of these that no relay has still to attempt, oldest first.
    pub(super) fn oldest_at_rest(&self, old: &OldLogs, limit: usize) -> Vec<LogCursor> {
        let accounts = self.accounts.iter();
        let accounts = accounts.filter(|(id, _)| old.account_id.is_none_or(|only| **id == only));
        let sets = accounts.flat_map(|(_, shelves)| shelves);
        let at_rest = sets.filter(|(shelf, _)| {
            old.bucket_id.is_none_or(|only| shelf.bucket_id == only)
                && shelf.group.status_at_rest().is_some_and(|status| old.has(status))
        });
        let span = Span { to: Some(old.before), ..Span::default() };
        first(at_rest.map(|(_, logs)| logs), span, limit)
    }

    /// How many logs are on these shelves.
    pub(super) fn count(
        &self,
        account: AccountId,
        shelves: impl Fn(&Shelf) -> bool,
        span: Span,
    ) -> u64 {
        let counts = self.of(account, shelves).map(|logs| match span.bounds() {
            (Bound::Unbounded, Bound::Unbounded) => logs.len(),
            _ => range(logs, span).count(),
        });
        u64::try_from(counts.sum::<usize>()).unwrap_or(u64::MAX)
    }

    fn of(
        &self,
        account: AccountId,
        shelves: impl Fn(&Shelf) -> bool,
    ) -> impl Iterator<Item = &BTreeSet<LogCursor>> {
        let all = self.accounts.get(&account).into_iter().flatten();
        all.filter(move |(shelf, _)| shelves(shelf)).map(|(_, logs)| logs)
    }
}

fn place(webhook: &Webhook, id: DeliveryId, row: &Row) -> (Shelf, LogCursor) {
    let shelf =
        Shelf { bucket_id: webhook.bucket_id, output_id: row.output_id, group: row.group() };
    (shelf, LogCursor { created_at: row.created_at, id })
}

fn range(logs: &BTreeSet<LogCursor>, span: Span) -> impl DoubleEndedIterator<Item = &LogCursor> {
    let (start, end) = span.bounds();
    // `BTreeSet::range` panics when the start lies behind the end.
    let is_empty = match (start, end) {
        (Bound::Included(start) | Bound::Excluded(start), Bound::Excluded(end)) => start >= end,
        _ => false,
    };
    let logs = (!is_empty).then(|| logs.range((start, end)));
    logs.into_iter().flatten()
}

fn first<'a>(
    sets: impl Iterator<Item = &'a BTreeSet<LogCursor>>,
    span: Span,
    limit: usize,
) -> Vec<LogCursor> {
    let mut found: Vec<_> = sets.flat_map(|logs| range(logs, span).take(limit)).copied().collect();
    found.sort_unstable();
    found.truncate(limit);
    found
}
