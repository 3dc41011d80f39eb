//! A log of forty days on PostgreSQL that grows from one to twenty times as many rows: lists of
//! it, and days that go beside full ingest.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use super::{Pass, Progress, generator::Generator, listing, nodes::SECRET, sink::Sink};
use crate::{
    Outcome,
    api::text,
    measured::Measured,
    options::Context,
    subject::{
        Subject,
        postgres::{SKIPPED, Schema},
        server::Server,
    },
};

/// What the statements below name moments by.
const MOMENTS: &str =
    include_str!("../../../../../webhook-server/tests/cluster/growth/moments.sql");
/// The parts of a log that was divided long ago.
const PARTS: &str = include_str!("../../../../../webhook-server/tests/cluster/growth/parts.sql");
/// Webhooks of forty days.
const ROWS: &str = include_str!("../../../../../webhook-server/tests/cluster/growth/rows.sql");
/// Bodies of these webhooks, but for 36 bytes: so that twenty million fit on a small disk.
const BODY_BYTES: &str = "64";
/// How many times as many rows there are in the end.
const GROWS: usize = 20;
/// Days that are full when it begins.
const DAYS: u64 = 40;
/// How many of them are kept.
const KEPT: u64 = 30;
/// How long the others may take to go.
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) fn measure(
    context: &Context,
    subject: Subject,
    progress: &Progress<'_>,
) -> Outcome<Pass> {
    let Some(schema) = Schema::create(context.postgres.as_deref())? else {
        return Ok(Pass::Skipped(SKIPPED.to_owned()));
    };
    let (folder, url) = (context.scratch()?, schema.url());
    let by_day = subject == Subject::ByDay;
    if by_day {
        divide(context, &schema)?;
    }
    let mut sink = Sink::start(context, Duration::ZERO)?;
    let keeping =
        |retention| [("WEBHOOK_DATABASE_URL", &*url), SECRET, ("WEBHOOK_LOG_RETENTION", retention)];
    let server = Server::start(context, folder.path(), &keeping("forever"))?;
    schema.run(MOMENTS)?;
    if by_day {
        schema.run(PARTS)?;
    }
    let (bucket, _) = server.api.bucket("old")?;
    server.api.output(&bucket, &json!({ "name": "sink", "destination": sink.url(0) }))?;

    let mut measured = Measured::default();
    let rows = context.scale.rows;
    for (from, to) in [(0, rows), (rows, GROWS * rows)] {
        progress(&format!("writing {to} rows"));
        let (first, last) = (from.to_string(), (to - 1).to_string());
        let fill = ROWS.replace("$from", &first).replace("$to", &last);
        schema.run(&fill.replace("$bytes", BODY_BYTES).replace("$bucket", text(&bucket["id"])?))?;
        // As autovacuum would have done while they came.
        schema.run("VACUUM ANALYZE webhook")?;
        schema.run("VACUUM ANALYZE delivery")?;
        progress(&format!("listing {to} rows"));
        list(context, &server, &bucket, to, &mut measured)?;
    }
    if by_day {
        progress("dropping days");
        drop_days(context, &server, &mut sink, &keeping(&retention()?), &mut measured)?;
    }
    Ok(Pass::Measured(measured))
}

/// Gives each day tables of its own, as an operator does.
fn divide(context: &Context, schema: &Schema) -> Outcome<()> {
    let folder = context.scratch()?;
    let mut command = Command::new(&context.server);
    command.args(["migrate", "--by-day"]).env_clear().env("WEBHOOK_DATA_DIR", folder.path());
    let said =
        command.env("WEBHOOK_DATABASE_URL", schema.url()).env(SECRET.0, SECRET.1).output()?;
    match said.status.success() {
        true => Ok(()),
        false => Err(format!("migrate: {}", String::from_utf8_lossy(&said.stderr)).into()),
    }
}

/// Asks for pages, one after the other.
fn list(
    context: &Context,
    server: &Server,
    bucket: &Value,
    rows: usize,
    measured: &mut Measured,
) -> Outcome<()> {
    let newest = format!("/v1/logs?bucket={}", text(&bucket["id"])?);
    let page = server.api.json("GET", &newest, None)?;
    let cursor = text(&page["next_cursor"])?;
    let log = text(&page["data"][0]["id"])?;
    let pages = [
        ("newest page", newest.clone()),
        ("page that follows", format!("{newest}&cursor={cursor}")),
        ("one log", format!("/v1/logs/{log}")),
        ("days", format!("/v1/logs-stats?bucketId={}", text(&bucket["id"])?)),
    ];
    let mut asking = Generator::start(context)?;
    for (name, path) in pages {
        let mut ask =
            |lasts| asking.run(&listing::question(server, "GET", &path, "", lasts), |_| Ok(()));
        // What the database has not read yet is not what is asked about.
        ask(context.scale.warm_up)?;
        let answered = ask(context.scale.load / 2)?;
        measured.value(format!("{name} p50 ms of {rows}"), answered.latency.p50);
        measured.value(format!("{name} p99 ms of {rows}"), answered.latency.p99);
        let others = answered.failed + answered.broken + answered.refused;
        measured.never(&format!("{name} that failed"), others);
    }
    Ok(())
}

/// Starts a second server that keeps fewer days, while the first receives all it can.
fn drop_days(
    context: &Context,
    server: &Server,
    sink: &mut Sink,
    variables: &[(&str, &str)],
    measured: &mut Measured,
) -> Outcome<()> {
    let (busy, input) = server.api.bucket("busy")?;
    server.api.output(&busy, &json!({ "name": "sink", "destination": sink.url(1) }))?;
    let _ingest = listing::start_ingest(context, server, &input)?;
    let mut ingested = |lasts: &mut dyn FnMut() -> Outcome<()>| {
        let (began, before) = (Instant::now(), sink.arrived()?.of(1));
        lasts()?;
        let arrived = sink.arrived()?.of(1) - before;
        Outcome::Ok(arrived as f64 / began.elapsed().as_secs_f64())
    };
    let alone = ingested(&mut || {
        std::thread::sleep(context.scale.load);
        Ok(())
    })?;
    let folder = context.scratch()?;
    let second = Server::start(context, folder.path(), variables)?;
    let log = folder.path().join("server.log");
    let mut days = Vec::new();
    let began = Instant::now();
    let beside = ingested(&mut || {
        while (days.len() as u64) < DAYS - KEPT {
            if began.elapsed() > PATIENCE {
                return Err(format!("{} days have gone", days.len()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
            let said = fs::read_to_string(&log)?;
            days = said.lines().filter_map(Dropped::read).collect();
        }
        Ok(())
    })?;
    drop(second);
    let longest = |of: fn(&Dropped) -> f64| days.iter().map(of).fold(0.0, f64::max);
    let mean = |of: fn(&Dropped) -> f64| days.iter().map(of).sum::<f64>() / days.len() as f64;
    measured.value("logs of a day", mean(|day| day.logs));
    measured.value("a day goes in ms", mean(|day| day.took));
    measured.value("a day goes in ms, at most", longest(|day| day.took));
    measured.value("of which others wait, ms", mean(|day| day.locked));
    measured.value("of which others wait, ms, at most", longest(|day| day.locked));
    measured.value("delivered/s alone", alone);
    measured.value("delivered/s while days go", beside);
    Ok(())
}

/// What the server says of a day.
struct Dropped {
    logs: f64,
    /// Milliseconds, as the other.
    took: f64,
    locked: f64,
}

impl Dropped {
    fn read(line: &str) -> Option<Self> {
        let line = Some(line).filter(|line| line.contains("a day of logs is dropped"))?;
        let of = |name: &str| {
            let value = line.split(&format!("{name}=")).nth(1)?.split_whitespace().next();
            value.map(str::to_owned)
        };
        Some(Self {
            logs: of("logs")?.parse().ok()?,
            took: millis(&of("took")?)?,
            locked: millis(&of("locked")?)?,
        })
    }
}

/// Of a duration as it is logged.
fn millis(said: &str) -> Option<f64> {
    let units = [("ms", 1.0), ("µs", 1e-3), ("ns", 1e-6), ("s", 1e3)];
    let (number, scale) =
        units.iter().find_map(|(unit, scale)| Some((said.strip_suffix(unit)?, scale)))?;
    Some(number.parse::<f64>().ok()? * scale)
}

/// As long as it takes to keep what came since ten minutes after the midnight before the days
/// that are kept: nothing came in the first hour of a day.
fn retention() -> Outcome<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    Ok(format!("{}s", KEPT * 86_400 + now % 86_400 - 600))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_of_a_day_is_read() {
        let line = "2026-11-26T04:00:00Z  INFO webhook_storage::days::old: a day of logs is \
            dropped day=\"d20261026\" logs=500000 kept=0 took=1.5s locked=12.25ms";
        let day = Dropped::read(line).expect("a day");
        assert_eq!((day.logs, day.took, day.locked), (500_000.0, 1_500.0, 12.25));
        assert!(Dropped::read("a day of logs cannot be dropped yet").is_none());
        assert_eq!(millis("800µs"), Some(0.8));
    }
}
