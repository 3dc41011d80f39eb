//! Functions.

use std::{num::NonZero, time::Duration};

use webhook_core::function::ScriptLimits;

use super::{ConfigError, IngestConfig, at_least_one, not_zero, refuse_if, value};

/// What functions may use.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Functions")]
pub(crate) struct FunctionConfig {
    /// Whether functions may be written in JavaScript: true or false. Its
    /// engine is C inside of this process.
    #[arg(long, env = "WEBHOOK_FUNCTION_JAVASCRIPT", default_value_t = true)]
    #[arg(value_name = "true|false", action = clap::ArgAction::Set)]
    pub(crate) function_javascript: bool,
    /// Threads that run functions written in Lua, and functions in JavaScript
    /// that compute concurrently; as many as cores, 4 at most, when it is not said, and
    /// one for each 256 MiB of the memory limit of a container.
    #[arg(long, env = "WEBHOOK_FUNCTION_THREADS", value_name = "COUNT")]
    pub(crate) function_threads: Option<NonZero<usize>>,
    /// Calls that wait for their turn in each language, half of them of one
    /// account at most; over it senders get 503 and deliveries are tried again.
    #[arg(long, env = "WEBHOOK_FUNCTION_QUEUE", default_value_t = 1_024, value_name = "COUNT")]
    pub(crate) function_queue: usize,
    /// The longest source.
    #[arg(long, env = "WEBHOOK_FUNCTION_SOURCE_BYTES", default_value = "64KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) function_source_bytes: usize,
    /// How long a call may take, waiting included.
    #[arg(long, env = "WEBHOOK_FUNCTION_TOTAL_TIME", default_value = "5s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) function_total_time: Duration,
    /// How long of it may be spent computing.
    #[arg(long, env = "WEBHOOK_FUNCTION_COMPUTE_TIME", default_value = "1s")]
    #[arg(value_name = "DURATION", value_parser = value::duration)]
    pub(crate) function_compute_time: Duration,
    /// Instructions of a call.
    #[arg(long, env = "WEBHOOK_FUNCTION_FUEL", default_value_t = 50_000_000, value_name = "COUNT")]
    pub(crate) function_fuel: u64,
    /// Memory of a call.
    #[arg(long, env = "WEBHOOK_FUNCTION_MEMORY_BYTES", default_value = "32MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) function_memory_bytes: usize,
    /// The longest string.
    #[arg(long, env = "WEBHOOK_FUNCTION_STRING_BYTES", default_value = "8MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) function_string_bytes: usize,
    /// Steps of one pattern match.
    #[arg(long, env = "WEBHOOK_FUNCTION_PATTERN_STEPS", default_value_t = 1_000_000)]
    #[arg(value_name = "COUNT")]
    pub(crate) function_pattern_steps: u64,
    /// Values that one call may unpack.
    #[arg(long, env = "WEBHOOK_FUNCTION_UNPACKED_VALUES", default_value_t = 8_192)]
    #[arg(value_name = "COUNT")]
    pub(crate) function_unpacked_values: usize,
    /// What a call may print.
    #[arg(long, env = "WEBHOOK_FUNCTION_LOG_BYTES", default_value = "64KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) function_log_bytes: usize,
    /// Requests that a call may send; 0 for none.
    #[arg(long, env = "WEBHOOK_FUNCTION_HTTP_CALLS", default_value_t = 10, value_name = "COUNT")]
    pub(crate) function_http_calls: usize,
    /// The longest answer to one of them.
    #[arg(long, env = "WEBHOOK_FUNCTION_HTTP_RESPONSE_BYTES", default_value = "1MiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) function_http_response_bytes: usize,
    /// Values that a call may read or change with `kv`; 0 for none.
    #[arg(long, env = "WEBHOOK_FUNCTION_KV_CALLS", default_value_t = 20, value_name = "COUNT")]
    pub(crate) function_kv_calls: usize,
    /// Values that a function may keep.
    #[arg(long, env = "WEBHOOK_FUNCTION_KV_KEYS", default_value_t = 1_000, value_name = "COUNT")]
    pub(crate) function_kv_keys: usize,
    /// The longest of them.
    #[arg(long, env = "WEBHOOK_FUNCTION_KV_VALUE_BYTES", default_value = "8KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) function_kv_value_bytes: usize,
    /// Of a function's runs that succeed and print nothing, how many of each second have a
    /// record; beyond them one of 100 has one, which says for how many it stands. all for each.
    #[arg(long, env = "WEBHOOK_FUNCTION_RECORDED_RUNS", default_value = "10")]
    #[arg(value_name = "COUNT|all", value_parser = value::count_or_all)]
    pub(crate) function_recorded_runs: usize,
    /// Runs whose records are kept for each function; older ones are dropped.
    #[arg(long, env = "WEBHOOK_FUNCTION_KEPT_RUNS", default_value_t = 1_000, value_name = "COUNT")]
    pub(crate) function_kept_runs: usize,
    /// How much of each body the record of a run keeps.
    #[arg(long, env = "WEBHOOK_FUNCTION_RECORDED_BODY_BYTES", default_value = "64KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) function_recorded_body_bytes: usize,
    /// Functions of one account; over it 400.
    #[arg(long, env = "WEBHOOK_MAX_FUNCTIONS", default_value_t = 500, value_name = "COUNT")]
    pub(crate) max_functions: usize,
}

impl FunctionConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        not_zero("WEBHOOK_FUNCTION_TOTAL_TIME", self.function_total_time)?;
        not_zero("WEBHOOK_FUNCTION_COMPUTE_TIME", self.function_compute_time)?;
        refuse_if(self.function_fuel == 0, "WEBHOOK_FUNCTION_FUEL", "must not be zero")?;
        let has_no_steps = self.function_pattern_steps == 0;
        refuse_if(has_no_steps, "WEBHOOK_FUNCTION_PATTERN_STEPS", "must not be zero")?;
        at_least_one("WEBHOOK_FUNCTION_QUEUE", self.function_queue)?;
        at_least_one("WEBHOOK_FUNCTION_SOURCE_BYTES", self.function_source_bytes)?;
        at_least_one("WEBHOOK_FUNCTION_STRING_BYTES", self.function_string_bytes)?;
        at_least_one("WEBHOOK_FUNCTION_UNPACKED_VALUES", self.function_unpacked_values)?;
        let is_small = self.function_memory_bytes < 1 << 20;
        refuse_if(is_small, "WEBHOOK_FUNCTION_MEMORY_BYTES", "must be at least 1MiB")?;
        at_least_one("WEBHOOK_FUNCTION_KEPT_RUNS", self.function_kept_runs)
    }

    /// What one call may use. A body that a function leaves may be as long as
    /// the longest that comes in.
    pub(crate) fn limits(&self, ingest: &IngestConfig) -> ScriptLimits {
        let mut limits = ScriptLimits::default();
        limits.source_bytes = self.function_source_bytes;
        limits.total_time = self.function_total_time;
        limits.compute_time = self.function_compute_time;
        limits.fuel = self.function_fuel;
        limits.memory_bytes = self.function_memory_bytes;
        limits.string_bytes = self.function_string_bytes;
        limits.body_bytes = ingest.max_large_body_bytes;
        limits.pattern_steps = self.function_pattern_steps;
        limits.unpacked_values = self.function_unpacked_values;
        limits.log_bytes = self.function_log_bytes;
        limits.http_calls = self.function_http_calls;
        limits.http_response_bytes = self.function_http_response_bytes;
        limits.kv_calls = self.function_kv_calls;
        limits.kv_keys = self.function_kv_keys;
        limits.kv_value_bytes = self.function_kv_value_bytes;
        limits
    }
}
