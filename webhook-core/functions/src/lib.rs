//! Runs functions written in Lua and JavaScript for `webhook-core`.

#[cfg(feature = "js")]
pub mod js;
#[cfg(feature = "lua")]
pub mod lua;
/// The parts of the Lua runtime that other languages use as well.
#[cfg(all(feature = "js", not(feature = "lua")))]
pub mod lua {
    pub mod bytes;
}
#[cfg(any(feature = "lua", feature = "js"))]
mod modules;
