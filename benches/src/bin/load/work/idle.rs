//! Doing nothing, which should cost nothing.

use super::mib;
use crate::{Outcome, measured::Measured, options::Context, subject::server::Server};

/// Every query of SQLite wakes a thread with a name like this, which rests again.
const DATABASE_THREADS: &str = "sqlite-";

pub(super) fn measure(context: &Context) -> Outcome<Measured> {
    let folder = context.scratch()?;
    let server = Server::start(context, folder.path(), &[])?;
    server.api.bucket("idle")?;
    // What the start set going comes to its end.
    std::thread::sleep(context.scale.warm_up);
    let (usage, rests) = (server.process.usage()?, server.process.rests(DATABASE_THREADS)?);
    std::thread::sleep(context.scale.idle);
    let used = server.process.usage()?.since(usage);
    let rested = server.process.rests(DATABASE_THREADS)? - rests;
    let seconds = context.scale.idle.as_secs_f64();
    let mut measured = Measured::default();
    measured.value("queries/s, at most", rested as f64 / seconds);
    measured.value("CPU ms/s", used.cpu.as_secs_f64() * 1e3 / seconds);
    measured.value("written B/s", used.written as f64 / seconds);
    measured.value("resident MiB", mib(server.process.resident()?));
    Ok(measured)
}
