//! What 1 000 functions that are not running hold in memory.
//!
//! ```text
//! cargo bench -p microbenches --bench idle_functions
//! ```
//!
//! Each has run once, so that its program and its VM are kept. `VmRSS` of this
//! process before and after; it fails when they hold 100 MB or more.

#[allow(dead_code, reason = "the other benchmark uses all of it")]
#[path = "functions/scripts.rs"]
mod scripts;

use std::fs;

use webhook_core::{
    FunctionId,
    function::{FunctionRuntime, Invocation},
};
use webhook_functions::lua::LuaRuntime;

const FUNCTIONS: usize = 1_000;

fn resident_kib() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

fn main() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    tokio.expect("a runtime").block_on(async {
        for scripts::Script { name, lua, .. } in scripts::all() {
            let runtime = LuaRuntime::builder().build().expect("threads");
            // What a runtime needs anyway.
            assert!(runtime.run(lua.clone()).await.result.is_ok());
            let before = resident_kib();
            for _ in 0..FUNCTIONS {
                let function_id = FunctionId::generate();
                let completion = runtime.run(Invocation { function_id, ..lua.clone() }).await;
                assert!(completion.result.is_ok());
            }
            let held = resident_kib().saturating_sub(before);
            println!(
                "{name}: {FUNCTIONS} idle functions hold {held} KiB, {} each",
                held / FUNCTIONS
            );
            assert!(held < 100 << 10, "more than 100 MB");
        }
    });
}
