//! Webhooks and deliveries.

use std::mem;

use async_trait::async_trait;
use sea_orm::prelude::Uuid;
use webhook_core::{
    AccountId, DeliveryId, Error, NodeId, OutputId, WebhookId,
    model::Log,
    store::{
        Accept, Accepted, Backlog, Claim, Claimed, DeliveryStore, Extended, Lease, Redeliver,
        Settle, Sweep,
    },
};

use crate::{
    Storage,
    documents::cancel,
    entity::{Table, delivery, webhook},
    fault::About,
    writer::{InAccount, Incoming, Record, WithRuns, lease},
};

#[async_trait]
impl DeliveryStore for Storage {
    async fn accept(&self, mut accept: Accept) -> Result<Accepted, Error> {
        let runs = Record::of(mem::take(&mut accept.runs), accept.webhook.id)?;
        // Before the commit: no row names an object that is not there. Where the commit fails
        // the object stays behind, as nobody knows whether it was made.
        let object = self.put_body(&accept.webhook).await?;
        let accepted = self.write(WithRuns { what: Incoming { accept, object }, runs }).await?;
        if let (Accepted::Duplicate { .. }, Some(object)) = (accepted, object) {
            self.forget_body(object);
        }
        Ok(accepted)
    }

    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        let taken = self.write(claim).await?;
        self.claimed(claim, taken).await
    }

    async fn settle(&self, mut settle: Settle) -> Result<(), Error> {
        let runs = Record::of(mem::take(&mut settle.runs), settle.origin.webhook_id)?;
        self.write(WithRuns { what: settle, runs }).await
    }

    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error> {
        self.expect_body(redeliver.webhook_id)?;
        self.write(InAccount { account: account.as_uuid(), what: redeliver }).await
    }

    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error> {
        let extended = lease::extend(&self.database().write, lease).await;
        let (extended, asks) = extended.about("lease")?;
        self.compare_schema(asks.as_deref());
        Ok(extended)
    }

    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error> {
        let transaction = self.begin("lease").await?;
        let freed =
            lease::free(&*transaction, node.as_uuid(), of.map(|output| output.as_uuid())).await;
        let freed = freed.about("lease");
        self.database().finish(transaction, freed, "lease").await
    }

    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error> {
        lease::backlogs(&self.database().read, sweep).await.map_err(Error::from)
    }

    async fn cancel_deleted(&self, most: usize) -> Result<Option<usize>, Error> {
        if !cancel::is_any_deleted(&self.database().read).await? {
            return Ok(None);
        }
        let transaction = self.begin("delivery").await?;
        let cancelled = cancel::cancel(&*transaction, most).await.about("delivery");
        self.database().finish(transaction, cancelled, "delivery").await
    }

    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error> {
        let (read, tail) = (&self.database().read, "WHERE id = ? AND account_id = ?");
        let values = [id.as_uuid().into(), account.as_uuid().into()];
        let row = delivery::Model::select_one(read, tail, values).await;
        let Some(row) = row? else { return Ok(None) };
        let webhook = self.webhook(row.webhook_id).await?;
        let Some(webhook) = webhook else { return Ok(None) };
        let (webhook, object) = webhook.read()?;
        let mut log = Log { webhook, delivery: row.read()? };
        let object = object.into_iter().collect();
        self.show(std::slice::from_mut(&mut log), object).await?;
        Ok(Some(log))
    }

    async fn logs_of(&self, account: AccountId, webhook: WebhookId) -> Result<Vec<Log>, Error> {
        let tail = "WHERE webhook_id = ? AND account_id = ? ORDER BY id";
        let values = [webhook.as_uuid().into(), account.as_uuid().into()];
        let rows = delivery::Model::select(&self.database().read, tail, values).await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let webhook = self.webhook(webhook.as_uuid()).await?;
        let Some(webhook) = webhook else { return Ok(Vec::new()) };
        let (webhook, object) = webhook.read()?;
        let log =
            |row: delivery::Model| Ok(Log { webhook: webhook.clone(), delivery: row.read()? });
        let mut logs = rows.into_iter().map(log).collect::<Result<Vec<_>, Error>>()?;
        self.show(&mut logs, object.into_iter().collect()).await?;
        Ok(logs)
    }
}

impl Storage {
    async fn webhook(&self, id: Uuid) -> Result<Option<webhook::Model>, Error> {
        Ok(webhook::Model::find(&self.database().read, [id]).await?.pop())
    }
}
