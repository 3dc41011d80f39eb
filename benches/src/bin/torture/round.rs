//! One round: webhooks, a fault, a recovery, and what became of each webhook.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use benches::Outcome;
use serde::{Deserialize, Serialize};

use crate::{
    arrivals::Arrived,
    faults::{Fault, Name},
    judge::Verdict,
    logs::Logs,
    rig::{Load, Rig},
    sink::{Mode, Order, now_micros},
};

/// Between the numbers of the first events of two rounds.
const APART: u64 = 1_000_000;
/// Where the numbers of the webhooks after the fault begin.
const AFTER: u64 = APART / 2;
/// How often it is asked whether everything has arrived.
const POLL: Duration = Duration::from_millis(10);
/// The longest pause of a connection where one delivery leaves after the other.
const PAUSE_IN_ORDER: Duration = Duration::from_millis(100);

/// What came of a round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
    pub(crate) number: u32,
    pub(crate) acknowledged: u64,
    /// Answers that asked to come again, and requests whose connection broke.
    pub(crate) turned_away: u64,
    /// Acknowledged, and not delivered or not known to be.
    pub(crate) lost: u64,
    /// Deliveries that are not what was sent.
    pub(crate) mixed_up: u64,
    /// Deliveries that were sent again after the whole 2xx of the destination.
    pub(crate) again: u64,
    /// First attempts at an output with one request in flight.
    pub(crate) ordered: u64,
    /// Of them, those that came after a later one.
    pub(crate) overtaken: u64,
    /// Seconds from the restart, or the end of the fault, to the first delivery.
    pub(crate) first: Option<f64>,
    /// The same to the last outcome.
    pub(crate) drained: f64,
    /// What must not be, for people.
    pub(crate) wrong: Vec<String>,
    /// What is odd and breaks no promise.
    pub(crate) remarks: Vec<String>,
}

impl Round {
    pub(crate) fn is_well(&self) -> bool {
        self.lost == 0 && self.wrong.is_empty()
    }
}

pub(crate) fn run(
    rig: &mut Rig<'_>,
    fault: &mut dyn Fault,
    name: Name,
    number: u32,
) -> Outcome<Round> {
    rig.random = rig.context.random(name, number);
    for ledger in rig.ledgers() {
        if ledger.exists() {
            std::fs::remove_file(ledger)?;
        }
    }
    rig.order(&Order::Reset)?;
    rig.order(&Order::Open(true))?;
    rig.outages.clear();
    rig.struck = None;
    fault.before(rig)?;
    let outputs = fault.outputs(&mut rig.random);
    let Shape { load, outputs } = Shape::of(number, fault.load(), outputs);
    let (bucket, path) = rig.bucket(&format!("{name:?}-{number}"), &outputs)?;
    let first = u64::from(number) * APART;

    let began = now_micros();
    rig.send(&path, first, load)?;
    let struck = fault.strike(rig);
    let mut answered = rig.answered()?;
    struck?;
    let mut verdict = Verdict::default();
    if rig.restart_ended()? > 0 {
        verdict.wrong.push(format!("a server ended by itself\n{}", rig.complaints()));
    }
    // As long as before.
    let struck_at = rig.struck.unwrap_or(rig.recovering);
    let lasts = Duration::from_micros(struck_at.saturating_sub(began));
    rig.send(&path, first + AFTER, Load { lasts: lasts.min(load.lasts), ..load })?;
    answered.extend(rig.answered()?);

    let Drained { at, arrived, logs, pending, acknowledged: ids } = drain(rig, &bucket, &outputs)?;
    let drained = seconds(at, rig.recovering);
    if arrived.missing > 0 || !logs.unsent.is_empty() {
        let said: Vec<_> = logs.unsent.iter().take(5).collect();
        verdict.wrong.push(format!(
            "{} did not arrive, such as {:?}; {} are not sent, such as {said:?}\n{}",
            arrived.missing,
            arrived.named,
            logs.unsent.len(),
            rig.complaints()
        ));
    }
    if !arrived.uninvited.is_empty() {
        verdict.wrong.push(format!("connections to {:?}", arrived.uninvited));
    }
    verdict.pending(&arrived, &logs, &pending);
    verdict.content(&arrived);
    verdict.repetition(&arrived, &rig.outages);
    verdict.order(&arrived, rig.context.nodes);
    let turned_away = verdict.answers(&answered);
    let acknowledged = ids.len() as u64;
    if acknowledged == 0 {
        verdict.wrong.push("nothing was acknowledged".to_owned());
    }
    Ok(Round {
        number,
        acknowledged,
        turned_away,
        lost: arrived.missing.max(logs.unsent.len() as u64),
        mixed_up: arrived.mixed_up,
        again: arrived.repeats.len() as u64,
        ordered: arrived.ordered,
        overtaken: arrived.overtaken,
        first: arrived.first.map(|first| seconds(first, rig.recovering)),
        drained,
        wrong: verdict.wrong,
        remarks: verdict.remarks,
    })
}

/// What a round sends, and where to.
struct Shape {
    load: Load,
    outputs: Vec<Mode>,
}

impl Shape {
    /// Every other round has bodies that are larger than the server's memory budget, and
    /// every other one an output with one request in flight: all four kinds take turns.
    fn of(number: u32, load: Load, mut outputs: Vec<Mode>) -> Self {
        let has_large = !number.is_multiple_of(2);
        let mut load = Load { has_large, ..load };
        if matches!(number % 4, 0 | 3) {
            outputs.push(Mode::Ordered);
            load.pause = PAUSE_IN_ORDER;
        }
        Self { load, outputs }
    }
}

fn seconds(later: u64, earlier: u64) -> f64 {
    later.saturating_sub(earlier) as f64 / 1e6
}

/// How things are when nothing changes any more.
struct Drained {
    /// Since when, in microseconds of the wall clock.
    at: u64,
    arrived: Arrived,
    logs: Logs,
    /// What each server says.
    pending: Vec<u64>,
    acknowledged: HashSet<u64>,
}

/// Waits until each output has all that was acknowledged, each log its outcome and nothing
/// is pending, for as long as it may take.
fn drain(rig: &mut Rig<'_>, bucket: &str, outputs: &[Mode]) -> Outcome<Drained> {
    let deadline = Instant::now() + rig.context.patience;
    let acknowledged = rig.acknowledged()?;
    loop {
        let compare = Order::Compare { ledgers: rig.ledgers(), outputs: outputs.to_vec() };
        let arrived = rig.order(&compare)?;
        let pending = rig.pending().unwrap_or_else(|_| vec![u64::MAX]);
        let (late, at) = (Instant::now() > deadline, now_micros());
        // The logs take longer to read than the number of what is pending.
        if late || arrived.missing == 0 && pending.iter().all(|count| *count == 0) {
            let logs = Logs::read(rig.server()?.api, bucket, &acknowledged, outputs.len());
            if late || logs.as_ref().is_ok_and(Logs::are_settled) {
                let logs = logs.unwrap_or_else(|error| Logs::unreadable(&acknowledged, &error));
                rig.order(&compare)?;
                let arrived = rig.order(&Order::Judge { outputs: outputs.to_vec() })?;
                return Ok(Drained { at, arrived, logs, pending, acknowledged });
            }
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_kinds_of_rounds_take_turns() {
        let kinds = (0..4).map(|number| {
            let Shape { load, outputs } = Shape::of(number, Load::default(), vec![Mode::Steady]);
            (load.has_large, outputs.contains(&Mode::Ordered))
        });
        let kinds: HashSet<_> = kinds.collect();
        assert_eq!(kinds.len(), 4);
    }
}
