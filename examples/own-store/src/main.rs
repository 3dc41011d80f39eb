//! Webhooks behind an axum route of one's own, in a store of one's own: what a
//! relay asks of a store is eleven methods. `curl -d hello` the printed address.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use axum::{Router, routing::post};
use webhook_core::forward::{guard::AddressGuard, http::HttpForwarder};
use webhook_core::{model::*, relay::RelayOptions, store::*, *};

#[cfg(test)]
mod tests;

/// One bucket, and what came into it.
#[derive(Debug)]
struct OwnStore {
    bucket: Bucket,
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    deliveries: BTreeMap<DeliveryId, Row>,
    leases: HashMap<NodeId, Timestamp>,
}

#[derive(Debug)]
struct Row {
    webhook: Arc<Webhook>,
    delivery: Delivery,
    held_by: Option<NodeId>,
}

impl OwnStore {
    fn new(destination: String) -> Arc<Self> {
        let (id, now) = (BucketId::generate(), SystemClock.now());
        let mut bucket = Bucket::new(id, AccountId::generate(), now, BucketSpec::default());
        bucket.inputs.push(Input::new(InputId::unguessable(), id, now, InputSpec::default()));
        let spec = OutputSpec { destination, ..OutputSpec::default() };
        bucket.outputs.push(Output::new(OutputId::generate(), id, now, spec));
        Arc::new(Self { bucket, rows: Mutex::default() })
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn logs(&self, account: AccountId, is: impl Fn(&Row) -> bool) -> Vec<Log> {
        let rows = self.rows();
        let found = rows.deliveries.values().filter(|row| row.webhook.account_id == account);
        found.filter(|row| is(row)).map(|row| Log::new(&row.webhook, &row.delivery)).collect()
    }
}

impl Rows {
    /// Whether a node that is alive attempts it.
    fn is_held(&self, row: &Row, now: Timestamp) -> bool {
        row.held_by.and_then(|node| self.leases.get(&node)).is_some_and(|until| now < *until)
    }

    /// What waits for an attempt, in order of receipt.
    fn free(&self, now: Timestamp) -> impl Iterator<Item = (OutputId, Timestamp, DeliveryId)> {
        let free = self.deliveries.values().filter(move |row| !self.is_held(row, now));
        free.filter_map(|Row { delivery: it, .. }| Some((it.output_id?, it.due_at?, it.id)))
    }

    /// Whether all deliveries of the webhook are over; then its content is, if it is ephemeral.
    fn end(&mut self, id: WebhookId) -> bool {
        let of = |row: &&mut Row| row.webhook.id == id;
        let over = self.deliveries.values_mut().filter(of).all(|row| row.delivery.is_over());
        for row in self.deliveries.values_mut().filter(of).filter(|row| over && row.webhook.ephemeral) {
            Arc::make_mut(&mut row.webhook).request.erase();
            row.delivery.processed.as_mut().map(Request::erase);
        }
        over
    }
}

#[async_trait]
impl RouteStore for OwnStore {
    async fn bucket_of_input(&self, id: InputId) -> Result<Option<Bucket>, Error> {
        Ok(self.bucket.inputs.iter().any(|it| it.id == id).then(|| self.bucket.clone()))
    }
    async fn bucket_of_output(&self, id: OutputId) -> Result<Option<Bucket>, Error> {
        Ok(self.bucket.outputs.iter().any(|it| it.id == id).then(|| self.bucket.clone()))
    }
}

#[async_trait]
impl DeliveryStore for OwnStore {
    async fn accept(&self, Accept { webhook, deliveries }: Accept) -> Result<Accepted, Error> {
        let (mut rows, count) = (self.rows(), deliveries.len());
        if rows.deliveries.values().any(|row| row.webhook.id == webhook.id) {
            return Ok(Accepted::Known);
        }
        let new = deliveries.into_iter().map(|new| (new.id, Row::new(&webhook, new, webhook.received_at)));
        let new = BTreeMap::from_iter(new);
        if new.len() < count || new.keys().any(|id| rows.deliveries.contains_key(id)) {
            return Err(Error::conflict("a delivery with this id exists"));
        }
        rows.deliveries.extend(new);
        rows.end(webhook.id);
        Ok(Accepted::Stored)
    }
    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        let Claim { node, output_id, now, limit, order } = claim;
        let mut rows = self.rows();
        let mut free: Vec<_> = rows.free(now).filter(|it| it.0 == output_id).collect();
        if order == ClaimOrder::Due {
            free.sort();
        }
        let meant = free.iter().take_while(|it| order == ClaimOrder::Receipt || it.1 <= now);
        let rest = free.split_off(meant.count().min(limit));
        let next_due_at = rest.iter().map(|it| it.1).min();
        let taken = free.iter().filter_map(|it| {
            let row = rows.deliveries.get_mut(&it.2)?;
            (row.held_by, row.delivery.status) = (Some(node), DeliveryStatus::Preparing);
            row.delivery.updated_at = now;
            Pending::new(&row.delivery, &row.webhook)
        });
        Ok(Claimed { deliveries: taken.collect(), next_due_at })
    }
    async fn settle(&self, settle: Settle) -> Result<(), Error> {
        let mut rows = self.rows();
        let row = rows.deliveries.get(&settle.id).filter(|row| row.delivery.due_at.is_some());
        let row = row.ok_or_else(|| Error::conflict("the delivery is not pending"))?;
        if row.held_by != Some(settle.node) && rows.is_held(row, settle.now) {
            return Err(Error::conflict("another node holds the delivery"));
        }
        let (id, webhook) = (settle.id, row.webhook.id);
        let row = rows.deliveries.entry(id).and_modify(|row| { row.held_by = None; row.delivery.settle(settle) });
        rows.end(webhook);
        Ok(())
    }
}
