//! What a round works with: a server on a data folder, processes that send, one
//! that receives.

use std::{
    collections::HashSet,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use benches::{
    Outcome,
    api::{input_path, text},
    process::Peer,
};
use serde_json::{Value, json};

use crate::{
    ledger::Ledger,
    options::Context,
    sender::{Answered, Plan},
    server::Server,
    sink::{self, Arrived, Mode, Order},
};

/// Processes that send.
const SENDERS: usize = 2;
/// Between the numbers of their first events.
const APART: u64 = 100_000;

/// How the senders send in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Of each process.
    pub(crate) connections: usize,
    /// Events of each process.
    pub(crate) most: u64,
    pub(crate) pause: Duration,
    pub(crate) bytes: usize,
    pub(crate) lasts: Duration,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            connections: 8,
            most: 1_000,
            pause: Duration::from_millis(8),
            bytes: 200,
            lasts: Duration::from_secs(10),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Rig<'a> {
    pub(crate) context: &'a Context,
    // Before the folders, so that nobody uses them any more.
    server: Option<Server>,
    senders: Vec<Peer>,
    sink: Peer,
    sink_address: SocketAddr,
    /// Where what is not the server's own is.
    notes: PathBuf,
    /// The data folder.
    pub(crate) folder: PathBuf,
    variables: Vec<(String, String)>,
    pub(crate) random: fastrand::Rng,
    /// When the server began to recover, in microseconds of the wall clock.
    pub(crate) recovering: u64,
}

impl<'a> Rig<'a> {
    /// A running server, with nothing sent yet. A sink with a public address
    /// listens on all addresses and notes who uses another.
    pub(crate) fn new(
        context: &'a Context,
        notes: &Path,
        folder: &Path,
        variables: Vec<(String, String)>,
        public: Option<&str>,
    ) -> Outcome<Self> {
        let mut arguments = vec!["sink"];
        arguments.extend(public);
        let mut sink = Peer::start(&context.exe, &arguments)?;
        let sink_address = sink.hear()?;
        let senders = (0..SENDERS).map(|_| Peer::start(&context.exe, &["send"]));
        let mut rig = Self {
            context,
            server: None,
            senders: senders.collect::<Outcome<_>>()?,
            sink,
            sink_address,
            notes: notes.to_owned(),
            folder: folder.to_owned(),
            variables,
            random: fastrand::Rng::with_seed(context.seed),
            recovering: 0,
        };
        rig.start()?;
        Ok(rig)
    }

    pub(crate) fn server(&mut self) -> Outcome<&mut Server> {
        self.server.as_mut().ok_or_else(|| "the server is not running".into())
    }

    pub(crate) fn sink_port(&self) -> u16 {
        self.sink_address.port()
    }

    /// Starts the server, whose recovery begins.
    pub(crate) fn start(&mut self) -> Outcome<()> {
        self.recover()?;
        let Self { context, folder, variables, .. } = &*self;
        let server = Server::start(context, folder, &self.log(), variables);
        self.server = Some(server.map_err(|error| format!("{error}\n{}", self.complaints()))?);
        Ok(())
    }

    /// The moment from which recovery counts: now.
    pub(crate) fn recover(&mut self) -> Outcome<()> {
        self.order(&Order::Watch)?;
        self.recovering = sink::now_micros();
        Ok(())
    }

    /// Lets the server do nothing any more; what it has answered arrives.
    pub(crate) fn freeze(&mut self) -> Outcome<()> {
        self.server()?.process.freeze()?;
        std::thread::sleep(Duration::from_millis(20));
        Ok(())
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        self.server.take().map_or(Ok(()), |mut server| server.process.kill())
    }

    /// Waits for a moment that chance chooses.
    pub(crate) fn wait(&mut self, least: u64, most: u64) {
        std::thread::sleep(Duration::from_millis(self.random.u64(least..=most)));
    }

    pub(crate) fn order(&mut self, order: &Order) -> Outcome<Arrived> {
        self.sink.ask(order)
    }

    /// A bucket with these outputs: its ID, and where its webhooks go.
    pub(crate) fn bucket(&mut self, name: &str, outputs: &[Mode]) -> Outcome<(String, String)> {
        let sink = self.sink_address;
        let api = self.server()?.api;
        let (bucket, input) = api.bucket(name)?;
        for mode in outputs {
            let destination = format!("http://{sink}{}", mode.path());
            let name = mode.path().trim_start_matches('/');
            let seconds = if matches!(mode, Mode::Hanging | Mode::Hostile) { 1 } else { 20 };
            api.output(&bucket, &output(name, &destination, seconds))?;
        }
        Ok((text(&bucket["id"])?.to_owned(), input_path(&input)))
    }

    /// Lets all senders begin, the first with the event of this number.
    pub(crate) fn send(&mut self, path: &str, first: u64, load: Load) -> Outcome<()> {
        let address = self.server()?.address;
        for (number, ledger) in self.ledgers().into_iter().enumerate() {
            self.senders[number].tell(&Plan {
                address,
                path: path.to_owned(),
                connections: load.connections,
                first: first + number as u64 * APART,
                most: load.most,
                pause: load.pause,
                bytes: load.bytes,
                lasts: load.lasts,
                seed: self.random.u64(..),
                ledger,
            })?;
        }
        Ok(())
    }

    /// What came back to the senders, when they are done.
    pub(crate) fn answered(&mut self) -> Outcome<Vec<Answered>> {
        self.senders.iter_mut().map(Peer::hear).collect()
    }

    /// One ledger for each sender.
    pub(crate) fn ledgers(&self) -> Vec<PathBuf> {
        (0..SENDERS).map(|number| self.notes.join(format!("ledger-{number}"))).collect()
    }

    /// All that was acknowledged so far.
    pub(crate) fn acknowledged(&self) -> Outcome<HashSet<u64>> {
        let mut acknowledged = HashSet::new();
        for ledger in self.ledgers() {
            acknowledged.extend(Ledger::read(&ledger)?);
        }
        Ok(acknowledged)
    }

    fn log(&self) -> PathBuf {
        self.notes.join("server.log")
    }

    /// Leaves the server's log where the next run does not remove it.
    pub(crate) fn keep_log(&self, name: &str) -> Outcome<()> {
        let kept = self.context.folder.join(name);
        std::fs::copy(self.log(), &kept)?;
        println!("torture: the server's log is {}", kept.display());
        Ok(())
    }

    /// The last warnings of the server.
    pub(crate) fn complaints(&self) -> String {
        let log = std::fs::read(self.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let bad = log.lines().filter(|line| !line.contains(" INFO "));
        let mut last: Vec<_> = bad.rev().take(20).collect();
        last.reverse();
        last.join("\n")
    }
}

/// An output that tries again every second, for longer than any round.
fn output(name: &str, destination: &str, timeout_seconds: u64) -> Value {
    let second = 1_000_000_000_i64;
    json!({
        "name": name,
        "destination": destination,
        "timeout": timeout_seconds,
        "durability": {
            "enabled": true, "schedule": "custom",
            "custom_delays": [second], "deadline": 20 * 24 * 3600 * second,
        },
    })
}
