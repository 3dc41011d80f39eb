//! The agent: forwards a bucket's webhooks to a service on this machine.
//!
//! [`api`] makes sure that bucket and output are there, [`connection`] is the
//! socket, [`delivery`] sends a webhook to the local service and reports what
//! came of it, [`ledger`] remembers what has been delivered already. [`mod@explain`] and
//! [`mod@tail`] show logs.

mod access;
mod api;
mod connection;
mod delivery;
mod explain;
mod ledger;
mod tail;

use std::{io::Write, sync::Arc, time::Duration};

use http::Uri;
use serde_json::Value;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::Semaphore,
    time::{Instant, sleep, timeout},
};
use webhook_core::{Timestamp, model::Secret};

use crate::{api::rfc3339, failure::Failure};
pub(crate) use access::Access;
pub(crate) use api::Api;
use connection::{Connection, Event};
use delivery::Deliverer;
pub(crate) use explain::{Explain, explain};
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
    /// missing. Agents of one output each get every webhook.
    #[arg(long, value_name = "NAME", default_value = "agent")]
    output: String,
    /// The name or ID of a function that each webhook goes through first.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    #[command(flatten)]
    access: Access,
    /// Webhooks that are being delivered to the local service at once.
    #[arg(long, default_value_t = 16, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,
}

/// Runs the agent until SIGINT or SIGTERM.
pub(crate) async fn run(options: Forward, key: Option<Secret>) -> Result<(), Failure> {
    let fail = |error| Failure::io("cannot listen for signals", error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(fail)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(fail)?;
    check_url("the target", &options.target)?;
    let api = Arc::new(options.access.api(key)?);
    let slots = Arc::new(Semaphore::new(options.concurrency.into()));
    let deliverer = Deliverer::new(Arc::clone(&api));

    let mut agent = Agent { options, api, slots, deliverer, shown: None };
    let slots = Arc::clone(&agent.slots);
    let concurrency = agent.options.concurrency;
    tokio::select! {
        ended = agent.forever() => return ended,
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    // Deliveries that have begun are finished and reported, so that they do not come again.
    let finished = timeout(FAREWELL, slots.acquire_many(concurrency.into()));
    tokio::select! {
        finished = finished => if finished.is_err() {
            eprintln!("some deliveries did not end in time; they come again");
        },
        _ = interrupt.recv() => {}
    }
    Ok(())
}

struct Agent {
    options: Forward,
    api: Arc<Api>,
    slots: Arc<Semaphore>,
    deliverer: Arc<Deliverer>,
    /// The public address that was shown last.
    shown: Option<String>,
}

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// Trying again may help.
    #[error("{0}")]
    Passing(String),
    /// It will not help, unless somebody does something about it.
    #[error("{0}")]
    Refused(String),
}

impl Agent {
    /// Connects again and again. It ends only when the first attempt is refused.
    async fn forever(&mut self) -> Result<(), Failure> {
        let mut pause = FIRST_PAUSE;
        loop {
            let started = Instant::now();
            let broken = match self.connected().await {
                Broken::Refused(reason) if self.shown.is_none() => {
                    return Err(Failure::new(reason));
                }
                broken => broken,
            };
            if started.elapsed() >= GOOD_CONNECTION {
                pause = FIRST_PAUSE;
            }
            // Random, because agents that lost the same server would come back all at once.
            let wait = pause.mul_f64(0.5 + fastrand::f64() / 2.0);
            eprintln!("{broken}; connecting again in {:.1} s", wait.as_secs_f64());
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
        connection.subscribe(&place.bucket_id, &place.output_name).await?;
        if self.shown.as_deref() != Some(&place.public_url) {
            say(&format!("{} -> {target}", place.public_url));
        } else {
            eprintln!("connected again");
        }
        self.shown = Some(place.public_url);
        loop {
            match connection.next().await? {
                Event::Said(message) => eprintln!("server: {message}"),
                Event::Webhook(webhook) => {
                    // While all slots are busy nothing is read, and the server keeps what
                    // follows.
                    let slot = loop {
                        let free = Arc::clone(&self.slots).acquire_owned();
                        match timeout(SIGN_OF_LIFE, free).await {
                            Ok(Ok(slot)) => break slot,
                            Ok(Err(_)) => return Err(Broken::Passing("stopped".to_owned())),
                            Err(_) => connection.pong().await?,
                        }
                    };
                    let deliverer = Arc::clone(&self.deliverer);
                    tokio::spawn(async move {
                        deliverer.deliver(*webhook).await;
                        drop(slot);
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

/// Text of senders and destinations, which may not move the cursor of a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(4_096).collect()
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
