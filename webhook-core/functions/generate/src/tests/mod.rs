//! Samples with another payload of the same shape: what is found must be true for both, in the evaluator and as the
//! written Lua and JavaScript.

mod pairs;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use webhook_core::function::generate::GenerateError;
use webhook_core::model::Driver;

use super::eval::eval;
use super::generator::{Pair, Written, read_all, write_all};
use super::json::Json;
use super::limits::GenerateLimits;
use super::program::Program;

const LUA_SHIM: &str = include_str!("shim.lua");
const JS_SHIM: &str = include_str!("shim.js");

/// The program for the interpreter, unless it is not installed, which is said once.
fn interpreter(driver: Driver) -> Option<(&'static str, &'static str, &'static str)> {
    static LUA: OnceLock<bool> = OnceLock::new();
    static NODE: OnceLock<bool> = OnceLock::new();
    let (command, version, option, shim, installed) = match driver {
        Driver::Lua => ("lua5.4", "-v", "-e", LUA_SHIM, &LUA),
        Driver::Wasm => return None,
        Driver::Js => ("node", "--version", "-e", JS_SHIM, &NODE),
    };
    let installed = installed.get_or_init(|| {
        let found =
            Command::new(command).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let installed = found.is_ok_and(|status| status.success());
        if !installed {
            eprintln!("skipped: {command} is not installed, written sources are not run with it");
        }
        installed
    });
    installed.then_some((command, option, shim))
}

/// Runs source with the interpreter; `None` when it is not installed.
fn run_source(
    driver: Driver,
    source: &str,
    content_type: &str,
    body: &str,
) -> Option<Result<String, String>> {
    let (command, option, shim) = interpreter(driver)?;
    let mut child = Command::new(command)
        // Lua takes no argument that opens like an option, which a comment does.
        .args([option, &format!("\n{shim}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the interpreter starts");
    let input = format!("{content_type}\n{}\n{source}{body}", source.len());
    let mut stdin = child.stdin.take().expect("its input is piped");
    stdin.write_all(input.as_bytes()).expect("it reads its input");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    Some(match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    })
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

/// What the program makes of a payload. What is absent at the top is written as null.
fn run(program: &Program, payload: &Json) -> Json {
    eval(&program.body, &[payload]).map_or(Json::Null, std::borrow::Cow::into_owned)
}
