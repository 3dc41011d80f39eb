use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use webhook_core::function::{FunctionError, FunctionRuntime, ScriptLimits};

use super::fixture::{complete, invocation, limited, runtime};
use crate::js::JsRuntime;

async fn limit_of(runtime: &JsRuntime, source: &str) -> String {
    match complete(runtime, source).await.result {
        Err(FunctionError::Limit(limit)) => limit,
        other => panic!("{source}: {other:?}"),
    }
}

#[tokio::test]
async fn each_limit_is_hit_and_named() {
    let endless = "for (;;) {}";
    type Case = (fn(&mut ScriptLimits), &'static str, &'static str);
    let cases: &[Case] = &[
        (|l| l.source_bytes = 10, "r.body = 'long'", "source of 10 bytes"),
        (|l| l.compute_time = Duration::from_millis(50), endless, "compute time of 50 ms"),
        (|l| l.total_time = Duration::from_millis(50), endless, "total time of 50 ms"),
        (|l| l.fuel = 100_000, endless, "fuel of 100000 instructions"),
        (
            |l| l.memory_bytes = 4 << 20,
            "let a = []; for (;;) a.push('x' + a.length)",
            "memory of 4194304 bytes",
        ),
        (|_| (), "(function f() { f() })()", "depth of the call stack"),
        (|l| l.string_bytes = 1000, "'a'.repeat(1001)", "string size of 1000 bytes"),
        (|l| l.string_bytes = 1000, "'a'.padStart(1001)", "string size of 1000 bytes"),
        (|l| l.body_bytes = 1000, "r.body = 'a'.repeat(1001)", "body size of 1000 bytes"),
        (|l| l.body_bytes = 10, "r.setResponseBody(new Uint8Array(11))", "body size of 10 bytes"),
        (|_| (), "/(a+)+b/.test('a'.repeat(40))", "pattern steps, at most 1000000"),
        (|_| (), "'a'.repeat(3000).replace(/a*b/g, '')", "pattern steps, at most 1000000"),
        (
            |_| (),
            "/(a)\\1/.test('a'.repeat(65537))",
            "back references in texts of more than 65536 characters",
        ),
        (|l| l.string_bytes = 1000, "hex.encode('a'.repeat(501))", "string size of 1000 bytes"),
        (|l| l.string_bytes = 1000, "hex.encode('a'.repeat(1001))", "string size of 1000 bytes"),
        (|_| (), "new Array(3e9).join()", "arrays of more than 4194304 elements"),
        (|_| (), "[].slice.call({length: 1e9})", "arrays of more than 4194304 elements"),
        (
            |_| (),
            "new RegExp('[' + 'ab'.repeat(1e5) + ']')",
            "patterns of more than 8192 characters",
        ),
        (
            |_| (),
            "'e\\u0301\\u0316'.repeat(2); ('a' + '\\u0301\\u0316'.repeat(1e5)).normalize()",
            "256 combining marks in a row",
        ),
    ];
    for (change, source, expected) in cases {
        assert_eq!(limit_of(&limited(change), source).await, *expected, "{source}");
    }
}

#[tokio::test]
async fn a_limit_ends_the_script_though_it_catches_everything() {
    let sources = [
        "for (;;) { try { for (;;) {} } catch {} finally { continue } }",
        "const f = () => { try { f() } finally { f() } }; f()",
        "await (async function again() { try { for (;;) {} } catch { await again() } })()",
        "function again() { Promise.resolve().then(again) } again()",
        "const thenable = { then(f) { queueMicrotask(() => f(thenable)) } }; await thenable",
        "throw { get message() { for (;;) {} }, toString() { for (;;) {} } }",
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;) {} } }); throw e",
        "return { get body() { for (;;) {} } }",
    ];
    let runtime = limited(|limits| {
        limits.compute_time = Duration::from_millis(100);
        limits.fuel = u64::MAX;
    });
    for source in sources {
        let started = Instant::now();
        let limit = limit_of(&runtime, source).await;
        assert_eq!(limit, "compute time of 100 ms", "{source}");
        assert!(started.elapsed() < Duration::from_secs(2), "{source}");
    }
}

#[tokio::test]
async fn logs_are_cut() {
    let runtime = limited(|limits| limits.log_bytes = 100);
    let script = "console.log('é'.repeat(30)); for (let i = 0; i < 1000; i++) console.log('x'.repeat(30)); console.log('')";
    let logs = complete(&runtime, script).await.logs;
    assert_eq!(logs.len(), 3, "{logs:?}");
    assert!(logs.iter().map(String::len).sum::<usize>() <= 100);
}

/// Ten thousand of these between two looks of the engine would take minutes.
const STUCK: &str =
    "const o = {}; for (let i = 0; i < 5e4; i++) o['k' + i] = i; for (;;) ({ ...o })";

#[tokio::test]
async fn who_the_engine_does_not_let_go_of_is_answered_for_and_keeps_nobody_else() {
    let mut limits = ScriptLimits::default();
    limits.total_time = Duration::from_millis(700);
    let runtime = JsRuntime::builder().limits(limits).computing(2).build().expect("threads");
    let stuck = invocation(STUCK);
    let started = Instant::now();
    let completion = runtime.run(stuck.clone()).await;
    assert_eq!(completion.result, Err(FunctionError::Limit("total time of 700 ms".to_owned())));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());

    let mut same_account = invocation("r.body = 'x'");
    same_account.account_id = stuck.account_id;
    assert_eq!(runtime.run(same_account).await.result, Err(FunctionError::Busy));
    let other = complete(&runtime, "r.body = 'x'").await;
    assert_eq!(other.result.expect("not concerned").request.body, "x");
    let busy =
        complete(&runtime, "let n = 0; for (let i = 0; i < 1e5; i++) n += i; r.body = n").await;
    assert_eq!(busy.result.expect("not concerned").request.body, "4999950000");
}

#[tokio::test]
async fn a_full_queue_is_busy() {
    let mut limits = ScriptLimits::default();
    limits.compute_time = Duration::from_millis(300);
    let builder = JsRuntime::builder().limits(limits).running_calls(1, 1).queued_calls(2);
    let runtime = builder.build().expect("threads");
    let calls = (0..6).map(|_| complete(&runtime, "for (;;) {}"));
    let ended = futures_util::future::join_all(calls).await;
    let busy = ended.iter().filter(|ended| ended.result == Err(FunctionError::Busy)).count();
    assert!((3..=5).contains(&busy), "{busy}");
    assert!(ended.iter().any(|ended| matches!(&ended.result, Err(FunctionError::Limit(_)))));
}

#[tokio::test]
async fn a_caller_that_goes_away_ends_its_call() {
    let long = Duration::from_secs(60);
    let mut limits = ScriptLimits::default();
    (limits.compute_time, limits.total_time, limits.fuel) = (long, long, u64::MAX);
    let runtime = JsRuntime::builder().limits(limits).running_calls(1, 1).build().expect("threads");
    {
        let call = complete(&runtime, "for (;;) {}");
        futures_util::pin_mut!(call);
        assert!(futures_util::poll!(call.as_mut()).is_pending());
    }
    let next = complete(&runtime, "r.body = 'x'").await;
    assert_eq!(next.result.expect("the only thread is free again").request.body, "x");
}

#[tokio::test]
async fn dropping_the_runtime_ends_its_threads() {
    let runtime = runtime();
    complete(&runtime, "").await.result.expect("runs");
    let queue = Arc::downgrade(&runtime.shared.queue);
    drop(runtime);
    let started = Instant::now();
    while queue.strong_count() > 0 {
        assert!(started.elapsed() < Duration::from_secs(10), "a thread goes on");
        std::thread::yield_now();
    }
}
