//! The Lua runtime, through the trait that the relay uses.

mod goldens;
mod harness;
mod hostile;
mod modules;
mod basics;
