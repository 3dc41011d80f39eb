//! What a script waits for outside of its VM.

use std::{sync::Arc, time::Duration};

use tokio::{runtime::Handle, task::JoinHandle};

use webhook_core::{
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    store::FunctionStore,
};

use crate::modules::kv::{KvAnswer, KvRequest, NO_STORE};

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
        Wish::Kv(request) => match (store, handle) {
            // On the caller's runtime, as the connections of the store are.
            (Some(store), Some(handle)) => {
                let mut asking = Outside(handle.spawn(request.ask(store)));
                let answer = (&mut asking.0).await;
                Answer::Kv(answer.unwrap_or_else(|_| Err(NO_STORE.to_owned())))
            }
            _ => Answer::Kv(Err(NO_STORE.to_owned())),
        },
        Wish::Sleep(duration) => {
            tokio::time::sleep(duration).await;
            Answer::Slept
        }
        Wish::Send(requests) => {
            let mut tasks = Vec::with_capacity(requests.len());
            let addresses: Vec<_> = requests.iter().map(|r| r.url.to_string()).collect();
            for request in requests {
                // On the caller's runtime, where the forwarder's connections live.
                tasks.push(match (&forwarder, handle) {
                    (Some(forwarder), Some(handle)) => {
                        let forwarder = Arc::clone(forwarder);
                        let task = async move { forwarder.forward(request).await };
                        Some(Outside(handle.spawn(task)))
                    }
                    _ => None,
                });
            }
            let mut answers = Vec::with_capacity(tasks.len());
            for (address, task) in addresses.into_iter().zip(tasks) {
                let answer = match task {
                    Some(mut task) => (&mut task.0).await.unwrap_or_else(|_| {
                        Err(ForwardError::Unsendable("the sender stopped".to_owned()))
                    }),
                    None => {
                        let reason = "functions may not send requests on this server";
                        Err(ForwardError::Unsendable(reason.to_owned()))
                    }
                };
                answers.push((address, answer));
            }
            Answer::Sent(answers)
        }
    }
}

/// What is done for a script, called off when nobody waits for it any more.
struct Outside<T>(JoinHandle<T>);

impl<T> Drop for Outside<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
