//! `string.gmatch`.

use super::super::string::start_index;
use super::capture::Match;
use super::search::first_match_except;
use crate::lua::bytes::{Budget, Error};

/// The state of one `gmatch` loop; subject and pattern are handed in at each step and must stay the same.
///
/// A `^` has no special meaning here.
#[derive(Debug, Clone)]
pub struct GMatch {
    at: usize,
    last_end: Option<usize>,
}

impl GMatch {
    /// A loop that begins at position `init` (from 1; negative counts from the end) of a subject of `len` bytes.
    #[must_use]
    pub const fn new(init: i64, len: usize) -> Self {
        Self { at: start_index(init, len), last_end: None }
    }

    /// The next match; an empty match right behind the one before is passed over.
    ///
    /// # Errors
    /// A malformed pattern, or the budget.
    pub fn next(
        &mut self,
        hay: &[u8],
        pattern: &[u8],
        budget: &mut Budget,
    ) -> Result<Option<Match>, Error> {
        let found = first_match_except(hay, pattern, self.at, self.last_end, budget)?;
        match &found {
            Some(found) => {
                self.at = found.end;
                self.last_end = Some(found.end);
            }
            None => self.at = usize::MAX,
        }
        Ok(found)
    }
}
