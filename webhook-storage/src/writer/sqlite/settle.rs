//! Writing what came of attempts.

use std::collections::HashSet;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};
use uuid::Uuid;
use webhook_core::{Error, model::Attempt, store::Settle};

use super::super::{
    settle::LOST,
    tally::{Counted, Tallies},
};
use crate::{
    codec,
    entity::{
        delivery::{final_numbers, number, text},
        millis,
    },
};

/// Finds the delivery by its row, unless it is lost, with what its outcome does
/// not say. (`RETURNING` would do it in one statement, and costs a temporary
/// table for each.)
pub(in super::super) const FIND: &str = "SELECT rowid, webhook_id, ephemeral, account_id, \
    bucket_id, output_id, created_at FROM delivery WHERE id = ?1 AND due_at IS NOT NULL \
    AND (held_by IS NULL OR held_by = ?2 OR NOT EXISTS (SELECT 1 FROM node_lease \
    WHERE node_id = held_by AND until > ?3))";

const SETTLE: &str = "UPDATE delivery SET held_by = NULL, updated_at = ?2, \
    status = ?3, due_at = ?4, attempts = ?5, status_code = ?6, duration_ns = ?7, error = ?8, \
    response_headers = ?9, response_body = ?10, processed = COALESCE(?11, processed), \
    output_execution_id = COALESCE(?12, output_execution_id) WHERE rowid = ?1";

pub(super) struct Settling<'a> {
    connection: &'a Connection,
    find: CachedStatement<'a>,
    settle: CachedStatement<'a>,
    /// Webhooks whose content is not to be kept, of deliveries that are final.
    finished: HashSet<Uuid>,
}

/// What the row says that the outcome does not.
struct Open {
    rowid: i64,
    webhook_id: Uuid,
    ephemeral: bool,
    counted: Counted,
}

impl Open {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let output_id: Option<[u8; 16]> = row.get(5)?;
        let output_id = output_id.map(Uuid::from_bytes);
        let uuid = |column| row.get(column).map(Uuid::from_bytes);
        Ok(Self {
            rowid: row.get(0)?,
            webhook_id: uuid(1)?,
            ephemeral: row.get(2)?,
            counted: Counted::open(uuid(3)?, uuid(4)?, output_id, row.get(6)?),
        })
    }
}

impl<'a> Settling<'a> {
    pub(super) fn prepare(connection: &'a Connection) -> rusqlite::Result<Self> {
        let find = connection.prepare_cached(FIND)?;
        let settle = connection.prepare_cached(SETTLE)?;
        Ok(Self { connection, find, settle, finished: HashSet::new() })
    }

    pub(super) fn write(
        &mut self,
        settle: &Settle,
        tallies: &mut Tallies,
    ) -> rusqlite::Result<Result<(), Error>> {
        let Settle { id, node, now, status, due_at, attempts, attempt, processed, .. } = settle;
        let Attempt { status_code, response_headers, response_body, duration, error } = &**attempt;
        let attempts = i64::from(*attempts);
        let duration_ns = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        let delivery =
            params![id.as_uuid().into_bytes(), node.as_uuid().into_bytes(), millis(*now)];
        let Some(open) = self.find.query_row(delivery, Open::read).optional()? else {
            return Ok(Err(Error::conflict(LOST)));
        };
        let Open { rowid, webhook_id, ephemeral, counted } = open;
        self.settle.execute(params![
            rowid,
            millis(*now),
            number(*status),
            due_at.filter(|_| !status.is_final()).map(millis),
            attempts,
            status_code,
            duration_ns,
            error.as_deref().map(text),
            codec::encode_headers(response_headers),
            &response_body[..],
            processed.as_ref().map(|request| codec::encode_request(request)),
            settle.output_execution_id.map(|id| id.as_uuid().into_bytes()),
        ])?;
        *tallies -= counted;
        *tallies += counted.with(number(*status), i64::from(*status_code), attempts, duration_ns);
        if ephemeral && status.is_final() {
            self.finished.insert(webhook_id);
        }
        Ok(Ok(()))
    }

    /// Removes the content of ephemeral webhooks whose deliveries are all final.
    pub(super) fn forget(self) -> rusqlite::Result<()> {
        if self.finished.is_empty() {
            return Ok(());
        }
        let finals = final_numbers().map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let webhook = format!(
            "UPDATE webhook SET raw_query = x'', headers = x'', body = x'' WHERE id = ? \
             AND NOT EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id \
             AND status NOT IN ({finals}))"
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
