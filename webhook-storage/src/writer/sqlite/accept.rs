//! Storing webhooks with their deliveries.

use std::sync::LazyLock;

use rusqlite::Connection;
use webhook_core::{
    model::{Request, Webhook},
    store::{Accept, Accepted},
};

use super::{
    super::{accept, tally::Tallies},
    insert::{Insert, Values},
};
use crate::{
    codec,
    entity::{delivery, millis},
};

static WEBHOOK: LazyLock<Insert> =
    LazyLock::new(|| Insert::new(accept::WEBHOOK, 14, accept::UNLESS_STORED));

static DELIVERY: LazyLock<Insert> = LazyLock::new(|| Insert::new(accept::DELIVERY, 14, ""));

/// Stores all of `accepts`, none of which may have been stored before, unless
/// there is only one.
pub(super) fn write(
    connection: &Connection,
    accepts: &[&Accept],
    tallies: &mut Tallies,
) -> rusqlite::Result<Accepted> {
    let inserted = WEBHOOK.write(connection, accepts, |accept, values| webhook(accept, values))?;
    match (inserted, accepts.len()) {
        (0, 1) => return Ok(Accepted::Known),
        (inserted, all) if inserted < all => {
            return Err(rusqlite::Error::StatementChangedRows(inserted));
        }
        _ => {}
    }
    let mut rows = Vec::with_capacity(accepts.len());
    for accept in accepts {
        tallies.receive(&accept.webhook);
        let of = |new| delivery::Model::of(&accept.webhook, new);
        rows.extend(accept.deliveries.iter().map(of));
    }
    rows.sort_unstable_by_key(|row| row.id);
    DELIVERY.write(connection, &rows, delivery)?;
    for row in &rows {
        *tallies += accept::counted(row);
    }
    Ok(Accepted::Stored)
}

fn webhook(accept: &Accept, values: &mut Values<'_, '_>) -> rusqlite::Result<()> {
    let Accept { webhook, deliveries } = accept;
    let Webhook { id, account_id, bucket_id, input_id, request, remote_addr, .. } = &**webhook;
    let Webhook { secure, ephemeral, input_execution_id, received_at, .. } = &**webhook;
    let Request { method, extra_path, raw_query, headers, body } = request;
    // What is final in every part when it comes is not going to be sent.
    let needed = deliveries.iter().any(|delivery| !delivery.status.is_final());
    let (raw_query, headers, body) = match needed || !ephemeral {
        true => (raw_query.as_bytes(), codec::encode_headers(headers), &body[..]),
        false => (&[][..], Vec::new(), &[][..]),
    };
    values.bind(id.as_uuid().into_bytes())?;
    values.bind(account_id.as_uuid().into_bytes())?;
    values.bind(bucket_id.as_uuid().into_bytes())?;
    values.bind(input_id.as_uuid().into_bytes())?;
    values.bind(method.as_str())?;
    values.bind(extra_path.as_bytes())?;
    values.bind(raw_query)?;
    values.bind(headers)?;
    values.bind(remote_addr.map(|addr| addr.to_string()))?;
    values.bind(secure)?;
    values.bind(ephemeral)?;
    values.bind(input_execution_id.map(|id| id.as_uuid().into_bytes()))?;
    values.bind(millis(*received_at))?;
    values.bind(body)
}

fn delivery(row: &delivery::Model, values: &mut Values<'_, '_>) -> rusqlite::Result<()> {
    values.bind(row.id.into_bytes())?;
    values.bind(row.webhook_id.into_bytes())?;
    values.bind(row.account_id.into_bytes())?;
    values.bind(row.bucket_id.into_bytes())?;
    values.bind(row.output_id.map(|id| id.into_bytes()))?;
    values.bind(row.internal)?;
    values.bind(row.ephemeral)?;
    values.bind(row.status)?;
    values.bind(row.due_at)?;
    values.bind(row.held_by.map(|id| id.into_bytes()))?;
    values.bind(row.created_at)?;
    values.bind(row.updated_at)?;
    values.bind(row.status_code)?;
    values.bind(row.error.as_deref())
}
