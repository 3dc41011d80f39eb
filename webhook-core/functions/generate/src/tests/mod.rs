//! Samples with another payload of the same shape: what is found must be true for both, in the evaluator and as the
//! written Lua and JavaScript in the sandbox.

mod bounds;
mod generator;
mod pairs;
mod properties;
mod source;

use std::sync::{Arc, OnceLock};

use webhook_core::function::Drivers;
use webhook_core::function::generate::GenerateError;
use webhook_core::model::Driver;
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};

use super::eval::eval;
use super::generator::{Pair, Written, read_all, write_all};
use super::json::Json;
use super::limits::GenerateLimits;
use super::program::Program;
use super::{InRuntime, Validate};

/// The sandboxes of both languages.
fn runtime() -> InRuntime {
    static RUNTIME: OnceLock<InRuntime> = OnceLock::new();
    let start = || {
        let lua = LuaRuntime::builder().threads(2).build().expect("threads for Lua");
        let js = JsRuntime::builder().build().expect("threads for JavaScript");
        let drivers =
            Drivers::new().with(Driver::Lua, Arc::new(lua)).with(Driver::Js, Arc::new(js));
        InRuntime(Arc::new(drivers))
    };
    RUNTIME.get_or_init(start).clone()
}

/// The body that a source makes of this one.
fn run_source(driver: Driver, source: &str, kind: &str, body: &str) -> Result<String, String> {
    let runtime = runtime();
    let run = runtime.run(driver, source, body.as_bytes(), kind);
    let answer = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(run)?;
    String::from_utf8(answer).map_err(|error| error.to_string())
}

/// The function that the search writes from these samples.
fn write(
    pairs: &[(&str, &str)],
    driver: Driver,
    limits: &GenerateLimits,
) -> Result<Written, GenerateError> {
    let pair =
        |(input, output): &(&str, &str)| Pair::sample((*input).to_owned(), (*output).to_owned());
    let pairs: Vec<Pair> = pairs.iter().map(pair).collect();
    write_all(read_all(&pairs, limits)?, driver, limits)
}

/// The program's output for a payload. A value that is absent at the top is written as null.
fn run(program: &Program, payload: &Json) -> Json {
    eval(&program.body, &[payload]).map_or(Json::Null, std::borrow::Cow::into_owned)
}
