//! Stores that keep everything in memory.

/// Implements every store trait in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {}
