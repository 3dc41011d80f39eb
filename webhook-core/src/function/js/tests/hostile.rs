//! Scripts that mean harm: each ends within its deadline, whatever it is, the
//! process goes on, and the memory comes back.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::fixture::{complete, invocation, limited};
use crate::function::{FunctionError, FunctionRuntime};

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/function/js/tests/hostile");
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
    let runtime = limited(|limits| {
        limits.compute_time = Duration::from_millis(500);
        limits.total_time = Duration::from_secs(2);
    });
    complete(&runtime, "").await.result.expect("runs");
    let before = resident_bytes();
    let mut wrong = Vec::new();
    for path in scripts {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = fs::read_to_string(&path).expect("readable");
        let expected = source.lines().next().unwrap_or_default();
        let expected =
            expected.strip_prefix("// ends: ").expect("each says how it ends").to_owned();
        let started = Instant::now();
        let completion = runtime.run(invocation(&source)).await;
        let took = started.elapsed();
        // The deadline, the watchdog's grace, and a busy machine.
        if took > Duration::from_millis(2600) {
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
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        assert!(after < before + (64 << 20), "{} MB more", (after - before) >> 20);
    }
}
