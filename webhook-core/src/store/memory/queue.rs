//! Webhooks, their deliveries, and the indexes over them.

use std::{
    collections::BTreeSet,
    ops::{Deref, DerefMut},
    sync::{Arc, MutexGuard},
};

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::{
    catalog::Catalog,
    lane::Lane,
    retention::{Need, Retention},
    row::{Entry, Row, forget_content},
    tally::Tallies,
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, DeliveryId, NodeId, OutputId, WebhookId},
    model::DeliveryStatus,
    store::{Accept, Accepted, NewDelivery, Redeliver},
};

pub(super) struct Queue {
    retention: Retention,
    pub(super) webhooks: HashMap<WebhookId, Entry>,
    pub(super) rows: HashMap<DeliveryId, Row>,
    pub(super) lanes: HashMap<OutputId, Lane>,
    /// Until when each node is alive.
    pub(super) leases: HashMap<NodeId, Timestamp>,
    /// The pending deliveries in each node's name, whether or not its lease lasts.
    pub(super) held: HashMap<NodeId, BTreeSet<DeliveryId>>,
    /// Every row in order of time.
    pub(super) catalog: Catalog,
    /// Every row counted.
    pub(super) tallies: Tallies,
    /// What has been pushed out, to be freed without the lock.
    gone: Vec<(Entry, Vec<Row>)>,
}

/// The queue while it is locked.
pub(super) struct Locked<'a> {
    // Dropped in this order: freeing a webhook takes longer than all else, and
    // others need not wait for it.
    queue: MutexGuard<'a, Queue>,
    gone: Vec<(Entry, Vec<Row>)>,
}

impl<'a> Locked<'a> {
    pub(super) fn new(queue: MutexGuard<'a, Queue>) -> Self {
        Self { queue, gone: Vec::new() }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.gone = std::mem::take(&mut self.queue.gone);
    }
}

impl Deref for Locked<'_> {
    type Target = Queue;

    fn deref(&self) -> &Queue {
        &self.queue
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Queue {
        &mut self.queue
    }
}

impl Queue {
    pub(super) fn new(max_webhooks: usize, max_bytes: usize) -> Self {
        Self {
            retention: Retention::new(max_webhooks, max_bytes),
            webhooks: HashMap::new(),
            rows: HashMap::new(),
            lanes: HashMap::new(),
            leases: HashMap::new(),
            held: HashMap::new(),
            catalog: Catalog::default(),
            tallies: Tallies::default(),
            gone: Vec::new(),
        }
    }

    pub(super) fn set_max_bytes(&mut self, max_bytes: usize) {
        self.retention.set_max_bytes(max_bytes);
        self.make_room(0, 0);
    }

    pub(super) fn insert(&mut self, accept: Accept) -> Result<Accepted, Error> {
        let Accept { webhook, deliveries } = accept;
        if self.webhooks.contains_key(&webhook.id) {
            return Ok(Accepted::Known);
        }
        let mut ids = HashSet::with_capacity(deliveries.len());
        if !deliveries.iter().all(|new| ids.insert(new.id) && !self.rows.contains_key(&new.id)) {
            return Err(Error::conflict("a delivery with this id exists"));
        }
        let received_at = webhook.received_at;
        let row = |new: NewDelivery| (new.id, Row::new(webhook.id, new, received_at));
        let rows: Vec<_> = deliveries.into_iter().map(row).collect();
        let request_bytes = webhook.request.size_bytes();
        let bytes = rows.iter().fold(request_bytes, |sum, (_, row)| sum + row.bytes());
        self.retention.admit(bytes)?;
        self.make_room(1, bytes);

        let id = webhook.id;
        let mut deliveries: Vec<_> = rows.iter().map(|(id, _)| *id).collect();
        deliveries.sort_unstable();
        let entry = Entry { webhook, deliveries, open: 0, addressed: 0, bytes: request_bytes };
        self.retention.add(id, entry.need(), entry.bytes);
        self.tallies.receive(&entry.webhook);
        self.webhooks.insert(id, entry);
        for (id, row) in rows {
            self.attach(id, row);
        }
        self.forget_if_done(id);
        Ok(Accepted::Stored)
    }

    pub(super) fn redeliver(
        &mut self,
        account: AccountId,
        redeliver: Redeliver,
    ) -> Result<(), Error> {
        let Redeliver { webhook_id, delivery, processed, now } = redeliver;
        let entry = self.webhooks.get_mut(&webhook_id);
        let entry = entry.filter(|entry| entry.webhook.account_id == account);
        let entry = entry.ok_or_else(|| Error::not_found("webhook"))?;
        let id = delivery.id;
        match self.rows.get(&id) {
            Some(row) if row.webhook_id == webhook_id => return Ok(()),
            Some(_) => return Err(Error::conflict("a delivery with this id exists")),
            None => {}
        }
        if entry.webhook.ephemeral && entry.need() == Need::Finished {
            return Err(Error::conflict("the webhook is ephemeral: its content is erased"));
        }
        let row = Row { processed, ..Row::new(webhook_id, delivery, now) };
        if entry.need() != Need::Unfinished {
            self.retention.admit(entry.bytes.saturating_add(row.bytes()))?;
        }
        entry.deliveries.push(id);
        entry.deliveries.sort_unstable();
        self.attach(id, row);
        self.make_room(0, 0);
        Ok(())
    }

    /// Changes a row, and with it all that is indexed and counted over it.
    pub(super) fn change(&mut self, id: DeliveryId, change: impl FnOnce(&mut Row)) {
        if let Some(mut row) = self.detach(id) {
            change(&mut row);
            self.attach(id, row);
        }
    }

    /// Ends all that waits for an output which is no more.
    pub(super) fn give_up(&mut self, output: OutputId) {
        let open: Vec<_> = self.lanes.get(&output).into_iter().flat_map(Lane::open).collect();
        for id in open {
            self.change(id, |row| {
                row.due_at = None;
                row.held_by = None;
                row.status = DeliveryStatus::Failed;
                let last = Arc::make_mut(row.last.get_or_insert_default());
                last.error = Some("the output was deleted".to_owned());
            });
            if let Some(webhook) = self.rows.get(&id).map(|row| row.webhook_id) {
                self.forget_if_done(webhook);
            }
        }
    }

    /// Frees what `node` holds.
    pub(super) fn free(&mut self, node: NodeId) {
        for id in self.held.remove(&node).unwrap_or_default() {
            self.change(id, |row| row.held_by = None);
        }
    }

    /// Drops the content of an ephemeral webhook after the final outcome of all its deliveries.
    pub(super) fn forget_if_done(&mut self, id: WebhookId) {
        let Some(entry) = self.webhooks.get_mut(&id) else { return };
        if !entry.webhook.ephemeral || entry.need() != Need::Finished {
            return;
        }
        self.retention.remove(id, entry.need(), entry.bytes);
        entry.bytes -= entry.webhook.request.size_bytes();
        let webhook = Arc::make_mut(&mut entry.webhook);
        forget_content(&mut webhook.request);
        entry.bytes += webhook.request.size_bytes();
        self.retention.add(id, entry.need(), entry.bytes);
        for delivery in entry.deliveries.clone() {
            self.change(delivery, |row| {
                if let Some(processed) = &mut row.processed {
                    forget_content(Arc::make_mut(processed));
                }
            });
        }
    }

    /// Lets the oldest webhooks go that may, until so many more webhooks and bytes fit in.
    pub(super) fn make_room(&mut self, webhooks: usize, bytes: usize) {
        while let Some(id) = self.retention.next_to_go(webhooks, bytes) {
            let Some(entry) = self.webhooks.get(&id) else { return };
            let deliveries = entry.deliveries.clone();
            let rows = deliveries.into_iter().filter_map(|id| self.detach(id)).collect();
            if let Some(entry) = self.webhooks.remove(&id) {
                self.retention.remove(id, entry.need(), entry.bytes);
                self.gone.push((entry, rows));
            }
        }
    }

    /// Lets one delivery go, and its webhook with the last one.
    pub(super) fn remove(&mut self, id: DeliveryId) {
        let Some(row) = self.detach(id) else { return };
        let Some(entry) = self.webhooks.get_mut(&row.webhook_id) else { return };
        entry.deliveries.retain(|delivery| *delivery != id);
        if entry.deliveries.is_empty()
            && let Some(entry) = self.webhooks.remove(&row.webhook_id)
        {
            self.retention.remove(row.webhook_id, entry.need(), entry.bytes);
        }
    }

    fn attach(&mut self, id: DeliveryId, row: Row) {
        if let Some(entry) = self.webhooks.get_mut(&row.webhook_id) {
            self.catalog.insert(&entry.webhook, id, &row);
            self.tallies.add(&entry.webhook, &row);
            self.retention.remove(row.webhook_id, entry.need(), entry.bytes);
            entry.bytes += row.bytes();
            entry.open += usize::from(row.is_open());
            entry.addressed += usize::from(row.is_open() && row.output_id.is_some());
            self.retention.add(row.webhook_id, entry.need(), entry.bytes);
        }
        if let Some(output) = row.output_id.filter(|_| row.is_open()) {
            let lane = self.lanes.entry(output).or_default();
            lane.insert_open(id);
            if let (Some(due_at), None) = (row.due_at, row.held_by) {
                lane.insert_free(id, due_at);
            }
        }
        if let Some(node) = row.held_by {
            self.held.entry(node).or_default().insert(id);
        }
        self.rows.insert(id, row);
    }

    fn detach(&mut self, id: DeliveryId) -> Option<Row> {
        let row = self.rows.remove(&id)?;
        if let Some(entry) = self.webhooks.get_mut(&row.webhook_id) {
            self.catalog.remove(&entry.webhook, id, &row);
            self.tallies.subtract(&entry.webhook, &row);
            self.retention.remove(row.webhook_id, entry.need(), entry.bytes);
            entry.bytes -= row.bytes();
            entry.open -= usize::from(row.is_open());
            entry.addressed -= usize::from(row.is_open() && row.output_id.is_some());
            self.retention.add(row.webhook_id, entry.need(), entry.bytes);
        }
        if let Some(output) = row.output_id
            && let Some(lane) = self.lanes.get_mut(&output)
        {
            lane.remove_open(id);
            if let (Some(due_at), None) = (row.due_at, row.held_by) {
                lane.remove_free(id, due_at);
            }
            if lane.is_empty() {
                self.lanes.remove(&output);
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
        Some(row)
    }
}
