//! The parts of Lua's standard library that are pure computation over bytes.
//!
//! Nothing here knows the virtual machine: a caller hands in byte slices, numbers and [`Arg`]s and gets bytes,
//! numbers or an [`Error`] whose text is Lua's own. Every function that loops over data takes a [`Budget`], so that
//! work and memory are bounded whatever a script asks for, and so that the caller can charge the work
//! ([`Budget::steps_used`]) to the script's fuel.
//!
//! The dialect is Lua 5.4. Where it differs, the item says so.

mod budget;
pub mod date;
mod error;
pub mod format;
pub mod number;
pub mod pack;
pub mod pattern;
pub mod string;
pub mod utf8;
mod value;

#[cfg(test)]
mod tests;

pub use budget::{Budget, BudgetExceeded, STRING_BYTES, VALUES};
pub use error::Error;
pub use value::Arg;
