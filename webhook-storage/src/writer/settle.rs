//! Writing what came of attempts.

use std::collections::HashSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Value, prelude::Uuid};
use webhook_core::{
    Error,
    model::Attempt,
    store::{Origin, Settle},
};

use super::{
    Outcome,
    batch::{Answers, Failure},
    statement::{over_all, over_set, with},
    tally::{Counted, Tallies},
};
use crate::{
    codec,
    entity::{
        delivery::{final_numbers, number, text},
        millis, nanos,
    },
};

/// The columns of the outcomes are, in order: the delivery, its node, the
/// moment, then what is written.
const SETTLE: &str = "UPDATE delivery SET held_by = NULL, updated_at = s.column3, \
    status = s.column4, due_at = s.column5, attempts = s.column6, status_code = s.column7, \
    duration_ns = s.column8, error = s.column9, response_headers = s.column10, \
    response_body = s.column11, processed = COALESCE(s.column12, processed), \
    output_execution_id = COALESCE(s.column13, output_execution_id) FROM (VALUES ";

const IF_NOT_LOST: &str = ") AS s WHERE id = s.column1 AND due_at IS NOT NULL \
    AND (held_by IS NULL OR held_by = s.column2 OR NOT EXISTS (SELECT 1 FROM node_lease \
    WHERE node_id = held_by AND until > s.column3)) RETURNING id";

/// What is said of a delivery that cannot be settled.
pub(super) const LOST: &str = "the delivery is not pending, or held by another node";

pub(super) async fn apply(
    transaction: &DatabaseTransaction,
    mut settles: Vec<(usize, &Settle)>,
    tallies: &mut Tallies,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let mut finished = HashSet::new();
    while !settles.is_empty() {
        // Of several outcomes of one delivery the first counts; the others see it.
        let mut seen = HashSet::with_capacity(settles.len());
        let again = settles.extract_if(.., |(_, settle)| !seen.insert(settle.id)).collect();
        let written = write(transaction, &settles).await?;
        for (number, settle) in settles {
            let answer = if written.contains(&settle.id.as_uuid()) {
                finished.extend(count(settle, tallies));
                Ok(Outcome::Written)
            } else {
                Err(Error::conflict(LOST))
            };
            answers.push((number, answer));
        }
        settles = again;
    }
    Ok(forget(transaction, finished).await?)
}

/// The deliveries that were written.
async fn write(
    transaction: &DatabaseTransaction,
    settles: &[(usize, &Settle)],
) -> Result<HashSet<Uuid>, DbErr> {
    let backend = transaction.get_database_backend();
    let mut written = HashSet::with_capacity(settles.len());
    let rows = settles.iter().map(|(_, settle)| row(settle)).collect();
    for statement in over_all(backend, SETTLE, rows, IF_NOT_LOST) {
        for row in transaction.query_all_raw(statement).await? {
            written.insert(row.try_get_by("id")?);
        }
    }
    Ok(written)
}

/// Counts an outcome that was written. The webhook, when its content is to go
/// unless other deliveries need it.
pub(super) fn count(settle: &Settle, tallies: &mut Tallies) -> Option<Uuid> {
    let Settle { origin, status, attempts, attempt, .. } = settle;
    let Origin { webhook_id, ephemeral, account_id, bucket_id, output_id, created_at } = *origin;
    let open = Counted::open(
        account_id.as_uuid(),
        bucket_id.as_uuid(),
        output_id.map(|id| id.as_uuid()),
        millis(created_at),
    );
    *tallies -= open;
    *tallies += open.with(
        number(*status),
        attempt.status_code.into(),
        (*attempts).into(),
        nanos(attempt.duration),
    );
    (ephemeral && status.is_final()).then(|| webhook_id.as_uuid())
}

fn row(settle: &Settle) -> [Value; 13] {
    let Settle { id, node, now, status, due_at, attempts, attempt, processed, .. } = settle;
    let Attempt { status_code, response_headers, response_body, duration, error } = &**attempt;
    [
        id.as_uuid().into(),
        node.as_uuid().into(),
        millis(*now).into(),
        number(*status).into(),
        due_at.filter(|_| !status.is_final()).map(millis).into(),
        i64::from(*attempts).into(),
        i64::from(*status_code).into(),
        nanos(*duration).into(),
        error.as_deref().map(text).into(),
        codec::encode_headers(response_headers).into(),
        response_body.to_vec().into(),
        processed.as_ref().map(|request| codec::encode_request(request)).into(),
        settle.output_execution_id.map(|id| id.as_uuid()).into(),
    ]
}

/// The condition on a delivery that may be sent yet, for which its webhook's
/// content is kept. One that was handed over will not be, whatever is reported.
pub(super) fn open() -> String {
    let finals = final_numbers().map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    format!("status NOT IN ({finals}) AND NOT handed_over")
}

/// Whether the content of an ephemeral webhook is gone: none of its deliveries is open.
pub(super) async fn is_erased(
    transaction: &DatabaseTransaction,
    webhook: Uuid,
) -> Result<bool, DbErr> {
    let sql = format!("SELECT 1 FROM delivery WHERE webhook_id = ? AND {}", open());
    let open = with(transaction.get_database_backend(), &sql, [webhook.into()]);
    Ok(transaction.query_one_raw(open).await?.is_none())
}

/// Removes the content of ephemeral webhooks none of whose deliveries is open.
pub(crate) async fn forget(
    transaction: &DatabaseTransaction,
    webhooks: HashSet<Uuid>,
) -> Result<(), DbErr> {
    let backend = transaction.get_database_backend();
    let mut webhooks: Vec<_> = webhooks.into_iter().collect();
    // In one order everywhere, so that two transactions do not lock crosswise.
    webhooks.sort_unstable();
    let open = open();
    for some in webhooks.chunks(super::statement::MAX_ROWS) {
        let set = || some.iter().map(|id| Value::from(*id));
        if backend == DbBackend::Postgres {
            // Of two transactions that each settle one of the last two
            // deliveries, neither sees the other's: the later one has to wait.
            let lock = "SELECT id FROM webhook WHERE id IN ";
            let lock = over_set(backend, lock, Vec::new(), set(), " ORDER BY id FOR UPDATE");
            transaction.query_all_raw(lock).await?;
        }
        let pending = format!(
            " AND NOT EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id \
             AND {open}) RETURNING id"
        );
        let head = "UPDATE webhook SET raw_query = '', headers = '', body = '' WHERE id IN ";
        let head = if backend == DbBackend::Sqlite { &head.replace("''", "x''") } else { head };
        let forgotten = over_set(backend, head, Vec::new(), set(), &pending);
        let forgotten = transaction.query_all_raw(forgotten).await?;
        if forgotten.is_empty() {
            continue;
        }
        let ids = forgotten.iter().map(|row| row.try_get_by::<Uuid, _>("id"));
        let ids = ids.collect::<Result<Vec<_>, _>>()?.into_iter().map(Value::from);
        let head = "UPDATE delivery SET processed = NULL WHERE webhook_id IN ";
        let tail = " AND processed IS NOT NULL";
        transaction.execute_raw(over_set(backend, head, Vec::new(), ids, tail)).await?;
    }
    Ok(())
}
