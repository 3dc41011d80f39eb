//! What is found and counted over the rows.

use std::{
    collections::{BTreeSet, VecDeque},
    hash::Hash,
};

use foldhash::{HashMap, HashSet};

use super::{catalog::Catalog, row::Row};
use crate::{
    clock::{Month, Timestamp},
    id::{AccountId, DeliveryId, NodeId, OutputId},
    model::Webhook,
    store::{
        ClaimOrder, CountQuery, DayCount, MinuteCount, OldLogs,
        tally::{self, CountedLog, LogCounters, LogSums},
    },
};

/// Takes an item out of one of the sets, and the set with the last item.
fn remove_from<K: Eq + Hash, T: Ord>(sets: &mut HashMap<K, BTreeSet<T>>, key: K, item: &T) {
    if let Some(set) = sets.get_mut(&key) {
        set.remove(item);
        if set.is_empty() {
            sets.remove(&key);
        }
    }
}

/// All that has to know of a row, and of each change to it.
#[derive(Default)]
pub(super) struct Index {
    pub(super) outputs: HashMap<OutputId, OutputIndex>,
    /// The pending deliveries in each node's name, whether or not its lease lasts.
    pub(super) held: HashMap<NodeId, BTreeSet<DeliveryId>>,
    /// Every row in order of time.
    pub(super) catalog: Catalog,
    /// Every row counted.
    pub(super) counters: AccountCounters,
    /// What consumers have leased of each account, whether or not that is over.
    pub(super) leased: HashMap<AccountId, BTreeSet<(Timestamp, DeliveryId)>>,
}

impl Index {
    pub(super) fn add(&mut self, webhook: &Webhook, id: DeliveryId, row: &Row) {
        self.catalog.insert(webhook, id, row);
        self.counters.add(webhook, row);
        if let Some(output) = row.output_id.filter(|_| row.is_open()) {
            let of_output = self.outputs.entry(output).or_default();
            of_output.insert_open(id);
            if let (Some(due_at), None) = (row.due_at, row.held_by) {
                of_output.insert_free(id, due_at);
            }
        }
        if let Some(node) = row.held_by {
            self.held.entry(node).or_default().insert(id);
        }
        if let Some(until) = row.leased_until {
            self.leased.entry(webhook.account_id).or_default().insert((until, id));
        }
    }

    /// Takes back what [`add`](Self::add) was told.
    pub(super) fn remove(&mut self, webhook: &Webhook, id: DeliveryId, row: &Row) {
        self.catalog.remove(webhook, id, row);
        self.counters.subtract(webhook, row);
        if let Some(output) = row.output_id.filter(|_| row.is_open())
            && let Some(of_output) = self.outputs.get_mut(&output)
        {
            of_output.remove_open(id);
            if let (Some(due_at), None) = (row.due_at, row.held_by) {
                of_output.remove_free(id, due_at);
            }
            if of_output.is_empty() {
                self.outputs.remove(&output);
            }
        }
        if let Some(node) = row.held_by {
            remove_from(&mut self.held, node, &id);
        }
        if let Some(until) = row.leased_until {
            remove_from(&mut self.leased, webhook.account_id, &(until, id));
        }
    }

    /// What of the account is leased at `now`.
    pub(super) fn leased(&self, account: AccountId, now: Timestamp) -> BTreeSet<DeliveryId> {
        let leased = self.leased.get(&account).into_iter().flatten().rev();
        leased.take_while(|(until, _)| *until > now).map(|(_, id)| *id).collect()
    }
}

/// An index over the rows of one output; it exists while one of them is open.
#[derive(Default)]
pub(super) struct OutputIndex {
    /// Pending ones that no node holds.
    due: BTreeSet<(Timestamp, DeliveryId)>,
    /// The same in order of receipt.
    receipt: BTreeSet<(DeliveryId, Timestamp)>,
    /// All deliveries that are not final, for the deletion of the output.
    open: HashSet<DeliveryId>,
}

impl OutputIndex {
    pub(super) fn insert_free(&mut self, id: DeliveryId, due_at: Timestamp) {
        self.due.insert((due_at, id));
        self.receipt.insert((id, due_at));
    }

    pub(super) fn remove_free(&mut self, id: DeliveryId, due_at: Timestamp) {
        self.due.remove(&(due_at, id));
        self.receipt.remove(&(id, due_at));
    }

    pub(super) fn insert_open(&mut self, id: DeliveryId) {
        self.open.insert(id);
    }

    pub(super) fn remove_open(&mut self, id: DeliveryId) {
        self.open.remove(&id);
    }

    pub(super) fn open(&self) -> impl Iterator<Item = DeliveryId> {
        self.open.iter().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.due.is_empty()
    }

    /// The first `limit` free deliveries that a claim at `now` takes.
    pub(super) fn first(&self, order: ClaimOrder, now: Timestamp, limit: usize) -> Vec<DeliveryId> {
        match order {
            ClaimOrder::Due => {
                let due = self.due.iter().take_while(|(due_at, _)| *due_at <= now);
                due.take(limit).map(|(_, id)| *id).collect()
            }
            ClaimOrder::Receipt => self.receipt.iter().take(limit).map(|(id, _)| *id).collect(),
        }
    }

    /// When the first free delivery is due.
    pub(super) fn next_due_at(&self) -> Option<Timestamp> {
        self.due.first().map(|(due_at, _)| *due_at)
    }

    /// How many deliveries are free.
    pub(super) fn free(&self) -> usize {
        self.due.len()
    }
}

/// The counts of each account, so that its statistics cost no look at those of others.
#[derive(Debug, Default)]
pub(super) struct AccountCounters {
    accounts: HashMap<AccountId, LogCounters>,
    /// Logs that were erased and count in statistics, at most [`MAX_ERASED`].
    erased: VecDeque<CountedLog>,
}

/// How many logs that were erased count in statistics; the last ones do.
const MAX_ERASED: usize = 100_000;

impl AccountCounters {
    pub(super) fn add(&mut self, webhook: &Webhook, row: &Row) {
        self.accounts.entry(webhook.account_id).or_default().add(row.counted(webhook));
    }

    pub(super) fn subtract(&mut self, webhook: &Webhook, row: &Row) {
        let Some(counters) = self.accounts.get_mut(&webhook.account_id) else { return };
        counters.subtract(row.counted(webhook));
        if counters.is_empty() {
            self.accounts.remove(&webhook.account_id);
        }
    }

    /// Counts a webhook that is new.
    pub(super) fn receive(&mut self, account: AccountId, month: Month) {
        self.accounts.entry(account).or_default().receive(account, month);
    }

    pub(super) fn received(&self, account: AccountId, moment: Timestamp) -> u64 {
        let counters = self.accounts.get(&account);
        counters.map_or(0, |counters| counters.received_in(account, moment))
    }

    pub(super) fn days(&self, account: AccountId, query: &CountQuery) -> Vec<DayCount> {
        tally::days(self.sums(account, query, tally::DAY_MILLIS))
    }

    pub(super) fn minutes(&self, account: AccountId, query: &CountQuery) -> Vec<MinuteCount> {
        tally::minutes(self.sums(account, query, tally::MINUTE_MILLIS))
    }

    /// What the query counts, the logs that were erased among it.
    fn sums(&self, account: AccountId, query: &CountQuery, unit_millis: i64) -> Vec<LogSums> {
        let mut erased = LogCounters::default();
        let of_account = |log: &&CountedLog| log.key.account_id == account;
        self.erased.iter().filter(of_account).for_each(|log| erased.add(*log));
        let there = self.accounts.get(&account).into_iter();
        let there = there.flat_map(|counters| counters.sums(query, unit_millis));
        there.chain(erased.sums(query, unit_millis)).collect()
    }

    /// Counts a log in statistics that is erased.
    pub(super) fn erase(&mut self, log: CountedLog) {
        if self.erased.len() == MAX_ERASED {
            self.erased.pop_front();
        }
        self.erased.push_back(log);
    }

    /// Counts no erased logs any more that are old.
    pub(super) fn forget_erased(&mut self, old: &OldLogs) {
        self.erased.retain(|log| !old.counts(&log.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::BucketId;

    #[test]
    fn the_last_erased_logs_count() {
        let (mut counters, account) = (AccountCounters::default(), AccountId::generate());
        let (first, last) = (BucketId::generate(), BucketId::generate());
        let erased = |bucket| CountedLog::open(account, bucket, None, Timestamp::from_secs(60));
        let of = |counters: &AccountCounters, bucket| {
            let query = CountQuery { bucket_id: Some(bucket), ..CountQuery::default() };
            counters.days(account, &query).iter().map(|day| day.received).sum::<u64>()
        };
        (0..3).for_each(|_| counters.erase(erased(first)));
        (3..MAX_ERASED).for_each(|_| counters.erase(erased(last)));
        assert_eq!(of(&counters, first), 3);
        (0..2).for_each(|_| counters.erase(erased(last)));
        assert_eq!((of(&counters, first), of(&counters, last)), (1, MAX_ERASED as u64 - 1));
    }
}
