//! What the system tells about the server's process.

use std::{
    collections::HashSet,
    fs,
    time::{Duration, Instant},
};

/// How often is looked, and how many times before a thread counts as computing.
const EVERY: Duration = Duration::from_millis(50);
const LOOKS: usize = 8;

/// The threads that run or want to: on a busy machine most of them wait for a core.
fn runnable(process: u32) -> HashSet<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("it is running");
    let runnable = tasks.filter_map(|task| {
        // A thread may end while its folder is read.
        let task = task.ok()?;
        let stat = fs::read_to_string(task.path().join("stat")).ok()?;
        // The name in parentheses may have spaces.
        let state = stat.rsplit_once(')')?.1.trim_start();
        state.starts_with('R').then(|| task.file_name().to_string_lossy().into_owned())
    });
    runnable.collect()
}

/// Whether all threads of a process stop computing within `patience`.
pub(crate) async fn is_idle_within(process: u32, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        let mut computing = runnable(process);
        for _ in 1..LOOKS {
            if computing.is_empty() {
                return true;
            }
            tokio::time::sleep(EVERY).await;
            let now = runnable(process);
            computing.retain(|thread| now.contains(thread));
        }
    }
    false
}
