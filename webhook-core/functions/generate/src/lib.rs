//! Writing a function from samples.
//!
//! Given one to four payloads as they come and the payloads that are wanted, [`SearchGenerator`] looks for the simplest
//! program that turns each into the other, writes it down as Lua (or JavaScript, when the request says so) and runs it on the samples
//! before it answers. The search is local and deterministic: the same samples always give the same function.
//!
//! ```
//! use std::sync::Arc;
//! use webhook_core::function::{
//!     FunctionRuntime,
//!     generate::{FunctionGenerator, GenerateRequest},
//! };
//! use webhook_generate::{InRuntime, SearchGenerator};
//!
//! # async fn example(runtime: Arc<dyn FunctionRuntime>) -> Result<(), Box<dyn std::error::Error>> {
//! // For instance the `LuaRuntime` of `webhook-functions`.
//! let generator = SearchGenerator::new(InRuntime(runtime));
//! let sample = GenerateRequest {
//!     input_payload: r#"{"user": {"name": "Ann"}}"#.to_owned(),
//!     output_payload: r#"{"text": "Hello Ann"}"#.to_owned(),
//!     ..GenerateRequest::default()
//! };
//! let function = generator.generate(sample).await?;
//! println!("{}", function.code);
//! # Ok(())
//! # }
//! ```
//!
//! What it finds: fields renamed, picked, nested and flattened; constants; texts composed from fields around fixed
//! words; numbers and times in other formats; lists mapped element by element, filtered by equality or by a number,
//! sorted, joined and flattened; counts and sums, also for each text in a field. Payloads are JSON, URL-encoded forms or
//! texts, outputs JSON or texts. A missing field does not stop the written function: an absent value leaves its field
//! out, and is empty inside a text.
//!
//! A function is said to be right when it reproduces every sample and the search found no other function of the same
//! size that gives something else for a changed sample. Otherwise the answer tells which sample would decide.
//!
//! # What the written source relies on
//!
//! * Lua: `r.RequestBody`, `r.RequestFormData`, `r:SetRequestBody`, `r:SetRequestHeader`; `json.decode` and
//!   `json.encode` with `json.null`; `time.parse` and `time.format`; of the language, `math.type` and `table.sort`.
//! * JavaScript: `function transform(r)` with `r.body`, `r.formData`, `r.setBody`, `r.setHeader`; `time` as in Lua.
//!
//! Lua has one empty table, so that an object whose fields are all absent is written as `[]`.
//!
//! To put another generator in its place, implement
//! [`FunctionGenerator`](webhook_core::function::generate::FunctionGenerator); to run the written source, [`Validate`],
//! which [`InRuntime`] does with the runtime that runs functions.

mod convert;
mod diff;
mod emit;
mod eval;
mod generator;
mod json;
mod limits;
mod model;
mod moments;
mod mutate;
mod names;
mod program;
mod sample;
mod sandbox;
mod search;
mod undecided;
mod validate;
mod wish;

#[cfg(test)]
mod tests;

pub use generator::{SearchGenerator, Validate};
pub use limits::GenerateLimits;
pub use model::{
    ChatModel, ChatOptions, LanguageModel, Message, ModelGenerator, ModelLimits, Role,
};
pub use sandbox::Sandbox;
pub use validate::InRuntime;
