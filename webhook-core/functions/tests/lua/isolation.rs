//! Calls, functions and accounts do not notice each other.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use webhook_core::{
    AccountId,
    function::{FunctionRuntime, Invocation},
};
use webhook_functions::lua::LuaRuntime;

use crate::harness::{invocation, runtime};

#[tokio::test]
async fn a_call_leaves_nothing_behind_for_the_next() {
    let runtime = runtime();
    let source = r#"
        local seen = {
            leaked, string.leaked, math.leaked, table.leaked, _G.leaked, os.leaked,
            coroutine.leaked, utf8.leaked, require("json").leaked,
            getmetatable("").leaked, getmetatable("").__index.leaked, r.Metadata.leaked,
            r.RequestHeader.leaked, r.RequestQuery.leaked,
        }
        assert(next(seen) == nil, "something leaked")
        assert(print ~= nil and string.upper("x") == "X" and ("x"):upper() == "X")
        leaked, string.leaked, math.leaked, table.leaked = 1, 1, 1, 1
        os.leaked, coroutine.leaked, utf8.leaked, require("json").leaked = 1, 1, 1, 1
        getmetatable("").leaked, getmetatable("").__index.leaked = 1, 1
        r.Metadata.leaked, r.RequestHeader.leaked, r.RequestQuery.leaked = 1, 1, 1
        string.upper = function() return "changed" end
        print, require, pairs, setmetatable = nil, nil, nil, nil
        assert(("x"):upper() == "changed")
        r:SetRequestBody("changed") r:SetResponseBody("changed") r:StopForwarding()
    "#;
    let call = invocation(source);
    for round in 0..5 {
        let completion = runtime.run(call.clone()).await;
        let outcome = completion.result.unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert!(outcome.stop_forwarding);
    }
    let plain = Invocation { source: Arc::from("assert(not leaked)"), revision: 2, ..call };
    let outcome = runtime.run(plain).await.result.expect("a plain script");
    assert_eq!(outcome.request.body, r#"{"a":1}"#);
    assert!(outcome.response.is_none() && !outcome.stop_forwarding);
}

#[tokio::test]
async fn shared_libraries_cannot_be_changed_through_any_door() {
    let runtime = runtime();
    // Each script tries in its own function; all run in one process.
    let doors = [
        "string.rep = nil",
        "_G.string.rep = nil",
        "local s = string s.rep = nil",
        "getmetatable('').__index.rep = nil",
        "rawset(string, 'rep', nil)",
        "for k in pairs(string) do string[k] = nil end",
        "function string.rep() return 'evil' end",
        "string['re' .. 'p'] = nil",
        "table.insert(string, 1)",
        "setmetatable(string, {__index = error})",
    ];
    for door in doors {
        let completion = runtime.run(invocation(door)).await;
        assert!(completion.result.is_ok(), "{door}: {:?}", completion.result);
        let check = "assert(string.rep('x', 2) == 'xx' and ('x'):rep(2) == 'xx' and #string == 0)";
        for _ in 0..2 {
            let completion = runtime.run(invocation(check)).await;
            assert!(completion.result.is_ok(), "{door}: {:?}", completion.result);
        }
    }
}

#[tokio::test]
async fn an_account_never_sees_the_data_of_another() {
    let runtime = Arc::new(runtime());
    let source = "secret = secret or r.RequestBody print(secret, cfg:GetValue('TOKEN'))";
    let base = invocation(source);
    let mut calls = Vec::new();
    for number in 0..40 {
        let mut call = Invocation {
            account_id: AccountId::generate(),
            // Even the same function and revision are not shared between accounts.
            ..base.clone()
        };
        call.request.body = format!("body {number}").into();
        call.config = Arc::new([("TOKEN".to_owned(), format!("token {number}"))].into());
        let runtime = Arc::clone(&runtime);
        calls.push(tokio::spawn(async move { (number, runtime.run(call).await) }));
    }
    for call in calls {
        let (number, completion) = call.await.expect("the task");
        assert!(completion.result.is_ok());
        assert_eq!(completion.logs, [format!("body {number}\ttoken {number}")]);
    }
}

#[tokio::test]
async fn a_busy_account_does_not_hold_up_another() {
    let runtime = LuaRuntime::builder().threads(1).build().expect("threads");
    let runtime = Arc::new(runtime);
    let busy = AccountId::generate();
    let work = "local n = 0 for i = 1, 1e7 do n = n + i end";
    let calls = (0..30).map(|_| {
        let call = Invocation { account_id: busy, ..invocation(work) };
        let runtime = Arc::clone(&runtime);
        tokio::spawn(async move { runtime.run(call).await })
    });
    let calls: Vec<_> = calls.collect();
    tokio::time::sleep(Duration::from_millis(30)).await;
    for _ in 0..10 {
        let completion = runtime.run(invocation("r:SetRequestBody('x')")).await;
        assert!(completion.result.is_ok());
    }
    // One thread computes for 30 calls of the busy account, and takes the accounts in turn.
    let ended = calls.iter().filter(|call| call.is_finished()).count();
    assert!(ended <= 12, "{ended} calls of the busy account came before 10 of the other");
    drop(calls);
}

#[tokio::test]
async fn waiting_calls_hold_no_thread() {
    let runtime =
        LuaRuntime::builder().threads(1).running_calls(256, 256).build().expect("threads");
    let runtime = Arc::new(runtime);
    let started = Instant::now();
    let calls = (0..100).map(|_| {
        let runtime = Arc::clone(&runtime);
        let call = invocation("require('time').sleep(0.1) require('time').sleep(0.1)");
        tokio::spawn(async move { runtime.run(call).await })
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        assert!(call.await.expect("the task").result.is_ok());
    }
    // If each held the thread while it sleeps, they would take 20 s.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_caller_that_goes_away_ends_its_call() {
    let runtime = LuaRuntime::builder().threads(1).running_calls(1, 1).build().expect("threads");
    let gone = runtime.run(invocation("require('time').sleep(4)"));
    assert!(tokio::time::timeout(Duration::from_millis(50), gone).await.is_err());
    let started = Instant::now();
    assert!(runtime.run(invocation("return")).await.result.is_ok());
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_new_revision_is_a_new_program() {
    let runtime = runtime();
    let first = invocation("print('one')");
    assert_eq!(runtime.run(first.clone()).await.logs, ["one"]);
    let second = Invocation { source: Arc::from("print('two')"), revision: 2, ..first.clone() };
    assert_eq!(runtime.run(second).await.logs, ["two"]);
    // A revision that is used again for other source still runs that source.
    let third = Invocation { source: Arc::from("print('three')"), ..first };
    assert_eq!(runtime.run(third).await.logs, ["three"]);
}
