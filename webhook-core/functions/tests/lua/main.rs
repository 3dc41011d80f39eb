//! The Lua runtime, through the trait that the relay uses.

mod basics;
mod goldens;
mod harness;
mod hostile;
mod isolation;
mod limits;
mod modules;
mod requests;
mod walks;
