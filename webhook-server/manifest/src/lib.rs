//! What a server is to have, as a file.
//!
//! A [`Manifest`] holds buckets with their inputs and outputs, functions, domains and crons,
//! and refers to each by its name. [`Known`] is the same of a server, with identifiers;
//! [`Plan::between`] says what differs. [`import`] makes manifests of other services' exports.
//!
//! Nothing here talks to a server. A manifest is at most [`MAX_BYTES`] long.
//!
//! ```
//! use webhook_manifest::{Answers, Known, Manifest, Plan, Sources};
//!
//! let text = "
//! buckets:
//!   - name: shop
//!     outputs:
//!       - {name: erp, destination: \"https://erp.example.com/${PLACE}\"}
//! ";
//! let variable = |name: &str| (name == "PLACE").then(|| "hook".to_owned());
//! let file = |path: &str| Err(format!("{path}: there are no files here"));
//! let manifest = Manifest::read(text, &Sources { variable: &variable, file: &file })?;
//! let plan = Plan::between(&manifest, &Known::of(Answers::default())?, false)?;
//! let lines = plan.to_string();
//! assert!(lines.starts_with("+ bucket shop\n"), "{lines}");
//! assert!(lines.ends_with("to make: 2, to change: 0, to delete: 0\n"), "{lines}");
//! # Ok::<(), webhook_manifest::Error>(())
//! ```

mod address;
mod diff;
pub mod import;
mod known;
mod manifest;
mod plan;
mod secrets;
mod settings;
mod text;
mod variables;

pub use address::Address;
pub use known::{Answers, Known};
pub use manifest::{Bucket, Function, Manifest, Resource, Sources};
pub use plan::{Action, Plan, Step};
pub use secrets::{Sealed, is_mask, is_secret};
pub use settings::{Kind, references};
pub use text::{Format, MAX_BYTES};

/// What is wrong, and where: `buckets[0].outputs[1].throttle.mode: unknown variant …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{reason}", .at, if .at.is_empty() { "" } else { ": " })]
pub struct Error {
    at: String,
    reason: String,
}

impl Error {
    pub(crate) fn new(at: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { at: at.into(), reason: reason.into() }
    }

    /// The field, as a path into the manifest; empty when it is about the whole.
    #[must_use]
    pub fn at(&self) -> &str {
        &self.at
    }
}
