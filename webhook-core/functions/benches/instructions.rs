//! Instructions of a call of a function, which a busy machine counts as a quiet one does.
//!
//! ```text
//! cargo bench -p webhook-functions --all-features --bench instructions
//! ```
//!
//! Runs itself under `valgrind --tool=callgrind` with few and with many calls, one after
//! the other, and divides the difference: all threads together, handing over included.
//! `record` is what the relay makes of a run to store it, without running anything.
//! `-- js 1000` makes so many calls without valgrind, for other tools to look at.

use std::{
    collections::BTreeMap, env, error::Error, hint::black_box, process::Command, sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use webhook_core::{
    AccountId, FunctionId,
    function::{
        Completion, FunctionRuntime, Invocation, ScriptOutcome,
        record::{Detail, Given, Left},
    },
    model::{Checks, Driver, Request},
};
use webhook_functions::{js::JsRuntime, lua::LuaRuntime};

/// How a script is called on the command line, and what it is.
const SCRIPTS: [(&str, Driver, &str); 6] = [
    ("lua", Driver::Lua, "if r.RequestMethod ~= 'POST' then r:StopForwarding() end"),
    (
        "lua-json",
        Driver::Lua,
        "local json = require('json')\nlocal order = json.decode(r.RequestBody)\n\
         r:SetRequestHeader('x-order', order.id)",
    ),
    ("js", Driver::Js, "if (r.method !== 'POST') r.stopForwarding()"),
    // The same with an engine that has the whole library, because a word names some of it.
    ("js-whole", Driver::Js, "// Map\nif (r.method !== 'POST') r.stopForwarding()"),
    ("js-json", Driver::Js, "const order = JSON.parse(r.body)\nr.setHeader('x-order', order.id)"),
    (
        "js-key",
        Driver::Js,
        "const order = JSON.parse(r.body), key = 'id'\nr.setHeader('x-order', order[key])",
    ),
];

/// What the relay makes of a run.
const RECORD: &str = "record";

/// What of a body is kept in a record, as the relay has it.
const KEPT_BYTES: usize = 64 << 10;

/// Calls of the two runs.
const FEW: u64 = 100;
const MANY: u64 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench`.
    let arguments: Vec<_> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [] => measure(),
        [script, calls] => run(script, calls.parse()?),
        _ => Err("nothing, or a script and a number of calls".into()),
    }
}

fn measure() -> Result<(), Box<dyn Error>> {
    for script in SCRIPTS.iter().map(|(script, ..)| *script).chain([RECORD]) {
        let calls = instructions(script, MANY)? - instructions(script, FEW)?;
        println!("{script}: {} instructions a call", calls / (MANY - FEW));
    }
    Ok(())
}

/// What a process takes that makes so many calls.
fn instructions(script: &str, calls: u64) -> Result<u64, Box<dyn Error>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(env::current_exe()?).args([script, &calls.to_string()]);
    let output = valgrind.output().map_err(|error| format!("valgrind: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let counted = report.lines().find_map(|line| line.split_once("Collected : "));
    Ok(counted.ok_or_else(|| format!("valgrind: {report}"))?.1.trim().parse()?)
}

fn run(script: &str, calls: u64) -> Result<(), Box<dyn Error>> {
    if script == RECORD {
        record(calls);
        return Ok(());
    }
    let known = SCRIPTS.iter().find(|(name, ..)| *name == script);
    let (_, driver, source) = known.ok_or("no such script")?;
    let runtime: Box<dyn FunctionRuntime> = match driver {
        Driver::Lua => Box::new(LuaRuntime::builder().threads(1).build()?),
        _ => Box::new(JsRuntime::builder().build()?),
    };
    let invocation = invocation(*driver, source);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio.block_on(async {
        for _ in 0..calls {
            runtime.run(invocation.clone()).await.result?;
        }
        Ok(())
    })
}

fn record(runs: u64) {
    let invocation = invocation(Driver::Lua, "");
    let outcome = ScriptOutcome {
        request: invocation.request.clone(),
        response: None,
        response_modified: false,
        stop_forwarding: false,
    };
    let completion =
        Completion { result: Ok(outcome), logs: Vec::new(), duration: Duration::from_millis(1) };
    let detail = Detail::Cut(KEPT_BYTES);
    for _ in 0..runs {
        black_box(Given::of(&invocation, detail));
        black_box(Left::of(&invocation, &completion, detail));
    }
}

fn invocation(driver: Driver, source: &str) -> Invocation {
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static("hooks.example.com"));
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    let lines: Vec<_> = (0..10).map(|n| format!(r#"{{"sku":"A-{n}","count":{n}}}"#)).collect();
    let body = format!(r#"{{"id":"order-1","lines":[{}]}}"#, lines.join(","));
    Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::generate(),
        revision: 1,
        driver,
        source: Arc::from(source),
        config: Arc::default(),
        metadata: BTreeMap::new(),
        checks: Checks::default(),
        request: Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers,
            body: Bytes::from(body),
        },
        response: None,
        trial: None,
    }
}
