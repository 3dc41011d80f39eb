//! One round: webhooks, a fault, a recovery, and what became of each webhook.

use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, Instant},
};

use benches::Outcome;
use serde::{Deserialize, Serialize};

use crate::{
    faults::{Fault, Name},
    logs::Logs,
    rig::{Load, Rig},
    sender::Answered,
    sink::{Arrived, Mode, Order, now_micros},
};

/// Between the numbers of the first events of two rounds.
const APART: u64 = 1_000_000;
/// Where the numbers of the webhooks after the fault begin.
const AFTER: u64 = APART / 2;
/// How often it is asked whether everything has arrived.
const POLL: Duration = Duration::from_millis(10);
/// How often the logs are asked while the server says that something is pending.
const LOOK: Duration = Duration::from_secs(2);
/// What is sent after the fault, so that there is a first delivery.
const PROBE: Load = Load {
    connections: 1,
    most: 5,
    pause: Duration::from_millis(10),
    bytes: 200,
    lasts: Duration::from_secs(10),
};

/// What came of a round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
    pub(crate) number: u32,
    pub(crate) acknowledged: u64,
    /// Answers that asked to come again, and requests whose connection broke.
    pub(crate) turned_away: u64,
    /// Acknowledged, and not delivered or not known to be.
    pub(crate) lost: u64,
    /// Deliveries to an output that had taken the same webhook before.
    pub(crate) again: u64,
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
    fault.before(rig)?;
    let outputs = fault.outputs(&mut rig.random);
    let (bucket, path) = rig.bucket(&format!("{name:?}-{number}"), &outputs)?;
    let first = u64::from(number) * APART;

    rig.send(&path, first, fault.load())?;
    let struck = fault.strike(rig);
    let mut answered = rig.answered()?;
    struck?;
    let mut wrong = Vec::new();
    if rig.server()?.process.has_ended() {
        wrong.push(format!("the server ended by itself\n{}", rig.complaints()));
        rig.start()?;
    }
    rig.send(&path, first + AFTER, PROBE)?;
    answered.extend(rig.answered()?);

    let Drained { at, arrived, logs, pending, acknowledged: ids } = drain(rig, &bucket, &outputs)?;
    let drained = seconds(at, rig.recovering);
    let mut remarks = Vec::new();
    if arrived.missing > 0 || !logs.unsent.is_empty() {
        let said: Vec<_> = logs.unsent.iter().take(5).collect();
        wrong.push(format!(
            "{} did not arrive, such as {:?}; {} are not sent, such as {said:?}\n{}",
            arrived.missing,
            arrived.named,
            logs.unsent.len(),
            rig.complaints()
        ));
    } else if logs.open > 0 {
        remarks.push(format!("{} that nobody acknowledged wait for an outcome", logs.open));
    } else if pending > 0 {
        remarks.push(format!("/metrics counts {pending} pending where there is none"));
    }
    if !arrived.uninvited.is_empty() {
        wrong.push(format!("connections to {:?}", arrived.uninvited));
    }
    if arrived.damaged > 0 {
        wrong.push(format!("{} arrived damaged", arrived.damaged));
    }
    let turned_away = turned_away(&answered, &mut wrong);
    let acknowledged = ids.len() as u64;
    if acknowledged == 0 {
        wrong.push("nothing was acknowledged".to_owned());
    }
    Ok(Round {
        number,
        acknowledged,
        turned_away,
        lost: arrived.missing.max(logs.unsent.len() as u64),
        again: arrived.again,
        first: arrived.first.map(|first| seconds(first, rig.recovering)),
        drained,
        wrong,
        remarks,
    })
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
    /// What the server says.
    pending: u64,
    acknowledged: HashSet<u64>,
}

/// Waits until each output has all that was acknowledged and each log its outcome,
/// for as long as it may take.
fn drain(rig: &mut Rig<'_>, bucket: &str, outputs: &[Mode]) -> Outcome<Drained> {
    let deadline = Instant::now() + rig.context.patience;
    let acknowledged = rig.acknowledged()?;
    let mut look = Instant::now() + LOOK;
    loop {
        let compare = Order::Compare { ledgers: rig.ledgers(), outputs: outputs.to_vec() };
        let arrived = rig.order(&compare)?;
        let api = rig.server()?.api;
        let pending = api.pending().unwrap_or(u64::MAX);
        let (late, at) = (Instant::now() > deadline, now_micros());
        // The logs take longer to read than the number of what is pending.
        if late || arrived.missing == 0 && (pending == 0 || Instant::now() > look) {
            look = Instant::now() + LOOK;
            let logs = Logs::read(api, bucket, &acknowledged, outputs.len());
            if late || logs.as_ref().is_ok_and(Logs::are_settled) {
                let logs = logs.unwrap_or_else(|error| Logs::unreadable(&acknowledged, &error));
                // What was pending before may have ended while the logs were read.
                let pending = api.pending().unwrap_or(u64::MAX);
                return Ok(Drained { at, arrived, logs, pending, acknowledged });
            }
        }
        std::thread::sleep(POLL);
    }
}

/// How many were told to come again or lost their connection. Any other answer is
/// wrong: the fault is not the sender's, and must not look so.
fn turned_away(answered: &[Answered], wrong: &mut Vec<String>) -> u64 {
    let mut strange = BTreeMap::<u16, u64>::new();
    let mut sum = 0;
    for Answered { acknowledged: _, others, broken, unanswered } in answered {
        sum += broken;
        for (status, count) in others {
            match status {
                429 | 503 => sum += count,
                _ => *strange.entry(*status).or_default() += count,
            }
        }
        if *unanswered > 0 {
            wrong.push(format!("{unanswered} requests were never answered"));
        }
    }
    if !strange.is_empty() {
        wrong.push(format!("senders were answered {strange:?}"));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_that_ask_to_come_again_are_in_order() {
        let mut wrong = Vec::new();
        let later =
            Answered { others: [(503, 2), (429, 1)].into(), broken: 3, ..Answered::default() };
        assert_eq!((turned_away(&[later], &mut wrong), wrong.len()), (6, 0));
        let bad = Answered { others: [(500, 2)].into(), unanswered: 1, ..Answered::default() };
        assert_eq!((turned_away(&[bad], &mut wrong), wrong.len()), (0, 2));
    }
}
