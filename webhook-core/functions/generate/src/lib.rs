//! Writing a function from samples.
//!
//! Given one to four payloads as they come and the payloads that are wanted, [`SearchGenerator`] looks for the simplest program that
//! turns each into the other, writes it down as Lua (or JavaScript, when the request says so) and runs it on the samples
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
//! What it finds, among others: fields moved, renamed, nested and flattened; constants; texts composed from fields
//! around fixed words; lists mapped element by element, filtered, flattened, joined; numbers, flags, cases and dates
//! converted; sums, counts, extremes and order; groups; defaults and enumerations; key and value lists as objects. JSON, XML (in the shape that the `xml` module of the
//! scripts has), URL-encoded forms and plain texts on either side.
//!
//! Missing fields do not stop the written function: an absent value leaves its field out, and is empty inside a text.
//!
//! # What the written source relies on
//!
//! * Lua: `r.RequestBody`, `r.RequestFormData.name` as a list of texts, `r:SetRequestBody`, `r:SetRequestHeader`;
//!   `json.decode`, `json.encode` with `json.null` for null, also inside what was decoded; `xml.decode` and
//!   `xml.encode` in the shape that the `xml` module here documents; `url.encode_query` with texts, numbers and lists
//!   as values; of the language, `math.type`, `utf8.charpattern`, `string.gsub` with a function and `table.sort`.
//! * JavaScript: `function transform(r)` with `r.body`, `r.formData`, `r.setBody`, `r.setHeader`, which returns the
//!   same `r`; `xml.decode` and `xml.encode` as above.
//! * Both: `time.parse(text, layout)`, which gives seconds with their fraction (and accepts one behind the seconds
//!   that the layout lacks, as Go does), and `time.format(seconds, layout, "UTC")`, which must round to microseconds
//!   before it cuts: a float holds milliseconds only nearly. Where parsing fails, Lua's gives nil; JavaScript's may
//!   throw.
//!
//! # What it cannot know
//!
//! What a sample explains only as a constant, by a position in a list or by an order is named in the answer and in the
//! source, and is not said to be right. Two samples that agree settle it for a text, three for a number or a flag.
//! One sample leaves room for more: `05/05/2024` has two readings, a number may be a field or a constant. The likelier wins, by
//! the names of the fields and the length of the explanation; a sample whose values all differ leaves least room.
//! Case conversions are for ASCII letters in Lua. Lua has one empty table, so that an object all of whose fields are
//! absent is written as `[]`; and it does not know the order of an object's fields, which loops over them take by name.
//!
//! To put another generator in its place, implement
//! [`FunctionGenerator`](webhook_core::function::generate::FunctionGenerator); to run the written source, [`Validate`], which
//! [`InRuntime`] does with the runtime that runs functions.

mod convert;
mod diff;
mod emit;
mod eval;
mod generator;
mod go_time;
mod json;
mod limits;
mod moments;
mod mutate;
mod names;
mod program;
mod sample;
mod search;
mod undecided;
mod validate;
mod wish;

#[cfg(test)]
mod tests;

pub use generator::{SearchGenerator, Validate};
pub use limits::GenerateLimits;
pub use validate::InRuntime;
