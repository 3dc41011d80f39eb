//! Where logs come from, as the tallies know it.

use sea_orm::prelude::Uuid;
use webhook_core::model::DeliveryStatus;

use crate::{
    entity::delivery::number,
    fault::DatabaseError,
    fold::Deltas,
    tally::Span,
    tx::{Param, Read, with},
};

/// Something that logs of one status come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source {
    pub(crate) bucket_id: Uuid,
    /// None for buckets without outputs.
    pub(crate) output_id: Option<Uuid>,
    /// As what the logs are counted.
    pub(crate) status: i64,
}

impl Source {
    fn new(bucket_id: Uuid, output_id: Uuid, status: i64) -> Self {
        Self { bucket_id, output_id: Some(output_id).filter(|output| !output.is_nil()), status }
    }

    /// What the indexes of waiting logs have in place of an output that is none.
    pub(crate) fn id(&self) -> Uuid {
        self.output_id.unwrap_or(self.bucket_id)
    }
}

/// The sources of the account that have logs, or logs of this status, in order. Where changes
/// are not folded yet, some may be among them that have none any more.
pub(crate) async fn sources(
    tx: &impl Read,
    deltas: &Deltas,
    account: Uuid,
    status: Option<i64>,
) -> Result<Vec<Source>, DatabaseError> {
    let mut values = vec![Param::from(account)];
    values.extend(status.map(Param::from));
    let sql = format!(
        "SELECT DISTINCT bucket_id, output_id, status FROM tally \
         WHERE span = 0 AND account_id = ? AND logs > 0{}",
        if status.is_some() { " AND status = ?" } else { "" },
    );
    let folded = tx.query(with(sql, values), |row| {
        Ok(Source::new(row.get("bucket_id")?, row.get("output_id")?, row.get("status")?))
    });
    let mut sources = folded.await?;
    let behind = deltas.span(Span::Ever).map(|change| (change.logs, &change.key));
    let behind =
        behind.filter(|(logs, key)| *logs > 0 && status.is_none_or(|status| key.status == status));
    sources.extend(behind.map(|(_, key)| Source::new(key.bucket_id, key.output_id, key.status)));
    sources.sort_unstable();
    sources.dedup();
    Ok(sources)
}

/// The sources of logs that wait for clients. The logs of deleted outputs are left out: they are
/// about to be cancelled.
pub(crate) async fn for_clients(
    tx: &impl Read,
    deltas: &Deltas,
    account: Uuid,
) -> Result<Vec<Source>, DatabaseError> {
    let received = Some(number(DeliveryStatus::Received));
    let mut sources = sources(tx, deltas, account, received).await?;
    if sources.is_empty() {
        return Ok(sources);
    }
    let deleted = "SELECT output_id FROM deleted_output WHERE account_id = ?";
    let deleted = with(deleted, [account.into()]);
    let deleted = tx.query(deleted, |row| row.get::<Uuid>("output_id")).await?;
    sources.retain(|source| source.output_id.is_none_or(|id| !deleted.contains(&id)));
    Ok(sources)
}
