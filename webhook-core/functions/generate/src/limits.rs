//! What one generation may cost.

/// Bounds of one generation. Past any of them the answer is [`GenerateError::Invalid`](webhook_core::function::generate::GenerateError::Invalid),
/// which names the payload to blame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenerateLimits {
    /// Samples of one request. 4.
    pub max_examples: usize,
    /// Size of either payload. 256 KiB.
    pub max_payload_bytes: usize,
    /// Levels of lists and objects in either payload. 32.
    pub max_depth: usize,
    /// Values in either payload, lists and objects included. 40 000.
    pub max_nodes: usize,
    /// Candidates that the search may look at, about a second of one core at most. 8 million.
    pub max_steps: u64,
    /// Size of the written function. 64 KiB, which is what a function's source may have.
    pub max_code_bytes: usize,
}

impl Default for GenerateLimits {
    fn default() -> Self {
        Self {
            max_examples: 4,
            max_payload_bytes: 256 * 1024,
            max_depth: 32,
            max_nodes: 40_000,
            max_steps: 8_000_000,
            max_code_bytes: 64 * 1024,
        }
    }
}
