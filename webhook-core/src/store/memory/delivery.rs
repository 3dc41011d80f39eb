//! The queue and the log in memory.

use std::{mem, sync::Arc};

use async_trait::async_trait;
use foldhash::HashMap;

use super::{
    MemoryStore,
    index::OutputIndex,
    queue::Queue,
    row::{Arrival, Entry},
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{AccountId, DeliveryId, NodeId, OutputId, WebhookId},
    model::{Delivery, DeliveryStatus, Log, Webhook},
    store::{
        Accept, Accepted, Backlog, Claim, Claimed, DeliveryStore, Extended, Lease, Origin, Pending,
        Redeliver, Settle, Sweep,
    },
};

/// A log whose webhook is shared as long as the store is locked.
pub(super) type Found = (Arc<Webhook>, Delivery);

pub(super) fn log((webhook, delivery): Found) -> Log {
    Log { webhook: Arc::unwrap_or_clone(webhook), delivery }
}

impl Queue {
    pub(super) fn is_alive(&self, node: NodeId, now: Timestamp) -> bool {
        self.leases.get(&node).is_some_and(|lease| now < lease.until)
    }

    /// Nodes that hold something in name only.
    fn lapsed(&self, now: Timestamp) -> impl Iterator<Item = NodeId> {
        self.index.held.keys().copied().filter(move |node| !self.is_alive(*node, now))
    }

    fn claim(&mut self, claim: Claim) -> Claimed {
        let Claim { node, output_id, now, limit, order } = claim;
        let lapsed: Vec<_> = self.lapsed(now).collect();
        for node in lapsed {
            self.free(node, None);
        }
        self.leases.retain(|_, lease| now < lease.until);

        let index = self.index.outputs.get(&output_id);
        let ids = index.map(|index| index.first(order, now, limit)).unwrap_or_default();
        let mut deliveries = Vec::new();
        for id in ids {
            self.change(id, |row| {
                row.held_by = Some(node);
                row.status = DeliveryStatus::Preparing;
                row.updated_at = now;
            });
            deliveries.extend(self.pending(id));
        }
        let next_due_at = self.index.outputs.get(&output_id).and_then(OutputIndex::next_due_at);
        Claimed { deliveries, next_due_at }
    }

    fn pending(&self, id: DeliveryId) -> Option<Pending> {
        let row = self.rows.get(&id)?;
        Some(Pending {
            id,
            output_id: row.output_id?,
            due_at: row.due_at?,
            created_at: row.created_at,
            attempts: row.attempts,
            processed: row.processed.clone(),
            history: row.history.clone(),
            replay: row.replay.clone(),
            webhook: self.webhooks.get(&row.webhook_id)?.webhook.clone(),
        })
    }

    fn settle(&mut self, settle: Settle) -> Result<(), Error> {
        let (id, origin, node, now) = (settle.id, settle.origin, settle.node, settle.now);
        let Some(row) = self.rows.get(&id).filter(|row| row.due_at.is_some()) else {
            return Err(Error::conflict("the delivery is not pending"));
        };
        if row.held_by.is_some_and(|holder| holder != node && self.is_alive(holder, now)) {
            return Err(Error::conflict("another node holds the delivery"));
        }
        // It counts by its rows; other stores believe what the relay's tests show here.
        debug_assert!(
            self.webhooks.get(&row.webhook_id).is_none_or(|entry| {
                origin == Origin::new(&entry.webhook, row.output_id, row.created_at)
            }),
            "{id} was not stored as {origin:?}"
        );
        let webhook = row.webhook_id;
        self.change(id, |row| {
            row.status = settle.status;
            row.due_at = settle.due_at.filter(|_| !settle.status.is_final());
            row.held_by = None;
            row.attempts = settle.attempts;
            row.reason = settle.reason;
            row.last = Some(settle.attempt);
            row.updated_at = now;
            row.history = settle.history.unwrap_or_else(|| mem::take(&mut row.history));
            row.processed = settle.processed.or_else(|| row.processed.take());
            row.output_execution_id = settle.output_execution_id.or(row.output_execution_id);
        });
        self.forget_if_done(webhook);
        self.make_room(0, 0);
        Ok(())
    }

    fn backlogs(&self, sweep: &Sweep) -> Vec<Backlog> {
        let of_output = |(output_id, index): (&OutputId, &OutputIndex)| {
            let pending = u64::try_from(index.free()).unwrap_or(u64::MAX);
            let nothing = Backlog::new(*output_id);
            (*output_id, Backlog { due_at: index.next_due_at(), pending, ..nothing })
        };
        let mut backlogs: HashMap<_, _> = self.index.outputs.iter().map(of_output).collect();
        for (holder, held) in &self.index.held {
            let is_alive = self.is_alive(*holder, sweep.now);
            for row in held.iter().filter_map(|id| self.rows.get(id)) {
                let (Some(output_id), Some(due_at)) = (row.output_id, row.due_at) else { continue };
                let nothing = Backlog::new(output_id);
                let backlog = backlogs.entry(output_id).or_insert(nothing);
                match is_alive {
                    false => backlog.add_free(due_at),
                    true if *holder != sweep.node => backlog.is_attended = true,
                    true => backlog.held += u64::from(row.updated_at < sweep.held_before),
                }
            }
        }
        backlogs.into_values().filter(Backlog::is_found).collect()
    }

    fn entry(&self, account: AccountId, webhook: WebhookId) -> Option<&Entry> {
        self.webhooks.get(&webhook).filter(|entry| entry.webhook.account_id == account)
    }

    pub(super) fn find(&self, account: AccountId, id: DeliveryId) -> Option<Found> {
        let row = self.rows.get(&id)?;
        let entry = self.entry(account, row.webhook_id)?;
        Some((entry.webhook.clone(), row.to_delivery(id)))
    }
}

#[async_trait]
impl DeliveryStore for MemoryStore {
    async fn accept(&self, mut accept: Accept) -> Result<Accepted, Error> {
        let (webhook, runs) = (accept.webhook.id, mem::take(&mut accept.runs));
        let insert = || match accept.seen.is_empty() {
            true => {
                let arrival = Arrival::of(accept);
                self.queue().insert(arrival)
            }
            false => self.queue().insert_unseen(accept),
        };
        self.with_runs(webhook, runs, insert, |to| *to == Accepted::Stored)
    }

    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        Ok(self.queue().claim(claim))
    }

    async fn settle(&self, mut settle: Settle) -> Result<(), Error> {
        let (webhook, runs) = (settle.origin.webhook_id, mem::take(&mut settle.runs));
        self.with_runs(webhook, runs, || self.queue().settle(settle), |()| true)
    }

    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error> {
        self.queue().redeliver(account, redeliver)
    }

    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error> {
        let mut queue = self.queue();
        Ok(queue.leases.entry(lease.node).or_insert(lease).extend(lease))
    }

    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error> {
        let mut queue = self.queue();
        queue.free(node, of);
        if of.is_none() {
            queue.leases.remove(&node);
        }
        Ok(())
    }

    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error> {
        Ok(self.queue().backlogs(&sweep))
    }

    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error> {
        let found = self.queue().find(account, id);
        Ok(found.map(log))
    }

    async fn logs_of(&self, account: AccountId, webhook: WebhookId) -> Result<Vec<Log>, Error> {
        let found: Vec<_> = {
            let queue = self.queue();
            let ids = queue.entry(account, webhook).into_iter().flat_map(|entry| &entry.deliveries);
            ids.filter_map(|id| queue.find(account, *id)).collect()
        };
        Ok(found.into_iter().map(log).collect())
    }
}
