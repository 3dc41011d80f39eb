//! Scripts that try to break out of their limits (`hostile/*.lua`).
//!
//! The first line of each names what must come of it: `ok`, or a part of the
//! error; alternatives are separated by `|`.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use webhook_core::function::{Completion, FunctionRuntime, ScriptLimits};
use webhook_functions::lua::LuaRuntime;

use crate::harness::{StubForwarder, invocation};

/// What a call may take beyond its deadline besides one call of the host: a
/// slice, and what the machine does in between.
const SLACK: Duration = Duration::from_millis(1_500);
/// How often a script that took too long is tried: a machine may be busy.
const TRIES: usize = 3;
/// What a pass over the scripts that fill the memory may leave behind: less than
/// the limit of one call.
const KEPT_MB: usize = 32;
/// A script that is still there after this long does not end.
const NEVER: Duration = Duration::from_secs(120);

/// A runtime with these limits but those of time.
fn unhurried(limits: &ScriptLimits) -> LuaRuntime {
    let mut limits = limits.clone();
    (limits.total_time, limits.compute_time) = (NEVER, NEVER);
    LuaRuntime::builder().limits(limits).threads(1).build().expect("threads")
}

fn what_came(completion: &Completion) -> String {
    match &completion.result {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// How long the longest call of the host takes that the limits allow, on this
/// machine, in this build, at this moment: as many steps of patterns as one
/// match may take, in matches that are each far from their limit. Three times
/// that, because steps of other patterns cost more.
async fn longest_host_call(limits: &ScriptLimits) -> Duration {
    let runtime = unhurried(limits);
    let (part, length) = (10, 1_000);
    let matches = limits.pattern_steps / part / length;
    let source =
        format!("local s = ('a'):rep({length}) for _ = 1, {matches} do s:find('[bc]') end");
    let started = Instant::now();
    runtime.run(invocation(&source)).await.result.expect("far from its limits");
    started.elapsed() * u32::try_from(3 * part).expect("a small number")
}

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
    let mut limits = ScriptLimits::default();
    limits.total_time = Duration::from_millis(1_500);
    limits.compute_time = Duration::from_millis(500);
    limits.fuel = 5_000_000;
    let runtime = LuaRuntime::builder()
        .limits(limits.clone())
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
        let mut tries = 1;
        let (completion, late) = loop {
            let started = Instant::now();
            let run = tokio::time::timeout(NEVER, runtime.run(invocation(source))).await;
            let completion = run.unwrap_or_else(|_| panic!("{name} does not end"));
            let took = started.elapsed();
            if took <= limits.total_time + SLACK {
                break (completion, None);
            }
            let deadline = limits.total_time + SLACK + longest_host_call(&limits).await;
            match took <= deadline {
                true => break (completion, None),
                false if tries == TRIES => break (completion, Some((took, deadline))),
                false => tries += 1,
            }
        };
        let mut came = what_came(&completion);
        let out_of_time = ["compute time", "total time"].iter().any(|limit| came.contains(limit));
        if out_of_time && !wanted.contains("time") {
            // A slow machine came to the limit of time first. Without that one
            // the limit that is meant must hold.
            let runtime = unhurried(&limits);
            let run = tokio::time::timeout(NEVER, runtime.run(invocation(source))).await;
            came = what_came(&run.unwrap_or_else(|_| panic!("{name} does not end")));
        }
        if !wanted.split('|').any(|wanted| came == wanted || came.contains(wanted)) {
            let came: String = came.chars().take(200).collect();
            failures.push(format!("{name}: expected {wanted}, got {came}"));
        }
        if let Some((took, deadline)) = late {
            let (took, deadline) = (took.as_millis(), deadline.as_millis());
            failures.push(format!("{name}: took {took} ms, more than {deadline} ms"));
        }
        let logged: usize = completion.logs.iter().map(String::len).sum();
        if logged > ScriptLimits::default().log_bytes {
            failures.push(format!("{name}: logged {logged} bytes"));
        }
        // The thread still serves others.
        let next = runtime.run(invocation("return")).await;
        if let Err(error) = next.result {
            failures.push(format!("{name}: the next script failed: {error}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // The allocator keeps pages for the next bomb, more or fewer from one pass
    // over them to the next; a bomb that leaks adds its memory in every pass.
    let bombs = || scripts.iter().filter(|(path, _)| path.to_string_lossy().contains("bomb_"));
    let mut least = usize::MAX;
    for _ in 0..TRIES {
        let before = resident_bytes();
        for (_, source) in bombs() {
            runtime.run(invocation(source)).await;
        }
        let (Some(before), Some(after)) = (before, resident_bytes()) else { return };
        least = least.min(after.saturating_sub(before) >> 20);
        if least < KEPT_MB {
            return;
        }
    }
    panic!("{least} MB did not come back in any of {TRIES} passes");
}
