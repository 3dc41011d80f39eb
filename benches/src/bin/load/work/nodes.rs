//! Several servers on one PostgreSQL database: what a webhook costs them, and the database.

use std::{
    fs,
    net::SocketAddr,
    time::{Duration, Instant},
};

use benches::process::cpu_of;
use serde_json::json;

use super::{Pass, Progress, generator::Generator, micros_each, sink::Sink};
use crate::{
    Outcome,
    api::input_path,
    measured::Measured,
    options::Context,
    seed,
    subject::{
        postgres::{SKIPPED, Schema},
        server::Server,
    },
};

/// Connections of all senders together.
const CONNECTIONS: usize = 63;
/// Events of one sender in one run: no two send the same, and ledgers have a place for each.
const NUMBERS: u64 = 2_000_000;
/// What all servers of a pass seal with.
pub(super) const SECRET: (&str, &str) =
    ("WEBHOOK_SECRET_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");

/// Sends to each of so many servers, all of which have one bucket with one output.
pub(super) fn measure(context: &Context, nodes: usize, progress: &Progress<'_>) -> Outcome<Pass> {
    let Some(schema) = Schema::create(context.postgres.as_deref())? else {
        return Ok(Pass::Skipped(SKIPPED.to_owned()));
    };
    let mut sink = Sink::start(context, Duration::ZERO)?;
    let folders = (0..nodes).map(|_| context.scratch()).collect::<Outcome<Vec<_>>>()?;
    let url = schema.url();
    let variables = [("WEBHOOK_DATABASE_URL", &*url), SECRET];
    let start = |folder: &tempfile::TempDir| Server::start(context, folder.path(), &variables);
    let servers = folders.iter().map(start).collect::<Outcome<Vec<_>>>()?;
    let api = servers.first().ok_or("no server")?.api;
    let (bucket, input) = api.bucket("load")?;
    api.output(&bucket, &json!({ "name": "sink", "destination": sink.url(0) }))?;
    let addresses: Vec<_> = servers.iter().map(|server| server.address).collect();
    let mut senders = Senders::start(context, addresses, input_path(&input))?;

    let warm = senders.send(context.scale.warm_up)?;
    sink.drained(1, warm, Some(api), context.scale.drain)?;
    sink.reset()?;
    let spent = || {
        let usages = servers.iter().map(|server| server.process.usage().map(|usage| usage.cpu));
        let of_servers = usages.sum::<Outcome<Duration>>()?;
        Outcome::Ok((of_servers, database()?, schema.done()?))
    };
    let before = spent()?;
    progress("sending");
    let began = Instant::now();
    let events = senders.send(context.scale.load)?;
    let sent = began.elapsed();
    let drained = sink.drained(1, events, Some(api), context.scale.drain)?;
    let after = spent()?;

    let mut measured = Measured::default();
    measured.value("events/s", events as f64 / sent.as_secs_f64());
    measured.value("servers' CPU µs/event", micros_each(after.0.saturating_sub(before.0), events));
    measured
        .value("PostgreSQL's CPU µs/event", micros_each(after.1.saturating_sub(before.1), events));
    after.2.measure(before.2, events as f64, &mut measured);
    measured.never("acknowledged and not delivered in time", u64::from(!drained));
    Ok(Pass::Measured(measured))
}

/// A generator for each server.
struct Senders {
    generators: Vec<(Generator, SocketAddr)>,
    path: String,
    first: u64,
}

impl Senders {
    fn start(context: &Context, addresses: Vec<SocketAddr>, path: String) -> Outcome<Self> {
        let start = |address| Ok((Generator::start(context)?, address));
        let generators = addresses.into_iter().map(start).collect::<Outcome<Vec<_>>>()?;
        Ok(Self { generators, path, first: 0 })
    }

    /// Sends for so long; how many were acknowledged.
    fn send(&mut self, lasts: Duration) -> Outcome<u64> {
        let connections = CONNECTIONS / self.generators.len();
        for (generator, address) in &mut self.generators {
            let mut plan = seed::events(*address, vec![self.path.clone()], 1 << 10, lasts);
            (plan.connections, plan.first) = (connections, self.first);
            self.first += NUMBERS;
            generator.begin(&plan)?;
        }
        let mut acknowledged = 0;
        for (generator, _) in &mut self.generators {
            let answered = generator.finish(|_| Ok(()))?;
            if answered.failed + answered.broken > 0 {
                return Err(format!("requests failed: {answered:?}").into());
            }
            acknowledged += answered.acknowledged;
        }
        Ok(acknowledged)
    }
}

/// What the processes of PostgreSQL on this machine have used that are there now.
fn database() -> Outcome<Duration> {
    let mut sum = Duration::ZERO;
    for process in fs::read_dir("/proc")? {
        let Some(id) = process?.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        // One that has ended meanwhile was not worth much.
        if fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name == "postgres\n") {
            sum += cpu_of(id).unwrap_or_default();
        }
    }
    Ok(sum)
}
