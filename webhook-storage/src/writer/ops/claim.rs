//! Taking pending deliveries for a node.

use std::{collections::HashMap, sync::Arc};

use sea_orm::prelude::Uuid;
use webhook_core::{
    Error,
    model::{DeliveryStatus, Webhook},
    store::{Claim, ClaimOrder, Claimed, Pending, tally::LogCounters},
};

use super::{
    super::job::{Context, Failure, Op},
    lease,
};
use crate::{
    entity::{Table, delivery, millis, moment, webhook},
    fault::DatabaseError,
    objects::StoredBody,
    tally::{COLUMNS, counted},
    tx::{Param, Read, Row, Tx, over_set, with},
};

/// The most deliveries of one claim.
const MAX_DELIVERIES: usize = 1_024;

/// The deliveries that no node holds, and how much each would take to hand out. Their webhooks
/// are found by their keys: a join may read each day of a log that is divided by day.
const FREE: &str = "SELECT d.id AS id, CAST(COALESCE((SELECT \
    COALESCE(object_bytes, octet_length(body)) + octet_length(headers) FROM webhook \
    WHERE webhook.id = d.webhook_id), 0) + COALESCE(octet_length(d.processed), 0) AS bigint) \
    AS size FROM delivery d WHERE d.output_id = ? AND d.due_at IS NOT NULL AND d.held_by IS NULL \
    AND NOT EXISTS (SELECT 1 FROM deleted_output WHERE output_id = ?)";

const BY_DUE: &str = " AND d.due_at <= ? ORDER BY d.due_at, d.id LIMIT ?";
const BY_RECEIPT: &str = " ORDER BY d.id LIMIT ?";

/// Skips what another claim is about to take instead of waiting for it.
const LOCKED: &str = " FOR UPDATE OF d SKIP LOCKED";

pub(crate) const NEXT_DUE: &str = "SELECT MIN(due_at) AS due_at FROM delivery \
    WHERE output_id = ? AND due_at IS NOT NULL AND held_by IS NULL \
    AND NOT EXISTS (SELECT 1 FROM deleted_output WHERE output_id = ?)";

#[cfg(all(test, feature = "sqlite"))]
pub(crate) fn by_due() -> String {
    [FREE, BY_DUE].concat()
}

#[cfg(all(test, feature = "sqlite"))]
pub(crate) fn by_receipt() -> String {
    [FREE, BY_RECEIPT].concat()
}

/// What was taken out, with the bodies that are still to be read.
#[derive(Debug)]
pub(crate) struct Taken<T> {
    /// What was taken. Webhooks whose bodies are objects are without them.
    pub(crate) what: T,
    /// Those bodies.
    pub(crate) objects: Vec<StoredBody>,
}

impl Op for Claim {
    type Answer = Taken<Claimed>;

    const IS_TAKEN_BACK: bool = true;

    fn size_bytes(&self) -> usize {
        128
    }

    async fn apply(
        tx: &impl Tx,
        claims: &[Self],
        context: &mut Context,
    ) -> Result<Vec<Result<Taken<Claimed>, Error>>, Failure> {
        let mut replies = Vec::with_capacity(claims.len());
        let mut freed_at = None;
        for claim in claims {
            if freed_at != Some(claim.now) {
                lease::free_lapsed(tx, claim.now).await?;
                freed_at = Some(claim.now);
            }
            replies.push(Ok(take(tx, claim, context).await?));
        }
        Ok(replies)
    }

    async fn take_back(
        &self,
        tx: &impl Tx,
        taken: Taken<Claimed>,
        _context: &mut Context,
    ) -> Result<(), DatabaseError> {
        lease::give_back(tx, self.node, &taken.what.deliveries, None).await
    }
}

async fn take(
    tx: &impl Tx,
    claim: &Claim,
    context: &mut Context,
) -> Result<Taken<Claimed>, DatabaseError> {
    let ids = candidates(tx, claim, context.claim_bytes).await?;
    let (deliveries, objects) = if ids.is_empty() {
        (Vec::new(), Vec::new())
    } else {
        let head = "UPDATE delivery SET held_by = ?, status = ?, updated_at = ? WHERE id IN ";
        let values = [
            claim.node.as_uuid().into(),
            delivery::number(DeliveryStatus::Preparing).into(),
            millis(claim.now).into(),
        ];
        tx.execute(over_set(head, values, ids.iter().map(|id| Param::from(*id)), "")).await?;
        load(tx, &ids, &mut context.counters).await?
    };
    let next_due = with(NEXT_DUE, [(); 2].map(|()| claim.output_id.as_uuid().into()));
    let next_due = tx.query_one(next_due, |row| row.get::<Option<i64>>("due_at")).await?;
    Ok(Taken { what: Claimed::new(deliveries, next_due.flatten().map(moment)), objects })
}

/// What the claim takes, in its order.
async fn candidates(
    tx: &impl Read,
    claim: &Claim,
    max_bytes: usize,
) -> Result<Vec<Uuid>, DatabaseError> {
    let limit = i64::try_from(claim.limit.min(MAX_DELIVERIES)).unwrap_or_default();
    let mut values = Vec::from([(); 2].map(|()| Param::from(claim.output_id.as_uuid())));
    let order = match claim.order {
        ClaimOrder::Due => {
            values.push(millis(claim.now).into());
            BY_DUE
        }
        ClaimOrder::Receipt => BY_RECEIPT,
    };
    values.push(limit.into());
    let query = with([FREE, order, tx.on_postgres(LOCKED)].concat(), values);
    let free = |row: &Row<'_>| Ok((row.get::<Uuid>("id")?, row.get::<i64>("size")?));

    let (mut ids, mut bytes) = (Vec::new(), 0_usize);
    for (id, size) in tx.query(query, free).await? {
        bytes = bytes.saturating_add(usize::try_from(size).unwrap_or_default());
        if bytes > max_bytes && !ids.is_empty() {
            break;
        }
        ids.push(id);
    }
    Ok(ids)
}

/// The deliveries with their webhooks, in the order of `ids`, and the bodies that are objects.
async fn load(
    tx: &impl Tx,
    ids: &[Uuid],
    counters: &mut LogCounters,
) -> Result<(Vec<Pending>, Vec<StoredBody>), DatabaseError> {
    let rows = delivery::Model::find(tx, ids.iter().copied()).await?;
    let webhooks = webhook::Model::find(tx, rows.iter().map(|row| row.webhook_id)).await?;
    // Several deliveries can be of one webhook.
    let mut objects = Vec::new();
    let read = |row: webhook::Model| {
        let id = row.id;
        let webhook = row.read().map(|(webhook, object)| {
            objects.extend(object);
            Arc::new(webhook)
        });
        (id, webhook)
    };
    let webhooks: HashMap<_, _> = webhooks.into_iter().map(read).collect();
    let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();

    let mut deliveries = Vec::with_capacity(ids.len());
    for row in ids.iter().filter_map(|id| rows.remove(id)) {
        let (id, webhook) = (row.id, webhooks.get(&row.webhook_id));
        match pending(row, webhook) {
            Ok(pending) => deliveries.push(pending),
            Err(error) => give_up(tx, id, &error, UNREADABLE, counters).await?,
        }
    }
    Ok((deliveries, objects))
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

/// What the log of a delivery says whose row, or whose webhook's, does not read.
pub(super) const UNREADABLE: &str = "the stored webhook cannot be read";

/// Fails a delivery that cannot be read, which would otherwise be the first of
/// its output at every claim. `said` is what its log says.
pub(crate) async fn give_up(
    tx: &impl Tx,
    id: Uuid,
    error: &Error,
    said: &'static str,
    counters: &mut LogCounters,
) -> Result<(), DatabaseError> {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(delivery = %id, %error, cause, "a delivery that waits cannot be read");
    let sql = format!(
        "UPDATE delivery SET status = ?, due_at = NULL, held_by = NULL, \
         status_code = COALESCE(status_code, 0), error = ? WHERE id = ? RETURNING {COLUMNS}"
    );
    let failed = delivery::number(DeliveryStatus::Failed);
    let values = [failed.into(), said.into(), id.into()];
    for failed in tx.query(with(sql, values), counted).await? {
        counters.replace(failed.while_open(), failed);
    }
    Ok(())
}
