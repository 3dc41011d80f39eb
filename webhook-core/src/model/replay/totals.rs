//! How far a replay has come.

use serde::Serialize;

use super::super::DeliveryStatus;

/// The logs of a replay by their status, counted for each answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayTotals {
    /// Logs that it has made.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub queued: u64,
    /// Logs of the replay that arrived.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub sent: u64,
    /// Logs of the replay whose deliveries failed permanently.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub failed: u64,
    /// Logs of the replay that rules or functions stopped, and logs that were withdrawn.
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub rejected: u64,
}

impl ReplayTotals {
    /// What the log of a webhook says that was withdrawn by the end of its replay.
    pub const WITHDRAWN: &'static str = "withdrawn: its replay was cancelled";

    /// Adds `logs` to the count of a status.
    pub fn count(&mut self, status: DeliveryStatus, logs: u64) {
        self.queued += logs;
        match status {
            DeliveryStatus::Sent => self.sent += logs,
            DeliveryStatus::Failed => self.failed += logs,
            DeliveryStatus::Rejected => self.rejected += logs,
            DeliveryStatus::Preparing | DeliveryStatus::Stalled | DeliveryStatus::Received => {}
        }
    }
}
