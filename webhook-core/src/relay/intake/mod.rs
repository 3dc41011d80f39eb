//! The way of a webhook from its sender to the commit.
//!
//! * [`receive`] reads the request, and asks [`checks`] for the signature and for duplicates.
//! * [`stage`] runs the function of the input.
//! * [`route`] asks the rules of the outputs.
//! * [`accept`] stores the webhook with its deliveries. [`keep`] stores a webhook that [`end`]s
//!   without a delivery.
//! * [`inject`] is the entrance for webhooks that a part of the relay creates.

pub(super) mod accept;
pub(super) mod checks;
pub(super) mod end;
mod fetched;
pub(super) mod inject;
mod keep;
pub(super) mod receive;
mod refused;
pub(super) mod route;
#[cfg(feature = "admin")]
pub(super) mod signature_check;
pub(super) mod stage;
