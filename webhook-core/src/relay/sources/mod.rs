//! The parts that create webhooks without a sender. Each webhook takes the way of
//! [`intake`](super::intake), from the function of the input on. A replay or a resend adds
//! deliveries to a stored webhook, unless the input had failed or refused this webhook.

pub(super) mod crons;
pub(super) mod notify;
pub(super) mod replays;
pub(super) mod resend;
