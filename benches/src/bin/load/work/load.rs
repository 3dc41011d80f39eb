//! Webhooks over HTTP, delivered to the sink.

use std::time::{Duration, Instant};

use super::{
    Pass, Progress, generator::Generator, mib, micros_each, search::Searchers, sink::Sink,
};
use crate::{
    Outcome,
    ledger::Ledger,
    measured::Measured,
    options::Context,
    part::{generator::Plan, latency::Stopwatch},
    process::Usage,
    seed,
    subject::{Started, Subject, Target, postgres::Schema},
};

/// What is sent, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    /// Webhooks per second; without it, as many as are answered.
    pub(crate) rate: Option<f64>,
    pub(crate) body_bytes: usize,
    /// Outputs that answer.
    pub(crate) outputs: usize,
    /// One more, where nobody listens.
    pub(crate) refusing: bool,
    /// One more, which never answers.
    pub(crate) hanging: bool,
    /// Outputs have a throttle: as many requests at once as there are connections.
    pub(crate) throttled: bool,
    pub(crate) inputs: Inputs,
    /// What runs a function, and which.
    pub(crate) function: Option<(Place, Code)>,
    /// The sender gets the answer of an output.
    pub(crate) answer_from_output: bool,
    /// Live lists of the dashboard that are open meanwhile.
    pub(crate) watchers: usize,
    /// Ten searches go on meanwhile.
    pub(crate) searching: bool,
    /// What each webhook is signed with, and what the input verifies it with.
    pub(crate) secret: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Inputs {
    One,
    /// One in each of so many buckets, in turn.
    Buckets(usize),
    /// One in a bucket beside the logs of five accounts.
    Archives,
    /// As many as the scale says, in buckets of 100.
    Many,
}

/// Where a function is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Input,
    Output,
}

/// A function, by its language and by what it does: it reads the payload, or asks for the method
/// alone, or makes a message of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Lua,
    LuaIf,
    JavaScript,
    JavaScriptIf,
    JavaScriptMessage,
}

impl Load {
    /// 1 KiB over 64 connections to one output.
    pub(crate) const ORDINARY: Self = Self {
        connections: 64,
        rate: None,
        body_bytes: 1 << 10,
        outputs: 1,
        refusing: false,
        hanging: false,
        throttled: false,
        inputs: Inputs::One,
        function: None,
        answer_from_output: false,
        watchers: 0,
        searching: false,
        secret: None,
    };

    pub(super) fn measure(
        &self,
        context: &Context,
        subject: Subject,
        progress: &Progress<'_>,
    ) -> Outcome<Pass> {
        let mut sink = Sink::start(context, Duration::ZERO)?;
        let target = match subject.start(context, self, &sink)? {
            Started::Target(target) => target,
            Started::Skipped(reason) => return Ok(Pass::Skipped(reason)),
        };
        // The others know of one destination only.
        let is_server = matches!(
            subject,
            Subject::Server
                | Subject::Trusting
                | Subject::Unscripted
                | Subject::Watched
                | Subject::Searched
                | Subject::Postgres
                | Subject::Throttled
        );
        let outputs = if is_server { self.outputs } else { 1 };
        let folder = context.scratch()?;
        let mut generator = Generator::start(context)?;
        // A dead output's deliveries stay pending.
        let api = target.api.filter(|_| !self.refusing && !self.hanging);

        let warm_up = self.plan(&target, context.scale.warm_up);
        let warm = generator.run(&warm_up, |_| Ok(()))?;
        sink.drained(outputs, warm.acknowledged, api, context.scale.drain)?;
        sink.reset()?;

        let ledger = folder.path().join("acknowledged");
        let plan = Plan { ledger: Some(ledger.clone()), ..self.plan(&target, context.scale.load) };
        let before = Spent::so_far(&target, &generator, &sink)?;
        let stored = target.schema.as_ref().map(Schema::done).transpose()?;
        let searched = target.searchers.as_ref().map(Searchers::answered);
        let began = Instant::now();
        let answered = generator.run(&plan, |count| {
            progress(&format!("{count} acknowledged"));
            Ok(())
        })?;
        progress("draining");
        let events = answered.acknowledged;
        let drained = sink.drained(outputs, events, api, context.scale.drain)?;
        let took = began.elapsed();
        let spent = Spent::so_far(&target, &generator, &sink)?.since(before);

        let acknowledged = Ledger::load(&ledger)?;
        let ledgers = sink.ledgers(folder.path(), outputs)?;
        let missing = ledgers.iter().map(|output| acknowledged.missing_in(output)).sum();
        let arrived = sink.arrived()?;
        let deliveries: u64 = arrived.distinct.iter().sum();
        // What is not drained in time counts up to the last arrival.
        let until_last = arrived.last.saturating_sub(answered.began) as f64 / 1e6;
        let until_drained = if drained { took.as_secs_f64() } else { until_last };

        let mut measured = Measured::default();
        measured.value("events/s", events as f64 / answered.took.as_secs_f64());
        measured.value("delivered/s", deliveries as f64 / until_drained.max(1e-6));
        measured.latency("ack", &answered.latency);
        measured.latency_of("arrival after ack", &after_ack(&acknowledged, &ledgers)?);
        measured.value("CPU µs/event", micros_each(spent.target.cpu, events));
        measured.value("generator CPU µs/event", micros_each(spent.generator.cpu, events));
        measured.value("sink CPU µs/event", micros_each(spent.sink.cpu, events));
        measured.value("resident MiB, most", mib(target.running.process().most_resident()?));
        measured.value("written B/event", spent.target.written as f64 / events.max(1) as f64);
        measured.value("refused", answered.refused as f64);
        measured.value("failed", (answered.failed + answered.broken) as f64);
        measured.value("acknowledged, not arrived", missing as f64);
        measured.value("arrived again", arrived.again as f64);
        if let Some((schema, before)) = target.schema.as_ref().zip(stored) {
            schema.done()?.measure(before, events as f64, &mut measured);
        }
        if let Some((api, (place, _))) = target.api.zip(self.function) {
            let newest = api.json("GET", "/v1/logs?limit=1&status=sent", None)?;
            let run = match place {
                Place::Input => "input_function_execution_id",
                Place::Output => "output_function_execution_id",
            };
            let run = newest["data"][0][run].as_str();
            measured.never("the function did not run", u64::from(run.is_none_or(str::is_empty)));
        }
        if let Some(api) =
            target.api.filter(|_| subject == Subject::Server && self.secret.is_some())
        {
            let newest = api.json("GET", "/v1/logs?limit=1&status=sent", None)?;
            let verified = newest["data"][0]["verified"] == true;
            measured.never("webhooks are not verified", u64::from(!verified));
        }
        if let Some((searchers, before)) = target.searchers.as_ref().zip(searched) {
            let calls = searchers.answered() - before;
            measured.value("searches/s", calls as f64 / took.as_secs_f64());
            measured.never("searches that failed", searchers.failed());
            measured.never("no search was answered", u64::from(calls == 0));
        }
        if is_server {
            measured.never("acknowledged and not delivered", missing);
            measured.never("damaged on arrival", arrived.damaged);
            measured.never("requests that failed", answered.failed + answered.broken);
        }
        Ok(Pass::Measured(measured))
    }

    fn plan(&self, target: &Target, lasts: Duration) -> Plan {
        Plan {
            connections: self.connections,
            rate: self.rate,
            secret: self.secret.map(str::to_owned),
            ..seed::events(target.address, target.paths.clone(), self.body_bytes, lasts)
        }
    }
}

/// What every process of a pass has used.
#[derive(Clone, Copy, Debug)]
struct Spent {
    target: Usage,
    generator: Usage,
    sink: Usage,
}

impl Spent {
    fn so_far(target: &Target, generator: &Generator, sink: &Sink) -> Outcome<Self> {
        Ok(Self {
            target: target.running.process().usage()?,
            generator: generator.0.process.usage()?,
            sink: sink.peer.process.usage()?,
        })
    }

    fn since(self, before: Self) -> Self {
        Self {
            target: self.target.since(before.target),
            generator: self.generator.since(before.generator),
            sink: self.sink.since(before.sink),
        }
    }
}

/// From the sender's acknowledgement to the arrival at the first output; a
/// delivery that arrives before the sender has read its answer took no time.
fn after_ack(acknowledged: &Ledger, outputs: &[Ledger]) -> Outcome<Stopwatch> {
    let mut watch = Stopwatch::new()?;
    if let Some(first) = outputs.first() {
        for (id, acknowledged) in acknowledged.seen() {
            if let Some(arrived) = first.moment(id) {
                watch.record(Duration::from_micros(arrived.saturating_sub(acknowledged)));
            }
        }
    }
    Ok(watch)
}

impl Measured {
    /// Percentiles and the curve.
    pub(super) fn latency(&mut self, of: &str, latency: &crate::part::latency::Latency) {
        for (name, value) in [
            ("p50", latency.p50),
            ("p90", latency.p90),
            ("p99", latency.p99),
            ("p99.9", latency.p999),
        ] {
            self.value(format!("{of} {name} ms"), value);
        }
        self.curve.clone_from(&latency.curve);
    }

    /// The two that matter, without the curve.
    fn latency_of(&mut self, of: &str, watch: &Stopwatch) {
        let latency = watch.latency();
        self.value(format!("{of} p50 ms"), latency.p50);
        self.value(format!("{of} p99 ms"), latency.p99);
    }
}
