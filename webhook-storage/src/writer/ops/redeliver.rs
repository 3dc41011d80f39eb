//! Adding deliveries of stored webhooks.

use sea_orm::prelude::Uuid;
use webhook_core::{
    Error,
    store::{NewDelivery, Redeliver, tally::LogCounters},
};

use super::{
    super::job::{Context, Failure, InAccount, Op, Reply},
    accept,
    settle::is_erased,
};
use crate::{
    codec,
    entity::{delivery, millis},
    fault::DatabaseError,
    tx::{Row, Tx, with},
};

impl Op for InAccount<Redeliver> {
    type Answer = ();

    fn size_bytes(&self) -> usize {
        let processed = self.what.processed.as_ref().map_or(0, |request| request.size_bytes());
        self.what.deliveries.len() * (256 + processed)
    }

    async fn write(&self, tx: &impl Tx, context: &mut Context) -> Result<Reply<Self>, Failure> {
        Ok(add(tx, self.account, &self.what, &mut context.counters).await?)
    }
}

pub(super) async fn add(
    tx: &impl Tx,
    account: Uuid,
    redeliver: &Redeliver,
    counters: &mut LogCounters,
) -> Result<Result<(), Error>, DatabaseError> {
    let webhook_id = redeliver.webhook_id.as_uuid();
    // Whoever erases or removes the webhook meanwhile comes before or after.
    let find = format!(
        "SELECT bucket_id, ephemeral FROM webhook WHERE id = ? AND account_id = ?{}",
        tx.on_postgres(" FOR UPDATE")
    );
    let find = with(find, [webhook_id.into(), account.into()]);
    let webhook = |row: &Row<'_>| Ok((row.get("bucket_id")?, row.get("ephemeral")?));
    let Some((bucket_id, ephemeral)) = tx.query_one(find, webhook).await? else {
        return Ok(Err(Error::not_found("webhook")));
    };
    let mut added: Vec<&NewDelivery> = Vec::with_capacity(redeliver.deliveries.len());
    for new in &redeliver.deliveries {
        let find = "SELECT webhook_id FROM delivery WHERE id = ?";
        let find = with(find, [new.id.as_uuid().into()]);
        match tx.query_one(find, |row| row.get::<Uuid>("webhook_id")).await? {
            Some(stored) if stored == webhook_id => {}
            Some(_) => return Ok(Err(Error::conflict("a delivery with this id exists"))),
            None if added.iter().any(|other| other.id == new.id) => {}
            None => added.push(new),
        }
    }
    if added.is_empty() {
        return Ok(Ok(()));
    }
    if ephemeral && is_erased(tx, webhook_id).await? {
        return Ok(Err(Error::conflict("the webhook is ephemeral: its content is erased")));
    }
    let created_at = millis(redeliver.now);
    let processed = redeliver.processed.as_ref().map(|request| codec::encode_request(request));
    let mut rows = Vec::with_capacity(added.len());
    for new in added {
        let row =
            delivery::Inserted::new(new, webhook_id, account, bucket_id, ephemeral, created_at);
        counters.add(accept::counted(&row, new.status));
        rows.push(delivery::Inserted { processed: processed.clone(), ..row });
    }
    tx.insert(&accept::DELIVERY, &rows, delivery::Inserted::values).await?;
    Ok(Ok(()))
}
