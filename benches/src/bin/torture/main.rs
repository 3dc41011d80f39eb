//! Makes the server fail, again and again, and counts what was lost.
//!
//! ```text
//! cargo run --release -p benches --bin torture -- --rounds 125 --parallel 2
//! cargo run -p benches --bin torture -- --only kill power --rounds 20 --seed 7
//! cargo run -p benches --bin torture -- --nodes 3 --rounds 6
//! ```
//!
//! Each round starts senders that write down what they send and what was
//! acknowledged, strikes at a moment that the seed chooses, waits until the server
//! has delivered what it has, and compares the ledgers with what the sink got and
//! with the server's own logs. The promises and the figures of a run are in
//! `docs/reliability.md`.
//!
//! The way in: [`run`] deals out the rounds, [`round`] is one of them, [`judge`]
//! says whether it ended well, [`rig`] is what it works with, [`faults`] has one file
//! for each fault, [`sender`] and [`sink`] are the processes that send and receive.

mod answers;
mod arrivals;
mod content;
mod database;
mod faults;
mod judge;
mod ledger;
mod logs;
mod namespaces;
mod options;
mod report;
mod rig;
mod round;
mod run;
mod sender;
mod server;
mod sink;
mod webhook;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = options::Arguments::parse();
    let done = match arguments.part {
        Some(part) => part.run().map(|()| true),
        None => run::run(&arguments.options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("torture: {error}");
            ExitCode::FAILURE
        }
    }
}
