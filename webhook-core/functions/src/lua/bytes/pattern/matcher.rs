//! The matcher: one attempt at one place, by backtracking.

use super::super::budget::{Budget, BudgetExceeded};
use super::super::error::Error;
use super::capture::{Slot, Slots};
use super::item::SetCache;
use super::{MAX_CAPTURES, MAX_DEPTH};

/// Why an attempt ends without an answer; small, because every level of the recursion hands it on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    Malformed(&'static str),
    /// A capture that does not exist or is still open, from 1.
    CaptureIndex(usize),
    Budget(BudgetExceeded),
}

impl From<BudgetExceeded> for Stop {
    fn from(exceeded: BudgetExceeded) -> Self {
        Self::Budget(exceeded)
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Malformed(text) => Self::message(text),
            Stop::CaptureIndex(index) => Self::message(format!("invalid capture index %{index}")),
            Stop::Budget(exceeded) => Self::Budget(exceeded),
        }
    }
}

/// Where an attempt's match ends, if it matches.
pub(super) type Attempt = Result<Option<usize>, Stop>;

/// A subject, a pattern and what is known while they are matched.
#[derive(Debug)]
pub(super) struct Matcher<'a> {
    pub(super) hay: &'a [u8],
    pub(super) pattern: &'a [u8],
    pub(super) budget: &'a mut Budget,
    pub(super) sets: SetCache,
    pub(super) slots: Slots,
    depth_left: u32,
}

impl<'a> Matcher<'a> {
    pub(super) const fn new(hay: &'a [u8], pattern: &'a [u8], budget: &'a mut Budget) -> Self {
        Self {
            hay,
            pattern,
            budget,
            sets: SetCache::new(),
            slots: Slots::new(),
            depth_left: MAX_DEPTH,
        }
    }

    /// Matches the pattern from its byte `p` at byte `s` of the subject, anew.
    pub(super) fn attempt(&mut self, s: usize, p: usize) -> Attempt {
        self.slots.clear();
        self.depth_left = MAX_DEPTH;
        self.rest(s, p)
    }

    /// Matches the rest of the pattern from `p` at `s`, one level deeper.
    pub(super) fn rest(&mut self, s: usize, p: usize) -> Attempt {
        let Some(left) = self.depth_left.checked_sub(1) else {
            return Err(Stop::Malformed("pattern too complex"));
        };
        self.depth_left = left;
        let found = self.items(s, p);
        self.depth_left = left + 1;
        found
    }

    fn items(&mut self, mut s: usize, mut p: usize) -> Attempt {
        loop {
            self.budget.charge(1)?;
            match (self.pattern.get(p), self.pattern.get(p + 1)) {
                (None, _) => return Ok(Some(s)),
                (Some(b'('), Some(b')')) => return self.open_capture(Slot::Position(s), s, p + 2),
                (Some(b'('), _) => return self.open_capture(Slot::Open(s), s, p + 1),
                (Some(b')'), _) => return self.close_capture(s, p + 1),
                (Some(b'$'), None) => return Ok((s == self.hay.len()).then_some(s)),
                (Some(b'%'), Some(b'b')) => match self.balanced(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (Some(b'%'), Some(b'f')) => match self.frontier(s, p + 2)? {
                    Some(next) => p = next,
                    None => return Ok(None),
                },
                (Some(b'%'), Some(digit @ b'0'..=b'9')) => match self.back_reference(s, *digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                _ => {
                    let Some((item, next)) = self.sets.item(self.pattern, p, self.budget)? else {
                        return Ok(Some(s));
                    };
                    let here = self.hay.get(s).is_some_and(|byte| item.matches(*byte));
                    match self.pattern.get(next) {
                        Some(b'?') => {
                            if here && let Some(end) = self.rest(s + 1, next + 1)? {
                                return Ok(Some(end));
                            }
                            p = next + 1;
                        }
                        // Nothing to repeat: no need to come back here.
                        Some(b'*' | b'-') if !here => p = next + 1,
                        Some(b'*') => return self.repeat_longest(item, 0, s, next + 1),
                        Some(b'+') => return self.repeat_longest(item, 1, s, next + 1),
                        Some(b'-') => return self.repeat_shortest(item, s, next + 1),
                        _ if here => (s, p) = (s + 1, next),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    fn open_capture(&mut self, slot: Slot, s: usize, p: usize) -> Attempt {
        if !self.slots.push(slot) {
            return Err(Stop::Malformed("too many captures"));
        }
        let found = self.rest(s, p)?;
        if found.is_none() {
            self.slots.pop();
        }
        Ok(found)
    }

    fn close_capture(&mut self, s: usize, p: usize) -> Attempt {
        let Some((index, start)) = self.slots.innermost_open() else {
            return Err(Stop::Malformed("invalid pattern capture"));
        };
        self.slots.set(index, Slot::Span(start, s));
        let found = self.rest(s, p)?;
        if found.is_none() {
            self.slots.set(index, Slot::Open(start));
        }
        Ok(found)
    }

    /// `%bxy`, whose two bytes are at `p`: where the balanced text that begins at `s` ends.
    fn balanced(&mut self, s: usize, p: usize) -> Attempt {
        let (Some(&open), Some(&close)) = (self.pattern.get(p), self.pattern.get(p + 1)) else {
            return Err(Stop::Malformed("malformed pattern (missing arguments to '%b')"));
        };
        let Some((first, text)) = self.hay.get(s..).and_then(<[u8]>::split_first) else {
            return Ok(None);
        };
        if *first != open {
            return Ok(None);
        }
        let mut nested = 1_usize;
        let found = text.iter().position(|byte| {
            if *byte == close {
                nested -= 1;
            } else if *byte == open {
                nested += 1;
            }
            nested == 0
        });
        self.budget.charge_scan(found.unwrap_or(text.len()))?;
        Ok(found.map(|index| s + index + 2))
    }

    /// `%f`, whose set is at `p`: the place behind the set when `s` is such a frontier.
    fn frontier(&mut self, s: usize, p: usize) -> Attempt {
        if self.pattern.get(p) != Some(&b'[') {
            return Err(Stop::Malformed("missing '[' after '%f' in pattern"));
        }
        let (set, next) = self.sets.set(self.pattern, p, self.budget)?;
        let before = s.checked_sub(1).and_then(|at| self.hay.get(at)).copied().unwrap_or(0);
        let after = self.hay.get(s).copied().unwrap_or(0);
        Ok((!set.contains(before) && set.contains(after)).then_some(next))
    }

    /// `%1` … `%9`: where the text ends when it repeats the capture.
    fn back_reference(&mut self, s: usize, digit: u8) -> Attempt {
        let number = usize::from(digit - b'0');
        let slot = number
            .checked_sub(1)
            .filter(|index| *index < MAX_CAPTURES)
            .and_then(|index| self.slots.get(index));
        let (start, end) = match slot {
            Some(Slot::Span(start, end)) => (start, end),
            // Lua takes the length of a position capture for an impossibly long text.
            Some(Slot::Position(_)) => return Ok(None),
            Some(Slot::Open(_)) | None => return Err(Stop::CaptureIndex(number)),
        };
        self.budget.charge_copy(end - start)?;
        let (Some(captured), Some(text)) = (self.hay.get(start..end), self.hay.get(s..)) else {
            return Ok(None);
        };
        Ok(text.starts_with(captured).then_some(s + captured.len()))
    }
}
