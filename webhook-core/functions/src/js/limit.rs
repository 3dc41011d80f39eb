//! The limits of a call by their names.

use webhook_core::function::{FunctionError, ScriptLimits};

/// A limit that the host looks at itself; the others are named where they are thrown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    TotalTime,
    ComputeTime,
    Fuel,
    Memory,
    CallStack,
    StringBytes,
    BodyBytes,
    PatternSteps,
    HttpCalls,
    KvCalls,
}

/// How the message of an error begins that a limit threw into the script.
const PREFIX: &str = "limit exceeded: ";

impl Limit {
    /// The limit with its value, as it stands in [`FunctionError::Limit`].
    pub(super) fn describe(self, limits: &ScriptLimits) -> String {
        match self {
            Self::TotalTime => format!("total time of {} ms", limits.total_time.as_millis()),
            Self::ComputeTime => format!("compute time of {} ms", limits.compute_time.as_millis()),
            Self::Fuel => format!("fuel of {} instructions", limits.fuel),
            Self::Memory => format!("memory of {} bytes", limits.memory_bytes),
            Self::CallStack => "depth of the call stack".to_owned(),
            Self::StringBytes => format!("string size of {} bytes", limits.string_bytes),
            Self::BodyBytes => format!("body size of {} bytes", limits.body_bytes),
            Self::PatternSteps => format!("pattern steps, at most {}", limits.pattern_steps),
            Self::HttpCalls => format!("http calls, at most {}", limits.http_calls),
            Self::KvCalls => format!("kv calls, at most {}", limits.kv_calls),
        }
    }

    pub(super) fn error(self, limits: &ScriptLimits) -> FunctionError {
        FunctionError::Limit(self.describe(limits))
    }

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
