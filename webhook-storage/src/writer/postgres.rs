//! Writers that are tasks: those of a PostgreSQL database.

use std::sync::Arc;

use tokio::{
    sync::{Mutex, mpsc},
    task::JoinHandle,
};

use super::{
    backlog::{Backlog, BatchLimits},
    batch::Queued,
    commit::Committer,
    queue::Queue,
};
#[cfg(feature = "sqlite")]
use crate::database::Database;
use crate::{
    StorageOptions,
    tx::{Batches, Begin},
};

/// What waits for the writers, who share it: what one of them had taken for later
/// would wait for that one.
#[derive(Debug)]
struct Waiting {
    queue: mpsc::Receiver<Queued>,
    backlog: Backlog,
}

/// Starts as many writers as there are connections for them, which end when the queue is closed
/// and empty.
pub(super) fn start(
    batches: &Batches,
    options: &StorageOptions,
    queue: &Arc<Queue>,
    jobs: mpsc::Receiver<Queued>,
    limits: BatchLimits,
) -> Vec<JoinHandle<()>> {
    let waiting = Waiting::new(jobs);
    let writer = |_| {
        let committer = Committer::new(batches.clone(), queue.clone(), options.claim_bytes);
        tokio::spawn(run(committer, waiting.clone(), limits))
    };
    (0..options.writers.max(1)).map(writer).collect()
}

/// Starts the one writer of a SQLite file that has no thread of its own.
#[cfg(feature = "sqlite")]
pub(super) fn start_on_sqlite(
    database: &Database,
    options: &StorageOptions,
    queue: &Arc<Queue>,
    jobs: mpsc::Receiver<Queued>,
    limits: BatchLimits,
) -> JoinHandle<()> {
    let committer = Committer::new(database.clone(), queue.clone(), options.claim_bytes);
    tokio::spawn(run(committer, Waiting::new(jobs), limits))
}

async fn run<B: Begin>(committer: Committer<B>, waiting: Arc<Mutex<Waiting>>, limits: BatchLimits) {
    loop {
        let batch = waiting.lock().await.next_batch(limits).await;
        if batch.is_empty() {
            return;
        }
        committer.write(batch).await;
    }
}

impl Waiting {
    fn new(queue: mpsc::Receiver<Queued>) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { queue, backlog: Backlog::default() }))
    }

    /// What is to be written next; empty once the queue is closed and empty.
    async fn next_batch(&mut self, limits: BatchLimits) -> Vec<Queued> {
        if self.backlog.is_empty() {
            let Some(job) = self.queue.recv().await else { return Vec::new() };
            self.backlog.push(job);
        }
        self.backlog.fill(&mut self.queue, limits);
        self.backlog.next_batch(limits)
    }
}
