//! What is found and counted over the rows.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::{catalog::Catalog, output_index::OutputIndex, row::Row, tally::AccountCounters};
use crate::{
    clock::Timestamp,
    id::{AccountId, DeliveryId, NodeId, OutputId},
    model::Webhook,
};

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
        if let Some(node) = row.held_by
            && let Some(held) = self.held.get_mut(&node)
        {
            held.remove(&id);
            if held.is_empty() {
                self.held.remove(&node);
            }
        }
        if let Some(until) = row.leased_until
            && let Some(leased) = self.leased.get_mut(&webhook.account_id)
        {
            leased.remove(&(until, id));
            if leased.is_empty() {
                self.leased.remove(&webhook.account_id);
            }
        }
    }

    /// What of the account is leased at `now`.
    pub(super) fn leased(&self, account: AccountId, now: Timestamp) -> BTreeSet<DeliveryId> {
        let leased = self.leased.get(&account).into_iter().flatten().rev();
        leased.take_while(|(until, _)| *until > now).map(|(_, id)| *id).collect()
    }
}
