//! The engine from outside: what is verified, what is refused, what is answered.

mod challenges;
mod common;
mod documented;
mod presets;
mod properties;
mod refused;
mod secrets;
mod vectors;
