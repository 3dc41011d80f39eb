//! `kill -9` in the middle of the load: what was acknowledged is delivered
//! after the restart.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Progress, generator::Generator, sink::Sink};
use crate::{
    Outcome,
    api::input_path,
    ledger::{Ledger, now_micros},
    measured::Measured,
    options::Context,
    part::generator::Plan,
    seed,
    subject::server::Server,
};

pub(super) fn measure(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    // Slow enough that there is always something in flight and in the queue.
    let mut sink = Sink::start(context, Duration::from_millis(20))?;
    let folder = context.scratch()?;
    let ledgers = context.scratch()?;
    let mut server = Server::start(context, folder.path(), &[])?;
    let (bucket, input) = server.api.bucket("crash")?;
    server.api.output(&bucket, &json!({ "name": "sink", "destination": sink.url(0) }))?;
    let ledger = ledgers.path().join("acknowledged");
    // The server is gone before the plan ends.
    let lasts = context.scale.load * 2;
    let plan = Plan {
        ledger: Some(ledger.clone()),
        ..seed::events(server.address, vec![input_path(&input)], 1 << 10, lasts)
    };
    let mut generator = Generator::start(context)?;
    generator.begin(&plan)?;
    progress("until the kill");
    std::thread::sleep(context.scale.load);
    server.process.kill()?;
    let answered = generator.finish(|_| Ok(()))?;
    // What is on its way in the kernel arrives.
    std::thread::sleep(Duration::from_millis(50));
    let before = sink.watch()?;

    progress("after the restart");
    let (began, began_micros) = (Instant::now(), now_micros());
    let server = Server::start(context, folder.path(), &[])?;
    let listening = began.elapsed();
    let events = answered.acknowledged;
    let acknowledged = Ledger::load(&ledger)?;
    // Counts do not do here: some arrive that were never acknowledged.
    let missing = loop {
        let outputs = sink.ledgers(ledgers.path(), 1)?;
        let missing = outputs.iter().map(|output| acknowledged.missing_in(output)).sum();
        if missing == 0 || began.elapsed() > context.scale.drain {
            break missing;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let drained = sink.drained(0, 0, Some(server.api), context.scale.drain)?;
    let took = began.elapsed();
    let arrived = sink.arrived()?;
    let mut measured = Measured::default();
    measured.value("acknowledged before the kill", events as f64);
    measured.value("delivered before the kill", before.distinct.iter().sum::<u64>() as f64);
    measured.value("restart ms", listening.as_secs_f64() * 1e3);
    // What has arrived and was not yet known to have comes first, and again.
    if let Some(first) = arrived.first {
        let after = first.saturating_sub(began_micros) as f64 / 1e3;
        measured.value("restart to the first redelivery ms", after);
    }
    measured.value("restart to all outcomes ms", took.as_secs_f64() * 1e3);
    measured.value("arrived again", arrived.again as f64);
    measured.value("acknowledged, not arrived", missing as f64);
    measured.never("acknowledged and not delivered", missing);
    measured.never("damaged on arrival", arrived.damaged);
    measured.never("requests that were refused or failed", answered.refused + answered.failed);
    measured.never("still pending", u64::from(!drained));
    Ok(measured)
}
