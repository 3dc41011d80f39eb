//! The sink's process.

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use crate::{
    Outcome,
    api::Api,
    ledger::Ledger,
    options::Context,
    part::sink::{Arrived, HANGING_PATH, Order},
    process::Peer,
};

/// How often it is asked whether everything has arrived.
const POLL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Sink {
    pub(crate) peer: Peer,
    pub(crate) address: SocketAddr,
}

impl Sink {
    /// One whose answers take so long.
    pub(crate) fn start(context: &Context, delay: Duration) -> Outcome<Self> {
        let mut peer = Peer::start(&context.exe, &["sink", &delay.as_millis().to_string()])?;
        let address = peer.hear()?;
        Ok(Self { peer, address })
    }

    /// The destination of an output.
    pub(crate) fn url(&self, output: usize) -> String {
        format!("http://{}/{output}", self.address)
    }

    /// A destination that takes requests and never answers.
    pub(crate) fn hanging_url(&self) -> String {
        format!("http://{}{HANGING_PATH}", self.address)
    }

    pub(crate) fn arrived(&mut self) -> Outcome<Arrived> {
        self.peer.ask(&Order::Count)
    }

    pub(crate) fn reset(&mut self) -> Outcome<()> {
        self.peer.ask::<Arrived>(&Order::Reset).map(drop)
    }

    /// Looks out for the next arrival; what has arrived before.
    pub(crate) fn watch(&mut self) -> Outcome<Arrived> {
        self.peer.ask(&Order::Watch)
    }

    /// The ledger of each output.
    pub(crate) fn ledgers(&mut self, folder: &Path, outputs: usize) -> Outcome<Vec<Ledger>> {
        let arrived: Arrived = self.peer.ask(&Order::Save(folder.to_owned()))?;
        let load = |output: usize| match output < arrived.distinct.len() {
            true => Ledger::load(&folder.join(output.to_string())),
            false => Ok(Ledger::default()),
        };
        (0..outputs).map(load).collect()
    }

    /// Waits until so many events have arrived at each output and, when asked,
    /// nothing is pending: then every outcome is stored. Whether it came to
    /// that in time.
    pub(crate) fn drained(
        &mut self,
        outputs: usize,
        events: u64,
        api: Option<Api>,
        patience: Duration,
    ) -> Outcome<bool> {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            let arrived = self.arrived()?;
            let all = (0..outputs).all(|output| arrived.of(output) >= events);
            if all && api.map(|api| api.pending()).transpose()?.is_none_or(|pending| pending == 0) {
                return Ok(true);
            }
            std::thread::sleep(POLL);
        }
        Ok(false)
    }
}
