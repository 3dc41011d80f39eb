//! What a bucket notices of another one that has a large backlog.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Progress, generator::Generator, mib, sink::Sink};
use crate::{
    Outcome,
    api::{Api, input_path, text},
    measured::Measured,
    options::Context,
    part::generator::{Answered, Plan},
    seed::{self, Seed},
    subject::server::Server,
};

/// Webhooks per second during the deletion, whether or not they are answered.
const RATE: f64 = 300.0;
/// Deliveries that wait for the broken destination.
const BROKEN: usize = 200_000;
/// How long the deletion of a million may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// An address at which no program listens.
const REFUSING: &str = "http://127.0.0.1:9/";

/// A server with a backlog whose output is disabled, and a bucket that works.
struct Beside {
    server: Server,
    sink: Sink,
    generator: Generator,
    /// The output with the backlog.
    output: String,
    bucket: String,
    path: String,
    next: u64,
}

impl Beside {
    fn start(
        context: &Context,
        rows: usize,
        folder: &std::path::Path,
        progress: &Progress<'_>,
    ) -> Outcome<Self> {
        let seeded = Seed::Backlog.make(context, rows)?;
        progress("copying");
        seeded.copy_with(folder, |spec| {
            REFUSING.clone_into(&mut spec.destination);
            (spec.disabled, spec.durability.enabled) = (true, true);
        })?;
        let server = Server::start(context, folder, &[])?;
        let bucket = text(&seeded.bucket["id"])?.to_owned();
        let found = server.api.json("GET", &format!("/v1/buckets/{bucket}"), None)?;
        let output = text(&found["outputs"][0]["id"])?;
        let output = format!("/v1/buckets/{bucket}/outputs/{output}");
        let sink = Sink::start(context, Duration::ZERO)?;
        let (healthy, input) = server.api.bucket("healthy")?;
        server.api.output(&healthy, &json!({ "name": "sink", "destination": sink.url(0) }))?;
        let (path, generator) = (input_path(&input), Generator::start(context)?);
        let mut beside = Self { server, sink, generator, output, bucket, path, next: 0 };
        beside.send(context.scale.warm_up, Some(RATE))?;
        Ok(beside)
    }

    fn api(&self) -> Api {
        self.server.api
    }

    fn disable(&self, disabled: bool) -> Outcome<()> {
        let spec = json!({
            "destination": REFUSING,
            "disabled": disabled,
            "durability": { "enabled": true },
        });
        self.api().json("PUT", &self.output, Some(&spec)).map(drop)
    }

    fn send(&mut self, lasts: Duration, rate: Option<f64>) -> Outcome<Answered> {
        let plan = seed::events(self.server.address, vec![self.path.clone()], 1 << 10, lasts);
        let answered = self.generator.run(&Plan { rate, first: self.next, ..plan }, |_| Ok(()))?;
        let Answered { acknowledged, refused, failed, broken, .. } = answered;
        self.next += acknowledged + refused + failed + broken;
        Ok(answered)
    }

    /// The deliveries of the other bucket that wait.
    fn waiting(&self) -> Outcome<u64> {
        let path = format!("/v1/logs?bucket={}&status=received&limit=1", self.bucket);
        let page: Value = self.api().json("GET", &path, None)?;
        Ok(page["total"].as_u64().ok_or("no total")?)
    }
}

/// Everything that was not acknowledged.
fn others(answered: &Answered) -> u64 {
    answered.refused + answered.failed + answered.broken
}

/// The deletion of an output for which a million deliveries wait.
pub(super) fn deleted(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    let folder = context.scratch()?;
    let mut beside = Beside::start(context, context.scale.rows, folder.path(), progress)?;
    progress("alone");
    let alone = beside.send(context.scale.load, Some(RATE))?;
    let waited = beside.waiting()?;

    progress("beside the deletion");
    beside.server.process.forget_most_resident()?;
    let before = beside.server.process.resident()?;
    let began = Instant::now();
    beside.api().json("DELETE", &beside.output, None)?;
    let answered_after = began.elapsed();
    let (mut p50, mut p99, mut lost, mut waiting) = (0_f64, 0_f64, others(&alone), waited);
    while waiting > 0 && began.elapsed() < PATIENCE {
        let sent = beside.send(context.scale.load, Some(RATE))?;
        (p50, p99) = (p50.max(sent.latency.p50), p99.max(sent.latency.p99));
        lost += others(&sent);
        waiting = beside.waiting()?;
    }
    let took = began.elapsed();
    let grown = beside.server.process.most_resident()?.saturating_sub(before);
    let drained = beside.sink.drained(1, beside.next, None, context.scale.drain)?;

    let mut measured = Measured::default();
    measured.value("waiting deliveries", waited as f64);
    measured.value("deletion answered after ms", answered_after.as_secs_f64() * 1e3);
    measured.value("cancelled/s, at least", waited as f64 / took.as_secs_f64());
    measured.value("alone p99 ms", alone.latency.p99);
    measured.value("beside p50 ms", p50);
    measured.value("beside p99 ms", p99);
    measured.value("grown MiB", mib(grown));
    measured.never("still waiting", waiting);
    measured.never("not acknowledged", lost);
    measured.never("not delivered", u64::from(!drained));
    Ok(measured)
}

/// Deliveries that wait for a destination that refuses connections, and nothing new for it.
pub(super) fn broken(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    let folder = context.scratch()?;
    let rows = BROKEN.min(context.scale.rows);
    let mut beside = Beside::start(context, rows, folder.path(), progress)?;
    progress("alone");
    let alone = beside.send(context.scale.load, None)?;
    beside.disable(false)?;
    // The first failures, which no bound holds back.
    beside.send(context.scale.warm_up, None)?;
    progress("beside the broken destination");
    let before = beside.server.process.usage()?;
    let sent = beside.send(context.scale.load, None)?;
    let busy = beside.server.process.usage()?.since(before);
    beside.disable(true)?;
    let drained = beside.sink.drained(1, beside.next, None, context.scale.drain)?;

    let mut measured = Measured::default();
    let rate = |of: &Answered| of.acknowledged as f64 / context.scale.load.as_secs_f64();
    measured.value("alone events/s", rate(&alone));
    measured.value("beside events/s", rate(&sent));
    measured.value("events/s, beside ÷ alone", rate(&sent) / rate(&alone).max(1.0));
    measured.value("alone p99 ms", alone.latency.p99);
    measured.value("p99, beside ÷ alone", sent.latency.p99 / alone.latency.p99.max(1e-3));
    measured.value("CPU µs/event beside", super::micros_each(busy.cpu, sent.acknowledged));
    measured.never("not acknowledged", others(&alone) + others(&sent));
    measured.never("not delivered", u64::from(!drained));
    Ok(measured)
}
