//! Removing documents with what goes with them.

use sea_orm::prelude::Uuid;
use webhook_core::store::{ApplyError, DocumentKey, DocumentKind, Refusal};

use super::{apply::Applying, cancel::mark_deleted};
use crate::{
    fault::DatabaseError,
    tx::{Param, Tx, with},
};

/// The further tables that have rows of a document of a kind, and the column that names the
/// document.
const fn belongings(kind: DocumentKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        DocumentKind::Output => &[("output_pause", "output_id"), ("output_health", "output_id")],
        DocumentKind::Cron => &[("cron_state", "cron_id")],
        DocumentKind::Function => &[
            ("variable", "function_id"),
            ("function_key", "function_id"),
            ("execution", "function_id"),
        ],
        DocumentKind::Notification => {
            &[("notice", "notification_id"), ("notification_state", "notification_id")]
        }
        DocumentKind::Bucket => &[("notice", "bucket_id"), ("child_count", "parent_id")],
        DocumentKind::Input | DocumentKind::Domain => &[],
    }
}

/// Removes a document; of a bucket all that is in it, too.
pub(super) async fn document<T: Tx>(
    applying: &mut Applying<'_, T>,
    key: DocumentKey,
    account: Uuid,
    expected: Option<u64>,
) -> Result<(), ApplyError> {
    let version = applying.lock(key, account).await?;
    if expected.is_some_and(|expected| expected != version) {
        return Err(Refusal::Stale.into());
    }
    let (tx, has_old_tables) = (applying.tx, applying.has_old_tables);
    // The inputs and outputs of a bucket come before the bucket.
    let of = match key.kind {
        DocumentKind::Bucket => "parent_id = ? AND kind <> ?",
        _ => "id = ? AND kind = ?",
    };
    let tail = tx.on_postgres(" FOR UPDATE");
    let sql = format!("SELECT kind, id, parent_id FROM document WHERE {of} ORDER BY id{tail}");
    let family = tx.query(with(sql, [key.id.into(), key.kind.as_str().into()]), |row| {
        let parent = row.get::<Option<Uuid>>("parent_id")?;
        Ok((row.get::<String>("kind")?, row.get::<Uuid>("id")?, parent))
    });
    let family = family.await?.into_iter();
    let named = family.filter_map(|(kind, id, parent)| {
        Some((DocumentKey { kind: DocumentKind::from_name(&kind)?, id }, parent))
    });
    let mut gone: Vec<_> = named.collect();
    if key.kind == DocumentKind::Bucket {
        gone.push((key, Some(key.id)));
    }
    let bucket = gone.iter().find_map(|(_, parent)| *parent).unwrap_or_default();
    let outputs = gone.iter().filter(|(key, _)| key.kind == DocumentKind::Output);
    let outputs: Vec<_> = outputs.map(|(key, _)| key.id).collect();
    mark_deleted(tx, account, bucket, outputs).await?;
    for (key, parent) in gone {
        rows(tx, key, has_old_tables).await?;
        let kind = key.kind.as_str();
        applying.counts.take(account, kind, 1);
        if let Some(parent) = parent.filter(|_| key.kind.is_counted_in_bucket()) {
            applying.counts.take(parent, kind, 1);
        }
    }
    Ok(())
}

/// Removes the row of a document and all that belongs to it.
async fn rows(tx: &impl Tx, key: DocumentKey, has_old: bool) -> Result<(), DatabaseError> {
    let place = || [Param::from(key.kind.as_str()), key.id.into()];
    for sql in [
        "DELETE FROM document WHERE kind = ? AND id = ?",
        "DELETE FROM document_version WHERE kind = ? AND id = ?",
        "DELETE FROM document_use WHERE user_kind = ? AND user_id = ?",
        "DELETE FROM document_use WHERE used_kind = ? AND used_id = ?",
    ] {
        tx.execute(with(sql, place())).await?;
    }
    for (table, column) in belongings(key.kind) {
        let sql = format!("DELETE FROM {table} WHERE {column} = ?");
        tx.execute(with(sql, [key.id.into()])).await?;
    }
    if has_old {
        old_row(tx, key).await?;
    }
    Ok(())
}

/// Removes the row that the version before had of a document: a secret in it may have been
/// replaced.
pub(super) async fn old_row(tx: &impl Tx, key: DocumentKey) -> Result<(), DatabaseError> {
    let sql = format!("DELETE FROM old_{} WHERE id = ?", key.kind);
    tx.execute(with(sql, [key.id.into()])).await.map(|_| ())
}
