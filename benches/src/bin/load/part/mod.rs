//! The processes of the harness itself. Each reads orders from standard input,
//! one JSON line each, and answers on standard output.

pub(crate) mod commits;
pub(crate) mod embedded;
pub(crate) mod generator;
pub(crate) mod latency;
pub(crate) mod proxy;
pub(crate) mod sink;
pub(crate) mod sockets;

use std::net::SocketAddr;

use benches::{
    Outcome, connection, event,
    orders::{order, say},
};
use serde::Serialize;

/// Started by the harness, not by people.
#[derive(Clone, Debug, clap::Subcommand)]
#[command(hide = true)]
pub(crate) enum Part {
    /// Sends webhooks and keeps a ledger of those that were acknowledged.
    #[command(hide = true)]
    Generate,
    /// Receives webhooks and keeps a ledger of them.
    #[command(hide = true)]
    Sink {
        /// How long every answer takes.
        delay_ms: u64,
    },
    /// A plain proxy on hyper.
    #[command(hide = true)]
    Proxy { to: SocketAddr },
    /// The relay in memory, which answers as the sink does.
    #[command(hide = true)]
    Embedded { to: SocketAddr },
    /// Durable commits without HTTP.
    #[command(hide = true)]
    Commit { engine: commits::Engine, folder: std::path::PathBuf },
    /// Clients of the WebSocket.
    #[command(hide = true)]
    Subscribe,
}

impl Part {
    pub(crate) fn run(self) -> Outcome<()> {
        match self {
            Self::Generate => generator::run(),
            Self::Sink { delay_ms } => sink::run(delay_ms),
            Self::Proxy { to } => proxy::run(to),
            Self::Embedded { to } => embedded::run(to),
            Self::Commit { engine, folder } => commits::run(engine, &folder),
            Self::Subscribe => sockets::run(),
        }
    }
}

/// What a part that takes a while says.
#[derive(Debug, Serialize, serde::Deserialize)]
pub(crate) enum Said<T> {
    /// So much is done; about once a second.
    Progress(u64),
    Done(T),
}

fn single_threaded() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn multi_threaded() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}
