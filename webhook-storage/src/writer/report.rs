//! Writing what clients did with webhooks.

use std::collections::HashSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, Value, prelude::Uuid};
use webhook_core::{
    Error,
    model::DeliveryStatus,
    store::{ClientReport, LogCursor, Reported},
};

use super::{
    Outcome,
    batch::{Answers, Failure},
    settle,
    statement::with,
    tally::{COLUMNS, Counted, Tallies},
};
use crate::{
    codec,
    entity::{delivery::number, millis, moment},
    listing,
};

const SET: &str = "UPDATE delivery SET status = ?, handed_over = ?, attempts = ?, status_code = ?, \
    duration_ns = ?, error = NULL, response_headers = ?, response_body = ?, updated_at = ? \
    WHERE id = ?";

pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    reports: &[(usize, (Uuid, &ClientReport))],
    tallies: &mut Tallies,
    answers: &mut Answers,
) -> Result<(), Failure> {
    for (number, (account, report)) in reports {
        let answer = match write(transaction, *account, report, tallies).await? {
            Some(reported) => Ok(Outcome::Reported(Box::new(reported))),
            None => Err(Error::not_found("log")),
        };
        answers.push((*number, answer));
    }
    Ok(())
}

async fn write(
    transaction: &DatabaseTransaction,
    account: Uuid,
    report: &ClientReport,
    tallies: &mut Tallies,
) -> Result<Option<Reported>, Failure> {
    let backend = transaction.get_database_backend();
    let id = report.id.as_uuid();
    // Whoever comes second waits here and sees what the first one wrote.
    let lock = if backend == DbBackend::Postgres { " FOR UPDATE" } else { "" };
    let find = format!(
        "SELECT webhook_id, ephemeral, due_at, handed_over, {COLUMNS} FROM delivery \
         WHERE id = ? AND account_id = ?{lock}"
    );
    let find = with(backend, &find, [id.into(), account.into()]);
    let Some(row) = transaction.query_one_raw(find).await? else { return Ok(None) };
    let due_at: Option<i64> = row.try_get_by("due_at")?;
    let status: i64 = row.try_get_by("status")?;
    let is_final = crate::entity::delivery::status(status).is_none_or(DeliveryStatus::is_final);
    let handed_over: bool = row.try_get_by("handed_over")?;
    let taken = due_at.is_none() && if handed_over { report.is_outcome() } else { !is_final };
    let before = Counted::read(&row)?;
    if taken {
        let outcome = Written::of(report);
        *tallies -= before;
        *tallies += before.with(
            outcome.status,
            i64::from(report.status_code),
            outcome.attempts,
            outcome.duration_ns,
        );
        transaction.execute_raw(with(backend, SET, outcome.values(handed_over, report))).await?;
        if row.try_get_by("ephemeral")? && outcome.is_final {
            settle::forget(transaction, HashSet::from([row.try_get_by("webhook_id")?])).await?;
        }
    }
    let cursor = LogCursor { created_at: moment(before.created_at), id: report.id };
    let mut loaded = listing::load(transaction, &[cursor], usize::MAX).await?;
    // A webhook that cannot be read has no log to answer with: nothing is written then.
    let log = loaded.logs.pop().ok_or(Failure::Split)?;
    Ok(Some(Reported { log, taken }))
}

/// What is stored of a report, in the database's terms.
struct Written {
    status: i64,
    is_final: bool,
    attempts: i64,
    duration_ns: i64,
}

impl Written {
    fn of(report: &ClientReport) -> Self {
        let status = match report.status {
            DeliveryStatus::Preparing => DeliveryStatus::Received,
            status => status,
        };
        Self {
            status: number(status),
            is_final: status.is_final(),
            attempts: i64::from(report.retries.saturating_add(1)),
            duration_ns: i64::try_from(report.duration.as_nanos()).unwrap_or(i64::MAX),
        }
    }

    fn values(&self, handed_over: bool, report: &ClientReport) -> [Value; 9] {
        [
            self.status.into(),
            (handed_over && !self.is_final).into(),
            self.attempts.into(),
            i64::from(report.status_code).into(),
            self.duration_ns.into(),
            codec::encode_headers(&report.response_headers).into(),
            report.response_body.to_vec().into(),
            millis(report.now).into(),
            report.id.as_uuid().into(),
        ]
    }
}
