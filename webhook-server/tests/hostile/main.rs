//! Functions, and connections, that mean harm, against the program as it is run.
//!
//! ```text
//! cargo build --release -p webhook-server
//! WEBHOOK_SERVER_BIN=$PWD/target/release/webhook-server \
//!     cargo test --workspace --test hostile -- --nocapture
//! ```
//!
//! The scripts are those of `webhook-core/functions/tests/{lua,js}/hostile`; the first line
//! of each says how it ends. Each is made and invoked through the API. None ends
//! the process, each is answered by its deadline, a function of another account
//! runs beside it, afterwards nothing computes any more, and the memory comes back.

#[path = "../harness/mod.rs"]
mod harness;

mod connections;
mod process;
mod scripts;

use std::time::{Duration, Instant};

use harness::{Answer, PATIENCE, Server, id, turns};
use serde_json::{Value, json};

use self::scripts::Script;

const TOTAL_TIME: Duration = Duration::from_secs(2);

/// What may come on top: one step that cannot be interrupted, two requests, and a
/// machine that does other things as well; more where the compiler left things slow.
const SLACK: Duration = Duration::from_millis(if cfg!(debug_assertions) { 6_000 } else { 1_500 });

/// What may stay of the memory that a second round of all scripts has used.
const KEPT_KIB: u64 = 64 << 10;

/// A server whose functions may take this much time, and the key of a second account on it.
async fn server(fuel: &str, total_time: &str, compute_time: &str) -> (Server, String) {
    let options = [
        ("WEBHOOK_FUNCTION_TOTAL_TIME", total_time),
        ("WEBHOOK_FUNCTION_COMPUTE_TIME", compute_time),
        ("WEBHOOK_FUNCTION_FUEL", fuel),
        // What a function may leave is what may come in.
        ("WEBHOOK_MAX_LARGE_BODY_BYTES", "3MiB"),
        ("WEBHOOK_LOG", "warn"),
    ];
    let mut server = Server::start_with(&options).await;
    assert!(server.terminate().await.success());
    let key = server.account("second").await;
    (server.restart().await, key)
}

async fn invoke(server: &Server, key: &str, function: &str) -> (Answer, Duration) {
    let path = format!("/v1/functions/{function}/invoke");
    let request = json!({"request": {
        "method": "POST", "path": "/a/b", "raw_query": "k=v&k=w&x=1%202",
        "headers": {"Content-Type": ["application/json"], "X-Github-Event": ["push"]},
        "body": r#"{"a":1}"#,
    }});
    let request = server.anonymous("POST", &path).json(&request);
    let started = Instant::now();
    let answer = request.header("authorization", &format!("Bearer {key}")).send().await;
    (answer, started.elapsed())
}

/// The function, or why it was refused.
async fn make(server: &Server, key: &str, driver: &str, source: &str) -> Result<String, String> {
    let spec = json!({"name": "hostile", "driver": driver, "payload": source});
    let request = server.anonymous("POST", "/v1/functions").json(&spec);
    let answer = request.header("authorization", &format!("Bearer {key}")).send().await;
    match answer.status.as_u16() {
        201 => Ok(id(&answer.json()).to_owned()),
        400 => Err(answer.text()),
        other => panic!("{other}: {}", answer.text()),
    }
}

/// What is wrong with how a script ended.
async fn wrongs(server: &Server, driver: &str, script: &Script, calm: &Calm) -> Vec<String> {
    let mut wrongs = Vec::new();
    let came = match make(server, &server.key, driver, &script.source).await {
        Err(reason) => reason,
        Ok(function) => {
            let hostile = invoke(server, &server.key, &function);
            let beside = invoke(server, &calm.key, &calm.function);
            let ((answer, took), (calm, calm_took)) = tokio::join!(hostile, beside);
            if took > TOTAL_TIME + SLACK {
                wrongs.push(format!("{}: answered after {took:?}", script.name));
            }
            // A step that cannot be interrupted may go on for a while, and its account waits
            // for it: see docs/functions-javascript.md.
            if took > TOTAL_TIME && !process::is_idle_within(server.process_id(), PATIENCE).await {
                wrongs.push(format!("{}: its thread still computes", script.name));
            }
            let calm: Value = calm.expect(200).json();
            if calm["stop_forwarding"] != true || calm["error"] != "" {
                wrongs.push(format!("{}: beside it: {calm}", script.name));
            }
            if calm_took > SLACK {
                wrongs.push(format!("{}: beside it: after {calm_took:?}", script.name));
            }
            let left = answer.expect(200).json();
            match left["error"].as_str() {
                Some("") => script.well().to_owned(),
                Some(error) => error.to_owned(),
                None => format!("no error field: {left}"),
            }
        }
    };
    if !script.may_end(&came) {
        let came: String = came.chars().take(200).collect();
        wrongs.push(format!("{}: {came}, not {}", script.name, script.ends));
    }
    wrongs
}

/// A function of another account that does no harm.
struct Calm {
    key: String,
    function: String,
}

/// The faults in the ends of these scripts, and the scripts that the limit of time ended before
/// the end that they name: on a busy machine this limit says nothing about a script.
async fn round<'s>(
    server: &Server,
    driver: &str,
    scripts: &'s [Script],
    calm: &Calm,
) -> (Vec<String>, Vec<&'s Script>) {
    let (mut all, mut late) = (Vec::new(), Vec::new());
    for script in scripts {
        let found = wrongs(server, driver, script, calm).await;
        match found.iter().any(|wrong| wrong.contains("compute time of")) {
            true => late.push(script),
            false => all.extend(found),
        }
    }
    (all, late)
}

/// Runs scripts again with more time than a busy machine takes.
async fn with_time(driver: &str, fuel: &str, scripts: Vec<&Script>) -> Vec<String> {
    if scripts.is_empty() {
        return Vec::new();
    }
    let (server, key) = server(fuel, "50s", "20s").await;
    let calm = calm(&server, key, driver).await;
    let mut all = Vec::new();
    for script in scripts {
        let found = wrongs(&server, driver, script, &calm).await;
        // With this much time an answer may take longer than the usual deadline.
        all.extend(found.into_iter().filter(|wrong| !wrong.contains("answered after")));
    }
    all
}

/// A function of the second account.
async fn calm(server: &Server, key: String, driver: &str) -> Calm {
    let source = if driver == "js" { "r.stopForwarding()" } else { "r:StopForwarding()" };
    let function = make(server, &key, driver, source).await.expect("it compiles");
    Calm { key, function }
}

async fn nothing_breaks(driver: &str, fuel: &str, scripts: Vec<Script>) {
    let _core = turns::core().await;
    let (server, key) = server(fuel, "2s", "500ms").await;
    let process = server.process_id();
    let calm = calm(&server, key, driver).await;
    let fresh = server.resident_kib();

    let started = Instant::now();
    let (mut wrongs, late) = round(&server, driver, &scripts, &calm).await;
    wrongs.extend(with_time(driver, fuel, late).await);
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
    assert!(process::is_idle_within(process, PATIENCE).await, "something still computes");
    let (first, took) = (server.resident_kib(), started.elapsed());

    // By now the caches and the allocator have what they keep. Those that want
    // memory once more.
    let greedy: Vec<_> = scripts.into_iter().filter(Script::is_greedy).collect();
    assert!(greedy.len() > 20, "{}", greedy.len());
    let (wrongs, _late) = round(&server, driver, &greedy, &calm).await;
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
    assert!(process::is_idle_within(process, PATIENCE).await, "something still computes");
    let second = server.resident_kib();
    println!("{driver}: {fresh} KiB at first, {first} after all ({took:.1?}), {second} at last");
    assert!(second < first + KEPT_KIB, "{first} KiB became {second}");
    assert_eq!(server.process_id(), process, "another process");
}

#[tokio::test]
async fn in_lua() {
    nothing_breaks("lua", "5000000", scripts::of("lua", "-- expect: ", "|")).await;
}

#[tokio::test]
async fn in_javascript() {
    nothing_breaks("js", "50000000", scripts::of("js", "// ends: ", " | ")).await;
}
