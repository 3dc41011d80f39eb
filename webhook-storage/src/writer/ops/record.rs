//! Keeping the newest runs of functions.

use std::{collections::HashMap, sync::LazyLock};

use webhook_core::Error;

use super::super::job::{Context, Failure, Op};
use crate::{
    entity::execution,
    fault::ErrorClass,
    tx::{Insert, Tx, with},
};

/// A run to keep.
#[derive(Debug)]
pub(crate) struct Record {
    /// The run.
    pub(crate) execution: execution::Model,
    /// How many runs of its function are kept, this one included.
    pub(crate) keep: usize,
}

static EXECUTION: LazyLock<Insert<9>> =
    LazyLock::new(|| Insert::new("execution", execution::COLUMNS, ""));

/// Everything from the newest run that is too many on.
pub(crate) const TRIM: &str = "DELETE FROM execution WHERE function_id = ? AND id <= (SELECT id \
    FROM execution WHERE function_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)";

impl Op for Record {
    type Answer = ();

    fn size_bytes(&self) -> usize {
        256 + self.execution.request.len() + self.execution.response.len()
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
        tx.insert(&EXECUTION, records, |record| record.execution.values()).await?;
        // Of several limits for one function, the last one counts.
        let limits: HashMap<_, _> =
            records.iter().map(|record| (record.execution.function_id, record.keep)).collect();
        for (function, keep) in limits {
            let keep = i64::try_from(keep).unwrap_or(i64::MAX);
            tx.execute(with(TRIM, [function.into(), function.into(), keep.into()])).await?;
        }
        Ok(records.iter().map(|_| Ok(())).collect())
    }
}
