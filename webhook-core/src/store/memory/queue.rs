//! Webhooks, their deliveries, the indexes over them, and who owns which queue.

use std::{
    collections::BTreeMap,
    ops::{Deref, DerefMut},
    sync::{Arc, MutexGuard},
};

use async_trait::async_trait;
use foldhash::{HashMap, HashMapExt};

use super::{
    MemoryStore,
    index::{Index, OutputIndex},
    retention::{Need, Retention},
    row::{Arrival, Entry, Row},
    seen::SeenKeys,
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, DeliveryId, NodeId, OutputId, WebhookId},
    model::{DeliveryStatus, Reason},
    store::{Accepted, Lease, OwnQueue, OwnedQueue, QueueStore, Redeliver},
};

pub(super) struct Queue {
    retention: Retention,
    pub(super) webhooks: HashMap<WebhookId, Entry>,
    pub(super) rows: HashMap<DeliveryId, Row>,
    /// Over every row.
    pub(super) index: Index,
    /// Until when each node is alive.
    pub(super) leases: HashMap<NodeId, Lease>,
    /// Who attempts what of outputs whose throttle holds over all nodes.
    pub(super) owners: HashMap<OutputId, Owner>,
    /// What inputs that deduplicate have seen.
    pub(super) seen: SeenKeys,
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
            index: Index::default(),
            leases: HashMap::new(),
            owners: HashMap::new(),
            seen: SeenKeys::new(max_webhooks),
            gone: Vec::new(),
        }
    }

    pub(super) fn set_max_bytes(&mut self, max_bytes: usize) {
        self.retention.set_max_bytes(max_bytes);
        self.make_room(0, 0);
    }

    pub(super) fn insert(&mut self, arrival: Arrival) -> Result<Accepted, Error> {
        let Arrival { entry, rows, month } = arrival;
        let id = entry.webhook.id;
        if self.webhooks.contains_key(&id) {
            return Ok(Accepted::Known);
        }
        let repeated = entry.deliveries.windows(2).any(|two| two[0] == two[1]);
        if repeated || entry.deliveries.iter().any(|id| self.rows.contains_key(id)) {
            return Err(Error::conflict("a delivery with this id exists"));
        }
        self.retention.admit(entry.bytes)?;
        self.make_room(1, entry.bytes);

        self.retention.add(&entry);
        if let Some(month) = month {
            self.index.counters.receive(entry.webhook.account_id, month);
        }
        for (id, row) in rows {
            self.index.add(&entry.webhook, id, &row);
            self.rows.insert(id, row);
        }
        self.webhooks.insert(id, entry);
        self.forget_if_done(id);
        Ok(Accepted::Stored)
    }

    pub(super) fn redeliver(
        &mut self,
        account: AccountId,
        redeliver: Redeliver,
    ) -> Result<(), Error> {
        let Redeliver { webhook_id, deliveries, processed, now } = redeliver;
        let entry = self.webhooks.get_mut(&webhook_id);
        let entry = entry.filter(|entry| entry.webhook.account_id == account);
        let entry = entry.ok_or_else(|| Error::not_found("webhook"))?;
        let mut added = BTreeMap::new();
        for delivery in deliveries {
            let id = delivery.id;
            match self.rows.get(&id) {
                Some(row) if row.webhook_id == webhook_id => continue,
                Some(_) => return Err(Error::conflict("a delivery with this id exists")),
                None => {}
            }
            let row = Row { processed: processed.clone(), ..Row::new(webhook_id, delivery, now) };
            added.insert(id, row);
        }
        if added.is_empty() {
            return Ok(());
        }
        if entry.webhook.ephemeral && entry.need() == Need::Finished {
            return Err(Error::conflict("the webhook is ephemeral: its content is erased"));
        }
        if entry.need() != Need::Unfinished {
            let bytes: usize = added.values().map(Row::bytes).sum();
            self.retention.admit(entry.bytes.saturating_add(bytes))?;
        }
        for (id, row) in added {
            self.retention.recount(entry, |entry| entry.add(&row));
            entry.deliveries.push(id);
            self.index.add(&entry.webhook, id, &row);
            self.rows.insert(id, row);
        }
        entry.deliveries.sort_unstable();
        self.make_room(0, 0);
        Ok(())
    }

    /// Changes a row, and with it all that is indexed and counted over it.
    pub(super) fn change(&mut self, id: DeliveryId, change: impl FnOnce(&mut Row)) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        let Some(entry) = self.webhooks.get_mut(&row.webhook_id) else { return };
        self.index.remove(&entry.webhook, id, row);
        self.retention.recount(entry, |entry| {
            entry.subtract(row);
            change(row);
            entry.add(row);
        });
        self.index.add(&entry.webhook, id, row);
    }

    /// Ends all that waits for an output which is no more.
    pub(super) fn give_up(&mut self, output: OutputId) {
        self.owners.remove(&output);
        let open: Vec<_> =
            self.index.outputs.get(&output).into_iter().flat_map(OutputIndex::open).collect();
        for id in open {
            self.change(id, |row| {
                row.due_at = None;
                row.held_by = None;
                row.leased_until = None;
                row.status = DeliveryStatus::Failed;
                row.reason = Some(Reason::Cancelled);
                let last = Arc::make_mut(row.last.get_or_insert_default());
                last.error = Some("the output was deleted".to_owned());
            });
            if let Some(webhook) = self.rows.get(&id).map(|row| row.webhook_id) {
                self.forget_if_done(webhook);
            }
        }
    }

    /// Frees what `node` holds, all or of one output.
    pub(super) fn free(&mut self, node: NodeId, of: Option<OutputId>) {
        let held = self.index.held.get(&node).into_iter().flatten().copied();
        let is_meant = |id: &DeliveryId| {
            of.is_none() || self.rows.get(id).is_some_and(|row| row.output_id == of)
        };
        for id in held.filter(is_meant).collect::<Vec<_>>() {
            self.change(id, |row| row.held_by = None);
        }
    }

    /// Drops the content of an ephemeral webhook after the final outcome of all its deliveries.
    pub(super) fn forget_if_done(&mut self, id: WebhookId) {
        let Some(entry) = self.webhooks.get_mut(&id) else { return };
        if !entry.webhook.ephemeral || entry.need() != Need::Finished {
            return;
        }
        self.retention.recount(entry, |entry| {
            entry.bytes -= entry.webhook.request.size_bytes();
            let webhook = Arc::make_mut(&mut entry.webhook);
            webhook.request.erase();
            entry.bytes += webhook.request.size_bytes();
        });
        for delivery in entry.deliveries.clone() {
            self.change(delivery, |row| {
                if let Some(processed) = &mut row.processed {
                    Arc::make_mut(processed).erase();
                }
            });
        }
    }

    /// Lets the oldest webhooks go that may, until so many more webhooks and bytes fit in.
    pub(super) fn make_room(&mut self, webhooks: usize, bytes: usize) {
        while let Some(id) = self.retention.next_to_go(webhooks, bytes) {
            let Some(entry) = self.webhooks.remove(&id) else { return };
            self.retention.remove(&entry);
            let rows = entry.deliveries.iter().filter_map(|id| {
                let row = self.rows.remove(id)?;
                self.index.remove(&entry.webhook, *id, &row);
                Some(row)
            });
            let rows = rows.collect();
            self.gone.push((entry, rows));
        }
    }

    /// Lets one delivery go, and its webhook with the last one.
    pub(super) fn remove(&mut self, id: DeliveryId) {
        let Some(row) = self.rows.remove(&id) else { return };
        let Some(entry) = self.webhooks.get_mut(&row.webhook_id) else { return };
        self.index.remove(&entry.webhook, id, &row);
        self.retention.recount(entry, |entry| entry.subtract(&row));
        entry.deliveries.retain(|delivery| *delivery != id);
        if entry.deliveries.is_empty()
            && let Some(entry) = self.webhooks.remove(&row.webhook_id)
        {
            self.retention.remove(&entry);
        }
    }
}

/// The owner of a queue, and what it or the one before started lately.
#[derive(Debug, Default)]
pub(super) struct Owner {
    node: Option<NodeId>,
    started: Vec<Timestamp>,
}

#[async_trait]
impl QueueStore for MemoryStore {
    async fn own_queue(&self, own: OwnQueue) -> Result<OwnedQueue, Error> {
        let OwnQueue { node, output_id, now, started } = own;
        let mut queue = self.queue();
        let pending = queue.index.outputs.get(&output_id).map_or(0, |index| index.open().count());
        let pending = u64::try_from(pending).unwrap_or(u64::MAX).min(OwnedQueue::MAX_COUNTED);
        let former = queue.owners.get(&output_id).and_then(|owner| owner.node);
        let is_free = former.is_none_or(|former| former == node || !queue.is_alive(former, now));
        if !(former == Some(node) || started.is_none() && is_free) {
            return Ok(OwnedQueue::of_another(pending));
        }
        if let Some(former) = former.filter(|former| *former != node) {
            queue.free(former, Some(output_id));
        }
        let owner = queue.owners.entry(output_id).or_default();
        owner.node = Some(node);
        Ok(match started {
            Some(started) => {
                owner.started = started;
                OwnedQueue::own(Vec::new(), false, pending)
            }
            None => OwnedQueue::own(owner.started.clone(), former.is_some(), pending),
        })
    }

    async fn leave_queue(
        &self,
        node: NodeId,
        output: OutputId,
        started: &[Timestamp],
    ) -> Result<(), Error> {
        let mut queue = self.queue();
        let Some(owner) = queue.owners.get_mut(&output).filter(|owner| owner.node == Some(node))
        else {
            return Ok(());
        };
        *owner = Owner { node: None, started: started.to_vec() };
        if started.is_empty() {
            queue.owners.remove(&output);
        }
        Ok(())
    }
}
