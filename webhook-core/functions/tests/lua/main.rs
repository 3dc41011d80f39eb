//! The Lua runtime, through the trait that the relay uses.

mod basics;
mod digits;
mod goldens;
mod harness;
mod hostile;
mod isolation;
mod leaks;
mod limits;
mod modules;
mod requests;
mod walks;
