//! Writers that are tasks: those of a PostgreSQL database.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::{
    sync::{Mutex, Notify, mpsc, watch},
    task::JoinHandle,
    time::timeout,
};

use super::{
    backlog::{Backlog, BatchLimits},
    batch::Queued,
    commit::Committer,
    queue::Queue,
};
use crate::{
    StorageOptions,
    database::Database,
    tx::{Batches, Begin, Commit},
};

/// How long others wait for a writer whose transaction does not begin.
const AT_ONCE: Duration = Duration::from_millis(50);

/// How long a writer rests that cannot begin, while others can.
const PAUSE: Duration = Duration::from_millis(250);

/// What waits for the writers, who share it: what one of them had taken for later
/// would wait for that one.
#[derive(Debug)]
struct Waiting {
    jobs: Mutex<Jobs>,
    /// Tells the writer that has the turn, and nothing to write, that another one is ready.
    wanted: Notify,
    /// How many writers there are.
    writers: usize,
    /// How many of them could not begin the last time.
    failing: AtomicUsize,
    /// Whether there is nothing left, and nothing comes any more.
    ended: watch::Sender<bool>,
}

/// What a writer has waited for.
enum Arrival {
    Some,
    None,
    /// The queue is closed and empty.
    End,
}

#[derive(Debug)]
struct Jobs {
    queue: mpsc::Receiver<Queued>,
    backlog: Backlog,
}

/// Starts a writer for each connection that there is for one. They end when the queue is closed
/// and empty.
pub(super) fn start(
    database: &Database,
    options: &StorageOptions,
    queue: &Arc<Queue>,
    jobs: mpsc::Receiver<Queued>,
    limits: BatchLimits,
) -> Vec<JoinHandle<()>> {
    let waiting = Waiting::new(jobs, database.batches.len());
    let writer = |batches: &Batches| {
        let committer = Committer::new(batches.clone(), queue.clone(), options.claim_bytes);
        tokio::spawn(run(committer, waiting.clone(), limits))
    };
    database.batches.iter().map(writer).collect()
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
    tokio::spawn(run(committer, Waiting::new(jobs, 1), limits))
}

impl Waiting {
    fn new(queue: mpsc::Receiver<Queued>, writers: usize) -> Arc<Self> {
        Arc::new(Self {
            jobs: Mutex::new(Jobs { queue, backlog: Backlog::default() }),
            wanted: Notify::new(),
            writers,
            failing: AtomicUsize::new(0),
            ended: watch::Sender::new(false),
        })
    }

    /// Waits until there is nothing left.
    async fn end(&self) {
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }
}

/// Begins a transaction before it takes what is to be written in it: what a writer had taken that
/// has no connection yet, and may get none for long, would be passed by all that comes later. While
/// a transaction begins no other writer has the turn, so that few transactions begin in vain.
async fn run<B: Begin>(committer: Committer<B>, waiting: Arc<Waiting>, limits: BatchLimits) {
    let mut fails = false;
    loop {
        let mut jobs = waiting.jobs.lock().await;
        match jobs.arrival(&waiting.wanted).await {
            Arrival::Some => {}
            Arrival::None => continue,
            Arrival::End => {
                waiting.ended.send_replace(true);
                return;
            }
        }
        let mut beginning = pin!(committer.begin.begin_writing());
        let begun = match timeout(AT_ONCE, &mut beginning).await {
            Ok(begun) => begun,
            Err(_) => {
                drop(jobs);
                let Either::Left((begun, _)) = select(beginning, pin!(waiting.end())).await else {
                    return;
                };
                waiting.wanted.notify_one();
                jobs = waiting.jobs.lock().await;
                begun
            }
        };
        match (begun.is_ok(), fails) {
            (true, true) => waiting.failing.fetch_sub(1, Relaxed),
            (false, false) => waiting.failing.fetch_add(1, Relaxed),
            _ => 0,
        };
        fails = begun.is_err();
        if fails && waiting.failing.load(Relaxed) < waiting.writers {
            drop(jobs);
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let batch = jobs.next_batch(limits);
        drop(jobs);
        match begun {
            begun if !batch.is_empty() => committer.write_in(begun, batch).await,
            // Other writers have written what was waiting.
            Ok(begun) => begun.rollback().await,
            Err(_) => {}
        }
    }
}

impl Jobs {
    /// Waits until something is to be written, or another writer wants its turn.
    async fn arrival(&mut self, wanted: &Notify) -> Arrival {
        if self.backlog.is_empty() {
            match select(pin!(self.queue.recv()), pin!(wanted.notified())).await {
                Either::Left((Some(job), _)) => self.backlog.push(job),
                Either::Left((None, _)) => return Arrival::End,
                Either::Right(_) => return Arrival::None,
            }
        }
        Arrival::Some
    }

    fn next_batch(&mut self, limits: BatchLimits) -> Vec<Queued> {
        self.backlog.fill(&mut self.queue, limits);
        self.backlog.next_batch(limits)
    }
}
