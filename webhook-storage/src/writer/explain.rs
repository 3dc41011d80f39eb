//! What an operation was writing, for the caller of one that failed.

use super::Operation;
use crate::fault::Fault;

pub(super) fn what(operation: &Operation, fault: Fault) -> &'static str {
    match operation {
        Operation::Record { .. } if fault == Fault::MissingReference => "function",
        Operation::Record { .. } => "execution",
        Operation::Drain { .. } | Operation::Report { .. } | Operation::Purge(_) => "log",
        _ => "delivery",
    }
}
