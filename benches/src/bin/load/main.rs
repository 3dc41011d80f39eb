//! The benchmark harness: the real server, a sink that keeps a ledger and a
//! load generator in processes of their own, and beside them, in alternating
//! passes of the same run, what the server is compared with.
//!
//! ```text
//! cargo run --release -p benches --bin load -- --list
//! cargo run --release -p benches --bin load -- --scenario cycle-64 --json out.json --svg out.svg
//! ```
//!
//! The way in: [`scenario`] says what is measured, [`run`] alternates the
//! passes, [`work`] has one file for each kind of pass, [`subject`] one for each
//! program that is measured, [`part`] one for each process of the harness
//! itself, and [`report`] writes down what came out.

mod ablation;
mod ledger;
mod measured;
mod options;
mod part;
mod report;
mod run;
mod scenario;
mod seed;
mod subject;
mod work;

use std::process::ExitCode;

use benches::{Outcome, api, process};
use clap::Parser;

fn main() -> ExitCode {
    let arguments = options::Arguments::parse();
    let done = match arguments.part {
        Some(part) => part.run().map(|()| true),
        None if arguments.options.list => {
            scenario::print_list().and_then(|()| ablation::print_list()).map(|()| true)
        }
        None => run::run(arguments.options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}
