//! Running counts of all logs.

use foldhash::HashMap;

use super::row::Row;
use crate::{
    clock::{Month, Timestamp},
    id::AccountId,
    model::Webhook,
    store::{CountQuery, DayCount, MinuteCount, tally::LogCounters},
};

/// The counts of each account, so that its statistics cost no look at those of others.
#[derive(Debug, Default)]
pub(super) struct AccountCounters {
    accounts: HashMap<AccountId, LogCounters>,
}

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
        self.accounts.get(&account).map(|counters| counters.days(query)).unwrap_or_default()
    }

    pub(super) fn minutes(&self, account: AccountId, query: &CountQuery) -> Vec<MinuteCount> {
        self.accounts.get(&account).map(|counters| counters.minutes(query)).unwrap_or_default()
    }
}
