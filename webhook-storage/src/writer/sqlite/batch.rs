//! One transaction of operations.

use rusqlite::Connection;
use uuid::Uuid;
use webhook_core::Error;

use super::{
    super::{Operation, Outcome, explain, tally::Tallies},
    accept::Accepting,
    settle, tally,
};
use crate::fault::Fault;

/// What an operation came to; the error that a statement met is another matter.
pub(super) type Answer = Result<Outcome, Error>;

/// Writes operations in one transaction.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    connection: &'a Connection,
}

impl<'a> Batch<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        Self { connection }
    }

    /// Whether it knows how to write this operation.
    pub(super) fn writes(operation: &Operation) -> bool {
        matches!(operation, Operation::Accept(_) | Operation::Settle(_))
    }

    /// Writes all of `operations` and commits. What fails alone is answered
    /// with its error and leaves nothing; when the database is at fault,
    /// nothing of all is written.
    pub(super) fn commit(&self, operations: &[Operation]) -> rusqlite::Result<Vec<Answer>> {
        match self.transaction(|| self.together(operations)) {
            Err(error) if !Fault::of_sqlite(&error).is_of_the_database() => {
                self.transaction(|| self.one_by_one(operations))
            }
            answers => answers,
        }
    }

    fn transaction<T>(&self, write: impl FnOnce() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        self.run("BEGIN IMMEDIATE")?;
        let written = write().and_then(|written| self.run("COMMIT").map(|()| written));
        // SQLite has taken back some failed transactions already.
        if written.is_err() && !self.connection.is_autocommit() {
            self.run("ROLLBACK")?;
        }
        written
    }

    fn together(&self, operations: &[Operation]) -> rusqlite::Result<Vec<Answer>> {
        let mut tallies = Tallies::default();
        let answers = self.apply(operations, &mut tallies)?;
        tally::write(self.connection, tallies)?;
        Ok(answers)
    }

    fn one_by_one(&self, operations: &[Operation]) -> rusqlite::Result<Vec<Answer>> {
        let mut answers = Vec::with_capacity(operations.len());
        for operation in operations {
            self.run("SAVEPOINT alone")?;
            match self.together(std::slice::from_ref(operation)) {
                Ok(answer) => answers.extend(answer),
                Err(error) => {
                    let fault = Fault::of_sqlite(&error);
                    if fault.is_of_the_database() {
                        return Err(error);
                    }
                    self.run("ROLLBACK TO alone")?;
                    answers.push(Err(fault.explain(error, explain::what(operation, fault))));
                }
            }
            self.run("RELEASE alone")?;
        }
        Ok(answers)
    }

    fn apply(
        &self,
        operations: &[Operation],
        tallies: &mut Tallies,
    ) -> rusqlite::Result<Vec<Answer>> {
        let mut accepting = Accepting::prepare(self.connection)?;
        let mut settling = settle::Settling::prepare(self.connection)?;
        let mut answers: Vec<_> = operations.iter().map(|_| None).collect();
        for number in in_order(operations) {
            let answer = match &operations[number] {
                Operation::Accept(accept) => {
                    Ok(Outcome::Accepted(accepting.write(accept, tallies)?))
                }
                Operation::Settle(settle) => {
                    settling.write(settle, tallies)?.map(|()| Outcome::Written)
                }
                _ => Err(crate::fault::wrong_outcome()),
            };
            answers[number] = Some(answer);
        }
        settling.forget()?;
        Ok(answers.into_iter().flatten().collect())
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(()).map(|_| ())
    }
}

/// The numbers of the operations in the order of what they write: what is
/// stored is appended to every tree, which splits no pages, and what is settled
/// is looked for where the last one was.
fn in_order(operations: &[Operation]) -> Vec<usize> {
    let key = |number: &usize| match &operations[*number] {
        Operation::Accept(accept) => (0, accept.webhook.id.as_uuid()),
        Operation::Settle(settle) => (1, settle.id.as_uuid()),
        _ => (2, Uuid::nil()),
    };
    let mut order: Vec<_> = (0..operations.len()).collect();
    order.sort_by_key(key);
    order
}
