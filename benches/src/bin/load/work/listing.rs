//! Reading a bucket of a million logs, alone and beside full ingest.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Progress, generator::Generator, sink::Sink};
use crate::{
    Outcome,
    api::{KEY, input_path, text},
    measured::Measured,
    options::Context,
    part::generator::{Body, Plan},
    seed::{self, Seed},
    subject::server::Server,
};

/// More than all questions take.
const INGEST_AT_MOST: Duration = Duration::from_secs(600);

pub(super) fn measure(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    let seeded = Seed::Logs.make(context, context.scale.rows)?;
    let folder = context.scratch()?;
    let mut sink = Sink::start(context, Duration::ZERO)?;
    progress("copying");
    seeded.copy_to(folder.path(), &sink.url(0))?;
    let server = Server::start(context, folder.path(), &[("WEBHOOK_LOG_RETENTION", "forever")])?;
    let bucket = text(&seeded.bucket["id"])?;
    let (busy, input) = server.api.bucket("busy")?;
    server.api.output(&busy, &json!({ "name": "sink", "destination": sink.url(1) }))?;

    let page = format!("/v1/logs?bucket={bucket}&limit=1");
    let newest = server.api.json("GET", &page, None)?;
    let log = text(&newest["data"][0]["id"])?.to_owned();
    let get = |path: String| ("GET", path, String::new());
    let operations = [
        ("newest page", get(format!("/v1/logs?bucket={bucket}"))),
        ("newest 100 failed", get(format!("/v1/logs?bucket={bucket}&status=failed&limit=100"))),
        ("one log", get(format!("/v1/logs/{log}"))),
        ("days", get(format!("/v1/logs-stats?bucketId={bucket}"))),
        ("minutes", get(format!("/v1/logs/histogram?bucketId={bucket}"))),
        (
            "resend",
            ("POST", format!("/v1/logs/{log}/action"), json!({ "action": "resend" }).to_string()),
        ),
    ];

    let mut measured = Measured::default();
    let mut asking = Generator::start(context)?;
    let lasts = context.scale.load / 2;
    for beside in ["", " beside ingest"] {
        // It goes on until it is dropped: questions may take longer than planned.
        let ingest = match beside {
            "" => None,
            _ => Some(start_ingest(context, &server, &input)?),
        };
        let (began, before) = (Instant::now(), sink.arrived()?);
        for (name, (method, path, body)) in &operations {
            progress(&format!("{name}{beside}"));
            // As people ask: what is measured is one question, not how many. So
            // one ends before the next is due, also where a page takes long.
            let plan = Plan { rate: Some(20.0), ..question(&server, method, path, body, lasts) };
            let answered = asking.run(&plan, |_| Ok(()))?;
            measured.value(format!("{name} p50 ms{beside}"), answered.latency.p50);
            measured.value(format!("{name} p99 ms{beside}"), answered.latency.p99);
            let others = answered.failed + answered.broken + answered.refused;
            measured.never(&format!("{name}{beside} that failed"), others);
        }
        if ingest.is_some() {
            let arrived = sink.arrived()?.of(1) - before.of(1);
            let rate = arrived as f64 / began.elapsed().as_secs_f64();
            measured.value("delivered/s of that ingest", rate);
            measured.never("ingest stood still", u64::from(arrived == 0));
        }
    }
    Ok(measured)
}

/// Asks an operation of the API for so long, one request after the other.
pub(super) fn question(
    server: &Server,
    method: &str,
    path: &str,
    body: &str,
    lasts: Duration,
) -> Plan {
    Plan {
        method: method.to_owned(),
        headers: vec![
            ("host".to_owned(), "127.0.0.1".to_owned()),
            ("authorization".to_owned(), format!("Bearer {KEY}")),
            ("content-type".to_owned(), "application/json".to_owned()),
        ],
        body: Body::Text(body.to_owned()),
        connections: 1,
        ..seed::events(server.address, vec![path.to_owned()], 0, lasts)
    }
}

/// Full ingest into another bucket, with a second of it behind it.
pub(super) fn start_ingest(context: &Context, server: &Server, input: &str) -> Outcome<Generator> {
    let mut ingest = Generator::start(context)?;
    let paths = vec![input_path(input)];
    ingest.begin(&seed::events(server.address, paths, 1 << 10, INGEST_AT_MOST))?;
    std::thread::sleep(context.scale.warm_up);
    Ok(ingest)
}
