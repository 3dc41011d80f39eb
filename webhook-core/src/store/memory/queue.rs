//! Webhooks, their deliveries, and the indexes over them.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;

use super::{
    lane::Lane,
    retention::{Need, Retention},
};
use crate::{
    clock::Timestamp,
    error::Error,
    id::{DeliveryId, ExecutionId, NodeId, OutputId, WebhookId},
    model::{Attempt, Delivery, DeliveryStatus, Request, Webhook},
    store::{Accept, NewDelivery},
};

/// About what a delivery takes beside responses and processed requests, indexes included.
const ROW_BYTES: usize = 512;

pub(super) struct Queue {
    retention: Retention,
    pub(super) webhooks: HashMap<WebhookId, Entry>,
    pub(super) rows: HashMap<DeliveryId, Row>,
    pub(super) lanes: HashMap<OutputId, Lane>,
    /// Until when each node is alive.
    pub(super) leases: HashMap<NodeId, Timestamp>,
    /// The pending deliveries in each node's name, whether or not its lease lasts.
    pub(super) held: HashMap<NodeId, BTreeSet<DeliveryId>>,
}

/// A webhook and what is counted over its deliveries.
pub(super) struct Entry {
    pub(super) webhook: Arc<Webhook>,
    /// In ID order.
    pub(super) deliveries: Vec<DeliveryId>,
    /// How many are not final.
    open: usize,
    /// How many of those an output is to get.
    addressed: usize,
    /// Of the webhook and its deliveries.
    bytes: usize,
}

/// A delivery.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) webhook_id: WebhookId,
    pub(super) output_id: Option<OutputId>,
    pub(super) internal: bool,
    pub(super) status: DeliveryStatus,
    pub(super) due_at: Option<Timestamp>,
    pub(super) held_by: Option<NodeId>,
    pub(super) attempts: u32,
    pub(super) last: Option<Attempt>,
    pub(super) processed: Option<Arc<Request>>,
    pub(super) output_execution_id: Option<ExecutionId>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

impl Entry {
    fn need(&self) -> Need {
        match (self.open, self.addressed) {
            (0, _) => Need::Finished,
            (_, 0) => Need::Unaddressed,
            _ => Need::Unfinished,
        }
    }
}

impl Row {
    fn new(webhook: &Webhook, delivery: NewDelivery) -> Self {
        let NewDelivery { id: _, output_id, internal, status, reason, due_at, held_by } = delivery;
        Self {
            webhook_id: webhook.id,
            output_id,
            internal,
            status,
            due_at,
            held_by: held_by.filter(|_| due_at.is_some()),
            attempts: 0,
            last: reason.map(|error| Attempt { error: Some(error), ..Attempt::default() }),
            processed: None,
            output_execution_id: None,
            created_at: webhook.received_at,
            updated_at: webhook.received_at,
        }
    }

    /// Whether it is to come to an end yet.
    fn is_open(&self) -> bool {
        self.due_at.is_some() || !self.status.is_final()
    }

    fn bytes(&self) -> usize {
        let response = self.last.as_ref().map_or(0, |attempt| {
            let headers = &attempt.response_headers;
            let headers: usize =
                headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 64).sum();
            let error = attempt.error.as_ref().map_or(0, String::len);
            headers + attempt.response_body.len() + error
        });
        ROW_BYTES + response + self.processed.as_ref().map_or(0, |request| request.size_bytes())
    }

    pub(super) fn to_delivery(&self, id: DeliveryId) -> Delivery {
        let Self {
            webhook_id,
            output_id,
            internal,
            status,
            due_at,
            held_by: _,
            attempts,
            last,
            processed,
            output_execution_id,
            created_at,
            updated_at,
        } = self.clone();
        Delivery {
            id,
            webhook_id,
            output_id,
            internal,
            status,
            due_at,
            attempts,
            last,
            processed: processed.map(Arc::unwrap_or_clone),
            output_execution_id,
            created_at,
            updated_at,
        }
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
        }
    }

    pub(super) fn set_max_bytes(&mut self, max_bytes: usize) {
        self.retention.set_max_bytes(max_bytes);
        self.make_room(0, 0);
    }

    pub(super) fn insert(&mut self, accept: Accept) -> Result<(), Error> {
        let Accept { webhook, deliveries } = accept;
        if self.webhooks.contains_key(&webhook.id) {
            return Ok(());
        }
        let mut ids = HashSet::with_capacity(deliveries.len());
        if !deliveries.iter().all(|new| ids.insert(new.id) && !self.rows.contains_key(&new.id)) {
            return Err(Error::conflict("a delivery with this id exists"));
        }
        let rows: Vec<_> =
            deliveries.into_iter().map(|new| (new.id, Row::new(&webhook, new))).collect();
        let request_bytes = webhook.request.size_bytes();
        let bytes = rows.iter().fold(request_bytes, |sum, (_, row)| sum + row.bytes());
        self.retention.admit(bytes)?;
        self.make_room(1, bytes);

        let id = webhook.id;
        let mut deliveries: Vec<_> = rows.iter().map(|(id, _)| *id).collect();
        deliveries.sort_unstable();
        let entry = Entry { webhook, deliveries, open: 0, addressed: 0, bytes: request_bytes };
        self.retention.add(id, entry.need(), entry.bytes);
        self.webhooks.insert(id, entry);
        for (id, row) in rows {
            self.attach(id, row);
        }
        self.forget_if_done(id);
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
                let last = row.last.get_or_insert_default();
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
            for delivery in entry.deliveries.clone() {
                self.detach(delivery);
            }
            if let Some(entry) = self.webhooks.remove(&id) {
                self.retention.remove(id, entry.need(), entry.bytes);
            }
        }
    }

    fn attach(&mut self, id: DeliveryId, row: Row) {
        if let Some(entry) = self.webhooks.get_mut(&row.webhook_id) {
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

fn forget_content(request: &mut Request) {
    request.raw_query = String::new();
    request.headers = http::HeaderMap::new();
    request.body = Bytes::new();
}
