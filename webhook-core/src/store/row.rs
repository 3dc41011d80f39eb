//! What stores that keep deliveries as they are need.

use std::{collections::BTreeMap, sync::Arc};

use super::{Backlog, Claim, ClaimOrder, NewDelivery, Pending, Settle, Sweep};
use crate::{
    clock::Timestamp,
    error::Error,
    forward::history::History,
    id::{DeliveryId, NodeId, OutputId},
    model::{Attempt, Delivery, DeliveryStatus, Log, Webhook},
};

/// A delivery with its webhook and the node that holds it: a row of a store that
/// has no tables. What one delivery does by itself is here; which ones there are,
/// and what is durable, is the store's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredDelivery {
    /// The webhook.
    pub webhook: Arc<Webhook>,
    /// Its delivery.
    pub delivery: Delivery,
    /// Who attempts it. Whether that node is alive is for the store to know.
    pub held_by: Option<NodeId>,
}

impl StoredDelivery {
    /// A delivery of `webhook` that is stored at `created_at`.
    #[must_use]
    pub fn new(webhook: &Arc<Webhook>, new: NewDelivery, created_at: Timestamp) -> Self {
        let NewDelivery { id, output_id, internal, status, reason, detail, due_at, held_by } = new;
        let delivery = Delivery {
            id,
            webhook_id: webhook.id,
            output_id,
            internal,
            status,
            due_at: due_at.filter(|_| !status.is_final()),
            attempts: 0,
            reason,
            last: detail.map(|error| Attempt { error: Some(error), ..Attempt::default() }),
            processed: None,
            history: History::default(),
            output_execution_id: None,
            leased_until: None,
            replay: None,
            created_at,
            updated_at: created_at,
        };
        Self { webhook: Arc::clone(webhook), delivery, held_by }
    }

    /// As the log shows it.
    #[must_use]
    pub fn log(&self) -> Log {
        Log { webhook: Webhook::clone(&self.webhook), delivery: self.delivery.clone() }
    }

    /// Gives it to `node`; none when it waits for no attempt.
    pub fn hold(&mut self, node: NodeId, now: Timestamp) -> Option<Pending> {
        let (output_id, due_at) = (self.delivery.output_id?, self.delivery.due_at?);
        self.held_by = Some(node);
        self.delivery.status = DeliveryStatus::Preparing;
        self.delivery.updated_at = now;
        Some(Pending {
            id: self.delivery.id,
            output_id,
            due_at,
            created_at: self.delivery.created_at,
            attempts: self.delivery.attempts,
            processed: self.delivery.processed.clone().map(Arc::new),
            history: self.delivery.history.clone(),
            replay: self.delivery.replay.clone(),
            webhook: Arc::clone(&self.webhook),
        })
    }

    /// Writes what came of an attempt.
    ///
    /// # Errors
    ///
    /// [`Conflict`](crate::ErrorKind::Conflict) when it is not pending, or when
    /// another node holds it that `is_alive`.
    pub fn settle(
        &mut self,
        settle: Settle,
        is_alive: impl Fn(NodeId) -> bool,
    ) -> Result<(), Error> {
        let Settle { node, now, status, due_at, attempts, reason, attempt, processed, .. } = settle;
        let Self { delivery, held_by, .. } = self;
        if delivery.due_at.is_none() {
            return Err(Error::conflict("the delivery is not pending"));
        }
        if held_by.is_some_and(|holder| holder != node && is_alive(holder)) {
            return Err(Error::conflict("another node holds the delivery"));
        }
        *held_by = None;
        delivery.status = status;
        delivery.due_at = due_at.filter(|_| !status.is_final());
        delivery.attempts = attempts;
        delivery.reason = reason;
        delivery.last = Some(Arc::unwrap_or_clone(attempt));
        delivery.updated_at = now;
        if let Some(processed) = processed {
            delivery.processed = Some(Arc::unwrap_or_clone(processed));
        }
        if let Some(history) = settle.history {
            delivery.history = history;
        }
        if let Some(id) = settle.output_execution_id {
            delivery.output_execution_id = Some(id);
        }
        Ok(())
    }

    /// Leaves it to any node, when `node` holds it; with `of`, when it is of that output too.
    pub fn release(&mut self, node: NodeId, of: Option<OutputId>) {
        let stays = of.is_some() && of != self.delivery.output_id;
        self.held_by = self.held_by.filter(|holder| *holder != node || stays);
    }

    /// Whether it has come to its end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.delivery.due_at.is_none() && self.delivery.status.is_final()
    }

    /// Drops the content, as the last outcome of an ephemeral webhook does.
    pub fn erase(&mut self) {
        Arc::make_mut(&mut self.webhook).request.erase();
        if let Some(processed) = &mut self.delivery.processed {
            processed.erase();
        }
    }
}

impl Claim {
    /// Which of the `free` deliveries it takes, and when the next of those that are
    /// left to its output is due: for stores that have no index.
    #[must_use]
    pub fn choose<'a>(
        &self,
        free: impl Iterator<Item = &'a StoredDelivery>,
    ) -> (Vec<DeliveryId>, Option<Timestamp>) {
        let all = self.order == ClaimOrder::Receipt;
        let of_output = free.filter(|row| row.delivery.output_id == Some(self.output_id));
        let due = of_output.filter_map(|row| Some((row.delivery.due_at?, row.delivery.id)));
        let mut due: Vec<_> = due.collect();
        due.sort_unstable_by_key(|(due_at, id)| ((!all).then_some(*due_at), *id));
        let meant = due.iter().take_while(|(due_at, _)| all || *due_at <= self.now).count();
        let left = due.split_off(meant.min(self.limit));
        let next_due_at = left.iter().map(|(due_at, _)| *due_at).min();
        (due.into_iter().map(|(_, id)| id).collect(), next_due_at)
    }
}

impl Backlog {
    /// What a sweep finds among `rows`: for stores that have no index.
    #[must_use]
    pub fn of<'a>(
        rows: impl Iterator<Item = &'a StoredDelivery>,
        sweep: &Sweep,
        is_alive: impl Fn(NodeId) -> bool,
    ) -> Vec<Self> {
        let mut backlogs = BTreeMap::new();
        for StoredDelivery { delivery, held_by, .. } in rows {
            let (Some(output_id), Some(due_at)) = (delivery.output_id, delivery.due_at) else {
                continue;
            };
            let backlog = backlogs.entry(output_id).or_insert_with(|| Self::new(output_id));
            match held_by.filter(|holder| is_alive(*holder)) {
                None => backlog.add_free(due_at),
                Some(holder) if holder != sweep.node => backlog.is_attended = true,
                Some(_) => backlog.held += u64::from(delivery.updated_at < sweep.held_before),
            }
        }
        backlogs.into_values().filter(Self::is_found).collect()
    }
}
