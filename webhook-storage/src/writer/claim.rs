//! Taking pending deliveries for a node.

use std::{collections::HashMap, sync::Arc};

use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, EntityTrait, QueryFilter,
    Value, prelude::Uuid,
};
use webhook_core::{
    Error,
    model::{DeliveryStatus, Webhook},
    store::{Claim, ClaimOrder, Claimed, Pending},
};

use super::{
    Outcome,
    batch::{Answers, Failure},
    lease,
    statement::{over_set, with},
    tally::{COLUMNS, Counted, Tallies},
};
use crate::entity::{delivery, millis, moment, webhook};

/// The most deliveries of one claim.
const MAX_DELIVERIES: usize = 1_024;

/// The deliveries that no node holds, and how much each would take to hand out.
const FREE: &str = "SELECT d.id AS id, CAST(COALESCE(octet_length(w.body), 0) \
    + COALESCE(octet_length(w.headers), 0) + COALESCE(octet_length(d.processed), 0) AS bigint) \
    AS size FROM delivery d LEFT JOIN webhook w ON w.id = d.webhook_id \
    WHERE d.output_id = ? AND d.due_at IS NOT NULL AND d.held_by IS NULL";

const BY_DUE: &str = " AND d.due_at <= ? ORDER BY d.due_at, d.id LIMIT ?";
const BY_RECEIPT: &str = " ORDER BY d.id LIMIT ?";

/// Skips what another claim is about to take instead of waiting for it.
const LOCKED: &str = " FOR UPDATE OF d SKIP LOCKED";

const NEXT_DUE: &str = "SELECT MIN(due_at) AS due_at FROM delivery \
    WHERE output_id = ? AND due_at IS NOT NULL AND held_by IS NULL";

/// What bounds a claim besides what its caller says.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaimLimits {
    pub(super) bytes: usize,
}

pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    claims: &[(usize, &Claim)],
    limits: ClaimLimits,
    tallies: &mut Tallies,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let mut freed_at = None;
    for (number, claim) in claims {
        if freed_at != Some(claim.now) {
            lease::free_lapsed(transaction, claim.now).await?;
            freed_at = Some(claim.now);
        }
        let claimed = take(transaction, claim, limits, tallies).await?;
        answers.push((*number, Ok(Outcome::Claimed(claimed))));
    }
    Ok(())
}

async fn take(
    transaction: &DatabaseTransaction,
    claim: &Claim,
    limits: ClaimLimits,
    tallies: &mut Tallies,
) -> Result<Claimed, DbErr> {
    let backend = transaction.get_database_backend();
    let ids = candidates(transaction, claim, limits).await?;
    let deliveries = if ids.is_empty() {
        Vec::new()
    } else {
        let head = "UPDATE delivery SET held_by = ?, status = ?, updated_at = ? WHERE id IN ";
        let head = with(backend, head, [(); 3].map(|()| Value::Int(None))).sql;
        let values = vec![
            claim.node.as_uuid().into(),
            delivery::number(DeliveryStatus::Preparing).into(),
            millis(claim.now).into(),
        ];
        let set = ids.iter().map(|id| Value::from(*id));
        transaction.execute_raw(over_set(backend, &head, values, set, "")).await?;
        load(transaction, &ids, tallies).await?
    };
    let next_due = with(backend, NEXT_DUE, [claim.output_id.as_uuid().into()]);
    let next_due = match transaction.query_one_raw(next_due).await? {
        Some(row) => row.try_get_by::<Option<i64>, _>("due_at")?,
        None => None,
    };
    Ok(Claimed { deliveries, next_due_at: next_due.map(moment) })
}

/// What the claim takes, in its order.
async fn candidates(
    transaction: &DatabaseTransaction,
    claim: &Claim,
    limits: ClaimLimits,
) -> Result<Vec<Uuid>, DbErr> {
    let backend = transaction.get_database_backend();
    let limit = i64::try_from(claim.limit.min(MAX_DELIVERIES)).unwrap_or_default();
    let mut values = vec![Value::from(claim.output_id.as_uuid())];
    let order = match claim.order {
        ClaimOrder::Due => {
            values.push(millis(claim.now).into());
            BY_DUE
        }
        ClaimOrder::Receipt => BY_RECEIPT,
    };
    values.push(limit.into());
    let lock = if backend == DbBackend::Postgres { LOCKED } else { "" };
    let query = with(backend, &[FREE, order, lock].concat(), values);

    let (mut ids, mut bytes) = (Vec::new(), 0_usize);
    for row in transaction.query_all_raw(query).await? {
        let size = row.try_get_by::<i64, _>("size")?;
        bytes = bytes.saturating_add(usize::try_from(size).unwrap_or_default());
        if bytes > limits.bytes && !ids.is_empty() {
            break;
        }
        ids.push(row.try_get_by("id")?);
    }
    Ok(ids)
}

/// The deliveries with their webhooks, in the order of `ids`.
async fn load(
    transaction: &DatabaseTransaction,
    ids: &[Uuid],
    tallies: &mut Tallies,
) -> Result<Vec<Pending>, DbErr> {
    let rows = delivery::Entity::find()
        .filter(delivery::Column::Id.is_in(ids.iter().copied()))
        .all(transaction)
        .await?;
    let webhooks = webhook::Entity::find()
        .filter(webhook::Column::Id.is_in(rows.iter().map(|row| row.webhook_id)))
        .all(transaction)
        .await?;
    // Several deliveries can be of one webhook.
    let webhooks: HashMap<_, _> =
        webhooks.into_iter().map(|row| (row.id, row.read().map(Arc::new))).collect();
    let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();

    let mut deliveries = Vec::with_capacity(ids.len());
    for row in ids.iter().filter_map(|id| rows.remove(id)) {
        let (id, webhook) = (row.id, webhooks.get(&row.webhook_id));
        match pending(row, webhook) {
            Ok(pending) => deliveries.push(pending),
            Err(error) => give_up(transaction, id, &error, tallies).await?,
        }
    }
    Ok(deliveries)
}

fn pending(
    row: delivery::Model,
    webhook: Option<&Result<Arc<Webhook>, Error>>,
) -> Result<Pending, Error> {
    match webhook {
        Some(Ok(webhook)) => row.pending(webhook.clone()),
        Some(Err(error)) => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            Err(Error::internal(cause.unwrap_or_else(|| error.to_string())))
        }
        None => Err(Error::not_found("webhook")),
    }
}

/// Fails a delivery that cannot be read, which would otherwise be the first of
/// its output at every claim.
pub(super) async fn give_up(
    transaction: &DatabaseTransaction,
    id: Uuid,
    error: &Error,
    tallies: &mut Tallies,
) -> Result<(), DbErr> {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(delivery = %id, %error, cause, "a delivery that waits cannot be read");
    let sql = format!(
        "UPDATE delivery SET status = ?, due_at = NULL, held_by = NULL, \
         status_code = COALESCE(status_code, 0), error = ? WHERE id = ? RETURNING {COLUMNS}"
    );
    let failed = delivery::number(DeliveryStatus::Failed);
    let values = [failed.into(), "the stored webhook cannot be read".into(), id.into()];
    let update = with(transaction.get_database_backend(), &sql, values);
    for row in transaction.query_all_raw(update).await? {
        let counted = Counted::read(&row)?;
        *tallies -= counted.while_open();
        *tallies += counted;
    }
    Ok(())
}
