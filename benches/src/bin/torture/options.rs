//! The command line.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use benches::{Outcome, program};
use clap::Parser;

use crate::{
    faults::{Name, addresses},
    namespaces::Mounts,
    sender, sink,
};

/// Kills the server, cuts its power, fills its disk and more, and counts what
/// was lost.
#[derive(Debug, Parser)]
#[command(name = "torture", args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Rounds of each fault.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=9_000))]
    pub(crate) rounds: u32,
    /// What chance follows from; another each time when it is not said.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Which faults; all of them when it is not said.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<Name>,
    /// Rounds at once, each with a server of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) parallel: u32,
    /// Servers of a round; more than one share a PostgreSQL database (TEST_POSTGRES_URL).
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=9))]
    pub(crate) nodes: u32,
    /// No round begins after one that did not end well.
    #[arg(long)]
    pub(crate) until_bad: bool,
    /// After so many minutes no round begins any more.
    #[arg(long, default_value_t = 120)]
    pub(crate) minutes: u64,
    /// The server; without it, the one beside this program, built before.
    #[arg(long, value_name = "PATH", overrides_with = "server")]
    pub(crate) server: Option<PathBuf>,
    /// A variable of the server, over what a fault sets.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) set: Vec<(String, String)>,
    /// How many seconds anything may take before it counts as lost: far more than
    /// it needs, because a machine may have other work.
    #[arg(long, default_value_t = 60)]
    pub(crate) patience: u64,
    /// Whose mounts these are; the program says it to itself.
    #[arg(long, hide = true)]
    pub(crate) mounts: Option<Mounts>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is not NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Started by the program itself, not by people.
#[derive(Clone, Debug, clap::Subcommand)]
#[command(hide = true)]
pub(crate) enum Part {
    /// Sends webhooks and writes down what was acknowledged.
    #[command(hide = true)]
    Send,
    /// Receives webhooks.
    #[command(hide = true)]
    Sink { public: Option<IpAddr> },
    /// Rounds with private addresses, in a network of its own.
    #[command(hide = true)]
    Addresses { server: PathBuf },
}

impl Part {
    pub(crate) fn run(self) -> Outcome<()> {
        match self {
            Self::Send => sender::run(),
            Self::Sink { public } => sink::run(public),
            Self::Addresses { server } => addresses::obey(server),
        }
    }
}

/// What every round needs to know.
#[derive(Debug)]
pub(crate) struct Context {
    /// The program itself, whose parts are processes of their own.
    pub(crate) exe: PathBuf,
    pub(crate) server: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) seed: u64,
    pub(crate) mounts: Mounts,
    pub(crate) set: Vec<(String, String)>,
    /// How long anything may take before it counts as lost.
    pub(crate) patience: Duration,
    /// Servers of a round.
    pub(crate) nodes: u32,
    /// Whether no round begins any more.
    pub(crate) is_over: AtomicBool,
}

impl Context {
    pub(crate) fn new(
        server: PathBuf,
        seed: u64,
        mounts: Mounts,
        set: Vec<(String, String)>,
        patience: Duration,
    ) -> Outcome<Self> {
        let (exe, folder) = (std::env::current_exe()?, program::scratch("torture")?);
        for left in std::fs::read_dir(&folder)?.filter_map(Result::ok) {
            // Of a run that was killed itself.
            if left.file_name().to_str().is_some_and(is_nobodys) {
                std::fs::remove_dir_all(left.path())?;
            }
        }
        let (nodes, is_over) = (1, AtomicBool::new(false));
        Ok(Self { exe, server, folder, seed, mounts, set, patience, nodes, is_over })
    }

    /// A folder that is removed with what is in it.
    pub(crate) fn scratch(&self) -> Outcome<tempfile::TempDir> {
        let prefix = format!("rounds-{}-", std::process::id());
        Ok(tempfile::Builder::new().prefix(&prefix).tempdir_in(&self.folder)?)
    }

    /// Chance, for this round of this fault.
    pub(crate) fn random(&self, fault: Name, number: u32) -> fastrand::Rng {
        let of_round = (u64::from(number) << 8) | fault as u64;
        fastrand::Rng::with_seed(self.seed ^ of_round.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Whether a folder is of a process that is no more.
fn is_nobodys(name: &str) -> bool {
    let process = name.strip_prefix("rounds-").and_then(|rest| rest.split('-').next());
    process.is_some_and(|process| !Path::new("/proc").join(process).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_running_processes_are_left_alone() {
        let mine = format!("rounds-{}-a1B2", std::process::id());
        assert!(!is_nobodys(&mine) && !is_nobodys("disk"));
        assert!(is_nobodys("rounds-4194999-a1B2"));
    }
}
