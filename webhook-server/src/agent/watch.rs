//! Watching a replay or an erasure, which run on the server.

use std::{
    io::{IsTerminal, Write},
    time::Duration,
};

use http::Method;
use serde_json::Value;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};

use super::{Api, Broken, LONGEST_PAUSE, one_line, progress::Progress};
use crate::{failure::Failure, print::print};

/// How often the server is asked how far it is.
const PERIOD: Duration = Duration::from_millis(500);
/// It is over, and not everything was done.
const INCOMPLETE: u8 = 3;
/// Interrupted by SIGINT, as shells have it. The work continues.
const INTERRUPTED: u8 = 130;

/// A kind of work that is watched.
pub(super) struct Watched {
    /// Where it is read, with its ID behind.
    pub(super) path: &'static str,
    /// The field that counts what is done, and what the progress is called.
    pub(super) done: &'static str,
    /// The field that says how much there is.
    pub(super) total: &'static str,
    /// The other counts, as text.
    pub(super) counts: fn(&Value) -> String,
    /// The error when this command is interrupted.
    pub(super) interrupted: fn(&str) -> String,
    /// Why not everything was done, once it is over.
    pub(super) incomplete: fn(&Value) -> Option<String>,
}

/// Shows how far it has come, until it is over or the command is interrupted.
pub(super) async fn follow(api: &Api, watched: &Watched, mut work: Value) -> Result<(), Failure> {
    let listening = signal(SignalKind::interrupt());
    let mut interrupt =
        listening.map_err(|error| Failure::io("cannot listen for signals", error))?;
    let id = one_line(text(&work["id"]));
    let path = format!("{}{id}", watched.path);
    let counts = watched.counts;
    let mut progress = Progress::new(watched.done, work[watched.total].as_u64());
    let mut pause = PERIOD;
    loop {
        let done = work[watched.done].as_u64().unwrap_or_default();
        if !matches!(text(&work["status"]), "running" | "paused") {
            progress.finish(done, &counts(&work));
            return ended(watched, &work);
        }
        let is_paused = if work["status"] == "paused" { "paused; " } else { "" };
        progress.set(done, &format!("{is_paused}{}", counts(&work)));
        let asked = async {
            sleep(pause).await;
            api.json(Method::GET, &path, None).await
        };
        // Also while the server gives no answer.
        let answer = tokio::select! {
            answer = asked => answer,
            _ = interrupt.recv() => {
                progress.finish(done, &counts(&work));
                let _ = std::io::stderr().flush();
                return Err(Failure::new((watched.interrupted)(&id)).with_code(INTERRUPTED));
            }
        };
        match answer {
            Ok(answer) => (work, pause) = (answer, PERIOD),
            Err(passing @ Broken::Passing(_)) => {
                pause = (pause * 2).min(LONGEST_PAUSE);
                let seconds = pause.as_secs_f64();
                progress.aside(|| eprintln!("{passing}; asking again in {seconds:.0} s"));
            }
            Err(refused) => {
                progress.finish(done, &counts(&work));
                return Err(refused.into());
            }
        }
    }
}

/// Prints the end. Fails when the work is incomplete.
fn ended(watched: &Watched, work: &Value) -> Result<(), Failure> {
    match (watched.incomplete)(work) {
        None => print(&format!("done: {}\n", (watched.counts)(work))),
        Some(why) => Err(Failure::new(one_line(&why)).with_code(INCOMPLETE)),
    }
}

/// Asks on the terminal. Fails with `refused` without a terminal.
pub(super) fn confirmed(question: &str, refused: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new(refused));
    }
    print(question)?;
    let mut said = String::new();
    let read = std::io::stdin().read_line(&mut said);
    read.map_err(|error| Failure::io("cannot read the answer", error))?;
    Ok(matches!(&*said.trim().to_ascii_lowercase(), "y" | "yes"))
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
