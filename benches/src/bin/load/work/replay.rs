//! A replay of many logs, and what fresh webhooks of the same output notice of it.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Progress, generator::Generator, sink::Sink};
use crate::{
    Outcome,
    api::{Api, input_path, text},
    ledger::Ledger,
    measured::Measured,
    options::Context,
    part::{
        generator::{Answered, Plan},
        latency::{Latency, Stopwatch},
    },
    seed::{self, Seed},
    subject::server::Server,
};

/// Fresh webhooks per second, whether or not they are answered.
const FRESH: f64 = 200.0;
/// How long a replay may take beyond the time that its rate asks for.
const PATIENCE: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(50);

/// `rate` in webhooks per second.
pub(super) fn measure(context: &Context, rate: u32, progress: &Progress<'_>) -> Outcome<Measured> {
    let rows = context.scale.replayed;
    let seeded = Seed::Logs.make(context, rows)?;
    let folder = context.scratch()?;
    let mut sink = Sink::start(context, Duration::ZERO)?;
    progress("copying");
    seeded.copy_to(folder.path(), &sink.url(0))?;
    let server = Server::start(context, folder.path(), &[("WEBHOOK_LOG_RETENTION", "forever")])?;
    let bucket = text(&seeded.bucket["id"])?;
    let path = input_path(text(&seeded.bucket["inputs"][0]["id"])?);
    // What was there before: nothing fresh is replayed.
    let newest = server.api.json("GET", &format!("/v1/logs?bucket={bucket}&limit=1"), None)?;
    let until = newest["data"][0]["created_at"].as_i64().ok_or("the bucket has no logs")?;
    let mut fresh = Fresh { generator: Generator::start(context)?, path, next: rows as u64 };
    fresh.send(&server, context.scale.warm_up)?;

    progress("alone");
    let alone = fresh.send(&server, context.scale.load)?;

    progress("beside the replay");
    let spec = json!({
        "filter": { "bucket": bucket, "to": until.to_string() },
        "rate": rate,
    });
    let began = Instant::now();
    let replay = server.api.json("POST", "/v1/replays", Some(&spec))?;
    let replay = format!("/v1/replays/{}", text(&replay["id"])?);
    let at_least = Duration::from_secs_f64(rows as f64 / f64::from(rate));
    let beside = fresh.send(&server, at_least)?;
    let meanwhile = server.api.json("GET", &replay, None)?;
    progress("until the replay ends");
    let over = until_over(&server.api, &replay, at_least + PATIENCE)?;
    let took = began.elapsed();
    let sent = fresh.next;
    sink.drained(1, sent, Some(server.api), context.scale.drain)?;

    let arrived = sink.ledgers(folder.path(), 1)?.remove(0);
    let again = sink.arrived()?.again;
    let (quiet, busy) = (alone.latency(&arrived)?, beside.latency(&arrived)?);
    let replayed = (0..rows).filter(|id| arrived.moment(*id).is_some()).count();
    let mut measured = Measured::default();
    for (of, latency) in [("fresh alone", &quiet), ("fresh beside the replay", &busy)] {
        measured.value(format!("{of} p50 ms"), latency.p50);
        measured.value(format!("{of} p99 ms"), latency.p99);
    }
    measured.value("fresh p50, beside ÷ alone", busy.p50 / quiet.p50.max(1e-3));
    measured.value("fresh p99, beside ÷ alone", busy.p99 / quiet.p99.max(1e-3));
    measured.value("replayed/s", rows as f64 / took.as_secs_f64());
    measured.value("replayed meanwhile, of all", count(&meanwhile, "queued") / rows as f64);
    for of in [&alone, &beside] {
        let others = of.ids.end - of.ids.start - of.answered.acknowledged;
        measured.never("fresh webhooks that failed", others);
        let missing = of.answered.acknowledged.saturating_sub(of.latency(&arrived)?.count);
        measured.never("fresh webhooks that did not arrive", missing);
    }
    for name in ["queued", "sent"] {
        let wrong = count(&over, name) != rows as f64;
        measured.never(&format!("{name} of the replay is not {rows}: {over}"), u64::from(wrong));
    }
    measured.never("logs that were not sent again", (rows - replayed) as u64);
    measured.never("arrived again", again);
    Ok(measured)
}

/// The sender of what comes meanwhile. Its webhooks have the numbers after those of the logs,
/// so that the destination tells them apart.
struct Fresh {
    generator: Generator,
    path: String,
    next: u64,
}

/// What was sent at a steady rate.
struct Sent {
    answered: Answered,
    ids: Range<u64>,
}

impl Fresh {
    fn send(&mut self, server: &Server, lasts: Duration) -> Outcome<Sent> {
        let first = self.next;
        let plan = Plan {
            rate: Some(FRESH),
            first,
            ..seed::events(server.address, vec![self.path.clone()], 1 << 10, lasts)
        };
        let answered = self.generator.run(&plan, |_| Ok(()))?;
        let Answered { acknowledged, refused, failed, broken, .. } = answered;
        self.next += acknowledged + refused + failed + broken;
        Ok(Sent { answered, ids: first..self.next })
    }
}

impl Sent {
    /// From the moment at which each was due, so that a sender who is held up is not left out,
    /// to its arrival.
    fn latency(&self, arrived: &Ledger) -> Outcome<Latency> {
        let mut watch = Stopwatch::new()?;
        for id in self.ids.clone() {
            let after = (id - self.ids.start) as f64 / FRESH * 1e6;
            let due = self.answered.began + after as u64;
            if let Some(moment) = arrived.moment(id as usize) {
                watch.record(Duration::from_micros(moment.saturating_sub(due)));
            }
        }
        Ok(watch.latency())
    }
}

/// The replay when it has ended and everything of it is sent.
fn until_over(api: &Api, replay: &str, patience: Duration) -> Outcome<Value> {
    let deadline = Instant::now() + patience;
    loop {
        let found = api.json("GET", replay, None)?;
        if found["status"] != "running" || Instant::now() > deadline {
            return Ok(found);
        }
        std::thread::sleep(POLL);
    }
}

fn count(replay: &Value, name: &str) -> f64 {
    replay[name].as_f64().unwrap_or_default()
}
