//! `string.gsub`, as steps, because the function that makes a replacement may have to wait.

use super::super::number::{self, Number};
use super::capture::{Captured, Match};
use super::search::{first_match_except, match_at};
use crate::lua::bytes::{Budget, Error};

/// The state of one `gsub`: [`next_match`](Self::next_match), then one of [`replace`](Self::replace),
/// [`expand`](Self::expand) or nothing to keep the text, again and again, then [`finish`](Self::finish).
///
/// Subject and pattern are handed in at each step and must stay the same.
#[derive(Debug, Clone)]
pub struct GSub {
    at: usize,
    /// Up to where the subject is already in `out`.
    copied: usize,
    last_end: Option<usize>,
    found: Option<Match>,
    anchored: bool,
    ended: bool,
    left: u64,
    count: i64,
    out: Vec<u8>,
}

/// What a `gsub` made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The new string; `None` when nothing was replaced, so that the caller can return the one it has.
    pub text: Option<Vec<u8>>,
    /// How many matches there were.
    pub count: i64,
}

impl GSub {
    /// A substitution with `pattern` of at most `max` matches, or of all.
    #[must_use]
    pub fn new(pattern: &[u8], max: Option<i64>) -> Self {
        Self {
            at: 0,
            copied: 0,
            last_end: None,
            found: None,
            anchored: pattern.first() == Some(&b'^'),
            ended: false,
            left: max.map_or(u64::MAX, |max| u64::try_from(max).unwrap_or(0)),
            count: 0,
            out: Vec::new(),
        }
    }

    /// The memory that the new string takes so far.
    #[must_use]
    pub fn output_bytes(&self) -> usize {
        self.out.capacity()
    }

    /// The next match; a match that is not replaced before the next step keeps its text.
    ///
    /// # Errors
    /// A malformed pattern, or the budget.
    pub fn next_match(
        &mut self,
        hay: &[u8],
        pattern: &[u8],
        budget: &mut Budget,
    ) -> Result<Option<Match>, Error> {
        self.found = None;
        if self.ended || self.left == 0 {
            return Ok(None);
        }
        self.found = if self.anchored {
            self.ended = true;
            match_at(hay, pattern, 0, budget)?
        } else {
            first_match_except(hay, pattern, self.at, self.last_end, budget)?
        };
        match &self.found {
            Some(found) => {
                self.left -= 1;
                self.count += 1;
                self.at = found.end;
                self.last_end = Some(found.end);
            }
            None => self.ended = true,
        }
        Ok(self.found)
    }

    /// Puts `replacement` in the place of the match.
    ///
    /// # Errors
    /// The budget.
    pub fn replace(
        &mut self,
        hay: &[u8],
        replacement: &[u8],
        budget: &mut Budget,
    ) -> Result<(), Error> {
        if let Some(found) = self.found.take() {
            self.copy_until(hay, &found, budget)?;
            budget.append(&mut self.out, replacement)?;
        }
        Ok(())
    }

    /// Puts `template` in the place of the match, with `%0` … `%9` standing for captures and `%%` for `%`.
    ///
    /// # Errors
    /// Another `%`, a capture that does not exist, or the budget.
    pub fn expand(
        &mut self,
        hay: &[u8],
        template: &[u8],
        budget: &mut Budget,
    ) -> Result<(), Error> {
        let Some(found) = self.found.take() else { return Ok(()) };
        self.copy_until(hay, &found, budget)?;
        let mut rest = template;
        while let Some(percent) = memchr::memchr(b'%', rest) {
            let (literal, tail) = rest.split_at(percent);
            budget.append(&mut self.out, literal)?;
            match tail.get(1) {
                Some(b'%') => budget.append(&mut self.out, b"%")?,
                Some(b'0') => {
                    budget.append(&mut self.out, hay.get(found.range()).unwrap_or_default())?
                }
                Some(digit @ b'1'..=b'9') => match found.value(hay, usize::from(digit - b'1'))? {
                    Captured::Bytes(bytes) => budget.append(&mut self.out, bytes)?,
                    Captured::Position(at) => {
                        budget.charge(1)?;
                        number::write(Number::Int(at), &mut self.out);
                        budget.check_string(self.out.len())?;
                    }
                },
                _ => return Err(Error::message("invalid use of '%' in replacement string")),
            }
            rest = tail.get(2..).unwrap_or_default();
        }
        budget.append(&mut self.out, rest)?;
        Ok(())
    }

    /// Ends the substitution.
    ///
    /// # Errors
    /// The budget.
    pub fn finish(mut self, hay: &[u8], budget: &mut Budget) -> Result<Replaced, Error> {
        // An empty match at the very start that was replaced by nothing leaves no trace, and changed nothing either.
        if self.copied == 0 && self.out.is_empty() {
            return Ok(Replaced { text: None, count: self.count });
        }
        budget.append(&mut self.out, hay.get(self.copied..).unwrap_or_default())?;
        Ok(Replaced { text: Some(self.out), count: self.count })
    }

    /// Appends what lies between the last replaced match and this one.
    fn copy_until(&mut self, hay: &[u8], found: &Match, budget: &mut Budget) -> Result<(), Error> {
        budget.append(&mut self.out, hay.get(self.copied..found.start).unwrap_or_default())?;
        self.copied = found.end;
        Ok(())
    }
}

/// `string.gsub` with a string as the replacement.
///
/// # Errors
/// A malformed pattern or template, or the budget.
pub fn gsub(
    hay: &[u8],
    pattern: &[u8],
    template: &[u8],
    max: Option<i64>,
    budget: &mut Budget,
) -> Result<Replaced, Error> {
    let mut state = GSub::new(pattern, max);
    while state.next_match(hay, pattern, budget)?.is_some() {
        state.expand(hay, template, budget)?;
    }
    state.finish(hay, budget)
}
