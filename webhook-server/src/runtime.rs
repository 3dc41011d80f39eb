//! What runs functions.

use std::{num::NonZero, sync::Arc};

use webhook_core::{
    forward::http::HttpForwarder,
    function::{Drivers, FunctionRuntime},
    model::Driver,
    store::FunctionStore,
};
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};
use webhook_generate::{GenerateLimits, InRuntime, SearchGenerator};

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

/// What writes functions, and runs them in `runtime` to see whether they are right.
pub(crate) fn generator(
    config: &Config,
    runtime: Arc<dyn FunctionRuntime>,
) -> SearchGenerator<InRuntime> {
    let mut limits = GenerateLimits::default();
    limits.max_code_bytes = config.function.function_source_bytes;
    SearchGenerator::with_limits(InRuntime(runtime), limits)
}
