use std::{path::Path, time::Duration};

use futures_util::future::join_all;
use tokio::sync::OwnedMutexGuard;
use webhook_core::{
    DeliveryId, ErrorKind, NodeId, OutputId, Timestamp,
    model::{Attempt, DeliveryStatus},
    store::{Accept, Accepted, DeliveryStore, NewDelivery, Origin, Settle},
};

use super::{
    super::{
        WithRuns,
        job::{Job, Op, Reply},
        tests::{Tested, accept, changed, options_in, storage_in},
    },
    *,
};
use crate::{Storage, database::Turns, writer::Incoming};

const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

/// The success of the first delivery.
pub(super) fn sent(of: &Accept, node: NodeId) -> Settle {
    let Accept { webhook, deliveries, .. } = of;
    changed(
        Settle::new(
            deliveries[0].id,
            Origin::new(webhook, deliveries[0].output_id, webhook.received_at),
            node,
            NOW,
            DeliveryStatus::Sent,
        ),
        |settle| {
            settle.attempts = 1;
            settle.attempt = Attempt { status_code: 200, ..Attempt::default() }.into();
        },
    )
}

/// Writes batches to a file as the thread does.
struct Batches {
    committer: Committer<Connection>,
    queue: Arc<Queue>,
    jobs: Vec<Queued>,
}

impl Batches {
    fn of(folder: &Path) -> rusqlite::Result<Self> {
        let connection = connect(&folder.join("webhooks.db"), Duration::from_secs(5))?;
        let queue = Arc::new(Queue::new(usize::MAX));
        let committer = Committer::new(connection, queue.clone(), 0);
        Ok(Self { committer, queue, jobs: Vec::new() })
    }

    /// Adds an operation to the next batch.
    fn add<O: Op>(&mut self, op: O) -> oneshot::Receiver<Reply<O>>
    where
        Queued: From<Job<O>>,
    {
        let (reply, answer) = oneshot::channel();
        let reserved = self.queue.reserve(op.size_bytes()).expect("there is room");
        self.jobs.push(Job { op, reply, reserved }.into());
        answer
    }

    /// The same with one that no function has run for.
    fn add_alone<T>(&mut self, what: impl Into<T>) -> oneshot::Receiver<Reply<WithRuns<T>>>
    where
        WithRuns<T>: Op,
        Queued: From<Job<WithRuns<T>>>,
    {
        self.add(WithRuns::from(what.into()))
    }

    fn commit(&mut self) -> Result<(), &'static str> {
        let jobs = std::mem::take(&mut self.jobs);
        ready(self.committer.write(jobs)).ok_or("it waited for something else than SQLite")
    }
}

fn delivery(node: NodeId) -> NewDelivery {
    changed(
        NewDelivery::new(DeliveryId::generate(), Some(OutputId::generate()), Some(NOW)),
        |delivery| delivery.held_by = Some(node),
    )
}

/// A batch is written in another order than it is answered in.
#[tokio::test]
async fn each_operation_has_its_own_answer() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    let mut batches = Batches::of(folder.path())?;
    let (earlier, later) = (accept(100), accept(100));
    storage.accept(earlier.clone()).await?;
    let mut lost = batches.add_alone::<Settle>(sent(&accept(100), NodeId::generate()));
    let mut stored = batches.add_alone::<Incoming>(later);
    let mut settled = batches.add_alone::<Settle>(sent(&earlier, NodeId::generate()));
    let mut known = batches.add_alone::<Incoming>(earlier);
    batches.commit()?;
    assert_eq!(lost.try_recv()?.map_err(|error| error.kind()), Err(ErrorKind::Conflict));
    assert_eq!(stored.try_recv()??, Accepted::Stored);
    settled.try_recv()??;
    assert_eq!(known.try_recv()??, Accepted::Known);
    assert_eq!(batches.queue.stats().operations, 4);
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn of_several_outcomes_of_a_delivery_the_first_counts() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    let mut batches = Batches::of(folder.path())?;
    let (first, second) = (accept(100), accept(100));
    storage.accept(first.clone()).await?;
    storage.accept(second.clone()).await?;
    let node = NodeId::generate();
    let mut settles: Vec<_> = [&first, &second, &first, &second, &first]
        .into_iter()
        .map(|of| batches.add_alone::<Settle>(sent(of, node)))
        .collect();
    batches.commit()?;
    let written = settles.iter_mut().map(|settled| Ok(settled.try_recv()?.is_ok()));
    let written = written.collect::<Result<Vec<_>, oneshot::error::TryRecvError>>()?;
    assert_eq!(written, [true, true, false, false, false]);
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn one_bad_operation_spoils_nothing_for_the_others() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    let mut batches = Batches::of(folder.path())?;
    let node = NodeId::generate();
    let with = |new: &NewDelivery| {
        let mut accept = accept(100);
        accept.deliveries = vec![new.clone()];
        accept
    };
    let (first, second) = (delivery(node), delivery(node));
    let (stored, spoiled, other) = (with(&first), with(&first), with(&second));
    let mut accepted = vec![batches.add_alone::<Incoming>(stored.clone())];
    let mut settled = vec![batches.add_alone::<Settle>(sent(&stored, node))];
    // Another webhook whose delivery has a taken ID.
    accepted.push(batches.add_alone::<Incoming>(spoiled.clone()));
    settled.push(batches.add_alone::<Settle>(sent(&stored, node)));
    accepted.push(batches.add_alone::<Incoming>(other.clone()));
    // The same again changes nothing.
    accepted.push(batches.add_alone::<Incoming>(other.clone()));
    batches.commit()?;
    let mut accepts = Vec::new();
    for accepted in &mut accepted {
        accepts.push(accepted.try_recv()?.map_err(|error| error.kind()));
    }
    let taken = Err(ErrorKind::Conflict);
    assert_eq!(accepts, [Ok(Accepted::Stored), taken, Ok(Accepted::Stored), Ok(Accepted::Known)]);
    assert!(settled[0].try_recv()?.is_ok());
    let twice = settled[1].try_recv()?;
    assert_eq!(twice.map_err(|error| error.kind()), Err(ErrorKind::Conflict));

    let webhook = &spoiled.webhook;
    assert!(storage.logs_of(webhook.account_id, webhook.id).await?.is_empty(), "nothing is stored");
    for (accept, status) in [(stored, DeliveryStatus::Sent), (other, DeliveryStatus::Received)] {
        let logs = storage.logs_of(accept.webhook.account_id, accept.webhook.id).await?;
        assert_eq!(logs.iter().map(|log| log.delivery.status).collect::<Vec<_>>(), [status]);
    }
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn when_the_disk_is_full_nothing_is_written_and_later_all_is_well() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    let mut batches = Batches::of(folder.path())?;
    batches.committer.begin.pragma_update(None, "max_page_count", 100)?;
    // The large one does not fit, and the small ones share its transaction.
    let accepts = [accept(100), accept(1_000_000), accept(100)];
    let mut refused = accepts.clone().map(|accept| batches.add_alone::<Incoming>(accept));
    batches.commit()?;
    for refused in &mut refused {
        let error = refused.try_recv()?.err().ok_or("it does not fit")?;
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
    for Accept { webhook, .. } in &accepts {
        assert!(storage.logs_of(webhook.account_id, webhook.id).await?.is_empty());
    }

    batches.committer.begin.pragma_update(None, "max_page_count", 1_073_741_823)?;
    let mut accepted = accepts.clone().map(|accept| batches.add_alone::<Incoming>(accept));
    batches.commit()?;
    for accepted in &mut accepted {
        assert!(accepted.try_recv()?.is_ok());
    }
    for Accept { webhook, .. } in &accepts {
        assert_eq!(storage.logs_of(webhook.account_id, webhook.id).await?.len(), 1);
    }
    storage.close().await;
    Ok(())
}

/// Makes the thread wait: what comes meanwhile is in its next batch.
async fn hold(storage: &Storage) -> Result<OwnedMutexGuard<Turns>, &'static str> {
    let lock = storage.database().write.lock().ok_or("SQLite takes turns")?;
    Ok(std::sync::Arc::clone(lock).lock_owned().await)
}

async fn accept_at_once(
    storage: &Storage,
    accepts: impl IntoIterator<Item = Accept>,
    lock: OwnedMutexGuard<Turns>,
) -> Vec<Result<Accepted, webhook_core::Error>> {
    let accepts = join_all(accepts.into_iter().map(|accept| storage.accept(accept)));
    let (accepted, ()) = tokio::join!(accepts, async { drop(lock) });
    accepted
}

#[tokio::test]
async fn what_comes_at_once_shares_commits() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    let lock = hold(&storage).await?;
    let accepts = (0..64).map(|_| accept(100));
    let accepted = accept_at_once(&storage, accepts, lock).await;
    assert!(accepted.iter().all(Result::is_ok));
    assert_eq!((storage.write_stats().commits, storage.write_stats().operations), (1, 64));
    assert_eq!((storage.write_stats().queued, storage.write_stats().queued_bytes), (0, 0));
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn batches_are_bounded() -> Tested {
    for (operations, bytes, commits) in [(10, usize::MAX, 7), (512, 1, 64)] {
        let folder = tempfile::tempdir()?;
        let mut options = options_in(&folder)?;
        options.batch_operations = operations;
        options.batch_bytes = bytes;
        let storage = Storage::connect(&options).await?;
        let lock = hold(&storage).await?;
        let accepted = accept_at_once(&storage, (0..64).map(|_| accept(100)), lock).await;
        assert!(accepted.iter().all(Result::is_ok));
        assert_eq!(storage.write_stats().commits, commits);
        storage.close().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_small_webhook_does_not_wait_for_all_the_large_ones_before_it() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    let lock = hold(&storage).await?;
    let large = accept_at_once(&storage, (0..20).map(|_| accept(1 << 20)), lock);
    let small = async {
        let stored = storage.accept(accept(100)).await;
        (stored, storage.write_stats().commits)
    };
    let (large, (small, commits_until_then)) = tokio::join!(large, small);
    assert!(small.is_ok() && large.iter().all(Result::is_ok));
    let commits = storage.write_stats().commits;
    // On a busy machine further commits can end before the counter is read.
    assert!(
        commits >= 11 && commits_until_then <= commits / 2,
        "{commits_until_then} of {commits}"
    );
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn a_full_queue_refuses_at_once() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut options = options_in(&folder)?;
    options.queue_operations = 4;
    let storage = Storage::connect(&options).await?;
    let lock = hold(&storage).await?;
    let first = tokio::spawn({
        let storage = storage.clone();
        async move { storage.accept(accept(100)).await }
    });
    // Until the thread has taken it from the queue, and waits for the lock.
    while storage.write_stats().queued == 0 || storage.writer_room() < 4 {
        tokio::task::yield_now().await;
    }
    let accepts: Vec<_> = (0..10).map(|_| accept(100)).collect();
    let accepted = accept_at_once(&storage, accepts.iter().cloned(), lock).await;
    first.await??;
    for (number, (accept, accepted)) in accepts.iter().zip(accepted).enumerate() {
        assert_eq!(accepted.is_ok(), number < 4, "number {number}");
        let webhook = &accept.webhook;
        let logs = storage.logs_of(webhook.account_id, webhook.id).await?;
        assert_eq!(logs.len(), usize::from(number < 4), "number {number}");
        if let Err(error) = accepted {
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            assert!(error.retry_after().is_some());
        }
    }
    storage.accept(accepts[9].clone()).await?;
    storage.close().await;
    Ok(())
}

#[tokio::test]
async fn bytes_that_wait_are_bounded() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut options = options_in(&folder)?;
    options.queue_bytes = 10_000;
    let storage = Storage::connect(&options).await?;
    let lock = hold(&storage).await?;
    let accepted = accept_at_once(&storage, (0..4).map(|_| accept(4_000)), lock).await;
    assert_eq!(accepted.iter().filter(|accepted| accepted.is_ok()).count(), 2);
    storage.accept(accept(50_000)).await?;
    storage.close().await;
    Ok(())
}

/// Whoever changes the configuration gets the lock beside a writer that is never idle.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_writer_hands_on_the_lock() -> Tested {
    let folder = tempfile::tempdir()?;
    let storage = storage_in(&folder).await?;
    let done = std::sync::atomic::AtomicBool::new(false);
    let busy = || async {
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            storage.accept(accept(1_000)).await?;
        }
        Ok::<_, webhook_core::Error>(())
    };
    let patient = async {
        for number in 0..20 {
            let transaction = storage.database().begin().await?;
            transaction.commit().await?;
            tracing::debug!(number, "a transaction");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        Ok::<_, sea_orm::DbErr>(())
    };
    let busy = join_all((0..8).map(|_| busy()));
    let (busy, patient) =
        tokio::join!(busy, tokio::time::timeout(Duration::from_secs(30), patient));
    patient??;
    busy.into_iter().collect::<Result<(), _>>()?;
    storage.close().await;
    Ok(())
}
