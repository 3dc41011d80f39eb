//! What a script waits for outside of its VM.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;
use webhook_core::forward::{ForwardError, ForwardRequest, ForwardResponse};

use crate::modules::{
    NO_FORWARDER, Outside,
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
pub(super) async fn fulfil(wish: Wish, outside: Outside, handle: Option<&Handle>) -> Answer {
    match wish {
        Wish::Kv(request) => Answer::Kv(match handle {
            // On the caller's runtime, as the connections of the store are.
            Some(handle) => {
                let asking = AbortOnDropHandle::new(handle.spawn(outside.keep(request)));
                asking.await.unwrap_or_else(|_| Err(NO_STORE.to_owned()))
            }
            None => Err(NO_STORE.to_owned()),
        }),
        Wish::Sleep(duration) => {
            tokio::time::sleep(duration).await;
            Answer::Slept
        }
        Wish::Send(requests) => {
            let unsendable = |reason: &str| Err(ForwardError::Unsendable(reason.to_owned()));
            let sender = outside.forwarder().and_then(|it| Ok((it, handle.ok_or(NO_FORWARDER)?)));
            let tasks = requests.into_iter().map(|request| {
                let address = request.url.to_string();
                // On the caller's runtime, where the forwarder's connections live.
                let task = sender.clone().map(|(forwarder, handle)| {
                    let task = async move { forwarder.forward(request).await };
                    AbortOnDropHandle::new(handle.spawn(task))
                });
                (address, task)
            });
            let tasks: Vec<_> = tasks.collect();
            let mut answers = Vec::with_capacity(tasks.len());
            for (address, task) in tasks {
                let answer = match task {
                    Ok(task) => task.await.unwrap_or_else(|_| unsendable("the sender stopped")),
                    Err(reason) => unsendable(reason),
                };
                answers.push((address, answer));
            }
            Answer::Sent(answers)
        }
    }
}
