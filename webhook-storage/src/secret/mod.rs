//! Secrets at rest.

mod key;
mod vault;

pub use key::SecretKey;
#[cfg(feature = "sqlite")]
pub(crate) use key::private;
pub(crate) use vault::{Cell, Vault};
