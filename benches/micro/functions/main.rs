//! Functions: a call in each runtime, beside PUC Lua 5.4 in the same run.
//!
//! ```text
//! cargo bench -p microbenches --bench functions
//! ```
//!
//! Every engine does the same: it has a thread, is handed a call and answers it
//! over a channel, gives each call global variables of its own, and has limits of
//! time and memory (`puc.rs` is what a careful embedder would write). *Warm* is a
//! function that has run before, one call at a time, handing over included; *cold*
//! one that was never seen. *Cpu* is what a warm call costs all threads together
//! when 64 wait at any time: computing time, which other programs on the machine
//! hardly change.

mod cpu;
mod puc;
mod scripts;

use std::{sync::Arc, time::Duration};

use criterion::{
    BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
use futures_util::{StreamExt, stream};
use tokio::runtime::Runtime;
use webhook_core::{
    FunctionId,
    function::{Completion, FunctionRuntime, Invocation, ScriptOutcome},
};
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};

use self::{puc::PucRuntime, scripts::Script};

/// Calls that wait at any time in a busy runtime.
const BUSY: usize = 64;

fn engines() -> Vec<(&'static str, Arc<dyn FunctionRuntime>)> {
    let lua = LuaRuntime::builder().threads(1).running_calls(BUSY, BUSY).build();
    let js = JsRuntime::builder().running_calls(16, 16).build();
    vec![
        ("lua", Arc::new(lua.expect("threads"))),
        ("puc", Arc::new(PucRuntime::start())),
        ("js", Arc::new(js.expect("threads"))),
    ]
}

fn left(completion: Completion) -> ScriptOutcome {
    completion.result.expect("the script runs")
}

fn warm(
    group: &mut BenchmarkGroup<'_, WallTime>,
    tokio: &Runtime,
    name: &str,
    engine: &dyn FunctionRuntime,
    invocation: &Invocation,
) {
    group.bench_function(format!("{name}/warm"), |bencher| {
        bencher.to_async(tokio).iter(|| async { left(engine.run(invocation.clone()).await) });
    });
    group.bench_function(format!("{name}/cpu"), |bencher| {
        bencher.to_async(tokio).iter_custom(|calls| async move {
            let before = cpu::used();
            let calls = stream::iter(0..calls).map(|_| engine.run(invocation.clone()));
            calls.buffer_unordered(BUSY).for_each(async |ended| drop(left(ended))).await;
            cpu::used().saturating_sub(before)
        });
    });
}

fn cold(
    group: &mut BenchmarkGroup<'_, WallTime>,
    tokio: &Runtime,
    name: &str,
    engine: &dyn FunctionRuntime,
    invocation: &Invocation,
) {
    group.bench_function(format!("{name}/cold"), |bencher| {
        bencher.to_async(tokio).iter(|| async {
            let function_id = FunctionId::generate();
            left(engine.run(Invocation { function_id, ..invocation.clone() }).await)
        });
    });
}

fn functions(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    for Script { name, lua, js } in scripts::all() {
        let mut group = criterion.benchmark_group(format!("functions/{name}"));
        group.measurement_time(Duration::from_secs(4));
        let wanted = tokio.block_on(async { left(engines()[0].1.run(lua.clone()).await) });
        for (engine_name, engine) in engines() {
            let invocation = if engine_name == "js" { &js } else { &lua };
            let came = tokio.block_on(async { left(engine.run(invocation.clone()).await) });
            assert!(scripts::same(&wanted, &came), "{engine_name}: {came:?}, not {wanted:?}");
            warm(&mut group, &tokio, engine_name, &*engine, invocation);
            // JavaScript has no caches: each call gets an engine made ahead.
            if engine_name != "js" {
                cold(&mut group, &tokio, engine_name, &*engine, invocation);
            }
        }
        group.finish();
    }
}

criterion_group!(benches, functions);
criterion_main!(benches);
