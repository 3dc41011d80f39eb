//! Sends webhooks of all kinds at a steady rate.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use benches::{
    Outcome,
    connection::{Connection, Request},
    event,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use crate::kinds;

/// How many send concurrently.
const SENDERS: u64 = 16;
const BODY_BYTES: usize = 1 << 10;

/// What became of the webhooks.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    acknowledged: Mutex<Vec<u64>>,
    refused: AtomicU64,
}

impl Sent {
    /// The numbers of those that were answered with 2xx.
    pub(crate) fn acknowledged(&self) -> MutexGuard<'_, Vec<u64>> {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many were answered otherwise, or not.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn note(&self, number: u64, answer: &io::Result<u16>) {
        match answer {
            Ok(200..=299) => self.acknowledged().push(number),
            _ => _ = self.refused.fetch_add(1, Ordering::Relaxed),
        }
    }
}

/// Sends until the time is over.
pub(crate) async fn send(
    server: SocketAddr,
    inputs: Vec<String>,
    rate: u32,
    lasts: Duration,
    sent: Arc<Sent>,
) -> Outcome<()> {
    let (began, inputs) = (Instant::now(), Arc::new(inputs));
    let mut senders = JoinSet::new();
    for first in 0..SENDERS {
        let (inputs, sent) = (Arc::clone(&inputs), Arc::clone(&sent));
        senders.spawn(async move {
            let headers = [
                ("host".to_owned(), server.to_string()),
                ("content-type".to_owned(), "application/json".to_owned()),
            ];
            let body = event::body(BODY_BYTES);
            let mut request = Request::new("POST", &inputs[0], &headers, body, true);
            let mut connection = Connection::open(server).await?;
            for number in (first..).step_by(SENDERS as usize) {
                let due = Duration::from_secs(number) / rate;
                if due >= lasts {
                    return Ok(());
                }
                sleep_until(began + due).await;
                let kind = kinds::kind(number);
                request.set(number, &inputs[kind]);
                for _ in 0..if kind == kinds::DUPLICATES { 2 } else { 1 } {
                    let answer = connection.exchange(&request).await;
                    if answer.is_err() {
                        connection = Connection::open(server).await?;
                    }
                    sent.note(number, &answer);
                }
            }
            Outcome::Ok(())
        });
    }
    while let Some(ended) = senders.join_next().await {
        ended??;
    }
    Ok(())
}
