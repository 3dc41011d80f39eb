//! Changing the states of documents, each with statements that lock one row.

use sea_orm::prelude::Uuid;
use webhook_core::{
    Error, Timestamp,
    model::{Pause, Pauses, StoredPauses},
    store::{ApplyError, CronState, Document, DocumentKind, Refusal, StateChange},
};

use super::row::{pause, pauses_of};
use crate::{
    entity::{json, millis, name},
    tx::{Tx, with},
};

/// Writes the state with which a document is made.
pub(crate) async fn create(tx: &impl Tx, document: &Document) -> Result<(), ApplyError> {
    let (id, state) = (document.key.id, &document.state);
    match document.key.kind {
        DocumentKind::Output if !state.pauses.is_empty() || state.failing_since.is_some() => {
            let sql = "INSERT INTO output_health (output_id, failing_since, pauses) \
                VALUES (?, ?, ?)";
            let pauses = json(&StoredPauses::from(&state.pauses))?;
            let failing = state.failing_since.map(millis);
            let insert = with(sql, [id.into(), failing.into(), pauses.into()]);
            tx.execute(insert).await?;
            write_pauses(tx, id, state.pauses.all()).await
        }
        DocumentKind::Cron => {
            let CronState { next_run, last_run, is_over, .. } = state.cron;
            let sql = "INSERT INTO cron_state (cron_id, next_run, last_run, is_over, wakes_at) \
                VALUES (?, ?, ?, ?, ?)";
            let next = next_run.map(millis);
            let last = last_run.map(millis);
            let values = [id.into(), next.into(), last.into(), is_over.into(), next.into()];
            tx.execute(with(sql, values)).await?;
            Ok(())
        }
        DocumentKind::Notification => match state.last_sent_at {
            Some(at) => sent(tx, id, at).await,
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Changes a state. Of a document that is gone it changes nothing.
pub(super) async fn change(tx: &impl Tx, change: &StateChange) -> Result<(), ApplyError> {
    let id = change.key().id;
    match change {
        StateChange::Pauses(_, change) => {
            let Some(mut pauses) = lock_pauses(tx, id).await? else { return Ok(()) };
            let before = pauses.all().to_vec();
            pauses.change(change.clone());
            let sql = "UPDATE output_health SET pauses = ? WHERE output_id = ?";
            let text = json(&StoredPauses::from(&pauses))?;
            tx.execute(with(sql, [text.into(), id.into()])).await?;
            if before != pauses.all() {
                let forget = with("DELETE FROM output_pause WHERE output_id = ?", [id.into()]);
                tx.execute(forget).await?;
                write_pauses(tx, id, pauses.all()).await?;
            }
            Ok(())
        }
        StateChange::Failing(_, since) => {
            let sql = "INSERT INTO output_health (output_id, failing_since, pauses) \
                SELECT id, CAST(? AS bigint), '{}' FROM document WHERE kind = 'output' AND id = ? \
                ON CONFLICT (output_id) DO UPDATE SET \
                failing_since = COALESCE(output_health.failing_since, excluded.failing_since)";
            let values = [millis(*since).into(), id.into()];
            tx.execute(with(sql, values)).await?;
            Ok(())
        }
        StateChange::Working(_) => {
            let sql = "UPDATE output_health SET failing_since = NULL WHERE output_id = ?";
            tx.execute(with(sql, [id.into()])).await?;
            Ok(())
        }
        StateChange::Schedule { known, next_run, .. } => {
            let known = known.map(millis);
            let next = next_run.map(millis);
            let (set, mut values) = match known == next {
                // The node that makes the run keeps its hold.
                true => ("is_over = is_over", vec![]),
                false => (
                    "next_run = ?, wakes_at = ?, held_by = NULL, is_over = FALSE",
                    vec![next.into(), next.into()],
                ),
            };
            let sql = format!(
                "UPDATE cron_state SET {set} WHERE cron_id = ? AND next_run IS NOT DISTINCT FROM ?"
            );
            values.extend([id.into(), known.into()]);
            match tx.execute(with(sql, values)).await? {
                0 => Err(Refusal::Stale.into()),
                _ => Ok(()),
            }
        }
        StateChange::Sent(_, at) => sent(tx, id, *at).await,
        _ => Err(Error::internal("a state that this store does not know").into()),
    }
}

async fn sent(tx: &impl Tx, id: Uuid, at: Timestamp) -> Result<(), ApplyError> {
    let sql = "INSERT INTO notification_state (notification_id, last_sent_at) \
        SELECT id, CAST(? AS bigint) FROM document WHERE kind = 'notification' AND id = ? \
        ON CONFLICT (notification_id) DO UPDATE SET last_sent_at = excluded.last_sent_at";
    Ok(tx.execute(with(sql, [millis(at).into(), id.into()])).await.map(drop)?)
}

/// The pauses of an output, which stay as they are until the transaction ends.
async fn lock_pauses(tx: &impl Tx, id: Uuid) -> Result<Option<Pauses>, ApplyError> {
    let exists = format!(
        "SELECT id FROM document WHERE kind = 'output' AND id = ? AND deleted_at IS NULL{}",
        tx.on_postgres(" FOR KEY SHARE")
    );
    if !tx.has_rows(with(exists, [id.into()])).await? {
        return Ok(None);
    }
    let make = "INSERT INTO output_health (output_id, pauses) VALUES (?, '{}') \
        ON CONFLICT (output_id) DO NOTHING";
    tx.execute(with(make, [id.into()])).await?;
    let locked = tx.on_postgres(" FOR UPDATE");
    let text = format!("SELECT pauses FROM output_health WHERE output_id = ?{locked}");
    let text = tx.query_one(with(text, [id.into()]), |row| row.get::<String>("pauses"));
    let text = text.await?;
    let current = "SELECT paused_by, paused_at, paused_until, reason FROM output_pause \
        WHERE output_id = ?";
    let current = tx.query(with(current, [id.into()]), pause).await?;
    let current = current.into_iter().flatten().collect();
    Ok(Some(pauses_of(id, text.as_deref(), current)?))
}

async fn write_pauses(tx: &impl Tx, id: Uuid, pauses: &[Pause]) -> Result<(), ApplyError> {
    for Pause { at, until, by, reason, .. } in pauses {
        let sql = "INSERT INTO output_pause (output_id, paused_by, paused_at, paused_until, \
            reason) VALUES (?, ?, ?, ?, ?)";
        let values = [
            id.into(),
            name(by)?.into(),
            millis(*at).into(),
            until.map(millis).into(),
            reason.as_str().into(),
        ];
        tx.execute(with(sql, values)).await?;
    }
    Ok(())
}
