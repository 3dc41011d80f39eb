//! A call that was answered computes no further. In a process of its own, whose time nothing else takes.

mod sweep;

use std::{collections::BTreeMap, fs, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, FunctionId,
    function::{FunctionError, FunctionRuntime, Invocation, ScriptLimits},
    model::{Checks, Driver, Request},
};
use webhook_functions::js::JsRuntime;

/// Calls after the call that was ended. A core that still computes would show in them.
const CALLS: u64 = 400;

fn invocation(account_id: AccountId, source: &str) -> Invocation {
    Invocation {
        account_id,
        function_id: FunctionId::generate(),
        revision: 1,
        driver: Driver::Js,
        source: Arc::from(source),
        config: Arc::default(),
        metadata: BTreeMap::new(),
        checks: Checks::default(),
        request: Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::from_static(b"{}"),
        },
        response: None,
        trial: None,
    }
}

/// The time that the threads of this process have computed, in hundredths of a second.
fn computed() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

async fn time_of_calls(runtime: &JsRuntime, account: AccountId) -> u64 {
    let before = computed();
    for _ in 0..CALLS {
        let call = invocation(account, "if (r.method === 'GET') r.stopForwarding()");
        runtime.run(call).await.result.expect("the account is not blocked");
    }
    computed() - before
}

/// Held by a test, so that no other one computes meanwhile.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test]
async fn a_call_that_was_answered_computes_no_further() {
    let _alone = ALONE.lock().await;
    let mut limits = ScriptLimits::default();
    limits.compute_time = Duration::from_millis(500);
    let runtime = JsRuntime::builder().limits(limits).build().expect("threads");
    let account = AccountId::generate();
    let quiet = time_of_calls(&runtime, account).await;
    for source in [
        "r.body = 'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1e6))",
        "r.body = 'a'.repeat(1e6).replaceAll('', 'b'.repeat(1e6))",
        "r.body = 'a'.repeat(1e6).replaceAll(/a/g, 'b'.repeat(1e6))",
    ] {
        let ended = runtime.run(invocation(account, source)).await.result;
        assert!(matches!(ended, Err(FunctionError::Limit(_))), "{source}: {ended:?}");
        // A thread that still computes would double the time.
        let after = time_of_calls(&runtime, account).await;
        assert!(after < 2 * quiet + 20, "{source}: {after} hundredths of a second, {quiet} before");
    }
}
