//! Writing a function from a sample: the seam between the interface and a generator.
//!
//! `webhook-generate` has one that searches, and one that asks a language model as well.

use std::fmt;

use crate::wire::Described;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::model::Driver;

/// What a function is to be written from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(default)]
pub struct GenerateRequest {
    /// One payload as the function receives it: JSON, a URL-encoded form or any text.
    #[field]
    pub input_payload: String,
    /// The payload that the function is to make of it: JSON or any text.
    #[field]
    pub output_payload: String,
    /// Further pairs of the same kind: the function must be right for all. A
    /// value that is the same in several of them is one that does not change.
    pub examples: Vec<GenerateExample>,
    /// The language of the function. Without it the wishes say the language, and Lua is the default.
    pub driver: Option<Driver>,
    /// Wishes in words. The search understands the language: `in JavaScript`. A language
    /// model, where the operator names one, understands more.
    #[field]
    pub additional_info: String,
}

/// A payload, and what the function is to make of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GenerateExample {
    /// As [`GenerateRequest::input_payload`].
    pub input: String,
    /// As [`GenerateRequest::output_payload`].
    pub output: String,
}

/// A written function and whether it does what was wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedFunction {
    /// The source.
    pub code: String,
    /// The source's language.
    pub driver: Driver,
    /// Whether running the source on every sample gave the wanted output, and the search found no other function of
    /// the same size that gives something else for a changed sample.
    pub validation_ok: bool,
    /// Otherwise the error or the first difference, as `out.items[2].price: wanted 12, got "12"`, or the samples that
    /// would decide, as `out.total: always 40? Any second sample would decide`. Empty when it is right.
    pub validation_err: String,
}

/// Why no function was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The request is at fault.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field of [`GenerateRequest`] to change.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The generator is at fault.
    #[error("the generator failed: {reason}")]
    Failed {
        /// For the log.
        reason: String,
    },
}

/// Writes functions from samples.
#[async_trait]
pub trait FunctionGenerator: Send + Sync + fmt::Debug {
    /// Writes a function that turns the input payload into the output payload, and checks it on them.
    ///
    /// A function that fails its check is an answer, not an error.
    ///
    /// # Errors
    ///
    /// [`GenerateError::Invalid`] when the request cannot be met, [`GenerateError::Failed`] for anything else.
    async fn generate(&self, request: GenerateRequest) -> Result<GeneratedFunction, GenerateError>;
}
