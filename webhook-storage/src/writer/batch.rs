//! Running a batch: together, or one by one when one of it spoils it for all.

use std::sync::Arc;

use sea_orm::{DatabaseTransaction, DbErr, TransactionTrait};
use tokio::sync::{Mutex, mpsc};
use webhook_core::Error;

use super::{
    Answer, Job, Operation, Outcome, accept,
    backlog::{Backlog, BatchLimits},
    claim::{self, ClaimLimits},
    drain, explain, lease, purge,
    queue::Queue,
    record, redeliver, report, settle,
    tally::Tallies,
};
use crate::{StorageOptions, database::Database, fault::Fault};

/// How often a batch starts over because another transaction was in its way.
const TRIES: usize = 4;

/// Why a batch was not written.
#[derive(Debug)]
pub(super) enum Failure {
    Database(DbErr),
    /// One operation has to be seen apart from the others.
    Split,
}

impl From<DbErr> for Failure {
    fn from(error: DbErr) -> Self {
        Self::Database(error)
    }
}

/// The answers to a batch by the number of the operation.
pub(super) type Answers = Vec<(usize, Answer)>;

/// One writer.
#[derive(Debug)]
pub(super) struct Batches {
    database: Database,
    queue: Arc<Queue>,
    limits: BatchLimits,
    claim: ClaimLimits,
}

/// What waits for PostgreSQL's writers, who share it: what one of them had taken for later
/// would wait for that one.
#[derive(Debug)]
pub(super) struct Waiting {
    queue: mpsc::Receiver<Job>,
    backlog: Backlog,
}

impl Waiting {
    pub(super) fn new(queue: mpsc::Receiver<Job>) -> Self {
        Self { queue, backlog: Backlog::default() }
    }

    /// What is to be written next; empty once the queue is closed and empty.
    async fn next_batch(&mut self, limits: BatchLimits) -> Vec<Job> {
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

impl Batches {
    pub(super) fn new(database: Database, queue: Arc<Queue>, options: &StorageOptions) -> Self {
        Self {
            database,
            queue,
            limits: BatchLimits::of(options),
            claim: ClaimLimits { bytes: options.claim_bytes },
        }
    }

    #[cfg(feature = "sqlite")]
    pub(super) const fn limits(&self) -> BatchLimits {
        self.limits
    }

    /// Writes until the queue is closed and empty.
    pub(super) async fn run(self, waiting: Arc<Mutex<Waiting>>) {
        loop {
            let batch = waiting.lock().await.next_batch(self.limits).await;
            if batch.is_empty() {
                return;
            }
            self.write(batch).await;
        }
    }

    pub(super) async fn write(&self, jobs: Vec<Job>) {
        let mut operations = Vec::with_capacity(jobs.len());
        let mut callers = Vec::with_capacity(jobs.len());
        for Job { operation, reply, reserved } in jobs {
            operations.push(operation);
            callers.push(Some((reply, reserved)));
        }
        let answers: Answers = match self.commit(&operations).await {
            Ok(answers) => {
                self.queue.committed(operations.len());
                answers
            }
            // The transaction failed: it is `Err` for everybody.
            Err(error) => {
                let answer = |operation| Err(explained(operation, error.clone()));
                operations.iter().map(answer).enumerate().collect()
            }
        };
        let with_operation = answers.iter().map(|(number, answer)| (&operations[*number], answer));
        self.queue.health.note(with_operation);
        for (number, answer) in answers {
            let Some((reply, _reserved)) = callers.get_mut(number).and_then(Option::take) else {
                continue;
            };
            if let Err(Ok(outcome)) = reply.send(answer) {
                self.take_back(&operations[number], outcome).await;
            }
        }
    }

    async fn commit(&self, operations: &[Operation]) -> Result<Answers, DbErr> {
        for _ in 0..TRIES {
            match self.together(operations).await {
                Ok(answers) => return Ok(answers),
                Err(Failure::Split) => break,
                Err(Failure::Database(error)) => match Fault::of(&error) {
                    Fault::Interlocked => tracing::debug!(%error, "the batch starts over"),
                    fault if fault.is_of_the_database() => return Err(error),
                    _ => break,
                },
            }
        }
        self.one_by_one(operations).await
    }

    async fn together(&self, operations: &[Operation]) -> Result<Answers, Failure> {
        let transaction = self.database.begin().await?;
        match self.apply(&transaction, operations, 0, false).await {
            Ok(answers) => {
                transaction.commit().await?;
                Ok(answers)
            }
            Err(failure) => {
                transaction.rollback().await;
                Err(failure)
            }
        }
    }

    /// Still one transaction, but what fails is taken back alone.
    async fn one_by_one(&self, operations: &[Operation]) -> Result<Answers, DbErr> {
        let transaction = self.database.begin().await?;
        match self.apply_one_by_one(&transaction, operations).await {
            Ok(answers) => {
                transaction.commit().await?;
                Ok(answers)
            }
            Err(error) => {
                transaction.rollback().await;
                Err(error)
            }
        }
    }

    async fn apply_one_by_one(
        &self,
        transaction: &DatabaseTransaction,
        operations: &[Operation],
    ) -> Result<Answers, DbErr> {
        let mut answers = Vec::with_capacity(operations.len());
        for (number, operation) in operations.iter().enumerate() {
            let savepoint = transaction.begin().await?;
            match self.apply(&savepoint, std::slice::from_ref(operation), number, true).await {
                Ok(answer) => {
                    savepoint.commit().await?;
                    answers.extend(answer);
                }
                Err(Failure::Database(error)) if Fault::of(&error).is_of_the_database() => {
                    return Err(error);
                }
                Err(failure) => {
                    savepoint.rollback().await?;
                    answers.push((number, Err(refusal(operation, failure))));
                }
            }
        }
        Ok(answers)
    }

    /// Runs `operations`, the first of which has the number `first`, in a
    /// transaction of many or of the one that is `alone`.
    async fn apply(
        &self,
        transaction: &DatabaseTransaction,
        operations: &[Operation],
        first: usize,
        alone: bool,
    ) -> Result<Answers, Failure> {
        let (mut accepts, mut settles, mut claims, mut records) = Default::default();
        let (mut redeliveries, mut drains, mut reports, mut purges) = Default::default();
        for (operation, number) in operations.iter().zip(first..) {
            match operation {
                Operation::Accept(accept) => Vec::push(&mut accepts, (number, accept)),
                Operation::Settle(settle) => Vec::push(&mut settles, (number, settle)),
                Operation::Claim(claim) => Vec::push(&mut claims, (number, claim)),
                Operation::Record { execution, keep } => {
                    Vec::push(&mut records, (number, (execution, *keep)));
                }
                Operation::Redeliver { account, redeliver } => {
                    Vec::push(&mut redeliveries, (number, (*account, redeliver)));
                }
                Operation::Drain { account, drain } => {
                    Vec::push(&mut drains, (number, (*account, drain)));
                }
                Operation::Report { account, report } => {
                    Vec::push(&mut reports, (number, (*account, report)));
                }
                Operation::Purge(ids) => Vec::push(&mut purges, (number, ids.as_slice())),
            }
        }
        let mut answers = Vec::with_capacity(operations.len());
        let mut tallies = Tallies::default();
        let (tallied, answer) = (&mut tallies, &mut answers);
        drain::apply(transaction, &drains, self.claim.bytes, tallied, answer).await?;
        accept::apply(transaction, &accepts, alone, tallied, answer).await?;
        redeliver::apply(transaction, &redeliveries, tallied, answer).await?;
        settle::apply(transaction, settles, tallied, answer).await?;
        report::apply(transaction, &reports, tallied, answer).await?;
        record::apply(transaction, &records, answer).await?;
        claim::apply(transaction, &claims, self.claim, tallied, answer).await?;
        purge::apply(transaction, &purges, tallied, answer).await?;
        tallies.write(transaction).await?;
        Ok(answers)
    }

    /// Takes back what was handed to a caller who no longer waits.
    async fn take_back(&self, operation: &Operation, outcome: Outcome) {
        match (operation, outcome) {
            (Operation::Claim(claim), Outcome::Claimed(claimed)) => {
                let ids = claimed.deliveries.iter().map(|pending| pending.id).collect();
                if let Err(error) = lease::give_back(&self.database, claim.node, ids).await {
                    let node = claim.node;
                    tracing::warn!(%error, %node, "a claim that nobody waits for stays held");
                }
            }
            (Operation::Drain { .. }, Outcome::Drained(drained)) => {
                let ids = drained.logs.iter().map(|log| log.delivery.id).collect();
                if let Err(error) = drain::give_back(&self.database, ids).await {
                    tracing::warn!(%error, "logs that nobody waits for stay drained");
                }
            }
            _ => {}
        }
    }
}

fn refusal(operation: &Operation, failure: Failure) -> Error {
    match failure {
        Failure::Database(error) => explained(operation, error),
        Failure::Split => Error::internal(std::io::Error::other("an operation cannot be split")),
    }
}

fn explained(operation: &Operation, error: DbErr) -> Error {
    let fault = Fault::of(&error);
    fault.explain(error, explain::what(operation, fault))
}
