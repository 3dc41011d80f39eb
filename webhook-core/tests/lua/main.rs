//! The Lua runtime, through the trait that the relay uses.

mod harness;
mod basics;
