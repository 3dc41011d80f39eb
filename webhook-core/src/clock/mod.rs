//! The time of a relay, and the identifiers that are made of it: both from sources that are
//! handed in, so that a test moves them. `webhook-core` has all of it under its own names.

mod clock;
mod ids;
mod store;
mod system;

#[cfg(any(test, feature = "test-util"))]
pub use clock::TokioClock;
pub use clock::{Clock, Month};
pub use ids::{Ids, Random, SystemRandom};
pub use store::{Skew, StoreClock};
pub use system::SystemClock;
pub use webhook_wire::Timestamp;
