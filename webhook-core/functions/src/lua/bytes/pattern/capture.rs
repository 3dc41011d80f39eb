//! What a match found.

use std::ops::Range;

use super::super::error::Error;
use super::MAX_CAPTURES;

/// One capture while matching: where it begins and what is known of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Open(usize),
    Span(usize, usize),
    Position(usize),
}

/// The captures of a matcher.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    slots: [Slot; MAX_CAPTURES],
    len: usize,
}

impl Slots {
    pub(super) const fn new() -> Self {
        Self { slots: [Slot::Open(0); MAX_CAPTURES], len: 0 }
    }

    pub(super) const fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a capture, unless there are too many.
    pub(super) fn push(&mut self, slot: Slot) -> bool {
        match self.slots.get_mut(self.len) {
            Some(place) => {
                *place = slot;
                self.len += 1;
                true
            }
            None => false,
        }
    }

    pub(super) const fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    pub(super) fn get(&self, index: usize) -> Option<Slot> {
        self.slots.get(..self.len)?.get(index).copied()
    }

    pub(super) fn set(&mut self, index: usize, slot: Slot) {
        if let Some(place) = self.slots.get_mut(index) {
            *place = slot;
        }
    }

    /// The innermost capture that is not closed, and where it begins.
    pub(super) fn innermost_open(&self) -> Option<(usize, usize)> {
        self.slots.get(..self.len)?.iter().enumerate().rev().find_map(|(index, slot)| match slot {
            Slot::Open(start) => Some((index, *start)),
            Slot::Span(..) | Slot::Position(_) => None,
        })
    }
}

/// One captured value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Captured<'h> {
    /// The bytes between parentheses.
    Bytes(&'h [u8]),
    /// The position that an empty pair of parentheses captures, from 1.
    Position(i64),
}

/// A match and its captures.
#[derive(Debug, Clone, Copy)]
pub struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) slots: Slots,
}

impl Match {
    pub(super) const fn without_captures(start: usize, end: usize) -> Self {
        Self { start, end, slots: Slots::new() }
    }

    /// The bytes that match, counted from 0.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// What `string.find` returns first: where the match begins and ends, counted from 1, the end included.
    #[must_use]
    pub const fn lua_range(&self) -> (i64, i64) {
        (self.start as i64 + 1, self.end as i64)
    }

    /// How many captures the pattern has.
    #[must_use]
    pub const fn captures(&self) -> usize {
        self.slots.len
    }

    /// How many values `string.match` returns: the captures, or the whole match when there are none.
    #[must_use]
    pub const fn values(&self) -> usize {
        if self.slots.len == 0 { 1 } else { self.slots.len }
    }

    /// Value `index`, from 0, of those that `string.match` returns; `hay` is what was searched.
    ///
    /// # Errors
    /// `unfinished capture` when the pattern never closes it, `invalid capture index` when there is none.
    pub fn value<'h>(&self, hay: &'h [u8], index: usize) -> Result<Captured<'h>, Error> {
        let range = match self.slots.get(index) {
            Some(Slot::Span(start, end)) => start..end,
            Some(Slot::Position(at)) => return Ok(Captured::Position(at as i64 + 1)),
            Some(Slot::Open(_)) => return Err(Error::message("unfinished capture")),
            None if index == 0 => self.range(),
            None => return Err(Error::message(format!("invalid capture index %{}", index + 1))),
        };
        Ok(Captured::Bytes(hay.get(range).unwrap_or_default()))
    }
}
