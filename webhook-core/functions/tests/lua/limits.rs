//! Each limit is hit, and the error names it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use webhook_core::{
    function::{FunctionError, FunctionRuntime, ScriptLimits},
    model::Driver,
};
use webhook_functions::lua::LuaRuntime;

use crate::harness::{StubForwarder, invocation};

async fn failure(change: impl FnOnce(&mut ScriptLimits), source: &str) -> FunctionError {
    let mut limits = ScriptLimits::default();
    change(&mut limits);
    let runtime = LuaRuntime::builder()
        .limits(limits)
        .threads(1)
        .forwarder(StubForwarder::answering("hello"))
        .build()
        .expect("threads");
    let completion = runtime.run(invocation(source)).await;
    completion.result.expect_err("the script should run into the limit")
}

async fn names(change: impl FnOnce(&mut ScriptLimits), source: &str, message: &str) {
    let error = failure(change, source).await;
    assert_eq!(error, FunctionError::Limit(message.to_owned()), "{source}");
    assert_eq!(error.to_string(), format!("limit exceeded: {message}"));
}

#[tokio::test]
async fn fuel() {
    names(|limits| limits.fuel = 100_000, "while true do end", "fuel of 100000 instructions").await;
    // No `pcall` catches it.
    names(
        |limits| limits.fuel = 100_000,
        "while true do pcall(function() while true do end end) end",
        "fuel of 100000 instructions",
    )
    .await;
}

#[tokio::test]
async fn compute_time() {
    names(
        |limits| {
            limits.compute_time = Duration::from_millis(30);
            limits.fuel = u64::MAX;
        },
        "while true do end",
        "compute time of 30 ms",
    )
    .await;
}

#[tokio::test]
async fn total_time_with_waiting() {
    let started = Instant::now();
    for source in [
        "require('time').sleep(60)",
        "require('http').get('http://slow.example/')",
        "coroutine.wrap(function() pcall(require('time').sleep, 60) end)()",
        "while true do require('time').sleep(0.005) end",
    ] {
        names(
            |limits| limits.total_time = Duration::from_millis(60),
            source,
            "total time of 60 ms",
        )
        .await;
    }
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn memory() {
    names(
        |limits| limits.memory_bytes = 2 << 20,
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "memory of 2097152 bytes",
    )
    .await;
    names(
        |limits| limits.memory_bytes = 2 << 20,
        "require('csv').decode((','):rep(100000))",
        "memory of 2097152 bytes",
    )
    .await;
}

#[tokio::test]
async fn garbage_is_not_memory() {
    let mut limits = ScriptLimits::default();
    limits.memory_bytes = 2 << 20;
    let runtime = LuaRuntime::builder().limits(limits).threads(1).build().expect("threads");
    let source = "for i = 1, 200 do local s = ('x'):rep(100000) .. i end";
    let completion = runtime.run(invocation(source)).await;
    assert!(completion.result.is_ok(), "{:?}", completion.result);
}

#[tokio::test]
async fn string_size() {
    for source in [
        "local s = 'x' while true do s = s .. s end",
        "return ('x'):rep(2000)",
        "return table.concat({('x'):rep(900), ('x'):rep(900)})",
        "return (('x'):rep(900)):gsub('x', 'yy')",
        "return ('%s%s'):format(('x'):rep(900), ('x'):rep(900))",
        "return require('json').encode({('x'):rep(1000), 'x'})",
        "return require('base64').encode(('x'):rep(900))",
    ] {
        names(|limits| limits.string_bytes = 1_000, source, "string size of 1000 bytes").await;
    }
}

#[tokio::test]
async fn body_size() {
    for source in [
        "r:SetRequestBody(('x'):rep(1001))",
        "r.RequestBody = ('x'):rep(1001)",
        "r:SetResponseBody(('x'):rep(1001))",
    ] {
        names(|limits| limits.body_bytes = 1_000, source, "body size of 1000 bytes").await;
    }
}

#[tokio::test]
async fn pattern_steps() {
    for source in [
        "return (('a'):rep(28)):match(('a?'):rep(28) .. ('a'):rep(28))",
        "return pcall(string.find, ('a'):rep(5000), 'a*a*a*b')",
        "for _ in (('a'):rep(5000)):gmatch('a*a*a*b') do end",
        "return (('a'):rep(5000)):gsub('a*a*a*b', function() end)",
    ] {
        names(|limits| limits.pattern_steps = 10_000, source, "pattern steps, at most 10000").await;
    }
}

#[tokio::test]
async fn unpacked_values() {
    for source in [
        "return table.unpack({}, 1, 101)",
        "return ('x'):rep(101):byte(1, -1)",
        "return utf8.codepoint(('x'):rep(101), 1, -1)",
    ] {
        names(|limits| limits.unpacked_values = 100, source, "unpacked values, at most 100").await;
    }
}

#[tokio::test]
async fn http_calls() {
    names(
        |limits| limits.http_calls = 2,
        "for i = 1, 3 do require('http').get('http://a.example/') end",
        "http calls, at most 2",
    )
    .await;
}

#[tokio::test]
async fn source_size() {
    let mut limits = ScriptLimits::default();
    limits.source_bytes = 100;
    let runtime = LuaRuntime::builder().limits(limits).threads(1).build().expect("threads");
    let source = format!("-- {}", "x".repeat(98));
    let wanted = FunctionError::Limit("source of 101 bytes, at most 100".to_owned());
    assert_eq!(runtime.check(Driver::Lua, &source).await, Err(wanted.clone()));
    assert_eq!(runtime.run(invocation(&source)).await.result, Err(wanted));
    assert_eq!(runtime.check(Driver::Lua, &source[..100]).await, Ok(()));
}

#[tokio::test]
async fn captured_output_is_cut() {
    let mut limits = ScriptLimits::default();
    limits.log_bytes = 100;
    let runtime = LuaRuntime::builder().limits(limits).threads(1).build().expect("threads");
    let source = "for i = 1, 1000 do print(('x'):rep(30)) end";
    let completion = runtime.run(invocation(source)).await;
    assert!(completion.result.is_ok());
    let bytes: usize = completion.logs.iter().map(String::len).sum();
    assert!((90..=100).contains(&bytes), "{bytes} bytes");
}

#[tokio::test]
async fn output_comes_back_beside_the_error() {
    let mut limits = ScriptLimits::default();
    limits.fuel = 50_000;
    let runtime = LuaRuntime::builder().limits(limits).threads(1).build().expect("threads");
    let completion = runtime.run(invocation("print('here') while true do end")).await;
    assert!(matches!(completion.result, Err(FunctionError::Limit(_))));
    assert_eq!(completion.logs, ["here"]);
}

#[tokio::test]
async fn a_full_queue_is_busy_and_worth_another_try() {
    let runtime = LuaRuntime::builder()
        .threads(1)
        .running_calls(1, 1)
        .queued_calls(2)
        .build()
        .expect("threads");
    let runtime = Arc::new(runtime);
    let calls = (0..6).map(|_| {
        let runtime = Arc::clone(&runtime);
        tokio::spawn(
            async move { runtime.run(invocation("require('time').sleep(0.1)")).await.result },
        )
    });
    let calls: Vec<_> = calls.collect();
    let mut busy = 0;
    for call in calls {
        match call.await.expect("the task") {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error, FunctionError::Busy);
                assert!(error.is_retryable());
                busy += 1;
            }
        }
    }
    assert!((1..6).contains(&busy), "{busy} busy");
}
