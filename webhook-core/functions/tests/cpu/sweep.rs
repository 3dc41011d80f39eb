//! Each function of each built-in object with three sizes of what it works on and is given.

use std::time::Duration;

use webhook_core::{
    AccountId,
    function::{FunctionError, FunctionRuntime, ScriptLimits},
};
use webhook_functions::js::JsRuntime;

use crate::{ALONE, invocation};

/// Writes the functions as expressions with a receiver of the size `n`.
const FUNCTIONS: &str = r#"
    const receivers = {
      __proto__: null, String: "s", Array: "new Array(n).fill('a')", Map: "new Map([[s, s]])", Set: "new Set([s])",
      RegExp: "/(a+)b/g", Number: "1e21", Uint8Array: "new Uint8Array(n)", Float64Array: "new Float64Array(n)",
      ArrayBuffer: "new ArrayBuffer(n)", DataView: "new DataView(new ArrayBuffer(n))", Date: "new Date(0)",
      Iterator: "s[Symbol.iterator]()", Function: "((...all) => all.length)", Object: "({ [s]: s })",
    };
    const waits = ["http", "kv", "time", "console", "fetch", "setTimeout"];
    const names = [];
    const add = (on, path) => {
      for (const key of Object.getOwnPropertyNames(on)) {
        const { value } = Object.getOwnPropertyDescriptor(on, key);
        if (typeof value === "function" && key !== "constructor") names.push(path + "." + key);
      }
    };
    for (const owner of Object.getOwnPropertyNames(globalThis)) {
      const value = globalThis[owner];
      if (Object(value) !== value || value === globalThis || waits.includes(owner) || owner === "r") continue;
      add(value, owner);
      if (!receivers[owner]) continue;
      add(value.prototype, receivers[owner]);
      const above = Object.getPrototypeOf(value.prototype);
      if (above !== null && above !== Object.prototype && owner !== "String") add(above, receivers[owner]);
    }
    throw new Error(names.join("|"));
"#;

/// What a function is given, the larger the later.
const ARGUMENTS: [&str; 6] = ["n", "s", "'a', s", "'', s", "/a/g, s", "/(a*)*b/, 'b'"];

#[tokio::test]
async fn every_function_of_the_library_ends_at_the_limit() {
    let _alone = ALONE.lock().await;
    let account = AccountId::generate();
    let mut limits = ScriptLimits::default();
    limits.compute_time = Duration::from_millis(50);
    limits.total_time = Duration::from_secs(10);
    let runtime = JsRuntime::builder().limits(limits).build().expect("threads");
    // To list the names takes longer than a call of the sweep may compute on a busy machine.
    let listing = JsRuntime::builder().build().expect("threads");
    let mut names = Vec::new();
    // A message is cut, so that a part of them comes at a time.
    loop {
        let from = names.len();
        let part =
            FUNCTIONS.replace("names.join", &format!("names.slice({from}, {from} + 60).join"));
        let listed = listing.run(invocation(account, &part)).await;
        let error = listed.result.expect_err("the names").to_string();
        let list = error.split_once("Error: ").map(|(_, list)| list.to_owned()).unwrap_or_default();
        if list.is_empty() {
            break;
        }
        names.extend(list.split('|').map(str::to_owned));
    }
    assert!(names.len() > 250, "{names:?}");
    let mut stuck = Vec::new();
    for name in names {
        let calls: Vec<_> = [1_000, 30_000, 1_000_000]
            .iter()
            .flat_map(|n| {
                ARGUMENTS.map(|given| {
                    format!("n = {n}; s = 'a'.repeat(n); call(() => {name}({given}));")
                })
            })
            .collect();
        let source = format!(
            "r; let n, s; const call = (f) => {{ try {{ f(); }} catch {{}} }};\n{}",
            calls.join("\n")
        );
        let result = runtime.run(invocation(account, &source)).await.result;
        if matches!(&result, Err(FunctionError::Limit(limit)) if limit.contains("total")) {
            stuck.push(format!("{name}: {result:?}"));
        }
    }
    assert!(stuck.is_empty(), "{}", stuck.join("\n"));
}
