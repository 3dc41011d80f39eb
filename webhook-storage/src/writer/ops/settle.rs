//! Writing what came of attempts.

use std::{collections::HashSet, sync::LazyLock};

use sea_orm::{DbBackend, prelude::Uuid};
use webhook_core::{
    Error,
    model::Attempt,
    store::{
        Settle,
        tally::{CountedLog, LogCounters},
    },
};

use super::{
    super::job::{Context, Failure, Op},
    record::{self, Record, WithRuns},
};
use crate::{
    codec,
    entity::{
        delivery::{final_numbers, number, text},
        millis, nanos,
    },
    fault::DatabaseError,
    tx::{MAX_ROWS, Param, Read, Tx, UpdateEach, over_set, with},
};

/// Writes the outcome of a delivery that is pending and that no other node holds whose lease
/// lasts.
pub(crate) static SETTLE: LazyLock<UpdateEach<15>> = LazyLock::new(|| {
    UpdateEach::new(
        "delivery",
        "id, node, now, status, due_at, attempts, status_code, duration_ns, error, reason, \
         response_headers, response_body, history, processed, output_execution_id",
        "held_by = NULL, updated_at = s.now, status = s.status, due_at = s.due_at, \
         attempts = s.attempts, status_code = s.status_code, duration_ns = s.duration_ns, \
         error = s.error, reason = s.reason, response_headers = s.response_headers, \
         response_body = s.response_body, history = COALESCE(s.history, delivery.history), \
         processed = COALESCE(s.processed, delivery.processed), \
         output_execution_id = COALESCE(s.output_execution_id, delivery.output_execution_id)",
        "delivery.due_at IS NOT NULL AND (delivery.held_by IS NULL OR delivery.held_by = s.node \
         OR NOT EXISTS (SELECT 1 FROM node_lease \
         WHERE node_id = delivery.held_by AND until > s.now))",
    )
});

/// What is said of a delivery that cannot be settled.
const LOST: &str = "the delivery is not pending, or held by another node";

impl Op for WithRuns<Settle> {
    type Answer = ();

    fn size_bytes(&self) -> usize {
        let Settle { processed, attempt, .. } = &self.what;
        let processed = processed.as_ref().map_or(0, |request| request.size_bytes());
        256 + attempt.response_body.len() + processed + self.runs_bytes()
    }

    /// They are written in the order of their deliveries, each of which is looked for where
    /// the last one was.
    async fn apply(
        tx: &impl Tx,
        settles: &[Self],
        context: &mut Context,
    ) -> Result<Vec<Result<(), Error>>, Failure> {
        let mut replies: Vec<_> = settles.iter().map(|_| Ok(())).collect();
        let mut finished = HashSet::new();
        let mut runs: Vec<&Record> = Vec::new();
        let mut left: Vec<_> = settles.iter().map(|settle| &settle.what).enumerate().collect();
        left.sort_by_key(|(_, settle)| settle.id);
        while !left.is_empty() {
            // Of several outcomes of one delivery the first counts; the others see it.
            let mut last = None;
            let is_next =
                |(_, settle): &mut (usize, &Settle)| last.replace(settle.id) == Some(settle.id);
            let later = left.extract_if(.., is_next).collect();
            let written = tx.update_each(&SETTLE, &left, values).await?;
            for ((number, settle), written) in left.into_iter().zip(written) {
                if written {
                    finished.extend(count(settle, &mut context.counters));
                    runs.extend(settles.get(number).into_iter().flat_map(|settle| &settle.runs));
                } else {
                    replies[number] = Err(Error::conflict(LOST));
                }
            }
            left = later;
        }
        forget(tx, finished).await?;
        record::keep(tx, runs).await?;
        Ok(replies)
    }
}

/// Counts an outcome that was written. The webhook, when its content is to go
/// unless other deliveries need it.
fn count(settle: &Settle, counters: &mut LogCounters) -> Option<Uuid> {
    let origin = &settle.origin;
    let open =
        CountedLog::open(origin.account_id, origin.bucket_id, origin.output_id, origin.created_at);
    let Attempt { status_code, duration, .. } = &*settle.attempt;
    let outcome = open.with_outcome(settle.status, *status_code, settle.attempts, nanos(*duration));
    counters.replace(open, outcome);
    (origin.ephemeral && settle.status.is_final()).then(|| origin.webhook_id.as_uuid())
}

fn values<'a>((_, settle): &'a (usize, &Settle)) -> [Param<'a>; 15] {
    let Attempt { status_code, response_headers, response_body, duration, error } =
        &*settle.attempt;
    let processed = settle.processed.as_ref();
    [
        settle.id.as_uuid().into(),
        settle.node.as_uuid().into(),
        millis(settle.now).into(),
        number(settle.status).into(),
        settle.due_at.filter(|_| !settle.status.is_final()).map(millis).into(),
        i64::from(settle.attempts).into(),
        i64::from(*status_code).into(),
        nanos(*duration).into(),
        error.as_deref().map(text).into(),
        settle.reason.map(|reason| reason.as_str()).into(),
        codec::encode_headers(response_headers).into(),
        response_body[..].into(),
        settle.history.as_ref().map(|history| &history.as_bytes()[..]).into(),
        processed.map(|request| codec::encode_request(request)).into(),
        settle.output_execution_id.map(|id| id.as_uuid()).into(),
    ]
}

/// The condition on a delivery that may be sent yet, for which its webhook's
/// content is kept. One that was handed over will not be, whatever is reported.
fn open() -> String {
    let finals = final_numbers().map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    format!("status NOT IN ({finals}) AND NOT handed_over")
}

/// Whether the content of an ephemeral webhook is gone: none of its deliveries is open.
pub(super) async fn is_erased(tx: &impl Read, webhook: Uuid) -> Result<bool, DatabaseError> {
    let sql = format!("SELECT 1 AS one FROM delivery WHERE webhook_id = ? AND {} LIMIT 1", open());
    Ok(!tx.has_rows(with(sql, [webhook.into()])).await?)
}

/// Removes the content of ephemeral webhooks none of whose deliveries is open.
pub(crate) async fn forget(tx: &impl Tx, webhooks: HashSet<Uuid>) -> Result<(), DatabaseError> {
    if webhooks.is_empty() {
        return Ok(());
    }
    let mut webhooks: Vec<_> = webhooks.into_iter().collect();
    // In one order everywhere, so that two transactions do not lock crosswise.
    webhooks.sort_unstable();
    let tail = format!(
        " AND NOT EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id AND {}) \
         RETURNING id",
        open()
    );
    for some in webhooks.chunks(MAX_ROWS) {
        lock_webhooks(tx, some).await?;
        let head = "UPDATE webhook SET raw_query = ?, headers = ?, body = ? WHERE id IN ";
        let nothing = [(); 3].map(|()| Param::from(&[][..]));
        let forget = over_set(head, nothing, some.iter().map(|id| Param::from(*id)), &tail);
        let forgotten: Vec<Uuid> = tx.query(forget, |row| row.get("id")).await?;
        if forgotten.is_empty() {
            continue;
        }
        let head = "UPDATE delivery SET processed = NULL WHERE webhook_id IN ";
        let ids = forgotten.into_iter().map(Param::from);
        tx.execute(over_set(head, [], ids, " AND processed IS NOT NULL")).await?;
    }
    Ok(())
}

/// Makes two transactions of PostgreSQL come one after the other that each end, or remove,
/// one of the last two deliveries of a webhook: neither would see the other's, and neither
/// would remove what both together leave behind.
pub(super) async fn lock_webhooks(tx: &impl Read, webhooks: &[Uuid]) -> Result<(), DatabaseError> {
    if tx.backend() == DbBackend::Postgres {
        let lock = "SELECT id FROM webhook WHERE id IN ";
        let ids = webhooks.iter().map(|id| Param::from(*id));
        let lock = over_set(lock, [], ids, " ORDER BY id FOR UPDATE");
        tx.query(lock, |_| Ok(())).await?;
    }
    Ok(())
}
