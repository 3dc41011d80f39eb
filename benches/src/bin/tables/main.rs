//! What a webhook costs SQLite's thread on different tables, without anything around it.
//!
//! ```text
//! cargo run --release -p benches --bin tables -- --buckets 1 --buckets 100 --passes 5
//! ```
//!
//! Every design writes the same webhooks and outcomes, 32 of each in a commit, with the
//! statements that the store would need, to a database of its own, in alternating passes.
//! The figures are the CPU time of the thread for a webhook with its outcome, and the bytes
//! that the thread caused to be written. [`designs`] says how the tables differ.

mod designs;
mod pass;

use benches::{Outcome, program};
use clap::Parser;

use crate::{designs::DESIGNS, pass::Cost};

/// Compares designs of the tables of webhooks and deliveries.
#[derive(Parser)]
struct Options {
    /// How many buckets the webhooks are of; more than once for several runs.
    #[arg(long, default_values_t = [1, 100, 1000])]
    buckets: Vec<usize>,
    /// Passes of each design, which alternate.
    #[arg(long, default_value_t = 3)]
    passes: usize,
    /// Webhooks of a pass; the first fifth is not measured.
    #[arg(long, default_value_t = 30_000)]
    webhooks: usize,
}

fn main() -> Outcome<()> {
    let options = Options::parse();
    let folder = program::scratch("tables")?;
    for buckets in &options.buckets {
        let mut costs = DESIGNS.map(|_| Vec::new());
        for _ in 0..options.passes {
            for (design, costs) in DESIGNS.iter().zip(&mut costs) {
                costs.push(pass::run(&folder, design, *buckets, options.webhooks)?);
            }
        }
        println!("| {buckets} buckets | CPU µs, least | median | written B |\n|---|---|---|---|");
        for (design, costs) in DESIGNS.iter().zip(costs) {
            print(design.name, costs);
        }
        println!();
    }
    Ok(())
}

fn print(name: &str, mut costs: Vec<Cost>) {
    costs.sort_by(|a, b| a.cpu_micros.total_cmp(&b.cpu_micros));
    if let (Some(least), Some(median)) = (costs.first(), costs.get(costs.len() / 2)) {
        let (least, median, bytes) = (least.cpu_micros, median.cpu_micros, median.written_bytes);
        println!("| {name} | {least:.1} | {median:.1} | {bytes:.0} |");
    }
}
