//! Scripts that mean harm: each ends within its deadline, whatever it is, the
//! process goes on, and the memory comes back. In a process of its own, whose
//! memory nothing else uses.

mod steps;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, Method};
use webhook_core::{
    AccountId, FunctionId,
    function::{Completion, FunctionError, FunctionRuntime, Invocation, ScriptLimits},
    model::{Checks, Driver, Request},
};
use webhook_functions::js::JsRuntime;

async fn complete(runtime: &JsRuntime, source: &str) -> Completion {
    let request = Request {
        method: Method::POST,
        extra_path: String::new(),
        raw_query: String::new(),
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
    };
    let invocation = Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::generate(),
        revision: 1,
        driver: Driver::Js,
        source: Arc::from(source),
        config: Arc::default(),
        metadata: BTreeMap::new(),
        checks: Checks::default(),
        request,
        response: None,
        trial: None,
    };
    runtime.run(invocation).await
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/js/hostile");
    let mut scripts: Vec<_> = fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .collect();
    scripts.sort();
    scripts
}

/// Memory that the process holds, where the system tells it.
fn resident_bytes() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/statm").ok()?;
    Some(status.split(' ').nth(1)?.parse::<usize>().ok()? * 4096)
}

#[tokio::test]
async fn every_script_ends_in_time_and_leaves_nothing() {
    let scripts = scripts();
    assert!(scripts.len() >= 40, "{}", scripts.len());
    let mut limits = ScriptLimits::default();
    limits.compute_time = Duration::from_millis(500);
    limits.total_time = Duration::from_secs(2);
    let runtime = JsRuntime::builder().limits(limits).build().expect("threads");
    let mut wrong = Vec::new();
    for path in &scripts {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = fs::read_to_string(path).expect("readable");
        let expected = source.lines().next().unwrap_or_default();
        let expected =
            expected.strip_prefix("// ends: ").expect("each says how it ends").to_owned();
        let started = Instant::now();
        let completion = complete(&runtime, &source).await;
        let took = started.elapsed();
        // The deadline, the watchdog's grace, and a busy machine.
        if took > Duration::from_secs(5) {
            wrong.push(format!("{name} took {took:?}"));
        }
        let ended = match completion.result {
            Ok(_) => "well".to_owned(),
            Err(FunctionError::Limit(limit)) => limit,
            Err(error) => error.to_string(),
        };
        if !expected.split(" | ").any(|expected| ended.contains(expected)) {
            wrong.push(format!("{name} ended: {ended}, not: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    complete(&runtime, "").await.result.expect("still runs");
    // What the allocator keeps for its threads it has by now: the second time takes no more.
    let before = resident_bytes();
    for path in scripts {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("memory_") || name.starts_with("json_") {
            let source = fs::read_to_string(&path).expect("readable");
            drop(complete(&runtime, &source).await);
        }
    }
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let more = after.saturating_sub(before) >> 20;
        assert!(more < 48 && after < 512 << 20, "{more} MB more, {} MB", after >> 20);
    }
}
