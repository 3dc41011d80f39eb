//! The agent: forwards a bucket's webhooks to a service on this machine.
//!
//! [`api`] makes the bucket and the output if they are missing, and [`connection`] is the socket.
//! [`target`] says where a webhook goes, [`delivery`] sends it to the local service and reports
//! what came of it, [`leases`] keeps what is in hand from other agents, and [`ledger`] remembers
//! what has been delivered already. [`mod@explain`] and [`mod@tail`] show logs, [`mod@replay`]
//! sends many again, and [`mod@erase`] erases many. [`watch`] follows those, [`progress`] shows how
//! far something has come, and [`catch_up`] so what waited for
//! the agent.

mod access;
mod api;
mod catch_up;
mod connection;
mod delivery;
mod erase;
mod explain;
mod filter;
mod leases;
mod ledger;
mod progress;
mod replay;
mod tail;
mod target;
mod watch;

use std::{io::Write, path::PathBuf, sync::Arc, time::Duration};

use http::Uri;
use serde_json::Value;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{Semaphore, mpsc},
    time::{Instant, sleep, timeout},
};
use webhook_core::{Timestamp, admin::DrainQuery, model::Secret};

use crate::{api::rfc3339, config::duration, failure::Failure};
pub(crate) use access::Access;
use api::Place;
pub(crate) use api::{Api, escaped};
use catch_up::CatchUp;
use connection::{Connection, Event};
use delivery::{Deliverer, Local};
pub(crate) use erase::{Erase, erase};
pub(crate) use explain::{Explain, change_line, explain};
use leases::Leases;
pub(crate) use replay::{Replay, replay};
pub(crate) use tail::{Tail, tail};

/// The first pause before connecting again.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long Ctrl-C waits for deliveries and their reports.
const FAREWELL: Duration = Duration::from_secs(10);
/// A connection that lasted this long was a good one.
const GOOD_CONNECTION: Duration = Duration::from_secs(10);
/// How often an agent that is too busy to read says that it is there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);
/// When nothing has come for so long and nothing is in hand, nothing waited any more.
const CAUGHT_UP: Duration = Duration::from_secs(3);

/// Forwards a bucket's webhooks to a service on this machine.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Forward {
    /// The local service, such as http://localhost:3000/hook; what follows the
    /// input's address in a webhook's path is appended.
    #[arg(value_name = "URL")]
    target: Uri,
    /// The bucket's name or ID; one with this name is made when it is missing.
    #[arg(long, value_name = "NAME")]
    bucket: String,
    /// The internal output that stands for this agent; made when it is
    /// missing. Agents of one output share its webhooks: each goes to one.
    #[arg(long, value_name = "NAME", default_value = "agent")]
    output: String,
    /// The name or ID of a function that each webhook goes through first.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Takes any certificate of the local service. The server cannot ask for that.
    #[arg(long)]
    insecure: bool,
    /// A PEM file of certificates that the local service may show, or that its certificate may be
    /// issued by, besides those that this machine trusts.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca_file: Option<PathBuf>,
    #[command(flatten)]
    access: Access,
    /// Webhooks that are being delivered to the local service at once.
    #[arg(long, default_value_t = 16, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    /// How long a webhook stays this agent's alone after it was last heard of: when the agent
    /// is killed, others get what it had in hand so much later.
    #[arg(long, default_value = "60s", value_name = "DURATION", value_parser = lease)]
    lease: Duration,
}

fn lease(text: &str) -> Result<Duration, String> {
    let lease = duration(text)?;
    match (DrainQuery::MIN_LEASE..=DrainQuery::MAX_LEASE).contains(&lease) {
        true => Ok(lease),
        false => Err("must be 1s to 12h".to_owned()),
    }
}

/// Runs the agent until SIGINT or SIGTERM.
pub(crate) async fn run(options: Forward, key: Option<Secret>) -> Result<(), Failure> {
    let fail = |error| Failure::io("cannot listen for signals", error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(fail)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(fail)?;
    check_url("the target", &options.target)?;
    let api = Arc::new(options.access.api(key)?);
    let slots = Arc::new(Semaphore::new(options.concurrency.into()));
    let (leases, catch_up) = (Leases::new(options.lease), Arc::<CatchUp>::default());
    let local = Local::new(&options.target, options.insecure, options.ca_file.as_deref())?;
    let deliverer =
        Deliverer::new(Arc::clone(&api), local, Arc::clone(&leases), Arc::clone(&catch_up));
    let (freed, free) = mpsc::unbounded_channel();

    let mut agent = Agent {
        options,
        api: Arc::clone(&api),
        slots: Arc::clone(&slots),
        deliverer,
        leases: Arc::clone(&leases),
        catch_up,
        freed,
        free,
        shown: None,
    };
    let concurrency = agent.options.concurrency;
    tokio::select! {
        ended = agent.forever() => {
            agent.catch_up.end();
            return ended;
        }
        () = leases.keep(&api) => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    agent.catch_up.end();
    // Deliveries that have begun are finished and reported, so that they do not come again.
    let finished = timeout(FAREWELL, slots.acquire_many(concurrency.into()));
    tokio::select! {
        finished = finished => if finished.is_err() {
            eprintln!("some deliveries did not end in time; they come again");
        },
        () = leases.keep(&api) => {}
        _ = interrupt.recv() => {}
    }
    tokio::select! {
        _ = timeout(FAREWELL, leases.give_back(&api)) => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

struct Agent {
    options: Forward,
    api: Arc<Api>,
    slots: Arc<Semaphore>,
    deliverer: Arc<Deliverer>,
    leases: Arc<Leases>,
    catch_up: Arc<CatchUp>,
    /// Told of each slot that a leased webhook has left.
    freed: mpsc::UnboundedSender<()>,
    free: mpsc::UnboundedReceiver<()>,
    /// The public address that was shown last.
    shown: Option<String>,
}

/// Why a connection ended.
///
/// Some of its text is the server's, which may not move the cursor of a terminal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// Trying again may help.
    #[error("{}", lines(.0))]
    Passing(String),
    /// It will not help, unless somebody does something about it.
    #[error("{}", lines(.0))]
    Refused(String),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        Self::new(broken.to_string())
    }
}

impl Agent {
    /// Connects again and again. It ends only when the first attempt is refused.
    async fn forever(&mut self) -> Result<(), Failure> {
        let mut pause = FIRST_PAUSE;
        loop {
            let started = Instant::now();
            let broken = match self.connected().await {
                broken @ Broken::Refused(_) if self.shown.is_none() => return Err(broken.into()),
                broken => broken,
            };
            if started.elapsed() >= GOOD_CONNECTION {
                pause = FIRST_PAUSE;
            }
            // Random, because agents that lost the same server would come back all at once.
            let wait = pause.mul_f64(0.5 + fastrand::f64() / 2.0);
            let seconds = wait.as_secs_f64();
            self.catch_up.note(&format!("{broken}; connecting again in {seconds:.1} s"));
            sleep(wait).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One connection, until it breaks.
    async fn connected(&mut self) -> Broken {
        match self.forward().await {
            Ok(never) => match never {},
            Err(broken) => broken,
        }
    }

    async fn forward(&mut self) -> Result<std::convert::Infallible, Broken> {
        let Forward { bucket, output, function, target, .. } = &self.options;
        let place = self.api.ensure(bucket, output, function.as_deref(), target).await?;
        let mut connection = Connection::open(&self.api).await?;
        connection.authenticate(self.api.credential(), &target.to_string()).await?;
        // What is left to come is counted before it comes.
        self.catch_up.begin(&self.api, &place).await?;
        // The server gives no more than there are slots: what it hands out is begun at once,
        // and none waits in a buffer while its lease ends.
        while self.free.try_recv().is_ok() {}
        let room = self.slots.available_permits();
        let Place { bucket_id, output_name, public_url, .. } = place;
        connection.subscribe(&bucket_id, &output_name, self.leases.lease(), room).await?;
        if self.shown.as_deref() != Some(&public_url) {
            self.catch_up.say(&format!("{} -> {target}", one_line(&public_url)));
        } else {
            self.catch_up.note("connected again");
        }
        self.shown = Some(public_url);
        loop {
            let event = tokio::select! {
                event = connection.next() => event?,
                Some(()) = self.free.recv() => {
                    let mut count = 1;
                    while self.free.try_recv().is_ok() {
                        count += 1;
                    }
                    connection.more(count).await?;
                    continue;
                }
                () = sleep(CAUGHT_UP), if self.catch_up.is_shown() => {
                    if self.slots.available_permits() == usize::from(self.options.concurrency) {
                        self.catch_up.end();
                    }
                    continue;
                }
            };
            match event {
                Event::Said(message) => {
                    self.catch_up.note(&format!("server: {}", one_line(&message)));
                }
                Event::Webhook(webhook) => {
                    // A server that leases nothing sends what there is: while all slots are
                    // busy nothing is read, and the server keeps what follows.
                    let slot = loop {
                        let free = Arc::clone(&self.slots).acquire_owned();
                        match timeout(SIGN_OF_LIFE, free).await {
                            Ok(Ok(slot)) => break slot,
                            Ok(Err(_)) => return Err(Broken::Passing("stopped".to_owned())),
                            Err(_) => connection.pong().await?,
                        }
                    };
                    let deliverer = Arc::clone(&self.deliverer);
                    let freed = webhook.meta.leased_until.map(|_| self.freed.clone());
                    tokio::spawn(async move {
                        deliverer.deliver(*webhook).await;
                        drop(slot);
                        if let Some(freed) = freed {
                            let _ = freed.send(());
                        }
                    });
                }
            }
        }
    }
}

/// Unix seconds as a date and a time in UTC.
fn moment(seconds: &Value) -> String {
    let millis = seconds.as_f64().unwrap_or_default() * 1e3;
    rfc3339(Timestamp::from_millis(millis.round() as i64))
}

/// Text of senders, destinations and servers, which may not move the cursor of a terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(4_096).collect()
}

/// The same of a text that may have several lines.
pub(crate) fn lines(text: &str) -> String {
    text.lines().map(one_line).collect::<Vec<_>>().join("\n")
}

/// Prints a line. A closed standard output does not stop the deliveries.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn check_url(what: &str, url: &Uri) -> Result<(), Failure> {
    match (url.scheme_str(), url.authority()) {
        (Some("http" | "https"), Some(_)) => Ok(()),
        _ => Err(Failure::new(format!("{what}: {url} is not a URL such as http://localhost:3000"))),
    }
}
