//! What a round works with: one server or several on a database, processes that send,
//! one that receives.

use std::{
    collections::HashSet,
    net::SocketAddr,
    ops::RangeInclusive,
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
    arrivals::Arrived,
    ledger::{Entry, Ledger},
    options::Context,
    sender::{Answered, Plan},
    server::Server,
    sink::{self, Mode, Order},
    webhook::Sizes,
};

/// Processes that send.
const SENDERS: usize = 2;
/// Between the numbers of their first events.
const APART: u64 = 100_000;
/// What several servers encrypt with, and how long one that is gone holds deliveries: less
/// than by default, so that a round takes less time.
const SEVERAL: [(&str, &str); 2] = [
    ("WEBHOOK_SECRET_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
    ("WEBHOOK_SERVER_LEASE", "2s"),
];

/// How the senders send in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Of each process.
    pub(crate) connections: usize,
    /// Events of each process.
    pub(crate) most: u64,
    pub(crate) pause: Duration,
    /// Bytes of most bodies.
    pub(crate) usual: usize,
    /// Whether some bodies are larger than the memory that the server may use.
    pub(crate) has_large: bool,
    pub(crate) lasts: Duration,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            connections: 8,
            most: 1_000,
            pause: Duration::from_millis(8),
            usual: 200,
            has_large: false,
            lasts: Duration::from_secs(10),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Rig<'a> {
    pub(crate) context: &'a Context,
    // Before the folders, so that nobody uses them any more.
    /// The servers, with a gap for each that does not run.
    servers: Vec<Option<Server>>,
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
    /// When the fault of this round began, in microseconds of the wall clock.
    pub(crate) struck: Option<u64>,
    /// Since when a fault keeps servers from storing what they do, if one does.
    outage: Option<u64>,
    /// When faults of this round did so, in microseconds of the wall clock.
    pub(crate) outages: Vec<RangeInclusive<u64>>,
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
            servers: (0..context.nodes).map(|_| None).collect(),
            senders: senders.collect::<Outcome<_>>()?,
            sink,
            sink_address,
            notes: notes.to_owned(),
            folder: folder.to_owned(),
            variables: named(variables, context.nodes),
            random: fastrand::Rng::with_seed(context.seed),
            recovering: 0,
            struck: None,
            outage: None,
            outages: Vec::new(),
        };
        rig.start()?;
        Ok(rig)
    }

    /// A server that runs.
    pub(crate) fn server(&mut self) -> Outcome<&mut Server> {
        self.running().next().ok_or_else(|| "no server is running".into())
    }

    /// The servers that run.
    fn running(&mut self) -> impl Iterator<Item = &mut Server> {
        self.servers.iter_mut().flatten()
    }

    pub(crate) fn sink_port(&self) -> u16 {
        self.sink_address.port()
    }

    /// Starts the servers that do not run. Their recovery begins, and ends the outage.
    pub(crate) fn start(&mut self) -> Outcome<()> {
        self.watch()?;
        for number in 0..self.servers.len() {
            if self.servers[number].is_none() {
                let Self { context, variables, .. } = &*self;
                let folder = match number {
                    0 => self.folder.clone(),
                    _ => self.folder.with_extension(number.to_string()),
                };
                let server = Server::start(context, &folder, &self.log(), variables);
                let server = server.map_err(|error| format!("{error}\n{}", self.complaints()))?;
                self.servers[number] = Some(server);
            }
        }
        self.end_outage();
        Ok(())
    }

    /// Ends the outage of servers that kept running. Their recovery begins.
    pub(crate) fn recover(&mut self) -> Outcome<()> {
        self.end_outage();
        self.watch()
    }

    /// The moment from which recovery counts: now.
    fn watch(&mut self) -> Outcome<()> {
        self.order(&Order::Watch)?;
        self.recovering = sink::now_micros();
        Ok(())
    }

    /// The load before the fault ends now.
    pub(crate) fn begin_fault(&mut self) {
        self.struck.get_or_insert_with(sink::now_micros);
    }

    /// From now on a server may be unable to store what it does.
    pub(crate) fn begin_outage(&mut self) {
        self.begin_fault();
        self.outage.get_or_insert_with(sink::now_micros);
    }

    fn end_outage(&mut self) {
        let began = self.outage.take();
        self.outages.extend(began.map(|began| began..=sink::now_micros()));
    }

    /// Lets the servers do nothing any more; what they have answered arrives.
    pub(crate) fn freeze(&mut self) -> Outcome<()> {
        self.begin_outage();
        self.running().try_for_each(|server| server.process.freeze())?;
        std::thread::sleep(Duration::from_millis(20));
        Ok(())
    }

    /// `kill -9`; of several servers for all of them or for one that chance chooses.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        self.begin_outage();
        let count = self.servers.len();
        let only = (count > 1 && self.random.bool()).then(|| self.random.usize(..count));
        for (number, server) in self.servers.iter_mut().enumerate() {
            if only.is_none_or(|only| only == number)
                && let Some(mut server) = server.take()
            {
                server.process.kill()?;
            }
        }
        Ok(())
    }

    /// Starts the servers again that have ended by themselves; how many there were.
    pub(crate) fn restart_ended(&mut self) -> Outcome<usize> {
        let mut ended = 0;
        for server in &mut self.servers {
            if server.as_mut().is_some_and(|server| server.process.has_ended()) {
                *server = None;
                ended += 1;
            }
        }
        if ended > 0 {
            self.start()?;
        }
        Ok(ended)
    }

    /// How many deliveries wait, as each server says.
    pub(crate) fn pending(&mut self) -> Outcome<Vec<u64>> {
        self.running().map(|server| server.api.pending()).collect()
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
            let mut spec = output(name, &destination, seconds);
            if *mode == Mode::Ordered {
                spec["throttle"] = json!({
                    "enabled": true, "mode": "concurrency", "max_concurrent": 1,
                    "deadline": spec["durability"]["deadline"],
                });
            }
            api.output(&bucket, &spec)?;
        }
        Ok((text(&bucket["id"])?.to_owned(), input_path(&input)))
    }

    /// Lets all senders begin, the first with the event of this number.
    pub(crate) fn send(&mut self, path: &str, first: u64, load: Load) -> Outcome<()> {
        let addresses: Vec<_> = self.running().map(|server| server.address).collect();
        for (number, ledger) in self.ledgers().into_iter().enumerate() {
            self.senders[number].tell(&Plan {
                addresses: addresses.clone(),
                path: path.to_owned(),
                connections: load.connections,
                first: first + number as u64 * APART,
                most: load.most,
                pause: load.pause,
                sizes: Sizes { usual: load.usual, has_large: load.has_large },
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
            let entries = Ledger::read(&ledger, 0)?.into_iter();
            acknowledged.extend(entries.filter_map(|entry| match entry {
                Entry::Acknowledged(id) => Some(id),
                Entry::Sent(..) => None,
            }));
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

/// These variables, with those of several servers where there are several.
fn named(mut variables: Vec<(String, String)>, nodes: u32) -> Vec<(String, String)> {
    if nodes > 1 {
        let several = SEVERAL.map(|(name, value)| (name.to_owned(), value.to_owned()));
        variables.extend(several);
    }
    variables
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
