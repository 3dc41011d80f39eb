//! Scripts that try to break out of their limits (`hostile/*.lua`).
//!
//! The first line of each names what must come of it: `ok`, or a part of the
//! error; alternatives are separated by `|`.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use webhook_core::function::{FunctionRuntime, Limits, lua::LuaRuntime};

use crate::harness::{StubForwarder, invocation};

/// What a call may take beyond its deadline: one slice, or one call of the host.
const SLACK: Duration = Duration::from_millis(1_500);

fn scripts() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/hostile");
    let paths = fs::read_dir(folder).expect("the folder of scripts").map(|e| e.expect("e").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let source = fs::read_to_string(&path).expect("a script");
            (path, source)
        })
        .collect()
}

/// The memory of this process in bytes; none where the system does not tell.
fn resident_bytes() -> Option<usize> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[tokio::test]
async fn hostile_scripts_end_within_their_limits() {
    let mut limits = Limits::default();
    limits.total_time = Duration::from_millis(1_500);
    limits.compute_time = Duration::from_millis(500);
    limits.fuel = 5_000_000;
    let deadline = limits.total_time + SLACK;
    let runtime = LuaRuntime::builder()
        .limits(limits)
        .threads(1)
        .idle_vms(4)
        .cached_programs(4)
        .forwarder(StubForwarder::answering("hello"))
        .build()
        .expect("threads");
    let scripts = scripts();
    assert!(scripts.len() >= 80, "only {} scripts", scripts.len());
    let mut failures = Vec::new();
    for (path, source) in &scripts {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let wanted = source.lines().next().and_then(|line| line.strip_prefix("-- expect: "));
        let wanted = wanted.unwrap_or_else(|| panic!("{name} does not say what is expected"));
        let started = Instant::now();
        let completion = runtime.run(invocation(source)).await;
        let took = started.elapsed();
        let came = match &completion.result {
            Ok(_) => "ok".to_owned(),
            Err(error) => error.to_string(),
        };
        if !wanted.split('|').any(|wanted| came == wanted || came.contains(wanted)) {
            let came: String = came.chars().take(200).collect();
            failures.push(format!("{name}: expected {wanted}, got {came}"));
        }
        if took > deadline {
            failures.push(format!("{name}: took {} ms", took.as_millis()));
        }
        let logged: usize = completion.logs.iter().map(String::len).sum();
        if logged > Limits::default().log_bytes {
            failures.push(format!("{name}: logged {logged} bytes"));
        }
        // The thread still serves others.
        let next = runtime.run(invocation("return 1")).await;
        if let Err(error) = next.result {
            failures.push(format!("{name}: the next script failed: {error}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // The allocator keeps pages for the next bomb, but not more for each of them.
    let bombs = || scripts.iter().filter(|(path, _)| path.to_string_lossy().contains("bomb_"));
    let before = resident_bytes();
    for (_, source) in bombs() {
        runtime.run(invocation(source)).await;
    }
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let kept = after.saturating_sub(before) >> 20;
        assert!(kept < 32, "{kept} MB did not come back");
    }
}
