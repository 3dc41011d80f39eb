//! Compares the deliveries that the sink got with the ledgers of the senders.

use std::{
    collections::{HashMap, HashSet},
    io,
    net::IpAddr,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use crate::{
    content::Content,
    ledger::{Entry, Ledger},
    sink::{Mode, now_micros},
};

/// Missing webhooks, wrong ones and uninvited connections that are named.
const NAMED: usize = 20;

/// The counts of a round at the sink.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arrived {
    /// For each repeat when the destination had answered 2xx before, in microseconds of
    /// the wall clock.
    pub(crate) repeats: Vec<u64>,
    /// Requests that are no event or a part of one.
    pub(crate) damaged: u64,
    /// When the first event arrived after a `Watch`, in microseconds of the wall clock.
    pub(crate) first: Option<u64>,
    /// Acknowledged events that an output has not taken.
    pub(crate) missing: u64,
    /// Some of them.
    pub(crate) named: Vec<u64>,
    /// Deliveries that are not what their sender sent.
    pub(crate) mixed_up: u64,
    /// Some of them, with the parts that differ.
    pub(crate) differences: Vec<String>,
    /// Events that came first to an output that has one request in flight.
    pub(crate) ordered: u64,
    /// Of them, those that came after an event that was sent when they were acknowledged.
    pub(crate) overtaken: u64,
    /// Addresses that are private and were connected to.
    pub(crate) uninvited: Vec<IpAddr>,
}

/// One event at one output.
#[derive(Clone, Debug, Default)]
struct Seen {
    times: u64,
    /// Whether it was answered with 2xx, readable or not.
    taken: bool,
    /// When the latest 2xx was written that has to be understood.
    answered: Option<u64>,
    /// Its content: more than one where the deliveries differ.
    contents: Vec<Content>,
}

/// What a ledger says of an event.
#[derive(Clone, Copy, Debug)]
struct Known {
    content: Content,
    ledger: usize,
    /// Its place in the ledger.
    sent: usize,
    acknowledged: Option<usize>,
}

/// The deliveries that the sink got, and the entries of the ledgers.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    seen: HashMap<(Mode, u64), Seen>,
    /// First attempts at an output that has one request in flight.
    in_turn: Vec<u64>,
    known: HashMap<u64, Known>,
    /// How many entries of each ledger are known.
    read: Vec<usize>,
    pub(crate) arrived: Arrived,
}

impl Arrivals {
    /// An event came; how often it had come before.
    pub(crate) fn arrive(&mut self, mode: Mode, id: u64, content: Content) -> u64 {
        self.arrived.first.get_or_insert_with(now_micros);
        let seen = self.seen.entry((mode, id)).or_default();
        self.arrived.repeats.extend(seen.answered);
        if !seen.contents.contains(&content) {
            seen.contents.push(content);
        }
        let times = seen.times;
        seen.times += 1;
        if times == 0 && mode == Mode::Ordered {
            self.in_turn.push(id);
        }
        times
    }

    /// A 2xx for the event was written, at this time if it is one that has to be understood.
    pub(crate) fn answer(&mut self, mode: Mode, id: u64, at: Option<u64>) {
        let seen = self.seen.entry((mode, id)).or_default();
        seen.taken = true;
        seen.answered = at.or(seen.answered);
    }

    /// Notes a connection to an address that the server must not connect to.
    pub(crate) fn intrude(&mut self, address: IpAddr) {
        if self.arrived.uninvited.len() < NAMED {
            self.arrived.uninvited.push(address);
        }
    }

    /// Finds what has not come to these outputs of what the ledgers say.
    pub(crate) fn compare(&mut self, ledgers: &[PathBuf], outputs: &[Mode]) -> io::Result<()> {
        self.read.resize(ledgers.len(), 0);
        for (number, path) in ledgers.iter().enumerate() {
            for entry in Ledger::read(path, self.read[number])? {
                self.note(number, entry);
            }
        }
        self.find_missing(outputs);
        Ok(())
    }

    /// Finds what came to these outputs changed or out of order, when the ledgers are known.
    pub(crate) fn judge(&mut self, outputs: &[Mode]) {
        self.find_mixed_up(outputs);
        self.find_overtaken();
    }

    fn note(&mut self, ledger: usize, entry: Entry) {
        let place = self.read[ledger];
        self.read[ledger] += 1;
        match entry {
            Entry::Sent(id, content) => {
                let known = Known { content, ledger, sent: place, acknowledged: None };
                self.known.insert(id, known);
            }
            Entry::Acknowledged(id) => {
                if let Some(known) = self.known.get_mut(&id) {
                    known.acknowledged = Some(place);
                }
            }
        }
    }

    fn find_missing(&mut self, outputs: &[Mode]) {
        let took = |mode, id| self.seen.get(&(mode, id)).is_some_and(|seen| seen.taken);
        let acknowledged = self.known.iter().filter(|(_, known)| known.acknowledged.is_some());
        let lacks = |id: &u64| outputs.iter().any(|mode| !took(*mode, *id));
        let missing: Vec<u64> = acknowledged.map(|(id, _)| *id).filter(lacks).collect();
        self.arrived.missing = missing.len() as u64;
        self.arrived.named = missing.into_iter().take(NAMED).collect();
    }

    fn find_mixed_up(&mut self, outputs: &[Mode]) {
        let mut differences = Vec::new();
        for ((mode, id), seen) in self.seen.iter().filter(|((mode, _), _)| outputs.contains(mode)) {
            let Some(known) = self.known.get(id) else {
                differences.push(format!("{id} at {mode:?}: nobody sent it"));
                continue;
            };
            for content in seen.contents.iter().filter(|content| **content != known.content) {
                let parts = known.content.differences(content).join("; ");
                differences.push(format!("{id} at {mode:?}: {parts}"));
            }
        }
        self.arrived.mixed_up = differences.len() as u64;
        differences.truncate(NAMED);
        self.arrived.differences = differences;
    }

    /// An event is overtaken by one that its sender sent when it had the 2xx.
    fn find_overtaken(&mut self) {
        let mut latest = vec![None; self.read.len()];
        let mut overtaken = HashSet::new();
        for id in &self.in_turn {
            let Some(known) = self.known.get(id) else { continue };
            let latest = &mut latest[known.ledger];
            if known.acknowledged.is_some_and(|place| Some(place) < *latest) {
                overtaken.insert(id);
            }
            *latest = (*latest).max(Some(known.sent));
        }
        self.arrived.ordered = self.in_turn.len() as u64;
        self.arrived.overtaken = overtaken.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(id: u64) -> Content {
        Content::of("POST", &format!("/{id}"), std::iter::empty(), b"")
    }

    /// The counts of these arrivals for a ledger with these entries.
    fn compared(entries: &[Entry], arrivals: &mut Arrivals, mode: Mode) -> Arrived {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        let mut ledger = Ledger::open(&path).expect("opened");
        for entry in entries {
            ledger.write(*entry).expect("written");
        }
        arrivals.compare(&[path], &[mode]).expect("compared");
        arrivals.judge(&[mode]);
        arrivals.arrived.clone()
    }

    fn sent(id: u64) -> Entry {
        Entry::Sent(id, content(id))
    }

    #[test]
    fn a_webhook_with_the_content_of_another_is_named() {
        let mut arrivals = Arrivals::default();
        arrivals.arrive(Mode::Steady, 1, content(1));
        arrivals.arrive(Mode::Steady, 2, content(1));
        arrivals.arrive(Mode::Steady, 9, content(9));
        let entries = [sent(1), sent(2), Entry::Acknowledged(1)];
        let arrived = compared(&entries, &mut arrivals, Mode::Steady);
        assert_eq!((arrived.mixed_up, arrived.missing), (2, 1));
        let said = arrived.differences.join(", ");
        assert!(said.contains("2 at Steady: method, path or query"), "{said}");
        assert!(said.contains("9 at Steady: nobody sent it"), "{said}");
    }

    #[test]
    fn a_repeat_follows_an_answer() {
        let mut arrivals = Arrivals::default();
        arrivals.arrive(Mode::Steady, 1, content(1));
        arrivals.arrive(Mode::Steady, 1, content(1));
        assert!(arrivals.arrived.repeats.is_empty());
        arrivals.answer(Mode::Steady, 1, Some(77));
        arrivals.arrive(Mode::Steady, 1, content(1));
        assert_eq!(arrivals.arrived.repeats, [77]);
    }

    #[test]
    fn only_what_was_sent_after_an_answer_may_not_come_first() {
        // 1 and 2 are under way at the same time, 3 is sent when 1 was acknowledged.
        let entries = [sent(1), sent(2), Entry::Acknowledged(1), sent(3), Entry::Acknowledged(2)];
        for (order, overtaken) in [([1, 2, 3], 0), ([2, 1, 3], 0), ([3, 2, 1], 1), ([2, 3, 1], 1)] {
            let mut arrivals = Arrivals::default();
            for id in order {
                arrivals.arrive(Mode::Ordered, id, content(id));
            }
            let arrived = compared(&entries, &mut arrivals, Mode::Ordered);
            assert_eq!((arrived.ordered, arrived.overtaken), (3, overtaken), "{order:?}");
        }
    }
}
