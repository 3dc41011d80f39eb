//! Repeats of a single-character item: loops over the subject, one recursion for the rest of the pattern.

use super::item::Item;
use super::matcher::{Attempt, Matcher};

/// Bytes that may be passed over before they are charged.
const CHARGED_RUN: usize = 1024;

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
        let needed = self.literal_at(p);
        let mut count = most;
        loop {
            if let Some(byte) = needed {
                // Only where that byte follows can the rest match.
                let places = self
                    .hay
                    .get(s + least..(s + count + 1).min(self.hay.len()))
                    .unwrap_or_default();
                let Some(index) = memchr::memrchr(byte, places) else {
                    self.budget.charge_copy(places.len())?;
                    return Ok(None);
                };
                self.budget.charge_copy(places.len() - index)?;
                count = least + index;
            }
            if let Some(end) = self.rest(s + count, p)? {
                return Ok(Some(end));
            }
            if count == least {
                return Ok(None);
            }
            count -= 1;
        }
    }

    /// `item-`: as few as the rest of the pattern allows.
    pub(super) fn repeat_shortest(&mut self, item: Item, mut s: usize, p: usize) -> Attempt {
        let needed = self.literal_at(p);
        let mut uncharged = 0;
        loop {
            let here = self.hay.get(s).copied();
            if needed.is_none() || needed == here {
                self.budget.charge_scan(uncharged)?;
                uncharged = 0;
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

    /// The byte with which any match of the pattern from `p` on begins, when that is plain to see.
    ///
    /// Only skips attempts that fail without an error: a `)` is looked through when it closes a capture.
    fn literal_at(&self, p: usize) -> Option<u8> {
        let closes = self.pattern.get(p) == Some(&b')') && self.slots.innermost_open().is_some();
        let p = if closes { p + 1 } else { p };
        let (byte, next) = match *self.pattern.get(p)? {
            b'(' | b')' | b'.' | b'[' => return None,
            b'$' if p + 1 == self.pattern.len() => return None,
            b'%' => {
                (*self.pattern.get(p + 1).filter(|letter| !letter.is_ascii_alphanumeric())?, p + 2)
            }
            byte => (byte, p + 1),
        };
        (!matches!(self.pattern.get(next), Some(b'?' | b'*' | b'-'))).then_some(byte)
    }
}
