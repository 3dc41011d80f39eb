//! Storing webhooks with their deliveries.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, Value};
use webhook_core::store::Accept;

use super::{
    Outcome,
    batch::{Answers, Failure},
    statement::{chunk_sizes, over_rows},
    tally::{Counted, Tallies},
};
use crate::entity::{delivery, webhook};

const WEBHOOK: &str = "INSERT INTO webhook (id, account_id, bucket_id, input_id, method, \
    extra_path, raw_query, headers, remote_addr, secure, ephemeral, input_execution_id, \
    received_at, body) VALUES ";

/// What makes storing a webhook again change nothing.
const UNLESS_STORED: &str = " ON CONFLICT (id) DO NOTHING";

const DELIVERY: &str = "INSERT INTO delivery (id, webhook_id, account_id, bucket_id, output_id, \
    internal, ephemeral, status, due_at, held_by, created_at, updated_at, status_code, error) \
    VALUES ";

pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    accepts: &[(usize, &Accept)],
    tallies: &mut Tallies,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let webhooks: Vec<_> = accepts.iter().map(|(_, accept)| webhook_row(accept)).collect();
    let stored = insert(transaction, WEBHOOK, webhooks, UNLESS_STORED).await?;
    match (stored == accepts.len() as u64, accepts) {
        (true, _) => {
            let deliveries = accepts.iter().flat_map(|(_, accept)| delivery_rows(accept)).collect();
            insert(transaction, DELIVERY, deliveries, "").await?;
            for (_, accept) in accepts {
                for new in &accept.deliveries {
                    *tallies += counted(&delivery::Model::of(&accept.webhook, new));
                }
            }
        }
        // Stored before, and its deliveries with it.
        (false, [_]) => {}
        // One of them was stored before, or is here twice.
        (false, _) => return Err(Failure::Split),
    }
    answers.extend(accepts.iter().map(|(number, _)| (*number, Ok(Outcome::Written))));
    Ok(())
}

/// A new delivery as it is counted.
pub(super) fn counted(row: &delivery::Model) -> Counted {
    let open = Counted::open(row.account_id, row.bucket_id, row.output_id, row.created_at);
    open.with(row.status, row.status_code.unwrap_or_default(), row.attempts, 0)
}

async fn insert(
    transaction: &DatabaseTransaction,
    head: &str,
    rows: Vec<impl IntoIterator<Item = Value>>,
    tail: &str,
) -> Result<u64, DbErr> {
    let backend = transaction.get_database_backend();
    let (mut affected, count) = (0, rows.len());
    let mut rows = rows.into_iter();
    for size in chunk_sizes(count) {
        let values = rows.by_ref().take(size).flatten().collect();
        let statement = over_rows(backend, head, size, tail, values);
        affected += transaction.execute_raw(statement).await?.rows_affected();
    }
    Ok(affected)
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
