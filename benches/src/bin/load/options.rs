//! The command line.

use std::{path::PathBuf, time::Duration};

use benches::program;
use clap::Parser;

use crate::{Outcome, ablation::Piece, part::Part};

/// Measures the server beside its comparators.
#[derive(Debug, Parser)]
#[command(name = "load", args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Which scenarios; all of them when it is not said.
    #[arg(long = "scenario", value_name = "NAME", num_args = 1..)]
    pub(crate) scenarios: Vec<String>,
    /// Pieces that are there for speed: measures the same without each of them.
    #[arg(long, value_name = "PIECE", num_args = 1..)]
    pub(crate) without: Vec<String>,
    /// Passes of each subject, which alternate.
    #[arg(long, default_value_t = 5)]
    pub(crate) passes: usize,
    /// How long the load of one pass lasts.
    #[arg(long, default_value_t = 10.0)]
    pub(crate) seconds: f64,
    /// Writes everything that was measured.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Draws the latencies.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Names the scenarios and ends.
    #[arg(long)]
    pub(crate) list: bool,
    /// One short pass with small states: shows that the harness works and
    /// measures nothing.
    #[arg(long)]
    pub(crate) quick: bool,
    /// A PostgreSQL server, as postgres://user@host:port/database, for what is measured on one.
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
    /// The server; without it, the one beside this program, built before.
    #[arg(long, value_name = "PATH")]
    pub(crate) server: Option<PathBuf>,
}

/// How large things are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The load of one pass.
    pub(crate) load: Duration,
    /// Before each pass, not counted.
    pub(crate) warm_up: Duration,
    /// How long deliveries may take to arrive after the last was accepted.
    pub(crate) drain: Duration,
    /// Doing nothing.
    pub(crate) idle: Duration,
    /// Logs of a bucket, and deliveries of a backlog.
    pub(crate) rows: usize,
    /// Logs of each account of those that search beside a load.
    pub(crate) archived: usize,
    /// Logs that are replayed.
    pub(crate) replayed: usize,
    /// Inputs of `inputs-100k`, and buckets of `buckets-100k`.
    pub(crate) inputs: usize,
    /// Idle clients of the socket.
    pub(crate) idle_clients: usize,
    /// Deliveries that may wait for one output.
    pub(crate) output_backlog: usize,
}

impl Scale {
    const QUICK: Self = Self {
        load: Duration::from_millis(500),
        warm_up: Duration::from_millis(100),
        drain: Duration::from_secs(60),
        idle: Duration::from_secs(1),
        rows: 1_000,
        archived: 200,
        replayed: 200,
        inputs: 200,
        idle_clients: 20,
        output_backlog: 500,
    };

    fn full(load: Duration) -> Self {
        Self {
            load,
            warm_up: Duration::from_secs(1),
            drain: Duration::from_secs(60),
            idle: Duration::from_secs(30),
            rows: 1_000_000,
            archived: 100_000,
            replayed: 100_000,
            inputs: 100_000,
            idle_clients: 1_000,
            output_backlog: 1_000_000,
        }
    }
}

/// What every pass needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) scale: Scale,
    pub(crate) passes: usize,
    /// The program itself, whose parts are processes of their own.
    pub(crate) exe: PathBuf,
    pub(crate) server: PathBuf,
    pub(crate) postgres: Option<String>,
    /// For what is measured, beyond what every pass sets.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Databases are here: on a disk, where temporary folders often are not.
    pub(crate) folder: PathBuf,
}

impl Context {
    pub(crate) fn new(options: &Options) -> Outcome<Self> {
        let exe = std::env::current_exe()?;
        let server = program::server(options.server.as_deref())?;
        let (scale, passes) = match options.quick {
            true => (Scale::QUICK, 1),
            false => {
                (Scale::full(Duration::try_from_secs_f64(options.seconds)?), options.passes.max(1))
            }
        };
        let folder = program::scratch("load")?;
        let postgres = options.postgres.clone();
        Ok(Self { scale, passes, exe, server, postgres, variables: &[], folder })
    }

    /// The same for subjects without a piece.
    pub(crate) fn without(&self, piece: &Piece) -> Self {
        Self { variables: piece.variables, ..self.clone() }
    }

    /// A folder that is removed with what is in it.
    pub(crate) fn scratch(&self) -> Outcome<tempfile::TempDir> {
        Ok(tempfile::Builder::new().prefix("pass-").tempdir_in(&self.folder)?)
    }
}
