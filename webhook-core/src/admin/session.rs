//! Browsers that are signed in.

use std::net::IpAddr;

use super::{Admin, Caller, Credential, random_text, token::hash};
use crate::{error::Error, model::Session};

impl Admin {
    /// Begins a session of a caller, whose browser is at `address` and calls itself `agent`. The
    /// answer is the secret identifier that the browser shows from then on; the store has its hash.
    pub async fn begin_session(
        &self,
        caller: &Caller,
        address: Option<IpAddr>,
        agent: &str,
    ) -> Result<String, Error> {
        let id = random_text()?;
        let mut session = Session::new(hash(&id), caller.account_id(), self.now());
        session.credential = match caller.credential() {
            Credential::AccessToken { id, .. } => format!("token {id}"),
            Credential::ApiKey => "API key".to_owned(),
            Credential::Embedder => String::new(),
        };
        session.address = address.map(|it| it.to_string()).unwrap_or_default();
        let shown = agent.chars().filter(|it| !it.is_control());
        session.agent = shown.take(Session::MAX_AGENT_CHARS).collect();
        self.stores.sessions.begin_session(&session, Session::MAX_PER_ACCOUNT).await?;
        Ok(id)
    }

    /// The session of a caller with this secret identifier; none when it has ended.
    pub async fn session(&self, caller: &Caller, id: &str) -> Result<Option<Session>, Error> {
        let found = self.stores.sessions.session(&hash(id)).await?;
        let is_valid =
            |it: &Session| it.account_id == caller.account_id() && it.is_valid(self.now());
        Ok(found.filter(is_valid))
    }

    /// Notes that a session is used, when the last note is old.
    pub async fn note_session(&self, session: &Session) -> Result<(), Error> {
        let now = self.now();
        match now.since(session.seen_at) >= Session::NOTED_AFTER {
            true => self.stores.sessions.note_seen(&session.id_hash, now).await,
            false => Ok(()),
        }
    }

    /// Ends the session with this secret identifier on all nodes. Without such a session nothing
    /// happens.
    pub async fn end_session(&self, id: &str) -> Result<(), Error> {
        self.stores.sessions.end_session(&hash(id)).await
    }
}
