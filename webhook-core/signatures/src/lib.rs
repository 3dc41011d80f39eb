//! Says whether a webhook is from whom it says it is.
#![warn(missing_docs)]

mod bytes;
mod challenge;
mod check;
mod compile;
mod context;
mod der;
mod fetch;
mod json;
mod jwt;
mod key;
mod keys;
mod preset;
mod request;
mod scheme;
mod spec;
mod template;
mod verdict;
mod verifier;

pub use challenge::Challenge;
pub use keys::{Action, KeyKind, KeyRequest, Keys, MAX_KEY_DOCUMENT_BYTES};
pub use preset::{Preset, PresetField, presets};
pub use request::{Now, Request};
pub use scheme::{
    Algorithm, AlgorithmBy, Answer, Condition, Digest, Encoding, Field, Handshake, HandshakeAction,
    KeyEncoding, KeySource, Scheme, SignatureField, Source, Split, TimestampField, Unit,
};
pub use spec::{OnFailure, SecretSpec, SignatureSpec};
pub use verdict::{Reason, Verdict};
pub use verifier::Verifier;
/// The field of a [`SignatureSpec`] that is wrong, such as `signature.secrets[0].secret`, and why.
pub use webhook_wire::described::Invalid;
/// A secret as its owner wrote it: `Debug` hides it, and it is compared in constant time.
pub use webhook_wire::{Secret, Timestamp};
