//! Writing what came of attempts.

use std::collections::HashSet;

use rusqlite::{CachedStatement, Connection, params};
use uuid::Uuid;
use webhook_core::{Error, model::Attempt, store::Settle};

use super::super::{
    settle::{LOST, count, open},
    tally::Tallies,
};
use crate::{
    codec,
    entity::{
        delivery::{number, text},
        millis, nanos,
    },
};

/// Changes no row when the delivery is lost, which is all that has to be known:
/// `RETURNING` would cost a temporary table for each. The parameters are, in
/// order: the delivery, its node, the moment, then what is written.
pub(in super::super) const SETTLE: &str = "UPDATE delivery SET held_by = NULL, updated_at = ?3, \
    status = ?4, due_at = ?5, attempts = ?6, status_code = ?7, duration_ns = ?8, error = ?9, \
    response_headers = ?10, response_body = ?11, processed = COALESCE(?12, processed), \
    output_execution_id = COALESCE(?13, output_execution_id) \
    WHERE id = ?1 AND due_at IS NOT NULL \
    AND (held_by IS NULL OR held_by = ?2 OR NOT EXISTS (SELECT 1 FROM node_lease \
    WHERE node_id = held_by AND until > ?3))";

pub(super) struct Settling<'a> {
    connection: &'a Connection,
    settle: CachedStatement<'a>,
    /// Webhooks whose content is not to be kept, of deliveries that are final.
    finished: HashSet<Uuid>,
}

impl<'a> Settling<'a> {
    pub(super) fn prepare(connection: &'a Connection) -> rusqlite::Result<Self> {
        let settle = connection.prepare_cached(SETTLE)?;
        Ok(Self { connection, settle, finished: HashSet::new() })
    }

    pub(super) fn write(
        &mut self,
        settle: &Settle,
        tallies: &mut Tallies,
    ) -> rusqlite::Result<Result<(), Error>> {
        let Settle { id, node, now, status, due_at, attempts, attempt, processed, .. } = settle;
        let Attempt { status_code, response_headers, response_body, duration, error } = &**attempt;
        let written = self.settle.execute(params![
            id.as_uuid().into_bytes(),
            node.as_uuid().into_bytes(),
            millis(*now),
            number(*status),
            due_at.filter(|_| !status.is_final()).map(millis),
            attempts,
            status_code,
            nanos(*duration),
            error.as_deref().map(text),
            codec::encode_headers(response_headers),
            &response_body[..],
            processed.as_ref().map(|request| codec::encode_request(request)),
            settle.output_execution_id.map(|id| id.as_uuid().into_bytes()),
        ])?;
        if written == 0 {
            return Ok(Err(Error::conflict(LOST)));
        }
        self.finished.extend(count(settle, tallies));
        Ok(Ok(()))
    }

    /// Removes the content of ephemeral webhooks none of whose deliveries is open.
    pub(super) fn forget(self) -> rusqlite::Result<()> {
        if self.finished.is_empty() {
            return Ok(());
        }
        let webhook = format!(
            "UPDATE webhook SET raw_query = x'', headers = x'', body = x'' WHERE id = ? \
             AND NOT EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id \
             AND {})",
            open()
        );
        let mut webhook = self.connection.prepare_cached(&webhook)?;
        let mut deliveries = self.connection.prepare_cached(
            "UPDATE delivery SET processed = NULL WHERE webhook_id = ? AND processed IS NOT NULL",
        )?;
        for id in self.finished {
            if webhook.execute([id.into_bytes()])? > 0 {
                deliveries.execute([id.into_bytes()])?;
            }
        }
        Ok(())
    }
}
