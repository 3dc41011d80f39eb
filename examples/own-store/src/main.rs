//! Webhooks behind an axum route of one's own, in a store of one's own: what a
//! relay asks of a store is eleven methods. `curl -d hello` the printed address.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::{Router, routing::post};
use webhook_core::{forward::http::HttpForwarder, guard::AddressGuard};
use webhook_core::{model::*, relay::RelayOptions, store::*, *};

#[cfg(test)]
mod tests;

/// One bucket, and what came into it. A real store would be a database.
#[derive(Debug)]
struct OwnStore {
    bucket: Bucket,
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    deliveries: BTreeMap<DeliveryId, StoredDelivery>,
    leases: HashMap<NodeId, Lease>,
}

impl OwnStore {
    fn new(destination: String) -> Arc<Self> {
        let (id, now) = (BucketId::generate(), SystemClock.now());
        let mut bucket = Bucket::new(id, AccountId::generate(), now, BucketSpec::default());
        bucket.inputs.push(Input::new(InputId::unguessable(), id, now, InputSpec::default()));
        let spec = OutputSpec::new("", destination);
        bucket.outputs.push(Output::new(OutputId::generate(), id, now, spec));
        Arc::new(Self { bucket, rows: Mutex::default() })
    }
}

impl Rows {
    /// What is held by no node that is alive.
    fn is_alive(&self, node: NodeId, now: Timestamp) -> bool {
        self.leases.get(&node).is_some_and(|lease| now < lease.until)
    }

    fn free(&self, now: Timestamp) -> impl Iterator<Item = &StoredDelivery> {
        let is_held = move |node| self.is_alive(node, now);
        self.deliveries.values().filter(move |row| !row.held_by.is_some_and(is_held))
    }

    fn of(&mut self, webhook: WebhookId) -> Vec<&mut StoredDelivery> {
        self.deliveries.values_mut().filter(|row| row.webhook.id == webhook).collect()
    }

    /// After the last outcome nothing is kept of an ephemeral webhook's content.
    fn erase_if_over(&mut self, webhook: WebhookId) {
        let rows = self.of(webhook);
        let over = rows.iter().all(|row| row.webhook.ephemeral && row.is_over());
        rows.into_iter().filter(|_| over).for_each(StoredDelivery::erase);
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
    async fn accept(&self, Accept { webhook, deliveries, .. }: Accept) -> Result<Accepted, Error> {
        let mut rows = self.rows.lock().unwrap();
        if !rows.of(webhook.id).is_empty() {
            return Ok(Accepted::Known);
        }
        let ids: BTreeSet<_> = deliveries.iter().map(|new| new.id).collect();
        if ids.len() < deliveries.len() || ids.iter().any(|id| rows.deliveries.contains_key(id)) {
            return Err(Error::conflict("a delivery with this id exists"));
        }
        let row = |new| StoredDelivery::new(&webhook, new, webhook.received_at);
        rows.deliveries.extend(deliveries.into_iter().map(row).map(|row| (row.delivery.id, row)));
        rows.erase_if_over(webhook.id);
        Ok(Accepted::Stored)
    }
    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        let mut rows = self.rows.lock().unwrap();
        let (ids, next_due_at) = claim.choose(rows.free(claim.now));
        let take = |id| rows.deliveries.get_mut(&id)?.hold(claim.node, claim.now);
        Ok(Claimed::new(ids.into_iter().filter_map(take).collect(), next_due_at))
    }
    async fn settle(&self, settle: Settle) -> Result<(), Error> {
        let (mut rows, now) = (self.rows.lock().unwrap(), settle.now);
        let Rows { deliveries, leases } = &mut *rows;
        let row = deliveries.get_mut(&settle.id).ok_or_else(|| Error::conflict("not there"))?;
        let webhook = row.webhook.id;
        row.settle(settle, |node| leases.get(&node).is_some_and(|lease| now < lease.until))?;
        rows.erase_if_over(webhook);
        Ok(())
    }
    async fn redeliver(&self, account: AccountId, again: Redeliver) -> Result<(), Error> {
        let mut rows = self.rows.lock().unwrap();
        let known = rows.of(again.webhook_id);
        let known_as = known.first().filter(|row| row.webhook.account_id == account);
        let webhook = known_as.ok_or_else(|| Error::not_found("webhook"))?.webhook.clone();
        let mut added = again.deliveries;
        added.retain(|new| known.iter().all(|row| row.delivery.id != new.id));
        let erased = webhook.ephemeral && known.iter().all(|row| row.is_over());
        let is_taken = |new: &NewDelivery| erased || rows.deliveries.contains_key(&new.id);
        if added.iter().any(is_taken) {
            return Err(Error::conflict("the content is erased, or the id is another's"));
        }
        for new in added {
            let mut row = StoredDelivery::new(&webhook, new, again.now);
            row.delivery.processed = again.processed.as_deref().cloned();
            rows.deliveries.insert(row.delivery.id, row);
        }
        Ok(())
    }
    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error> {
        let mut rows = self.rows.lock().unwrap();
        Ok(rows.leases.entry(lease.node).or_insert(lease).extend(lease))
    }
    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error> {
        let Rows { deliveries, leases } = &mut *self.rows.lock().unwrap();
        leases.retain(|holder, _| *holder != node || of.is_some());
        deliveries.values_mut().for_each(|row| row.release(node, of));
        Ok(())
    }
    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error> {
        let rows = self.rows.lock().unwrap();
        Ok(Backlog::of(rows.deliveries.values(), &sweep, |node| rows.is_alive(node, sweep.now)))
    }
    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error> {
        let log = self.rows.lock().unwrap().deliveries.get(&id).map(StoredDelivery::log);
        Ok(log.filter(|log| log.webhook.account_id == account))
    }
    async fn logs_of(&self, account: AccountId, id: WebhookId) -> Result<Vec<Log>, Error> {
        let mut rows = self.rows.lock().unwrap();
        let known = rows.of(id).into_iter().filter(|row| row.webhook.account_id == account);
        Ok(known.map(|row| row.log()).collect())
    }
}

/// Receives at `/hooks/` and sends anywhere, to this program itself as well.
fn webhooks(store: &Arc<OwnStore>) -> Webhooks {
    let mut options = RelayOptions::default();
    options.path_prefix = "/hooks/".to_owned();
    let forwarder = HttpForwarder::builder().guard(AddressGuard::allow_all()).build();
    let stores = Stores::relay(store.clone(), store.clone());
    Webhooks::builder(stores).forwarder(forwarder).options(options).build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let store = OwnStore::new(format!("http://{address}/orders"));
    println!("http://{address}/hooks/{}", store.bucket.inputs[0].id);
    let webhooks = webhooks(&store);
    let application = Router::new()
        .route("/orders", post(|body: String| async move { println!("arrived: {body}") }))
        .route_service("/hooks/{*rest}", webhooks.ingest());
    tokio::spawn(async move { webhooks.run(std::future::pending()).await });
    Ok(axum::serve(listener, application).await?)
}
