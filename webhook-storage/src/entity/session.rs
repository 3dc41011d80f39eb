//! Browsers that are signed in.

use sea_orm::prelude::Uuid;
use webhook_core::{AccountId, Error, model::Session};

use super::{millis, moment, table};

table! {
    /// A row.
    Model in "session" {
        id_hash: Vec<u8>,
        account_id: Uuid,
        credential: String,
        created_at: i64,
        seen_at: i64,
        ends_at: i64,
        address: String,
        agent: String,
    }
}

impl Model {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            id_hash: session.id_hash.to_vec(),
            account_id: session.account_id.as_uuid(),
            credential: session.credential.clone(),
            created_at: millis(session.created_at),
            seen_at: millis(session.seen_at),
            ends_at: millis(session.ends_at),
            address: session.address.clone(),
            agent: session.agent.clone(),
        }
    }

    pub(crate) fn read(self) -> Result<Session, Error> {
        let id_hash = <[u8; 32]>::try_from(self.id_hash)
            .map_err(|_| Error::internal("session.id_hash is not 32 bytes"))?;
        let account = AccountId::from_uuid(self.account_id);
        let mut session = Session::new(id_hash, account, moment(self.created_at));
        session.credential = self.credential;
        session.seen_at = moment(self.seen_at);
        session.ends_at = moment(self.ends_at);
        session.address = self.address;
        session.agent = self.agent;
        Ok(session)
    }
}
