//! From the start of the process to its first answer.

use std::time::{Duration, Instant};

use super::{Progress, mib, micros_each, sink::Sink};
use crate::{
    Outcome, ledger::Ledger, measured::Measured, options::Context, seed::Seed,
    subject::server::Server,
};

/// How long a million deliveries may take.
const PATIENCE: Duration = Duration::from_secs(900);

/// Starts a server and waits for its first answer; how long it took.
fn first_answer(context: &Context, folder: &std::path::Path) -> Outcome<(Server, f64)> {
    let began = Instant::now();
    let server = Server::start(context, folder, &[])?;
    match server.api.call("GET", "/readyz", None)? {
        (200, _) => Ok((server, began.elapsed().as_secs_f64() * 1e3)),
        (status, body) => Err(format!("the first answer is {status} {body}").into()),
    }
}

/// With nothing stored: the very first start, and one that finds its database.
pub(super) fn empty(context: &Context) -> Outcome<Measured> {
    let folder = context.scratch()?;
    let mut measured = Measured::default();
    let (mut server, first) = first_answer(context, folder.path())?;
    measured.value("first start, to the first answer ms", first);
    server.process.kill()?;
    let (server, again) = first_answer(context, folder.path())?;
    measured.value("to the first answer ms", again);
    measured.value("resident MiB", mib(server.process.resident()?));
    Ok(measured)
}

/// With a backlog, which is delivered then.
pub(super) fn backlog(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    let rows = context.scale.rows;
    let seeded = Seed::Backlog.make(context, rows)?;
    let folder = context.scratch()?;
    let mut sink = Sink::start(context, Duration::ZERO)?;
    progress("copying");
    seeded.copy_to(folder.path(), &sink.url(0))?;

    let began = Instant::now();
    let (server, first) = first_answer(context, folder.path())?;
    progress("delivering");
    let drained = sink.drained(1, rows as u64, Some(server.api), PATIENCE)?;
    let took = began.elapsed();
    let arrived = sink.arrived()?;
    let usage = server.process.usage()?;
    let ledgers = sink.ledgers(folder.path(), 1)?;
    let delivered = ledgers.first().map_or(0, |ledger: &Ledger| ledger.distinct);

    let mut measured = Measured::default();
    measured.value("to the first answer ms", first);
    measured.value("delivered/s", delivered as f64 / took.as_secs_f64());
    measured.value("CPU µs/event", micros_each(usage.cpu, delivered));
    measured.value("resident MiB, most", mib(server.process.most_resident()?));
    measured.value("written B/event", usage.written as f64 / delivered.max(1) as f64);
    measured.value("arrived again", arrived.again as f64);
    measured.never("not delivered", rows as u64 - delivered.min(rows as u64));
    measured.never("damaged on arrival", arrived.damaged);
    measured.never("still pending", u64::from(!drained));
    Ok(measured)
}
