//! What a call reaches outside of its VM: destinations of requests, and values that are kept.

use std::sync::Arc;

use webhook_core::{
    forward::Forwarder,
    function::Trial,
    store::{FunctionStore, KvWrite},
};

use super::kv::{KvAnswer, KvRequest, NO_STORE};

/// The error of a request where nothing sends requests, or a call has no runtime for it.
pub(crate) const NO_FORWARDER: &str = "functions may not send requests on this server";

/// The error of a request of a function that is only tried.
const IN_TRIAL: &str = "a function that is only tried sends no requests: save it and invoke it";

/// What calls reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    pub(crate) forwarder: Option<Arc<dyn Forwarder>>,
    pub(crate) store: Option<Arc<dyn FunctionStore>>,
    /// Where the call is a trial.
    pub(crate) trial: Option<Arc<Trial>>,
}

impl Outside {
    /// The same for one call.
    pub(crate) fn of_call(&self, trial: Option<Arc<Trial>>) -> Self {
        Self { trial, ..self.clone() }
    }

    /// What sends the requests of the call, or why none are sent.
    pub(crate) fn forwarder(&self) -> Result<Arc<dyn Forwarder>, &'static str> {
        match &self.trial {
            Some(_) => Err(IN_TRIAL),
            None => self.forwarder.clone().ok_or(NO_FORWARDER),
        }
    }

    /// Reads or changes a value.
    pub(crate) async fn keep(self, request: KvRequest) -> KvAnswer {
        let store = self.store.ok_or(NO_STORE)?;
        let answer = match (request, self.trial) {
            (KvRequest::Get(key, now), None) => store.kv_get(&key, now).await,
            (KvRequest::Write(write), None) => store.kv_write(write).await,
            (request, Some(trial)) => {
                let (KvRequest::Get(key, now) | KvRequest::Write(KvWrite { key, now, .. })) =
                    &request;
                let value = match trial.kept(key, *now) {
                    Some(kept) => Ok(kept),
                    None => store.kv_get(key, *now).await,
                };
                match request {
                    KvRequest::Get(..) => value,
                    KvRequest::Write(write) => value.and_then(|value| trial.write(value, write)),
                }
            }
        };
        answer.map_err(|error| format!("kv: {error}"))
    }
}
