//! The limits of a call by their names.

use webhook_core::function::{FunctionError, ScriptLimits};

/// A limit that a script ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Limit {
    TotalTime,
    ComputeTime,
    Fuel,
    Memory,
    StringBytes,
    BodyBytes,
    PatternSteps,
    UnpackedValues,
    HttpCalls,
    KvCalls,
}

impl Limit {
    pub(in super::super) const fn name(self) -> &'static str {
        match self {
            Self::TotalTime => "total time",
            Self::ComputeTime => "compute time",
            Self::Fuel => "fuel",
            Self::Memory => "memory",
            Self::StringBytes => "string size",
            Self::BodyBytes => "body size",
            Self::PatternSteps => "pattern steps",
            Self::UnpackedValues => "unpacked values",
            Self::HttpCalls => "http calls",
            Self::KvCalls => "kv calls",
        }
    }

    pub(in super::super) fn error(self, limits: &ScriptLimits) -> FunctionError {
        let name = self.name();
        FunctionError::Limit(match self {
            Self::TotalTime => format!("{name} of {} ms", limits.total_time.as_millis()),
            Self::ComputeTime => format!("{name} of {} ms", limits.compute_time.as_millis()),
            Self::Fuel => format!("{name} of {} instructions", limits.fuel),
            Self::Memory => format!("{name} of {} bytes", limits.memory_bytes),
            Self::StringBytes => format!("{name} of {} bytes", limits.string_bytes),
            Self::BodyBytes => format!("{name} of {} bytes", limits.body_bytes),
            Self::PatternSteps => format!("{name}, at most {}", limits.pattern_steps),
            Self::UnpackedValues => format!("{name}, at most {}", limits.unpacked_values),
            Self::HttpCalls => format!("{name}, at most {}", limits.http_calls),
            Self::KvCalls => format!("{name}, at most {}", limits.kv_calls),
        })
    }
}
