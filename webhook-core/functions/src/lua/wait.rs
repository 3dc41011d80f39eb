//! What a script waits for outside of its VM.

use std::{sync::Arc, time::Duration};

use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;
use webhook_core::{
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    store::FunctionStore,
};

use crate::modules::{
    http::NO_FORWARDER,
    kv::{KvAnswer, KvRequest, NO_STORE},
};

/// What a script asked for.
#[derive(Debug)]
pub(super) enum Wish {
    /// Requests that are sent at once.
    Send(Vec<ForwardRequest>),
    Sleep(Duration),
    /// A value that the function keeps.
    Kv(KvRequest),
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Answer {
    /// For each request its address and what came back.
    Sent(Vec<(String, Result<ForwardResponse, ForwardError>)>),
    Slept,
    Kv(KvAnswer),
}

/// Does what a script asked for. What it started ends when this is dropped.
pub(super) async fn fulfil(
    wish: Wish,
    forwarder: Option<Arc<dyn Forwarder>>,
    store: Option<Arc<dyn FunctionStore>>,
    handle: Option<&Handle>,
) -> Answer {
    match wish {
        Wish::Kv(request) => Answer::Kv(match (store, handle) {
            // On the caller's runtime, as the connections of the store are.
            (Some(store), Some(handle)) => {
                let asking = AbortOnDropHandle::new(handle.spawn(request.ask(store)));
                asking.await.unwrap_or_else(|_| Err(NO_STORE.to_owned()))
            }
            _ => Err(NO_STORE.to_owned()),
        }),
        Wish::Sleep(duration) => {
            tokio::time::sleep(duration).await;
            Answer::Slept
        }
        Wish::Send(requests) => {
            let unsendable = |reason: &str| Err(ForwardError::Unsendable(reason.to_owned()));
            let tasks = requests.into_iter().map(|request| {
                let address = request.url.to_string();
                // On the caller's runtime, where the forwarder's connections live.
                let task = forwarder.clone().zip(handle).map(|(forwarder, handle)| {
                    let task = async move { forwarder.forward(request).await };
                    AbortOnDropHandle::new(handle.spawn(task))
                });
                (address, task)
            });
            let tasks: Vec<_> = tasks.collect();
            let mut answers = Vec::with_capacity(tasks.len());
            for (address, task) in tasks {
                let answer = match task {
                    Some(task) => task.await.unwrap_or_else(|_| unsendable("the sender stopped")),
                    None => unsendable(NO_FORWARDER),
                };
                answers.push((address, answer));
            }
            Answer::Sent(answers)
        }
    }
}
