//! What attempts tell of the destination.

use super::OutputQueue;
use crate::{clock::Timestamp, relay::deliver::circuit::Judged};

impl OutputQueue {
    /// A delivery's turn has ended, and tells this of the destination.
    pub(in crate::relay::deliver) fn judge(&self, judged: Judged, now: Timestamp) {
        let mut state = self.state();
        let Some(breaker) = state.limits.circuit else { return };
        match state.circuit.ended(&breaker, judged, now) {
            Some(true) => {
                tracing::warn!(output = %self.output_id, "most attempts fail: the circuit is open")
            }
            Some(false) => {
                tracing::info!(output = %self.output_id, "it works again: the circuit is closed")
            }
            None => {}
        }
    }
}
