//! Storing webhooks with their deliveries.

use rusqlite::{CachedStatement, Connection, params};
use webhook_core::{
    model::{Request, Webhook},
    store::{Accept, Accepted},
};

use super::super::{accept::counted, tally::Tallies};
use crate::{
    codec,
    entity::{delivery, millis},
};

/// One that is stored already changes nothing.
const WEBHOOK: &str = "INSERT INTO webhook (id, account_id, bucket_id, input_id, method, \
    extra_path, raw_query, headers, remote_addr, secure, ephemeral, input_execution_id, \
    received_at, body) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO NOTHING";

const DELIVERY: &str = "INSERT INTO delivery (id, webhook_id, account_id, bucket_id, output_id, \
    internal, ephemeral, status, due_at, held_by, created_at, updated_at, status_code, error) \
    VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

pub(super) struct Accepting<'a> {
    webhook: CachedStatement<'a>,
    delivery: CachedStatement<'a>,
}

impl<'a> Accepting<'a> {
    pub(super) fn prepare(connection: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            webhook: connection.prepare_cached(WEBHOOK)?,
            delivery: connection.prepare_cached(DELIVERY)?,
        })
    }

    /// Stores all of `accept`, unless it has been stored before.
    pub(super) fn write(
        &mut self,
        accept: &Accept,
        tallies: &mut Tallies,
    ) -> rusqlite::Result<Accepted> {
        if !self.write_webhook(accept)? {
            return Ok(Accepted::Known);
        }
        tallies.receive(&accept.webhook);
        for new in &accept.deliveries {
            let row = delivery::Model::of(&accept.webhook, new);
            self.write_delivery(&row)?;
            *tallies += counted(&row);
        }
        Ok(Accepted::Stored)
    }

    /// `false` when it is stored already, with its deliveries.
    fn write_webhook(&mut self, accept: &Accept) -> rusqlite::Result<bool> {
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
        let inserted = self.webhook.execute(params![
            id.as_uuid().into_bytes(),
            account_id.as_uuid().into_bytes(),
            bucket_id.as_uuid().into_bytes(),
            input_id.as_uuid().into_bytes(),
            method.as_str(),
            extra_path.as_bytes(),
            raw_query,
            headers,
            remote_addr.map(|addr| addr.to_string()),
            secure,
            ephemeral,
            input_execution_id.map(|id| id.as_uuid().into_bytes()),
            millis(*received_at),
            body,
        ])?;
        Ok(inserted > 0)
    }

    fn write_delivery(&mut self, row: &delivery::Model) -> rusqlite::Result<()> {
        self.delivery.execute(params![
            row.id.into_bytes(),
            row.webhook_id.into_bytes(),
            row.account_id.into_bytes(),
            row.bucket_id.into_bytes(),
            row.output_id.map(|id| id.into_bytes()),
            row.internal,
            row.ephemeral,
            row.status,
            row.due_at,
            row.held_by.map(|id| id.into_bytes()),
            row.created_at,
            row.updated_at,
            row.status_code,
            row.error,
        ])?;
        Ok(())
    }
}
