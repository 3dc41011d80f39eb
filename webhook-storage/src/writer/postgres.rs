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
use crate::{StorageOptions, database::Database};

/// What waits for the writers, who share it: what one of them had taken for later
/// would wait for that one.
#[derive(Debug)]
struct Waiting {
    queue: mpsc::Receiver<Queued>,
    backlog: Backlog,
}

/// Starts so many writers, which end when the queue is closed and empty.
pub(super) fn start(
    writers: usize,
    database: &Database,
    options: &StorageOptions,
    queue: &Arc<Queue>,
    jobs: mpsc::Receiver<Queued>,
    limits: BatchLimits,
) -> impl Iterator<Item = JoinHandle<()>> {
    let waiting = Waiting { queue: jobs, backlog: Backlog::default() };
    let waiting = Arc::new(Mutex::new(waiting));
    (0..writers).map(move |_| {
        let committer = Committer::new(database.clone(), queue.clone(), options.claim_bytes);
        tokio::spawn(run(committer, waiting.clone(), limits))
    })
}

async fn run(committer: Committer<Database>, waiting: Arc<Mutex<Waiting>>, limits: BatchLimits) {
    loop {
        let batch = waiting.lock().await.next_batch(limits).await;
        if batch.is_empty() {
            return;
        }
        committer.write(batch).await;
    }
}

impl Waiting {
    /// What is to be written next; empty once the queue is closed and empty.
    async fn next_batch(&mut self, limits: BatchLimits) -> Vec<Queued> {
        if self.backlog.is_empty() {
            let Some(job) = self.queue.recv().await else { return Vec::new() };
            self.backlog.push(job);
        }
        while self.backlog.has_room(limits)
            && let Ok(job) = self.queue.try_recv()
        {
            self.backlog.push(job);
        }
        self.backlog.next_batch(limits)
    }
}
