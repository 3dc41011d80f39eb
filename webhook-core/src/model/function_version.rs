//! What the source of a function was.

use ring::digest::{Context, SHA256};
use serde::Serialize;

use super::{Driver, Function, FunctionSpec};
use crate::clock::Timestamp;

/// A version of a function's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct FunctionVersion {
    /// Which one, from 1 on.
    pub version: u32,
    /// SHA-256 of the language's name, a zero byte and the source, in hexadecimal digits: what is
    /// the same has the same.
    pub hash: String,
    /// Since when the function has, or had, this source, in unix seconds.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub created: Timestamp,
    /// Which language the source is in.
    pub driver: Driver,
    /// The length of the source in bytes.
    pub payload_size: usize,
    /// Whether it is what the function has now.
    pub current: bool,
    /// The source; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

impl FunctionVersion {
    /// A version of this source, not the current one, as in a list.
    #[must_use]
    pub fn new(version: u32, created: Timestamp, driver: Driver, payload: &str) -> Self {
        Self::kept(version, created, driver, &Self::digest(driver, payload), payload.len())
    }

    /// A version of a source of so many bytes with this digest, not the current one.
    #[must_use]
    pub fn kept(
        version: u32,
        created: Timestamp,
        driver: Driver,
        digest: &[u8],
        payload_size: usize,
    ) -> Self {
        let hash = hex(digest);
        Self { version, hash, created, driver, payload_size, current: false, payload: None }
    }

    /// What the function has now.
    #[must_use]
    pub fn current(version: u32, created: Timestamp, function: &Function) -> Self {
        let FunctionSpec { driver, payload, .. } = &function.spec;
        Self { current: true, ..Self::new(version, created, *driver, payload) }
    }

    /// The digest that `hash` is the text of.
    #[must_use]
    pub fn digest(driver: Driver, payload: &str) -> [u8; 32] {
        let mut context = Context::new(&SHA256);
        context.update(driver.to_string().as_bytes());
        context.update(b"\0");
        context.update(payload.as_bytes());
        let mut digest = [0; 32];
        digest.copy_from_slice(context.finish().as_ref());
        digest
    }

    /// The same with the source.
    #[must_use]
    pub fn with_payload(self, payload: String) -> Self {
        Self { payload: Some(payload), ..self }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
