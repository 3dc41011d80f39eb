//! Adding deliveries of stored webhooks.

use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, EntityTrait, IntoActiveModel,
    QueryResult, prelude::Uuid,
};
use webhook_core::{Error, store::Redeliver};

use super::{
    Outcome, accept,
    batch::{Answers, Failure},
    settle,
    statement::with,
    tally::Tallies,
};
use crate::{
    codec,
    entity::{delivery, millis},
};

pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    redeliveries: &[(usize, (Uuid, &Redeliver))],
    tallies: &mut Tallies,
    answers: &mut Answers,
) -> Result<(), Failure> {
    for (number, (account, redeliver)) in redeliveries {
        let answer = add(transaction, *account, redeliver, tallies).await?;
        answers.push((*number, answer.map(|()| Outcome::Written)));
    }
    Ok(())
}

async fn add(
    transaction: &DatabaseTransaction,
    account: Uuid,
    redeliver: &Redeliver,
    tallies: &mut Tallies,
) -> Result<Result<(), Error>, DbErr> {
    let backend = transaction.get_database_backend();
    let Redeliver { webhook_id, delivery: new, processed, .. } = redeliver;
    let webhook_id = webhook_id.as_uuid();
    // Whoever erases or removes the webhook meanwhile comes before or after.
    let lock = if backend == DbBackend::Postgres { " FOR UPDATE" } else { "" };
    let find =
        format!("SELECT bucket_id, ephemeral FROM webhook WHERE id = ? AND account_id = ?{lock}");
    let find = with(backend, &find, [webhook_id.into(), account.into()]);
    let Some(webhook) = transaction.query_one_raw(find).await? else {
        return Ok(Err(Error::not_found("webhook")));
    };
    let find = "SELECT webhook_id FROM delivery WHERE id = ?";
    let find = with(backend, find, [new.id.as_uuid().into()]);
    if let Some(stored) = transaction.query_one_raw(find).await? {
        let is_same = stored.try_get_by::<Uuid, _>("webhook_id")? == webhook_id;
        let taken = || Error::conflict("a delivery with this id exists");
        return Ok(if is_same { Ok(()) } else { Err(taken()) });
    }
    if webhook.try_get_by("ephemeral")? && settle::is_erased(transaction, webhook_id).await? {
        return Ok(Err(Error::conflict("the webhook is ephemeral: its content is erased")));
    }
    let row = row(redeliver, account, &webhook)?;
    *tallies += accept::counted(&row);
    let processed = processed.as_ref().map(|request| codec::encode_request(request));
    let row = delivery::Model { processed, ..row };
    delivery::Entity::insert(row.into_active_model()).exec_without_returning(transaction).await?;
    Ok(Ok(()))
}

fn row(
    redeliver: &Redeliver,
    account: Uuid,
    webhook: &QueryResult,
) -> Result<delivery::Model, DbErr> {
    Ok(delivery::Model::new(
        &redeliver.delivery,
        redeliver.webhook_id.as_uuid(),
        account,
        webhook.try_get_by("bucket_id")?,
        webhook.try_get_by("ephemeral")?,
        millis(redeliver.now),
    ))
}
