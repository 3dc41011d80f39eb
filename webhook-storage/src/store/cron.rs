//! Which crons run.

use async_trait::async_trait;
use sea_orm::prelude::Uuid;
use webhook_core::{
    Error, NodeId, Timestamp,
    model::Cron,
    store::{AdvanceCron, ClaimWork, Configured, CronStore, DocumentKind, DocumentStore, Find},
};

use crate::{
    Storage,
    entity::moment,
    fault::About,
    tx::{Param, Read, Tx, with},
};

const WHAT: &str = "cron";

/// Holds the crons that are due. Rows that another node is just claiming are left to it.
const CLAIM: &str = "UPDATE cron_state SET wakes_at = ?, held_by = ? WHERE cron_id IN \
    (SELECT cron_id FROM cron_state WHERE wakes_at <= ? ORDER BY wakes_at LIMIT ?{skip}) \
    RETURNING cron_id";

#[async_trait]
impl CronStore for Storage {
    async fn claim_crons(&self, claim: ClaimWork) -> Result<Vec<Cron>, Error> {
        let ClaimWork { node, now, until, limit, .. } = claim;
        let skip = self.database().write.on_postgres(" FOR UPDATE SKIP LOCKED");
        let values = [
            until.as_millis().into(),
            node.as_uuid().into(),
            now.as_millis().into(),
            Param::count(limit),
        ];
        let claim = with(CLAIM.replace("{skip}", skip), values);
        let ids = Read::query(&self.database().write, claim, |row| row.get::<Uuid>("cron_id"));
        let ids = ids.await.about(WHAT)?;
        let documents = DocumentStore::find(self, Find::These(DocumentKind::Cron, ids)).await?;
        let crons = documents.into_iter().map(Cron::read);
        let mut crons = crons.collect::<Result<Vec<_>, _>>()?;
        crons.sort_by_key(|cron| (cron.next_run, cron.id));
        Ok(crons)
    }

    async fn crons_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT wakes_at FROM cron_state WHERE wakes_at IS NOT NULL \
            ORDER BY wakes_at LIMIT 1";
        let first =
            Read::query_one(&self.database().read, with(sql, []), |row| row.get::<i64>("wakes_at"));
        Ok(first.await?.map(moment))
    }

    async fn advance_cron(&self, advance: AdvanceCron) -> Result<bool, Error> {
        let AdvanceCron { id, from, to, is_over, .. } = advance;
        let (from, to) = (from.as_millis(), to.map(Timestamp::as_millis));
        // A run that waits is none that was made.
        let sql = "UPDATE cron_state SET next_run = ?, wakes_at = ?, held_by = NULL, is_over = ?, \
            last_run = CASE WHEN ? = 1 THEN next_run ELSE last_run END \
            WHERE cron_id = ? AND next_run = ?";
        let was_made = i64::from(to != Some(from));
        let values = [
            to.into(),
            to.into(),
            is_over.into(),
            was_made.into(),
            id.as_uuid().into(),
            from.into(),
        ];
        Ok(Tx::execute(&self.database().write, with(sql, values)).await.about(WHAT)? > 0)
    }

    async fn release_crons(&self, node: NodeId) -> Result<(), Error> {
        let sql = "UPDATE cron_state SET wakes_at = next_run, held_by = NULL WHERE held_by = ?";
        let released = Tx::execute(&self.database().write, with(sql, [node.as_uuid().into()]));
        released.await.map(|_| ()).about(WHAT)
    }
}
