//! What a call of a function takes of the process's memory at most, library
//! functions included: a small multiple of its limit, whatever they are given.
//!
//! Each case runs in a process of its own, this test itself once more, which
//! prints how its call ended and its greatest resident size. Where the system
//! does not tell that, only the ends are compared.

mod cases;

use std::{collections::BTreeMap, env, fs, process::Command, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header::CONTENT_TYPE};
use webhook_core::{
    AccountId, FunctionId,
    function::{FunctionRuntime, Invocation, ScriptLimits},
    model::{Checks, Driver, Request},
};
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};

use self::cases::{CASES, Case};

/// Names the case that a child is to run.
const CASE: &str = "FUNCTION_MEMORY_CASE";
/// What the child's line begins with.
const REPORT: &str = "report: ";
/// The limit of a call, the default one.
const LIMIT_BYTES: u64 = 32 << 20;
/// What a call may take at most. The engine's own memory may be full, beside it
/// stand a tree as large as the limit again, a text on its way between the two,
/// and what the allocator has not given back.
const PEAK_BYTES: u64 = 3 * LIMIT_BYTES;

fn invocation(case: &Case) -> Invocation {
    let headers = case.content_type.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind)));
    Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::generate(),
        revision: 1,
        driver: case.driver,
        source: Arc::from(case.source),
        config: Arc::default(),
        metadata: BTreeMap::new(),
        checks: Checks::default(),
        request: Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: HeaderMap::from_iter(headers),
            body: Bytes::from((case.body)()),
        },
        response: None,
        trial: None,
    }
}

/// The greatest resident size of this process so far.
fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// What a child runs; by itself it does nothing.
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
async fn child() {
    let Ok(name) = env::var(CASE) else { return };
    let case = CASES.iter().find(|case| case.name == name).expect("a case of this name");
    let mut limits = ScriptLimits::default();
    // A development build is slow; memory is what this is about.
    (limits.total_time, limits.compute_time) = (Duration::from_secs(600), Duration::from_secs(600));
    limits.fuel = 1_000_000_000;
    let invocation = invocation(case);
    let runtime: Box<dyn FunctionRuntime> = match case.driver {
        Driver::Lua => {
            Box::new(LuaRuntime::builder().threads(1).limits(limits).build().expect("threads"))
        }
        _ => Box::new(JsRuntime::builder().limits(limits).build().expect("threads")),
    };
    let before = peak_bytes().unwrap_or_default();
    let ended = match runtime.run(invocation).await.result {
        Ok(_) => "well".to_owned(),
        Err(error) => error.to_string(),
    };
    let taken = peak_bytes().unwrap_or_default().saturating_sub(before);
    println!("{REPORT}{taken} {}", ended.lines().next().unwrap_or_default());
}

/// Runs a case in a process of its own: the bytes that it took, and how it ended.
fn run(case: &Case) -> (u64, String) {
    let program = env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(CASE, case.name)
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let report = text.lines().find_map(|line| Some(line.split_once(REPORT)?.1));
    let report = report.unwrap_or_else(|| {
        panic!("{}: {} {}", case.name, output.status, String::from_utf8_lossy(&output.stderr))
    });
    let (taken, ended) = report.split_once(' ').expect("bytes and an end");
    (taken.parse().expect("bytes"), ended.to_owned())
}

#[test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn a_call_takes_a_small_multiple_of_its_limit() {
    let only = env::var("ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        let (taken, ended) = run(case);
        println!("{:28} {:4} MiB  {ended}", case.name, taken >> 20);
        if taken > PEAK_BYTES {
            wrong.push(format!("{} took {} MiB", case.name, taken >> 20));
        }
        if !ended.contains(case.ends) {
            wrong.push(format!("{} ended: {ended}, not: {}", case.name, case.ends));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
