//! What becomes of claims, drains and lists where bodies are objects.
//!
//! A transaction returns webhooks without those bodies. They are read after it, so that no
//! connection to the database waits for an object store. Where nothing is an object, nothing
//! here runs.
//!
//! | | an object is gone for good | the store does not answer |
//! |---|---|---|
//! | claim by due time | the delivery fails | it is due again in 10 s, others are delivered |
//! | claim by receipt | the delivery fails | it and those after it wait, in their order |
//! | drain | the log fails | it waits, others are handed out; after a place those after it wait, too |
//! | what waits for clients | it is left out | it and those after it are left for later |
//! | lists, logs, searches | shown without a body, as erased | 503 |
//! | sending it again | 412 | 503 |

use std::{future::Future, sync::Arc, time::Duration};

use tokio::sync::oneshot;
use webhook_core::{
    Error, NodeId, Timestamp, WebhookId,
    model::{Log, Webhook},
    store::{Claim, ClaimOrder, Claimed, Drain, Drained, LogCursor, LogsFound, Pending, tally},
};

use crate::{
    Storage,
    fault::{self, About, DatabaseError},
    fold,
    listing::Loaded,
    objects::{Body, Fetched, ObjectError, StoredBody, unavailable},
    tx::{Read, with},
    writer::{Context, InAccount, Op, Taken, give_up, lease, waiting},
};

/// How long a delivery is put off whose body cannot be read.
const PUT_OFF: Duration = Duration::from_secs(10);

/// What the log of a delivery says whose body is gone.
const GONE: &str = "the body of the webhook is gone from the object storage";

impl Storage {
    async fn fetch(&self, objects: Vec<StoredBody>) -> Fetched {
        match self.bodies() {
            Some(bodies) => bodies.fetch(objects).await,
            None => {
                tracing::error!("there are bodies in an object storage, and none is set up");
                let error = ObjectError::new("no object storage is set up");
                Fetched::unread(&objects, unavailable(error))
            }
        }
    }

    /// Adds their bodies to logs that are shown. A webhook whose body is gone is shown as what
    /// is left of an ephemeral one, which nobody can send again.
    pub(super) async fn show(
        &self,
        logs: &mut [Log],
        objects: Vec<StoredBody>,
    ) -> Result<(), Error> {
        if objects.is_empty() {
            return Ok(());
        }
        let mut fetched = self.fetch(objects).await;
        if let Some(error) = fetched.error.take() {
            return Err(error);
        }
        for Log { webhook, .. } in logs {
            match fetched.of(webhook.id) {
                Some(Body::Whole(bytes)) => webhook.request.body = bytes.clone(),
                Some(_) => webhook.ephemeral = true,
                None => {}
            }
        }
        Ok(())
    }

    /// Adds their bodies to what a search has found, as many as one call returns.
    pub(super) async fn show_found(
        &self,
        mut found: LogsFound,
        mut objects: Vec<StoredBody>,
    ) -> Result<LogsFound, Error> {
        let of = |log: &Log| {
            let id = log.webhook.id.as_uuid();
            objects.iter().find(|object| object.webhook == id).map_or(0, |object| object.bytes)
        };
        let mut bytes = 0_usize;
        let fits = |log: &Log| {
            bytes = bytes.saturating_add(of(log));
            bytes <= self.read_bytes()
        };
        let fitting = found.logs.iter().map(fits).take_while(|fits| *fits).count().max(1);
        if fitting < found.logs.len() {
            found.logs.truncate(fitting);
            found.scanned_until = found.logs.last().map(LogCursor::of);
            found.complete = false;
        }
        objects.retain(|object| {
            found.logs.iter().any(|log| log.webhook.id.as_uuid() == object.webhook)
        });
        self.show(&mut found.logs, objects).await?;
        Ok(found)
    }

    /// Adds their bodies to logs that wait for clients. Those whose bodies are gone are left
    /// out, and it ends before the first one that cannot be read.
    pub(super) async fn show_waiting(&self, loaded: Loaded) -> Result<Vec<Log>, Error> {
        if loaded.objects.is_empty() {
            return Ok(loaded.logs);
        }
        let mut fetched = self.fetch(loaded.objects).await;
        let Sorted { ready, .. } = Sorted::of(loaded.logs, &fetched, true);
        match fetched.error.take().filter(|_| ready.is_empty()) {
            Some(error) => Err(error),
            None => Ok(ready),
        }
    }

    /// Adds their bodies to what was claimed. Who claims may be gone before it ends: then it
    /// holds nothing.
    pub(super) async fn claimed(
        &self,
        claim: Claim,
        taken: Taken<Claimed>,
    ) -> Result<Claimed, Error> {
        if taken.objects.is_empty() {
            return Ok(taken.what);
        }
        let (storage, node) = (self.clone(), claim.node);
        let reading = async move { storage.fill_claimed(claim, taken).await };
        let storage = self.clone();
        or_take_back(reading, move |claimed: Claimed| async move {
            storage.give_back(node, &claimed.deliveries, None).await
        })
        .await
    }

    async fn fill_claimed(
        &self,
        claim: Claim,
        Taken { what, objects }: Taken<Claimed>,
    ) -> Result<Claimed, Error> {
        let mut fetched = self.fetch(objects).await;
        let (mut ready, mut gone, mut waits) = (Vec::new(), Vec::new(), Vec::new());
        let in_order = claim.order == ClaimOrder::Receipt;
        for mut pending in what.deliveries {
            match fetched.of(pending.webhook.id) {
                _ if in_order && !waits.is_empty() => waits.push(pending),
                None => ready.push(pending),
                Some(Body::Whole(bytes)) => {
                    Arc::make_mut(&mut pending.webhook).request.body = bytes.clone();
                    ready.push(pending);
                }
                Some(Body::Gone) => gone.push(pending),
                Some(Body::Unread) => waits.push(pending),
            }
        }
        if !gone.is_empty() {
            self.fail(claim.node, &gone).await?;
        }
        let mut next_due_at = what.next_due_at;
        if let Some(first) = waits.first() {
            let put_off = (claim.order == ClaimOrder::Due).then(|| claim.now + PUT_OFF);
            let again_at = put_off.unwrap_or(first.due_at);
            self.give_back(claim.node, &waits, put_off).await?;
            next_due_at = next_due_at.into_iter().chain([again_at]).min();
            // The first of a queue is waited for, and its queue asks again later.
            let error = fetched.error.take();
            if let Some(error) = error.filter(|_| in_order && ready.is_empty()) {
                return Err(error);
            }
        }
        Ok(Claimed::new(ready, next_due_at))
    }

    /// Frees deliveries that a claim took, for any node.
    async fn give_back(
        &self,
        node: NodeId,
        some: &[Pending],
        due_at: Option<Timestamp>,
    ) -> Result<(), Error> {
        lease::give_back(&self.database().write, node, some, due_at).await.about("delivery")
    }

    /// Ends deliveries whose bodies are gone.
    async fn fail(&self, node: NodeId, some: &[Pending]) -> Result<(), Error> {
        self.change(async |tx| {
            let mut counters = tally::LogCounters::default();
            for id in lease::held(tx, node, some).await? {
                give_up(tx, id, &Error::not_found("body"), GONE, &mut counters).await?;
            }
            fold::append(tx, &counters).await
        })
        .await
    }

    /// Adds their bodies to what was drained.
    pub(super) async fn drained(
        &self,
        op: InAccount<Drain>,
        taken: Taken<Drained>,
    ) -> Result<Drained, Error> {
        let (storage, again) = (self.clone(), op.clone());
        let reading = async move { storage.fill_drained(&op, taken).await };
        let storage = self.clone();
        or_take_back(reading, move |drained: Drained| async move {
            storage.undrain(&again, drained.logs, Vec::new()).await
        })
        .await
    }

    async fn fill_drained(
        &self,
        op: &InAccount<Drain>,
        Taken { what, objects }: Taken<Drained>,
    ) -> Result<Drained, Error> {
        let Drained { logs, has_more, .. } = what;
        let mut fetched = self.fetch(objects).await;
        // Who goes on after a place does not come back for what was left out.
        let in_order = op.what.after.is_some();
        let Sorted { ready, gone, unread } = Sorted::of(logs, &fetched, in_order);
        let (is_cut, has_gone) = (!unread.is_empty(), !gone.is_empty());
        if is_cut || has_gone {
            self.undrain(op, unread, gone).await?;
        }
        match fetched.error.take() {
            Some(error) if ready.is_empty() => Err(error),
            _ => Ok(Drained::new(ready, has_more || is_cut)),
        }
    }

    /// Lets logs wait again that nobody got, and ends those whose bodies are gone.
    async fn undrain(
        &self,
        op: &InAccount<Drain>,
        mut logs: Vec<Log>,
        gone: Vec<Log>,
    ) -> Result<(), Error> {
        let ids: Vec<_> = gone.iter().map(|log| log.delivery.id.as_uuid()).collect();
        logs.extend(gone);
        self.change(async |tx| {
            let mut context = Context { counters: tally::LogCounters::default(), claim_bytes: 0 };
            let taken = Taken { what: Drained::new(logs, false), objects: Vec::new() };
            op.take_back(tx, taken, &mut context).await?;
            for id in waiting(tx, &ids).await? {
                let error = Error::not_found("body");
                give_up(tx, id, &error, GONE, &mut context.counters).await?;
            }
            fold::append(tx, &context.counters).await
        })
        .await
    }

    async fn change(
        &self,
        change: impl AsyncFnOnce(&sea_orm::DatabaseTransaction) -> Result<(), DatabaseError>,
    ) -> Result<(), Error> {
        let transaction = self.begin("delivery").await?;
        let changed = change(&transaction).await.about("delivery");
        self.database().finish(transaction, changed, "delivery").await
    }

    /// The error of one who would send a webhook again whose body is gone.
    pub(super) fn expect_body(&self, webhook: WebhookId) -> Result<(), Error> {
        match self.bodies() {
            Some(bodies) if bodies.is_gone(webhook) => Err(Error::conflict(GONE)),
            _ => Ok(()),
        }
    }

    /// Puts the body of a webhook that is about to be stored, if it is one for an object.
    pub(super) async fn put_body(&self, webhook: &Webhook) -> Result<Option<StoredBody>, Error> {
        match self.bodies() {
            Some(bodies) => bodies.put(webhook).await,
            None => Ok(None),
        }
    }

    /// Deletes the object of a duplicate, beside whoever goes on.
    pub(super) fn forget_body(&self, object: StoredBody) {
        let storage = self.clone();
        tokio::spawn(async move {
            let Some(bodies) = storage.bodies() else { return };
            // It may have been stored before, when it was none.
            let find = "SELECT 1 AS one FROM webhook WHERE id = ? AND object_bytes IS NOT NULL";
            let find = with(find, [object.webhook.into()]);
            let stored = storage.database().read.query(find, |_| Ok(())).await;
            if stored.is_ok_and(|rows| rows.is_empty()) {
                bodies.delete(vec![object.webhook]).await;
            }
        });
    }
}

/// Logs by what became of their bodies, each in their order.
struct Sorted {
    ready: Vec<Log>,
    gone: Vec<Log>,
    /// What cannot be read now; in order, with all that comes after the first one of it.
    unread: Vec<Log>,
}

impl Sorted {
    fn of(logs: Vec<Log>, fetched: &Fetched, in_order: bool) -> Self {
        let (mut ready, mut gone, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        for mut log in logs {
            match fetched.of(log.webhook.id) {
                Some(Body::Gone) => gone.push(log),
                Some(Body::Unread) => unread.push(log),
                _ if in_order && !unread.is_empty() => unread.push(log),
                None => ready.push(log),
                Some(Body::Whole(bytes)) => {
                    log.webhook.request.body = bytes.clone();
                    ready.push(log);
                }
            }
        }
        Self { ready, gone, unread }
    }
}

/// Does the work whether or not somebody waits for it to the end, and takes back what it came
/// to when nobody does.
async fn or_take_back<T: Send + 'static, F>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
    take_back: impl FnOnce(T) -> F + Send + 'static,
) -> Result<T, Error>
where
    F: Future<Output = Result<(), Error>> + Send,
{
    let (answer, told) = oneshot::channel();
    tokio::spawn(async move {
        if let Err(Ok(untold)) = answer.send(work.await)
            && let Err(error) = take_back(untold).await
        {
            tracing::warn!(%error, "what nobody waits for any more stays claimed or drained");
        }
    });
    told.await.unwrap_or_else(|_| Err(fault::closed()))
}
