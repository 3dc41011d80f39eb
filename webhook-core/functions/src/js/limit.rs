//! What limits look like inside of a script.

use webhook_core::function::{FunctionError, ScriptLimits};

pub(super) use crate::modules::Limit;

/// How the message of an error begins that a limit threw into the script.
const PREFIX: &str = "limit exceeded: ";

impl Limit {
    /// What a script sees when it runs into the limit.
    pub(super) fn message(self, limits: &ScriptLimits) -> String {
        format!("{PREFIX}{}", self.describe(limits))
    }
}

/// What an error that reached the end of the script means by its name and message.
pub(super) fn classify(name: &str, message: &str, limits: &ScriptLimits) -> Option<FunctionError> {
    if let Some(limit) = message.strip_prefix(PREFIX) {
        return Some(FunctionError::Limit(limit.to_owned()));
    }
    match (name, message) {
        ("InternalError", "out of memory" | "out of memory in regexp execution") => {
            Some(Limit::Memory.error(limits))
        }
        ("RangeError", "Maximum call stack size exceeded")
        | ("InternalError", "stack overflow") => Some(Limit::CallStack.error(limits)),
        ("InternalError", "string too long") => {
            Some(FunctionError::Limit("string size of 2^30 characters".to_owned()))
        }
        _ => None,
    }
}
