//! Parts that create webhooks.

pub(super) mod crons;
pub(super) mod notify;
pub(super) mod replays;
pub(super) mod resend;
