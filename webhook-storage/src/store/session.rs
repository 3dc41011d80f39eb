//! Browsers that are signed in.

use async_trait::async_trait;
use webhook_core::{Error, Timestamp, model::Session, store::SessionStore};

use crate::{
    Storage,
    entity::{Table, millis, session::Model},
    fault::About,
    tx::{Tx, with},
};

const WHAT: &str = "session";

#[async_trait]
impl SessionStore for Storage {
    async fn begin_session(&self, session: &Session, bound: usize) -> Result<(), Error> {
        let transaction = self.begin(WHAT).await?;
        let begun = async {
            let (now, account) = (session.created_at, session.account_id.as_uuid());
            let unused_since = millis(now) - Session::IDLE.as_millis() as i64;
            let ended = "DELETE FROM session WHERE seen_at <= ? OR ends_at <= ?";
            transaction.execute(with(ended, [unused_since.into(), millis(now).into()])).await?;
            let row = Model::of(session);
            transaction.insert(&Model::insert(""), &[row], Model::values).await?;
            let over = "DELETE FROM session WHERE account_id = ? AND id_hash NOT IN (SELECT \
                id_hash FROM session WHERE account_id = ? ORDER BY seen_at DESC, id_hash LIMIT ?)";
            let over = with(over, [account.into(), account.into(), (bound as i64).into()]);
            transaction.execute(over).await.map(drop)
        };
        let begun = begun.await.about(WHAT);
        self.database().finish(transaction, begun, WHAT).await
    }

    async fn session(&self, id_hash: &[u8; 32]) -> Result<Option<Session>, Error> {
        let tail = "WHERE id_hash = ?";
        let row = Model::select_one(&self.database().read, tail, [id_hash.to_vec().into()]).await;
        row.about(WHAT)?.map(Model::read).transpose()
    }

    async fn note_seen(&self, id_hash: &[u8; 32], at: Timestamp) -> Result<(), Error> {
        let sql = "UPDATE session SET seen_at = ? WHERE id_hash = ?";
        let note = with(sql, [millis(at).into(), id_hash.to_vec().into()]);
        self.database().write.execute(note).await.map(drop).about(WHAT)
    }

    async fn end_session(&self, id_hash: &[u8; 32]) -> Result<(), Error> {
        let end = with("DELETE FROM session WHERE id_hash = ?", [id_hash.to_vec().into()]);
        self.database().write.execute(end).await.map(drop).about(WHAT)
    }
}
