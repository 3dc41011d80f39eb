//! The limits of a call by their names.

use webhook_core::function::{FunctionError, ScriptLimits};

/// A limit that a script ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    TotalTime,
    ComputeTime,
    Fuel,
    Memory,
    #[cfg(feature = "js")]
    CallStack,
    StringBytes,
    BodyBytes,
    PatternSteps,
    #[cfg(feature = "lua")]
    UnpackedValues,
    HttpCalls,
    KvCalls,
}

impl Limit {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::TotalTime => "total time",
            Self::ComputeTime => "compute time",
            Self::Fuel => "fuel",
            Self::Memory => "memory",
            #[cfg(feature = "js")]
            Self::CallStack => "depth of the call stack",
            Self::StringBytes => "string size",
            Self::BodyBytes => "body size",
            Self::PatternSteps => "pattern steps",
            #[cfg(feature = "lua")]
            Self::UnpackedValues => "unpacked values",
            Self::HttpCalls => "http calls",
            Self::KvCalls => "kv calls",
        }
    }

    /// The limit with its value, as it stands in [`FunctionError::Limit`].
    pub(crate) fn describe(self, limits: &ScriptLimits) -> String {
        let name = self.name();
        match self {
            Self::TotalTime => format!("{name} of {} ms", limits.total_time.as_millis()),
            Self::ComputeTime => format!("{name} of {} ms", limits.compute_time.as_millis()),
            Self::Fuel => format!("{name} of {} instructions", limits.fuel),
            Self::Memory => format!("{name} of {} bytes", limits.memory_bytes),
            #[cfg(feature = "js")]
            Self::CallStack => name.to_owned(),
            Self::StringBytes => format!("{name} of {} bytes", limits.string_bytes),
            Self::BodyBytes => format!("{name} of {} bytes", limits.body_bytes),
            Self::PatternSteps => format!("{name}, at most {}", limits.pattern_steps),
            #[cfg(feature = "lua")]
            Self::UnpackedValues => format!("{name}, at most {}", limits.unpacked_values),
            Self::HttpCalls => format!("{name}, at most {}", limits.http_calls),
            Self::KvCalls => format!("{name}, at most {}", limits.kv_calls),
        }
    }

    pub(crate) fn error(self, limits: &ScriptLimits) -> FunctionError {
        FunctionError::Limit(self.describe(limits))
    }
}
