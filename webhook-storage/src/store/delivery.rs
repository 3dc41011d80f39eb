//! Webhooks and deliveries.

use async_trait::async_trait;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, prelude::Uuid};
use webhook_core::{
    AccountId, DeliveryId, Error, NodeId, OutputId, Timestamp, WebhookId,
    model::Log,
    store::{Accept, Claim, Claimed, DeliveryStore, Lane, Redeliver, Settle},
};

use super::read_error;
use crate::{
    Storage,
    entity::{delivery, moment, webhook},
    fault,
    writer::{Operation, Outcome, lease, statement::with},
};

#[async_trait]
impl DeliveryStore for Storage {
    async fn accept(&self, accept: Accept) -> Result<(), Error> {
        self.write(Operation::Accept(accept)).await.map(|_| ())
    }

    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        match self.write(Operation::Claim(claim)).await? {
            Outcome::Claimed(claimed) => Ok(claimed),
            _ => Err(fault::wrong_outcome()),
        }
    }

    async fn settle(&self, settle: Settle) -> Result<(), Error> {
        self.write(Operation::Settle(settle)).await.map(|_| ())
    }

    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error> {
        let account = account.as_uuid();
        self.write(Operation::Redeliver { account, redeliver }).await.map(|_| ())
    }

    async fn extend_lease(&self, node: NodeId, until: Timestamp) -> Result<(), Error> {
        let extended = lease::extend(self.database(), node, until).await;
        extended.map_err(|error| fault::error(error, "lease"))
    }

    async fn release(&self, node: NodeId) -> Result<(), Error> {
        let transaction = self.begin("lease").await?;
        let freed = lease::free(&transaction, node.as_uuid()).await;
        let freed = freed.map_err(|error| fault::error(error, "lease"));
        self.database().finish(transaction, freed, "lease").await
    }

    async fn lanes(&self, now: Timestamp) -> Result<Vec<Lane>, Error> {
        let database = self.database();
        if !lease::lapsed(&database.read, now).await.map_err(read_error)?.is_empty() {
            let transaction = self.begin("lease").await?;
            let freed = lease::free_lapsed(&transaction, now).await.map_err(read_error);
            database.finish(transaction, freed, "lease").await?;
        }
        let sql = "SELECT output_id, MIN(due_at) AS due_at, COUNT(*) AS pending FROM delivery \
            WHERE due_at IS NOT NULL AND held_by IS NULL AND output_id IS NOT NULL \
            GROUP BY output_id";
        let query = with(database.backend(), sql, []);
        let rows = database.read.query_all_raw(query).await.map_err(read_error)?;
        let lane = |row: &sea_orm::QueryResult| {
            Ok(Lane {
                output_id: OutputId::from_uuid(row.try_get_by("output_id")?),
                due_at: moment(row.try_get_by("due_at")?),
                pending: row.try_get_by::<i64, _>("pending")?.unsigned_abs(),
            })
        };
        rows.iter().map(lane).collect::<Result<_, _>>().map_err(read_error)
    }

    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error> {
        let find = delivery::Entity::find_by_id(id.as_uuid())
            .filter(delivery::Column::AccountId.eq(account.as_uuid()));
        let row = find.one(&self.database().read).await.map_err(read_error)?;
        let Some(row) = row else { return Ok(None) };
        let webhook = self.webhook(row.webhook_id).await?;
        let Some(webhook) = webhook else { return Ok(None) };
        Ok(Some(Log { webhook: webhook.read()?, delivery: row.read()? }))
    }

    async fn logs_of(&self, account: AccountId, webhook: WebhookId) -> Result<Vec<Log>, Error> {
        let find = delivery::Entity::find()
            .filter(delivery::Column::WebhookId.eq(webhook.as_uuid()))
            .filter(delivery::Column::AccountId.eq(account.as_uuid()))
            .order_by_asc(delivery::Column::Id);
        let rows = find.all(&self.database().read).await.map_err(read_error)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let webhook = self.webhook(webhook.as_uuid()).await?;
        let Some(webhook) = webhook else { return Ok(Vec::new()) };
        let webhook = webhook.read()?;
        let log =
            |row: delivery::Model| Ok(Log { webhook: webhook.clone(), delivery: row.read()? });
        rows.into_iter().map(log).collect()
    }
}

impl Storage {
    async fn webhook(&self, id: Uuid) -> Result<Option<webhook::Model>, Error> {
        webhook::Entity::find_by_id(id).one(&self.database().read).await.map_err(read_error)
    }
}
