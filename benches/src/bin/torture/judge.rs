//! Whether a round ended well: what is promised of what was sent, and what came of it.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use crate::{arrivals::Arrived, logs::Logs, sender::Answered};

/// How long before an outage an answer may have come whose outcome is not stored yet.
const UNSETTLED: Duration = Duration::from_secs(1);
/// Whether an output with one request in flight keeps the order over several servers. It
/// does not yet: that is expected until the issue *Order per key* has landed.
pub(crate) const KEEPS_ORDER_OVER_SERVERS: bool = false;

/// The findings of a round, as text for people.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) wrong: Vec<String>,
    /// Findings that are odd and break no promise.
    pub(crate) remarks: Vec<String>,
}

impl Verdict {
    /// Every delivery is what its sender sent.
    pub(crate) fn content(&mut self, arrived: &Arrived) {
        if arrived.damaged > 0 {
            self.wrong.push(format!("{} arrived damaged", arrived.damaged));
        }
        if arrived.mixed_up > 0 {
            let said = arrived.differences.join(", ");
            self.wrong.push(format!("{} arrived changed: {said}", arrived.mixed_up));
        }
    }

    /// A delivery that was answered is sent again only when an outage kept the server from
    /// storing the answer.
    pub(crate) fn repetition(&mut self, arrived: &Arrived, outages: &[RangeInclusive<u64>]) {
        let unsettled = UNSETTLED.as_micros() as u64;
        let is_excused = |at: &u64| {
            let mut outages = outages.iter();
            outages.any(|outage| (outage.start() - unsettled..=*outage.end()).contains(at))
        };
        let more: Vec<_> = arrived.repeats.iter().filter(|at| !is_excused(at)).collect();
        if more.is_empty() {
            return;
        }
        let before = |at: &u64| match outages.first() {
            Some(first) => format!("{:.2} s", (*first.start() as f64 - *at as f64) / 1e6),
            None => "no outage".to_owned(),
        };
        let said: Vec<_> = more.iter().take(5).map(|at| before(at)).collect();
        self.wrong.push(format!(
            "{} were sent again after a whole 2xx, before the outage by: {}",
            more.len(),
            said.join(", ")
        ));
    }

    /// First attempts keep the order of acknowledgement.
    pub(crate) fn order(&mut self, arrived: &Arrived, servers: u32) {
        if arrived.overtaken > 0 && (servers == 1 || KEEPS_ORDER_OVER_SERVERS) {
            let Arrived { overtaken, ordered, .. } = arrived;
            self.wrong.push(format!("{overtaken} of {ordered} came out of order"));
        }
    }

    /// As much waits as the ledgers say, which is what has not arrived. `pending` is what each
    /// server counts.
    pub(crate) fn pending(&mut self, arrived: &Arrived, logs: &Logs, pending: &[u64]) {
        if logs.open > 0 && logs.unsent.is_empty() {
            let said = "that nobody acknowledged wait for an outcome";
            self.remarks.push(format!("{} {said}", logs.open));
        } else if pending.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
            != arrived.missing
        {
            let missing = arrived.missing;
            self.wrong.push(format!("/metrics counts {pending:?} pending where {missing} are"));
        }
    }

    /// How many senders were told to come again or lost their connection. Any other answer
    /// is wrong: the fault is not the sender's, and must not look so.
    pub(crate) fn answers(&mut self, answered: &[Answered]) -> u64 {
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
                self.wrong.push(format!("{unanswered} requests were never answered"));
            }
        }
        if !strange.is_empty() {
            self.wrong.push(format!("senders were answered {strange:?}"));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_that_ask_to_come_again_are_in_order() {
        let mut verdict = Verdict::default();
        let later =
            Answered { others: [(503, 2), (429, 1)].into(), broken: 3, ..Answered::default() };
        assert_eq!((verdict.answers(&[later]), verdict.wrong.len()), (6, 0));
        let bad = Answered { others: [(500, 2)].into(), unanswered: 1, ..Answered::default() };
        assert_eq!((verdict.answers(&[bad]), verdict.wrong.len()), (0, 2));
    }

    #[test]
    fn a_repeat_is_excused_by_an_outage_within_a_second() {
        let second = 1_000_000;
        let outage = 10 * second..=12 * second;
        let wrong = |at, outages: &[RangeInclusive<u64>]| {
            let mut verdict = Verdict::default();
            verdict.repetition(&Arrived { repeats: vec![at], ..Arrived::default() }, outages);
            verdict.wrong.len()
        };
        for (at, expected) in [(9, 0), (12, 0), (8, 1), (13, 1)] {
            assert_eq!(wrong(at * second, std::slice::from_ref(&outage)), expected, "{at}");
        }
        assert_eq!(wrong(9 * second, &[]), 1);
    }

    #[test]
    fn an_inversion_counts_with_one_server() {
        let arrived = Arrived { ordered: 9, overtaken: 2, ..Arrived::default() };
        for (servers, expected) in [(1, 1), (3, usize::from(KEEPS_ORDER_OVER_SERVERS))] {
            let mut verdict = Verdict::default();
            verdict.order(&arrived, servers);
            assert_eq!(verdict.wrong.len(), expected);
        }
    }
}
