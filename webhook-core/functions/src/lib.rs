//! Runs functions written in Lua and JavaScript for `webhook-core`.
//!
//! Each language has a runtime that implements
//! [`FunctionRuntime`](webhook_core::function::FunctionRuntime), with the same
//! modules for scripts and the same
//! [`ScriptLimits`](webhook_core::function::ScriptLimits);
//! [`Drivers`](webhook_core::function::Drivers) makes one of both.
//!
//! ```
//! # #[cfg(feature = "lua")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use webhook_core::{
//!     function::{Drivers, FunctionRuntime},
//!     model::Driver,
//! };
//! use webhook_functions::lua::LuaRuntime;
//!
//! let lua = LuaRuntime::builder().threads(1).build()?;
//! let runtime = Drivers::new().with(Driver::Lua, Arc::new(lua));
//! assert!(runtime.check(Driver::Lua, "r:StopForwarding()").await.is_ok());
//! assert!(runtime.check(Driver::Wasm, "").await.is_err());
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "lua"))]
//! # fn main() {}
//! ```
//!
//! # Features
//!
//! `lua` (on by default): Lua on piccolo, a VM in safe Rust. `js`: JavaScript on
//! QuickJS, which is C in the process.

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
mod foreign;
#[cfg(any(feature = "lua", feature = "js"))]
mod list;
#[cfg(any(feature = "lua", feature = "js"))]
mod modules;
#[cfg(all(test, feature = "lua", feature = "js"))]
mod reference;
#[cfg(any(feature = "lua", feature = "js"))]
mod scheduler;
