//! Repeats of a single-character item: loops over the subject, one recursion for the rest of the pattern.

use super::class::ByteSet;
use super::item::Item;
use super::matcher::{Attempt, Matcher};

/// Bytes that may be passed over before they are charged.
const CHARGED_RUN: usize = 1024;

/// Optional items in a row that are looked at to tell what a match of the rest can begin with.
const MAX_LOOKED_AT: usize = 4;

/// What any match of the rest of a pattern begins with, when that is plain to see.
#[derive(Debug, Clone, Copy)]
enum Ahead {
    Byte(u8),
    /// One of these bytes or, if so said, the end of the subject.
    Set(ByteSet, bool),
}

impl Ahead {
    fn allows(&self, here: Option<u8>) -> bool {
        match (self, here) {
            (Self::Byte(wanted), here) => here == Some(*wanted),
            (Self::Set(set, _), Some(byte)) => set.contains(byte),
            (Self::Set(_, end), None) => *end,
        }
    }

    /// The last place in `hay` from `first` to `last`, both included, where the rest can match.
    fn last_place(&self, hay: &[u8], first: usize, last: usize) -> Option<usize> {
        if last == hay.len() && self.allows(None) {
            return Some(last);
        }
        let places = hay.get(first..(last + 1).min(hay.len()))?;
        let found = match self {
            Self::Byte(wanted) => memchr::memrchr(*wanted, places),
            Self::Set(set, _) => places.iter().rposition(|byte| set.contains(*byte)),
        };
        found.map(|index| first + index)
    }
}

impl Matcher<'_> {
    /// `item*` and `item+`: as many as there are, then fewer, down to `least`.
    pub(super) fn repeat_longest(
        &mut self,
        item: Item,
        least: usize,
        s: usize,
        p: usize,
    ) -> Attempt {
        let text = self.hay.get(s..).unwrap_or_default();
        let most = item.run_length(text);
        self.budget.charge_scan(most)?;
        if most < least {
            return Ok(None);
        }
        if p == self.pattern.len() {
            return Ok(Some(s + most));
        }
        let ahead = self.ahead(p);
        let (first, mut last) = (s + least, s + most);
        loop {
            if let Some(ahead) = &ahead {
                let Some(place) = ahead.last_place(self.hay, first, last) else {
                    self.budget.charge_scan(last - first)?;
                    return Ok(None);
                };
                self.budget.charge_scan(last - place)?;
                last = place;
            }
            if let Some(end) = self.rest(last, p)? {
                return Ok(Some(end));
            }
            if last == first {
                return Ok(None);
            }
            last -= 1;
        }
    }

    /// `item-`: as few as the rest of the pattern allows.
    pub(super) fn repeat_shortest(&mut self, item: Item, mut s: usize, p: usize) -> Attempt {
        let ahead = self.ahead(p);
        let mut uncharged = 0;
        loop {
            let here = self.hay.get(s).copied();
            if ahead.is_none_or(|ahead| ahead.allows(here)) {
                if let Some(end) = self.rest(s, p)? {
                    return Ok(Some(end));
                }
            } else {
                uncharged += 1;
                if uncharged == CHARGED_RUN {
                    self.budget.charge_scan(uncharged)?;
                    uncharged = 0;
                }
            }
            if !here.is_some_and(|byte| item.matches(byte)) {
                self.budget.charge_scan(uncharged)?;
                return Ok(None);
            }
            s += 1;
        }
    }

    /// What any match of the pattern from `p` on begins with.
    ///
    /// Only rules out attempts that fail without an error: a `)` is looked through when it closes a capture, and
    /// what is malformed is left to the attempt.
    fn ahead(&mut self, p: usize) -> Option<Ahead> {
        let closes = self.pattern.get(p) == Some(&b')') && self.slots.innermost_open().is_some();
        let mut p = if closes { p + 1 } else { p };
        let mut begins = ByteSet::EMPTY;
        for _ in 0..MAX_LOOKED_AT {
            match (self.pattern.get(p)?, self.pattern.get(p + 1)) {
                (b'(' | b')', _) | (b'%', Some(b'b' | b'f' | b'0'..=b'9')) => return None,
                (b'$', None) => return Some(Ahead::Set(begins, true)),
                _ => {}
            }
            let (item, next) = self.sets.item(self.pattern, p, self.budget).ok()??;
            let optional = matches!(self.pattern.get(next), Some(b'?' | b'*' | b'-'));
            match item {
                Item::Any => return None,
                Item::Byte(byte) if !optional && begins == ByteSet::EMPTY => {
                    return Some(Ahead::Byte(byte));
                }
                Item::Byte(byte) => begins.insert(byte),
                Item::Set(set) => begins = begins.union(set),
            }
            if !optional {
                return Some(Ahead::Set(begins, false));
            }
            p = next + 1;
        }
        None
    }
}
