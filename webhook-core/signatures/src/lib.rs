//! Says whether a webhook is from whom it says it is.
#![warn(missing_docs)]

mod builder;
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
mod secret;
mod template;
mod verdict;
mod verifier;

pub use builder::{Invalid, VerifierBuilder};
pub use challenge::Challenge;
pub use keys::{Action, KeyKind, KeyRequest, Keys, MAX_KEY_DOCUMENT_BYTES};
pub use preset::{Preset, PresetField, presets};
pub use request::{Now, Request};
pub use scheme::{
    Algorithm, AlgorithmBy, Answer, Condition, Digest, Encoding, Field, Handshake, HandshakeAction,
    KeyEncoding, KeySource, Scheme, SignatureField, Source, Split, TimestampField, Unit,
};
pub use secret::{Secret, constant_time_eq};
pub use verdict::{Reason, Verdict};
pub use verifier::Verifier;
