//! What runs functions.

use std::{num::NonZero, sync::Arc};

use webhook_core::{
    forward::http::HttpForwarder,
    function::{Drivers, FunctionRuntime, generate::FunctionGenerator},
    model::Driver,
    store::{FunctionStore, memory::MemoryStore},
};
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};
use webhook_generate::{GenerateLimits, InRuntime, ModelGenerator, Sandbox, SearchGenerator};

use crate::{config::Config, failure::Failure};

/// The runtimes of all languages, whose requests `forwarder` sends and whose values `store`
/// keeps.
pub(crate) fn start(
    config: &Config,
    forwarder: HttpForwarder,
    store: &Arc<dyn FunctionStore>,
) -> Result<Arc<dyn FunctionRuntime>, Failure> {
    let failed = |error| Failure::io("cannot start the threads that run functions", error);
    let limits = config.function.limits(&config.ingest);
    let (threads, queued) =
        (config.function.function_threads.map(NonZero::get), config.function.function_queue);
    let forwarder = Arc::new(forwarder);

    let mut lua = LuaRuntime::builder()
        .limits(limits.clone())
        .queued_calls(queued)
        .forwarder(Arc::clone(&forwarder) as _)
        .store(Arc::clone(store));
    if let Some(threads) = threads {
        lua = lua.threads(threads);
    }
    let mut drivers = Drivers::new().with(Driver::Lua, Arc::new(lua.build().map_err(failed)?));
    if config.function.function_javascript {
        let mut js = JsRuntime::builder()
            .limits(limits)
            .queued_calls(queued)
            .forwarder(forwarder)
            .store(Arc::clone(store));
        if let Some(threads) = threads {
            // With one turn a single account could keep all others waiting.
            js = js.computing(threads.max(2));
        }
        drivers = drivers.with(Driver::Js, Arc::new(js.build().map_err(failed)?));
    }
    Ok(Arc::new(drivers))
}

/// The generator of functions, which runs what it finds in `runtime`, and what a model writes in
/// a sandbox of its own.
pub(crate) fn generator(
    config: &Config,
    runtime: Arc<dyn FunctionRuntime>,
) -> Result<Arc<dyn FunctionGenerator>, Failure> {
    let mut limits = GenerateLimits::default();
    limits.max_code_bytes = config.function.function_source_bytes;
    let search = SearchGenerator::with_limits(InRuntime(runtime), limits);
    let Some(model) = config.generate.model() else { return Ok(Arc::new(search)) };
    let store = Arc::new(MemoryStore::with_capacity(1));
    let keys: Arc<dyn FunctionStore> = store.clone();
    let sandbox = Sandbox { runtime: sandbox(config, &keys)?, store };
    Ok(Arc::new(ModelGenerator::new(search, model, sandbox, config.generate.limits())))
}

/// Runtimes whose functions can send no request, and read and write only `store`.
fn sandbox(
    config: &Config,
    store: &Arc<dyn FunctionStore>,
) -> Result<Arc<dyn FunctionRuntime>, Failure> {
    let failed = |error| Failure::io("cannot start the threads that try functions", error);
    let mut limits = config.function.limits(&config.ingest);
    limits.http_calls = 0;
    let threads = config.generate.generate_concurrency.min(2);
    let lua = LuaRuntime::builder().limits(limits.clone()).store(Arc::clone(store));
    let lua = lua.threads(threads).build().map_err(failed)?;
    let mut drivers = Drivers::new().with(Driver::Lua, Arc::new(lua));
    if config.function.function_javascript {
        let js = JsRuntime::builder().limits(limits).store(Arc::clone(store));
        let js = js.computing(threads.max(2)).build().map_err(failed)?;
        drivers = drivers.with(Driver::Js, Arc::new(js));
    }
    Ok(Arc::new(drivers))
}
