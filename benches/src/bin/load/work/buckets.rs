//! Making many buckets of one account, and reading pages of them.

use std::{thread, time::Instant};

use super::{Progress, generator::Generator, listing::question, mib};
use crate::{Outcome, measured::Measured, options::Context, subject::server::Server};

/// Clients that make buckets at the same time.
const MAKERS: usize = 8;
/// A share of all buckets whose rate says something.
const TELLING: usize = 1_000;

pub(super) fn measure(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    let folder = context.scratch()?;
    let buckets = context.scale.inputs;
    let most = buckets.to_string();
    let server = Server::start(context, folder.path(), &[("WEBHOOK_MAX_BUCKETS", &most)])?;
    let mut measured = Measured::default();

    let share = buckets / 100;
    let first = make(&server, 0, share)?;
    progress("making buckets");
    make(&server, share, buckets - share)?;
    let last = make(&server, buckets - share, buckets)?;
    measured.value("made/s, the first hundredth", first);
    measured.value("made/s, the last hundredth", last);
    let is_slower = share >= TELLING && last < first / 2.0;
    measured.never("the last are made at less than half the rate", is_slower.into());

    measured.value("resident MiB", mib(server.process.resident()?));
    let mut asking = Generator::start(context)?;
    for (name, offset) in [("first page", 0), ("last page", buckets - share)] {
        let path = format!("/v1/buckets?limit=100&offset={offset}");
        let plan = question(&server, "GET", &path, "", context.scale.load / 2);
        let answered = asking.run(&plan, |_| Ok(()))?;
        measured.value(format!("{name} p50 ms"), answered.latency.p50);
        measured.value(format!("{name} p99 ms"), answered.latency.p99);
        let others = answered.failed + answered.broken + answered.refused;
        measured.never(&format!("{name} that failed"), others);
    }
    measured.value("resident MiB after the pages", mib(server.process.resident()?));
    Ok(measured)
}

/// Makes the buckets of these numbers; how many a second.
fn make(server: &Server, from: usize, to: usize) -> Outcome<f64> {
    let began = Instant::now();
    thread::scope(|scope| {
        let makers: Vec<_> = (0..MAKERS)
            .map(|maker| {
                let mut numbers = (from + maker..to).step_by(MAKERS);
                let api = server.api;
                scope.spawn(move || {
                    numbers.try_for_each(|number| api.bucket(&format!("bucket-{number}")).map(drop))
                })
            })
            .collect();
        for maker in makers {
            maker.join().map_err(|_| "a client ended")??;
        }
        Outcome::Ok(())
    })?;
    Ok((to - from) as f64 / began.elapsed().as_secs_f64())
}
