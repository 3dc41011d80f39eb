//! Keeping the newest runs of functions: alone, or with what they led to.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use sea_orm::{DbBackend, prelude::Uuid};
use webhook_core::{Error, WebhookId, function::record::RunRecord, store::NewExecution};

use super::super::job::{Context, Failure, Op};
use crate::{
    entity::{Table, execution},
    fault::{DatabaseError, ErrorClass},
    tx::{Insert, MAX_ROWS, Param, Tx, over_set, with},
};

/// A run to keep.
#[derive(Debug)]
pub(crate) struct Record {
    /// The run.
    pub(crate) execution: execution::Model,
    /// How many runs of its function are kept, this one included.
    pub(crate) keep: usize,
}

impl Record {
    /// A run of no stored webhook.
    pub(crate) fn alone(run: &RunRecord, keep: usize) -> Result<Self, Error> {
        Ok(Self { execution: execution::Model::of(run, None)?, keep })
    }

    /// These runs on a webhook. What takes computing is done here, and not where all operations
    /// wait.
    pub(crate) fn of(runs: Vec<NewExecution>, webhook: WebhookId) -> Result<Vec<Self>, Error> {
        let record = |NewExecution { execution, keep, .. }| {
            Ok(Self { execution: execution::Model::of(&execution, Some(webhook))?, keep })
        };
        runs.into_iter().map(record).collect()
    }
}

/// An operation with the runs of functions that led to it, which are stored with it or not
/// at all.
#[derive(Debug)]
pub(crate) struct WithRuns<T> {
    /// What is to be written.
    pub(crate) what: T,
    /// The runs.
    pub(crate) runs: Vec<Record>,
}

impl<T> WithRuns<T> {
    /// About how much memory the runs hold.
    pub(super) fn runs_bytes(&self) -> usize {
        self.runs.iter().map(Op::size_bytes).sum()
    }
}

impl<T> From<T> for WithRuns<T> {
    fn from(what: T) -> Self {
        Self { what, runs: Vec::new() }
    }
}

static EXECUTION: LazyLock<Insert<11>> = LazyLock::new(|| execution::Model::insert(""));

/// What is stored again, because nobody knew that it had been, has its runs already.
static EXECUTION_ONCE: LazyLock<Insert<11>> =
    LazyLock::new(|| execution::Model::insert(" ON CONFLICT (id) DO NOTHING"));

/// Everything from the newest run that is too many on.
pub(crate) const TRIM: &str = "DELETE FROM execution WHERE function_id = ? AND id <= (SELECT id \
    FROM execution WHERE function_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)";

/// The same with PostgreSQL, where transactions that trim one function at once mean the same
/// rows: who comes second does not wait for the first one's commit to find them gone.
const TRIM_POSTGRES: &str = "DELETE FROM execution WHERE id IN (SELECT id FROM execution \
    WHERE function_id = ? AND id <= (SELECT id FROM execution WHERE function_id = ? \
    ORDER BY id DESC LIMIT 1 OFFSET ?) FOR UPDATE SKIP LOCKED)";

impl Op for Record {
    type Answer = ();

    fn size_bytes(&self) -> usize {
        256 + self.execution.content.as_ref().map_or(0, Vec::len)
    }

    fn error_subject(class: ErrorClass) -> &'static str {
        match class {
            ErrorClass::MissingReference => "function",
            _ => "execution",
        }
    }

    async fn apply(
        tx: &impl Tx,
        records: &[Self],
        _context: &mut Context,
    ) -> Result<Vec<Result<(), Error>>, Failure> {
        let known = known(tx, records.iter()).await?;
        let is_known = |record: &&Record| known.contains(&record.execution.function_id);
        let kept: Vec<_> = records.iter().filter(is_known).collect();
        tx.insert(&EXECUTION, &kept, |record| record.execution.values()).await?;
        trim(tx, kept.into_iter()).await?;
        let answer = |record: &Record| match is_known(&record) {
            true => Ok(()),
            false => Err(Error::not_found("function")),
        };
        Ok(records.iter().map(answer).collect())
    }
}

/// Keeps the runs behind what a transaction has written. Those of functions that are gone are
/// passed over: nothing that was received is refused for the want of its function.
pub(super) async fn keep(
    tx: &impl Tx,
    runs: impl IntoIterator<Item = &Record>,
) -> Result<(), DatabaseError> {
    let mut runs: Vec<_> = runs.into_iter().collect();
    if runs.is_empty() {
        return Ok(());
    }
    let known = known(tx, runs.iter().copied()).await?;
    runs.retain(|run| known.contains(&run.execution.function_id));
    tx.insert(&EXECUTION_ONCE, &runs, |run| run.execution.values()).await?;
    trim(tx, runs.into_iter()).await
}

/// The functions of these runs that exist; they cannot be removed until the transaction ends.
async fn known<'r>(
    tx: &impl Tx,
    runs: impl Iterator<Item = &'r Record>,
) -> Result<HashSet<Uuid>, DatabaseError> {
    const HELD: &str = "SELECT id FROM document WHERE kind = 'function' AND id IN ";
    let mut functions: Vec<_> = runs.map(|run| run.execution.function_id).collect();
    functions.sort_unstable();
    functions.dedup();
    // A removal of one comes before or after.
    let tail = tx.on_postgres(" ORDER BY id FOR KEY SHARE");
    let mut known = HashSet::with_capacity(functions.len());
    for some in functions.chunks(MAX_ROWS) {
        let ids = some.iter().map(|id| Param::from(*id));
        let find = over_set(HELD, [], ids, tail);
        known.extend(tx.query(find, |row| row.get::<Uuid>("id")).await?);
    }
    Ok(known)
}

/// Removes what is too much of the functions of these runs. Of several limits for one
/// function, the last one counts.
async fn trim<'a>(
    tx: &impl Tx,
    runs: impl Iterator<Item = &'a Record>,
) -> Result<(), DatabaseError> {
    let sql = match tx.backend() {
        DbBackend::Postgres => TRIM_POSTGRES,
        _ => TRIM,
    };
    let limits: HashMap<_, _> = runs.map(|run| (run.execution.function_id, run.keep)).collect();
    for (function, keep) in limits {
        tx.execute(with(sql, [function.into(), function.into(), Param::count(keep)])).await?;
    }
    Ok(())
}
