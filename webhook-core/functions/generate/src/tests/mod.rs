//! Samples with another payload of the same shape: what is found must be true for both, in the evaluator and as the
//! written Lua and JavaScript.

mod bounds;
mod commerce;
mod composed;
mod formats;
mod generator;
mod lists;
mod properties;
mod scalars;
mod services;
mod shapes;
mod source;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use webhook_core::model::Driver;

use super::diff::first_difference;
use super::eval::run;
use super::generator::{Pair, Written, write_all};
use super::limits::GenerateLimits;
use super::sample::{read_answer, read_input, read_output};
use super::value::Value;

const LUA_SHIM: &str = include_str!("shim.lua");
const JS_SHIM: &str = include_str!("shim.js");

/// The program for the interpreter, unless it is not installed, which is said once.
fn interpreter(driver: Driver) -> Option<(&'static str, &'static str, &'static str)> {
    static LUA: OnceLock<bool> = OnceLock::new();
    static NODE: OnceLock<bool> = OnceLock::new();
    let (command, version, option, shim, there) = match driver {
        Driver::Lua => ("lua5.4", "-v", "-e", LUA_SHIM, &LUA),
        Driver::Wasm => return None,
        Driver::Js => ("node", "--version", "-e", JS_SHIM, &NODE),
    };
    let there = there.get_or_init(|| {
        let found =
            Command::new(command).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let there = found.is_ok_and(|status| status.success());
        if !there {
            eprintln!("skipped: {command} is not installed, written sources are not run with it");
        }
        there
    });
    there.then_some((command, option, shim))
}

/// Runs source with the interpreter; `None` when there is none.
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

fn write(
    input: &str,
    output: &str,
    driver: Driver,
    limits: &GenerateLimits,
) -> Result<Written, webhook_core::function::generate::GenerateError> {
    write_all(&[Pair::sample(input.to_owned(), output.to_owned())], driver, limits)
}

/// Searches with this sample and holds what is found to these `(payload, wanted)` pairs, the sample among them.
#[track_caller]
fn holds(input: &str, output: &str, others: &[(&str, &str)]) -> [String; 2] {
    let limits = GenerateLimits::default();
    [Driver::Lua, Driver::Js].map(|driver| {
        let Written { code, program, wanted, .. } =
            write(input, output, driver, &limits).expect("a function is found");
        for (payload, expected) in [(input, output)].iter().chain(others) {
            let payload_value = read_input(payload, &limits).expect("a payload").value;
            let expected = read_output(expected, &limits).expect("an output");
            assert_eq!(
                expected.format, wanted[0].format,
                "the expected output is written like the wanted one"
            );
            let one_empty_table = driver == Driver::Lua;
            // What is absent at the top is written as null.
            let got = run(&program, &payload_value).unwrap_or(Value::Null);
            if let Some(difference) = first_difference(&expected.value, &got, one_empty_table) {
                panic!("evaluated: {difference}\nfor {payload}\n{code}");
            }
            let Some(answer) = run_source(driver, &code, program.input.content_type(), payload)
            else {
                continue;
            };
            let answer = answer.unwrap_or_else(|error| panic!("{error}\nfor {payload}\n{code}"));
            let got = read_answer(answer.as_bytes(), wanted[0].format, &limits)
                .expect("a readable answer");
            if let Some(difference) = first_difference(&expected.value, &got, one_empty_table) {
                panic!("{}: {difference}\nfor {payload}\n{code}", driver);
            }
        }
        code
    })
}
