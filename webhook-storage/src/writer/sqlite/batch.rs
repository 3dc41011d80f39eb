//! One transaction of operations.

use rusqlite::Connection;
use webhook_core::{
    Error,
    store::{Accept, Settle},
};

use super::{
    super::{Operation, Outcome, explain, tally::Tallies},
    accept, settle, tally,
};
use crate::fault::{Fault, wrong_outcome};

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
        let InOrder { accepts, settles } = InOrder::of(operations);
        let mut answers: Vec<Option<Answer>> = operations.iter().map(|_| None).collect();
        if !accepts.is_empty() {
            let (numbers, accepts): (Vec<_>, Vec<_>) = accepts.into_iter().unzip();
            let accepted = accept::write(self.connection, &accepts, tallies)?;
            for number in numbers {
                answers[number] = Some(Ok(Outcome::Accepted(accepted)));
            }
        }
        if !settles.is_empty() {
            let mut settling = settle::Settling::prepare(self.connection)?;
            for (number, settle) in settles {
                let written = settling.write(settle, tallies)?;
                answers[number] = Some(written.map(|()| Outcome::Written));
            }
            settling.forget()?;
        }
        // There are no statements here for other operations.
        let or_wrong = |answer: Option<_>| answer.unwrap_or_else(|| Err(wrong_outcome()));
        Ok(answers.into_iter().map(or_wrong).collect())
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(()).map(|_| ())
    }
}

/// Operations with their numbers, in the order of what they write: what is
/// stored is appended to every tree, which splits no pages, and what is settled
/// is looked for where the last one was.
struct InOrder<'a> {
    accepts: Vec<(usize, &'a Accept)>,
    settles: Vec<(usize, &'a Settle)>,
}

impl<'a> InOrder<'a> {
    fn of(operations: &'a [Operation]) -> Self {
        let mut sorted = Self { accepts: Vec::new(), settles: Vec::new() };
        for (number, operation) in operations.iter().enumerate() {
            match operation {
                Operation::Accept(accept) => sorted.accepts.push((number, accept)),
                Operation::Settle(settle) => sorted.settles.push((number, settle)),
                _ => {}
            }
        }
        sorted.accepts.sort_by_key(|(_, accept)| accept.webhook.id);
        sorted.settles.sort_by_key(|(_, settle)| settle.id);
        sorted
    }
}
