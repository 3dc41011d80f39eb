//! Accepting outruns delivery: a backlog of ten minutes at full speed ends in
//! refusals and a flat curve of memory.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Progress, generator::Generator, mib, sink::Sink};
use crate::{
    Outcome, api::input_path, measured::Measured, options::Context, part::generator::Plan, seed,
    subject::server::Server,
};

/// Requests in flight to one output, as by default.
const CONCURRENCY: u32 = 128;
/// How long the backlog would take to be delivered.
const BACKLOG: Duration = Duration::from_secs(600);
/// At most so long until senders are refused.
const FILLING: Duration = Duration::from_secs(300);

pub(super) fn measure(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    let backlog = context.scale.output_backlog;
    // So slow that all that may wait takes ten minutes.
    let per_second = (backlog as f64 / BACKLOG.as_secs_f64()).max(1.0);
    let delay = Duration::from_secs_f64((f64::from(CONCURRENCY) / per_second).min(60.0));
    let sink = Sink::start(context, delay)?;
    let folder = context.scratch()?;
    let variables = [
        ("WEBHOOK_OUTPUT_CONCURRENCY", CONCURRENCY.to_string()),
        ("WEBHOOK_OUTPUT_BACKLOG", backlog.to_string()),
    ];
    let variables = [0, 1].map(|at| (variables[at].0, &*variables[at].1));
    let server = Server::start(context, folder.path(), &variables)?;
    let (bucket, input) = server.api.bucket("overload")?;
    let output = json!({ "name": "slow", "destination": sink.url(0), "timeout": 120 });
    server.api.output(&bucket, &output)?;
    let plan = seed::events(server.address, vec![input_path(&input)], 1 << 10, context.scale.load);

    let mut generator = Generator::start(context)?;
    let began = Instant::now();
    let empty = server.process.resident()?;
    let mut measured = Measured::default();
    let mut filled = None;
    let mut acknowledged = 0;
    let (mut refused, mut failed) = (0, 0);
    // While nobody was refused.
    let (mut with_room, mut room_lasted, mut p99) = (0, Duration::ZERO, 0.0);
    // Pass after pass, until refused, and then some more at full speed.
    let mut rounds_left = 3;
    while rounds_left > 0 && began.elapsed() < FILLING {
        let answered = generator.run(&Plan { ledger: None, ..plan.clone() }, |count| {
            let resident = mib(server.process.resident()?);
            progress(&format!("{} acknowledged, {resident:.0} MiB", acknowledged + count));
            measured.memory.push((began.elapsed().as_secs_f64(), resident));
            Ok(())
        })?;
        acknowledged += answered.acknowledged;
        refused += answered.refused;
        failed += answered.failed + answered.broken;
        if refused > 0 {
            rounds_left -= 1;
            filled.get_or_insert(server.process.resident()?);
        } else {
            with_room += answered.acknowledged;
            room_lasted += answered.took;
            p99 = answered.latency.p99.max(p99);
        }
    }
    let (last, most) = (server.process.resident()?, server.process.most_resident()?);
    let filled = filled.unwrap_or(last);
    let waiting = server.api.pending()?;
    measured.value("acknowledged", acknowledged as f64);
    measured.value("refused", refused as f64);
    measured.value("pending at the end", waiting as f64);
    if with_room > 0 {
        let rate = with_room as f64 / room_lasted.as_secs_f64();
        measured.value("events/s while there was room", rate);
        measured.value("ack p99 ms while there was room", p99);
    }
    measured.value("resident MiB when empty", mib(empty));
    measured.value("resident MiB when full", mib(filled));
    measured.value("resident MiB at the end", mib(last));
    measured.value("resident MiB, most", mib(most));
    let queued = most.saturating_sub(empty) as f64 / waiting.max(1) as f64;
    measured.value("B of memory per pending delivery", queued);
    measured.never("requests that failed", failed);
    measured.never("senders never refused", u64::from(refused == 0));
    measured.never("deliveries over the bound", waiting.saturating_sub(backlog as u64));
    Ok(measured)
}
