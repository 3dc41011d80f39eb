//! Writing what clients did with webhooks.

use std::collections::HashSet;

use sea_orm::prelude::Uuid;
use webhook_core::{
    Error,
    model::DeliveryStatus,
    store::{
        ClientReport, LogCursor, Reported,
        tally::{CountedLog, LogCounters},
    },
};

use super::{
    super::job::{Context, Failure, InAccount, Op, Reply},
    claim::Taken,
    settle,
};
use crate::{
    codec,
    entity::{delivery, millis, moment, nanos},
    fault::{DatabaseError, ErrorClass},
    listing,
    tally::{COLUMNS, counted},
    tx::{Param, Row, Tx, with},
};

const SET: &str = "UPDATE delivery SET status = ?, handed_over = ?, leased_until = ?, attempts = ?, \
    status_code = ?, duration_ns = ?, error = NULL, response_headers = ?, response_body = ?, updated_at = ? \
    WHERE id = ?";

impl Op for InAccount<ClientReport> {
    type Answer = Box<Taken<Reported>>;

    fn size_bytes(&self) -> usize {
        256 + self.what.response_body.len()
    }

    fn error_subject(_class: ErrorClass) -> &'static str {
        "log"
    }

    async fn write(&self, tx: &impl Tx, context: &mut Context) -> Result<Reply<Self>, Failure> {
        let reported = write(tx, self.account, &self.what, &mut context.counters).await?;
        Ok(reported.map(Box::new).ok_or_else(|| Error::not_found("log")))
    }
}

/// A delivery as a report finds it.
struct Found {
    webhook_id: Uuid,
    ephemeral: bool,
    /// Whether a relay has still to attempt it.
    is_pending: bool,
    handed_over: bool,
    leased_until: Option<i64>,
    is_final: bool,
    created_at: i64,
    counted: CountedLog,
}

impl Found {
    fn read(row: &Row<'_>) -> Result<Self, DatabaseError> {
        let status = delivery::status(row.get("status")?);
        Ok(Self {
            webhook_id: row.get("webhook_id")?,
            ephemeral: row.get("ephemeral")?,
            is_pending: row.get::<Option<i64>>("due_at")?.is_some(),
            handed_over: row.get("handed_over")?,
            leased_until: row.get("leased_until")?,
            is_final: status.is_none_or(DeliveryStatus::is_final),
            created_at: row.get("created_at")?,
            counted: counted(row)?,
        })
    }
}

async fn write(
    tx: &impl Tx,
    account: Uuid,
    report: &ClientReport,
    counters: &mut LogCounters,
) -> Result<Option<Taken<Reported>>, Failure> {
    let find = format!(
        "SELECT webhook_id, ephemeral, due_at, handed_over, leased_until, {COLUMNS} FROM delivery \
         WHERE id = ? AND account_id = ?{}",
        tx.on_postgres(" FOR UPDATE")
    );
    let find = with(find, [report.id.as_uuid().into(), account.into()]);
    let Some(found) = tx.query_one(find, Found::read).await? else { return Ok(None) };
    let is_awaited = if found.handed_over { report.is_outcome() } else { !found.is_final };
    let taken = !found.is_pending && is_awaited;
    if taken {
        let status = match report.status {
            DeliveryStatus::Preparing => DeliveryStatus::Received,
            status => status,
        };
        let attempts = report.retries.saturating_add(1);
        let outcome = found.counted.with_outcome(
            status,
            report.status_code,
            attempts,
            nanos(report.duration),
        );
        counters.replace(found.counted, outcome);
        let values: [Param<'_>; 10] = [
            delivery::number(status).into(),
            (found.handed_over && !status.is_final()).into(),
            report.leased_until(found.leased_until.map(moment)).map(millis).into(),
            i64::from(attempts).into(),
            i64::from(report.status_code).into(),
            nanos(report.duration).into(),
            codec::encode_headers(&report.response_headers).into(),
            report.response_body[..].into(),
            millis(report.now).into(),
            report.id.as_uuid().into(),
        ];
        tx.execute(with(SET, values)).await?;
        if found.ephemeral && status.is_final() {
            settle::forget(tx, HashSet::from([found.webhook_id])).await?;
        }
    }
    let cursor = LogCursor { created_at: moment(found.created_at), id: report.id };
    let mut loaded = listing::load(tx, &[cursor], usize::MAX).await?;
    // A webhook that cannot be read has no log to answer with: nothing is written then.
    let log = loaded.logs.pop().ok_or(Failure::Split)?;
    Ok(Some(Taken { what: Reported::new(log, taken), objects: loaded.objects }))
}
