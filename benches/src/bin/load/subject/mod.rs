//! The programs that are measured.

mod embedded;
mod nginx;
pub(crate) mod postgres;
mod proxy;
mod qhook;
pub(crate) mod server;

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    Outcome,
    api::Api,
    options::Context,
    process::{Peer, Process},
    work::{load::Load, search::Searchers, sink::Sink},
};

/// How long a program may take until it listens.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The server.
    Server,
    /// The server, whose inputs verify nothing.
    Trusting,
    /// The server, whose inputs and outputs have no function.
    Unscripted,
    /// The server, with ten live lists of its dashboard open.
    Watched,
    /// The server, in whose logs ten searches go on.
    Searched,
    /// The relay with everything in memory, in a program of the harness.
    Embedded,
    /// `proxy_pass` with connections that are kept on both sides.
    Nginx,
    /// A plain proxy on hyper.
    Proxy,
    /// The crate of this name, from the PATH.
    Qhook,
    /// The server on PostgreSQL.
    Postgres,
    /// The same, whose output has a throttle that holds nothing back.
    Throttled,
    /// The same, with tables for each day.
    ByDay,
    /// PostgreSQL with the same rows, written by hand.
    ByHand,
    /// The server's store without the server.
    Store,
    /// SQLite with shared commits and nothing else.
    Bare,
}

impl Subject {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Trusting => "no verifying",
            Self::Unscripted => "no function",
            Self::Watched => "watched",
            Self::Searched => "searched",
            Self::Embedded => "relay in memory",
            Self::Nginx => "nginx",
            Self::Proxy => "hyper proxy",
            Self::Qhook => "qhook",
            Self::Postgres => "server on PostgreSQL",
            Self::Throttled => "… with a throttle",
            Self::ByDay => "… by day",
            Self::ByHand => "pgbench",
            Self::Store => "store",
            Self::Bare => "bare SQLite",
        }
    }
}

/// A program that takes webhooks over HTTP and forwards them to the sink.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) running: Running,
    pub(crate) address: SocketAddr,
    /// Where webhooks go, in turn.
    pub(crate) paths: Vec<String>,
    /// Of the server only.
    pub(crate) api: Option<Api>,
    /// Who searches meanwhile.
    pub(crate) searchers: Option<Searchers>,
    /// Where a server on PostgreSQL keeps what it has.
    pub(crate) schema: Option<postgres::Schema>,
    /// Removed after the process has ended.
    pub(crate) _folder: TempDir,
}

/// Its process.
#[derive(Debug)]
pub(crate) enum Running {
    Server(server::Server),
    Program(Process),
    Part(Peer),
}

impl Running {
    pub(crate) fn process(&self) -> &Process {
        match self {
            Self::Server(server) => &server.process,
            Self::Program(process) => process,
            Self::Part(peer) => &peer.process,
        }
    }
}

/// A program that is there, or why it is not.
pub(crate) enum Started {
    Target(Box<Target>),
    Skipped(String),
}

impl Subject {
    /// Starts it so that it does what `load` says.
    pub(crate) fn start(self, context: &Context, load: &Load, sink: &Sink) -> Outcome<Started> {
        match self {
            Self::Server => server::start(context, load, sink),
            Self::Trusting => server::start(context, &Load { secret: None, ..*load }, sink),
            Self::Unscripted => server::start(context, &Load { function: None, ..*load }, sink),
            Self::Watched => server::start(context, &Load { watchers: 10, ..*load }, sink),
            Self::Searched => server::start(context, &Load { searching: true, ..*load }, sink),
            Self::Embedded => embedded::start(context, sink),
            Self::Nginx => nginx::start(context, sink),
            Self::Proxy => proxy::start(context, sink),
            Self::Qhook => qhook::start(context, sink),
            Self::Postgres => server::start_on_postgres(context, load, sink),
            Self::Throttled => {
                server::start_on_postgres(context, &Load { throttled: true, ..*load }, sink)
            }
            Self::ByDay | Self::Store | Self::Bare | Self::ByHand => {
                Err(format!("{} takes no such load", self.name()).into())
            }
        }
    }
}

/// A port that is free now.
fn free_port() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Waits until somebody listens.
fn until_listening(address: SocketAddr, process: &mut Process) -> Outcome<()> {
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(address).is_err() {
        if process.has_ended() || Instant::now() > deadline {
            return Err(format!("nobody listens on {address}").into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Whether a program is on the PATH.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
