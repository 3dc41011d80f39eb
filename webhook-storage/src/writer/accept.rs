//! Storing webhooks with their deliveries.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, Statement, Value};
use webhook_core::store::{Accept, Accepted};

use super::{
    Outcome,
    batch::{Answers, Failure},
    statement::over_all,
    tally::{Counted, Tallies},
};
use crate::entity::{delivery, webhook};

pub(super) const WEBHOOK: &str = "INSERT INTO webhook (id, account_id, bucket_id, input_id, method, \
    extra_path, raw_query, headers, remote_addr, secure, ephemeral, input_execution_id, \
    received_at, body) VALUES ";

/// What makes storing a webhook again change nothing.
pub(super) const UNLESS_STORED: &str = " ON CONFLICT (id) DO NOTHING";

pub(super) const DELIVERY: &str = "INSERT INTO delivery (id, webhook_id, account_id, bucket_id, output_id, \
    internal, ephemeral, status, due_at, held_by, created_at, updated_at, status_code, error) \
    VALUES ";

/// Stores all of `accepts`, none of which may have been stored before, unless
/// there is one and it is `alone`.
pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    accepts: &[(usize, &Accept)],
    alone: bool,
    tallies: &mut Tallies,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let backend = transaction.get_database_backend();
    let webhooks: Vec<_> = accepts.iter().map(|(_, accept)| webhook_row(accept)).collect();
    let deliveries: Vec<_> = accepts.iter().flat_map(|(_, accept)| delivery_rows(accept)).collect();
    let (webhook_count, delivery_count) = (webhooks.len() as u64, deliveries.len() as u64);
    let webhooks = over_all(backend, WEBHOOK, webhooks, UNLESS_STORED);
    let deliveries = over_all(backend, DELIVERY, deliveries, "");

    let mut accepted = Accepted::Stored;
    if alone {
        if execute(transaction, webhooks).await? > 0 {
            execute(transaction, deliveries).await?;
            count(accepts, tallies);
        } else {
            // Stored before, it has its deliveries already.
            accepted = Accepted::Known;
        }
    } else {
        let statements = [webhooks, deliveries].concat();
        if execute(transaction, statements).await? != webhook_count + delivery_count {
            return Err(Failure::Split);
        }
        count(accepts, tallies);
    }
    answers.extend(accepts.iter().map(|(number, _)| (*number, Ok(Outcome::Accepted(accepted)))));
    Ok(())
}

fn count(accepts: &[(usize, &Accept)], tallies: &mut Tallies) {
    for (_, accept) in accepts {
        tallies.receive(&accept.webhook);
        for new in &accept.deliveries {
            *tallies += counted(&delivery::Model::of(&accept.webhook, new));
        }
    }
}

/// A new delivery as it is counted.
pub(super) fn counted(row: &delivery::Model) -> Counted {
    let open = Counted::open(row.account_id, row.bucket_id, row.output_id, row.created_at);
    open.with(row.status, row.status_code.unwrap_or_default(), row.attempts, 0)
}

/// Runs the statements; how many rows they inserted.
async fn execute(
    transaction: &DatabaseTransaction,
    statements: Vec<Statement>,
) -> Result<u64, DbErr> {
    let mut inserted = 0;
    for statement in statements {
        inserted += transaction.execute_raw(statement).await?.rows_affected();
    }
    Ok(inserted)
}

fn webhook_row(accept: &Accept) -> [Value; 14] {
    let Accept { webhook, deliveries } = accept;
    // What is final in every part when it comes is not going to be sent.
    let needed = deliveries.iter().any(|delivery| !delivery.status.is_final());
    let webhook::Model {
        id,
        account_id,
        bucket_id,
        input_id,
        method,
        extra_path,
        raw_query,
        headers,
        remote_addr,
        secure,
        ephemeral,
        input_execution_id,
        received_at,
        body,
    } = webhook::Model::of(webhook, needed || !webhook.ephemeral);
    [
        id.into(),
        account_id.into(),
        bucket_id.into(),
        input_id.into(),
        method.into(),
        extra_path.into(),
        raw_query.into(),
        headers.into(),
        remote_addr.into(),
        secure.into(),
        ephemeral.into(),
        input_execution_id.into(),
        received_at.into(),
        body.into(),
    ]
}

fn delivery_rows(accept: &Accept) -> impl Iterator<Item = [Value; 14]> {
    accept.deliveries.iter().map(|new| {
        let row = delivery::Model::of(&accept.webhook, new);
        [
            row.id.into(),
            row.webhook_id.into(),
            row.account_id.into(),
            row.bucket_id.into(),
            row.output_id.into(),
            row.internal.into(),
            row.ephemeral.into(),
            row.status.into(),
            row.due_at.into(),
            row.held_by.into(),
            row.created_at.into(),
            row.updated_at.into(),
            row.status_code.into(),
            row.error.into(),
        ]
    })
}
