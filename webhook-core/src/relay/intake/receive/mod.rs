//! From the sender to the commit, and back to the sender: steps 0 and 1.

mod body;
mod credentials;
mod domain;
mod hosts;
mod ingest;
#[cfg(feature = "admin")]
mod own;
mod proxies;
mod refusals;
mod response;

pub(in crate::relay) use self::ingest::Receiver;
pub use self::{
    hosts::{host_name, requested_host},
    ingest::{ClientAddr, IngestService},
    proxies::{InvalidProxies, TrustedProxies},
};
