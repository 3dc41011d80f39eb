//! Single-character items of a pattern: a byte, `.`, a class or a set.

use super::super::budget::Budget;
use super::class::{ByteSet, bracket_set, class};
use super::matcher::Stop;

/// What one character of the subject is tested against.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    Any,
    Byte(u8),
    Set(ByteSet),
}

impl Item {
    #[inline]
    pub(super) const fn matches(&self, byte: u8) -> bool {
        match self {
            Self::Any => true,
            Self::Byte(wanted) => *wanted == byte,
            Self::Set(set) => set.contains(byte),
        }
    }

    /// How many bytes at the start of `hay` match.
    pub(super) fn run_length(&self, hay: &[u8]) -> usize {
        let end = match self {
            Self::Any => None,
            Self::Byte(wanted) => hay.iter().position(|byte| byte != wanted),
            Self::Set(set) => hay.iter().position(|byte| !set.contains(*byte)),
        };
        end.unwrap_or(hay.len())
    }

    /// Where in `hay` the first byte that matches is.
    pub(super) fn first_in(&self, hay: &[u8]) -> Option<usize> {
        match self {
            Self::Any => (!hay.is_empty()).then_some(0),
            Self::Byte(wanted) => memchr::memchr(*wanted, hay),
            Self::Set(set) => hay.iter().position(|byte| set.contains(*byte)),
        }
    }
}

/// Sets in brackets that were read before, so that a set is read once and not at every byte.
#[derive(Debug)]
pub(super) struct SetCache {
    entries: [Option<(usize, usize, ByteSet)>; 4],
    next: usize,
}

impl SetCache {
    pub(super) const fn new() -> Self {
        Self { entries: [None; 4], next: 0 }
    }

    /// The set whose `[` is at `open`, and the place behind it.
    pub(super) fn set(
        &mut self,
        pattern: &[u8],
        open: usize,
        budget: &mut Budget,
    ) -> Result<(ByteSet, usize), Stop> {
        for (at, end, set) in self.entries.iter().flatten() {
            if *at == open {
                return Ok((*set, *end));
            }
        }
        let (set, end) = bracket_set(pattern, open)?;
        budget.charge_scan(end - open)?;
        if let Some(entry) = self.entries.get_mut(self.next) {
            *entry = Some((open, end, set));
        }
        self.next = (self.next + 1) % self.entries.len();
        Ok((set, end))
    }

    /// The item at `at`, and the place behind it; `None` at the end of the pattern.
    #[inline]
    pub(super) fn item(
        &mut self,
        pattern: &[u8],
        at: usize,
        budget: &mut Budget,
    ) -> Result<Option<(Item, usize)>, Stop> {
        let Some(&byte) = pattern.get(at) else { return Ok(None) };
        Ok(Some(match byte {
            b'.' => (Item::Any, at + 1),
            b'[' => {
                let (set, end) = self.set(pattern, at, budget)?;
                (Item::Set(set), end)
            }
            b'%' => match pattern.get(at + 1) {
                None => return Err(Stop::Malformed("malformed pattern (ends with '%')")),
                Some(&letter) => (class(letter).map_or(Item::Byte(letter), Item::Set), at + 2),
            },
            literal => (Item::Byte(literal), at + 1),
        }))
    }
}
