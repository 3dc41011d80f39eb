//! Logs by their IDs.

use std::collections::HashMap;

use webhook_core::{
    DeliveryId, Error,
    model::{Log, LogHead, Webhook},
    store::LogCursor,
};

use crate::{
    entity::{Table, delivery, head, webhook},
    fault::DatabaseError,
    objects::StoredBody,
    tx::{Param, Read, over_set},
};

/// How many logs are read at once when nothing is known of their size, which is
/// by how many a bound on bytes is overshot at worst.
const FEW: usize = 16;

/// The most that are read at once, when all of them are known to be small.
const MANY: usize = 128;

/// How many bytes of logs are stored, for which neither database reads values.
/// Each query costs switches between threads, which wait for a turn where the
/// processors are busy; so a page of small logs is read with few.
const SIZE: &str = "SELECT CAST(SUM(COALESCE((SELECT LENGTH(extra_path) + LENGTH(raw_query) \
    + LENGTH(headers) + COALESCE(object_bytes, LENGTH(body)) FROM webhook \
    WHERE webhook.id = webhook_id), 0) + COALESCE(LENGTH(response_headers), 0) \
    + COALESCE(LENGTH(response_body), 0) + COALESCE(LENGTH(processed), 0)) AS bigint) AS bytes \
    FROM delivery WHERE id IN ";

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// The logs in the order of the IDs, without those that are gone meanwhile. Bodies that
    /// are objects are still to be read.
    pub(crate) logs: Vec<Log>,
    /// Those bodies.
    pub(crate) objects: Vec<StoredBody>,
    /// Those that cannot be read.
    pub(crate) broken: Vec<(DeliveryId, Error)>,
    /// Whether the bytes ran out before the IDs.
    pub(crate) is_cut: bool,
}

/// Reads the logs until they are more than so many bytes; at least one.
pub(crate) async fn load(
    tx: &impl Read,
    cursors: &[LogCursor],
    max_bytes: usize,
) -> Result<Loaded, DatabaseError> {
    let mut loaded = Loaded::default();
    let mut bytes = 0_usize;
    let at_once = if fit(tx, cursors, max_bytes).await? { MANY } else { FEW };
    for some in cursors.chunks(at_once) {
        for (id, log) in read(tx, some).await? {
            match log {
                Ok((log, object)) => {
                    let elsewhere = object.map_or(0, |object| object.bytes);
                    bytes = bytes.saturating_add(size_bytes(&log)).saturating_add(elsewhere);
                    if bytes > max_bytes && !loaded.logs.is_empty() {
                        loaded.is_cut = true;
                        return Ok(loaded);
                    }
                    loaded.logs.push(log);
                    loaded.objects.extend(object);
                }
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::error!(delivery = %id, %error, cause, "a log cannot be read");
                    loaded.broken.push((id, error));
                }
            }
        }
    }
    Ok(loaded)
}

/// What lists show of the logs, in the order of the IDs, without those that are gone meanwhile
/// or cannot be read.
pub(crate) async fn heads(
    tx: &impl Read,
    cursors: &[LogCursor],
) -> Result<Vec<LogHead>, DatabaseError> {
    let mut rows = head::find(tx, cursors.iter().map(|cursor| cursor.id.as_uuid())).await?;
    let readable = cursors.iter().filter_map(|LogCursor { id, .. }| {
        let said = |error: &Error| {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            tracing::error!(delivery = %id, %error, cause, "a log cannot be read");
        };
        rows.remove(&id.as_uuid())?.read().inspect_err(said).ok()
    });
    Ok(readable.collect())
}

/// A log, and its body if that is an object.
type LoadedLog = (Log, Option<StoredBody>);

/// Whether the logs are known to be no more than so many bytes as they are
/// stored, which is asked only where an answer saves queries.
async fn fit(
    tx: &impl Read,
    cursors: &[LogCursor],
    max_bytes: usize,
) -> Result<bool, DatabaseError> {
    if !(FEW + 1..=MANY).contains(&cursors.len()) {
        return Ok(false);
    }
    let ids = cursors.iter().map(|cursor| Param::from(cursor.id.as_uuid()));
    let bytes = tx.query_one(over_set(SIZE, [], ids, ""), |row| row.get::<Option<i64>>("bytes"));
    let bytes = bytes.await?.flatten();
    Ok(usize::try_from(bytes.unwrap_or_default()).is_ok_and(|bytes| bytes <= max_bytes))
}

fn size_bytes(log: &Log) -> usize {
    let response = log.delivery.last.as_ref().map_or(0, |last| last.response_body.len());
    let processed = log.delivery.processed.as_ref().map_or(0, |request| request.size_bytes());
    log.webhook.request.size_bytes().saturating_add(response).saturating_add(processed)
}

async fn read(
    tx: &impl Read,
    cursors: &[LogCursor],
) -> Result<Vec<(DeliveryId, Result<LoadedLog, Error>)>, DatabaseError> {
    let rows = delivery::Model::find(tx, cursors.iter().map(|cursor| cursor.id.as_uuid())).await?;
    let webhooks = webhook::Model::find(tx, rows.iter().map(|row| row.webhook_id)).await?;
    let webhooks: HashMap<_, _> = webhooks.into_iter().map(|row| (row.id, row)).collect();
    let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();
    let rows = cursors.iter().filter_map(|cursor| rows.remove(&cursor.id.as_uuid()));
    let log = |row: delivery::Model| {
        let id = DeliveryId::from_uuid(row.id);
        let webhook = webhooks.get(&row.webhook_id).cloned();
        (
            id,
            log(row, webhook.ok_or_else(|| Error::not_found("webhook")).and_then(|row| row.read())),
        )
    };
    Ok(rows.map(log).collect())
}

fn log(
    row: delivery::Model,
    webhook: Result<(Webhook, Option<StoredBody>), Error>,
) -> Result<LoadedLog, Error> {
    let (webhook, object) = webhook?;
    Ok((Log { webhook, delivery: row.read()? }, object))
}
