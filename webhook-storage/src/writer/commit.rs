//! Writing a batch: together, or one by one when one of it spoils it for all.

use std::sync::Arc;

use super::{
    batch::{Batch, Queued},
    job::Failure,
    queue::Queue,
};
use crate::{
    fault::{DatabaseError, ErrorClass},
    fold,
    tx::{self, Begin, Commit},
};

/// How often a batch starts over because another transaction was in its way.
const TRIES: usize = 4;

/// Commits batches where transactions begin.
#[derive(Debug)]
pub(super) struct Committer<B> {
    /// Where transactions begin.
    pub(super) begin: B,
    /// What is told of each commit.
    queue: Arc<Queue>,
    /// How many bytes of webhooks one operation returns.
    claim_bytes: usize,
}

impl<B: Begin> Committer<B> {
    pub(super) fn new(begin: B, queue: Arc<Queue>, claim_bytes: usize) -> Self {
        Self { begin, queue, claim_bytes }
    }

    /// Writes the operations and answers their callers.
    #[cfg(feature = "sqlite")]
    pub(super) async fn write(&self, jobs: Vec<Queued>) {
        self.write_in(self.begin.begin_writing().await, jobs).await;
    }

    /// The same in a transaction that has begun. Without one every caller gets the error.
    pub(super) async fn write_in<'b>(
        &'b self,
        begun: Result<B::Transaction<'b>, DatabaseError>,
        jobs: Vec<Queued>,
    ) {
        let mut batch = Batch::of(jobs);
        let committed = match begun {
            Ok(begun) => self.commit(&mut batch, begun).await,
            Err(error) => Err(error),
        };
        match committed {
            Ok(()) => self.queue.committed(batch.len()),
            Err(error) => batch.refuse(&error),
        }
        self.queue.health.note(batch.accepts.replies());
        batch.answer_what_stands();
        // Who has an answer finds that what is for nobody was taken back.
        self.take_back(&mut batch).await;
        batch.answer_the_rest();
        self.take_back(&mut batch).await;
        if let Some(commits) = self.queue.commits_to_fold()
            && let Err(error) = fold::fold_in_turn(&self.begin, commits).await
        {
            // What is left is counted all the same.
            tracing::warn!(%error, "counts were not folded; they are tried again later");
        }
    }

    async fn commit<'b>(
        &'b self,
        batch: &mut Batch,
        begun: B::Transaction<'b>,
    ) -> Result<(), DatabaseError> {
        let mut begun = Some(begun);
        for _ in 0..TRIES {
            let transaction = match begun.take() {
                Some(begun) => begun,
                None => self.begin.begin_writing().await?,
            };
            match self.together(batch, transaction).await {
                Ok(()) => return Ok(()),
                Err(Failure::Split) => break,
                Err(Failure::Database(error)) => match error.class() {
                    ErrorClass::Interlocked => tracing::debug!(%error, "the batch starts over"),
                    class if class.is_of_the_database() => return Err(error),
                    _ => break,
                },
            }
        }
        self.one_by_one(batch).await
    }

    async fn together(
        &self,
        batch: &mut Batch,
        transaction: B::Transaction<'_>,
    ) -> Result<(), Failure> {
        let applied = batch.apply(transaction.tx(), self.claim_bytes).await;
        tx::end(transaction, applied).await
    }

    /// Still one transaction, but what fails is taken back alone.
    async fn one_by_one(&self, batch: &mut Batch) -> Result<(), DatabaseError> {
        let transaction = self.begin.begin_writing().await?;
        let applied = batch.apply_one_by_one(transaction.tx(), self.claim_bytes).await;
        tx::end(transaction, applied).await
    }

    /// Takes back what callers were not told who are gone.
    async fn take_back(&self, batch: &mut Batch) {
        if batch.is_unheard()
            && let Err(error) = self.take_back_now(batch).await
        {
            tracing::warn!(%error, "what nobody waits for any more stays claimed or drained");
        }
    }

    async fn take_back_now(&self, batch: &mut Batch) -> Result<(), DatabaseError> {
        let transaction = self.begin.begin_writing().await?;
        let taken_back = batch.take_back(transaction.tx()).await;
        tx::end(transaction, taken_back).await
    }
}
