//! Memory that functions of the host hold between two steps.

use gc_arena::metrics::Metrics;
use piccolo::Context;

/// Bytes outside of the VM's own memory that count as the script's, until this is dropped.
pub(crate) struct Held {
    metrics: Metrics,
    bytes: usize,
}

impl Held {
    pub(crate) fn none(ctx: Context<'_>) -> Self {
        Self { metrics: ctx.metrics().clone(), bytes: 0 }
    }

    /// Counts so many bytes from now on.
    pub(crate) fn set(&mut self, bytes: usize) {
        self.metrics.mark_external_allocation(bytes.saturating_sub(self.bytes));
        self.metrics.mark_external_deallocation(self.bytes.saturating_sub(bytes));
        self.bytes = bytes;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}
