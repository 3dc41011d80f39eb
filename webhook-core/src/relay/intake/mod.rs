//! The way of a webhook from its sender to the commit.

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
