//! `string.find` and `string.match`: the first match from a place on.

use super::super::string::start_index;
use super::capture::Match;
use super::item::Item;
use super::matcher::{Matcher, Stop};
use crate::lua::bytes::{Budget, Error};

/// Finds the first match of `pattern` at or behind position `init` (from 1; negative counts from the end).
///
/// Serves `string.find` and, with `plain` false, `string.match`. With `plain` the pattern is plain text. `None` when
/// nothing matches or `init` is behind the end. Plain text is found in linear time.
///
/// # Errors
/// A malformed pattern, or the budget.
pub fn find(
    hay: &[u8],
    pattern: &[u8],
    init: i64,
    plain: bool,
    budget: &mut Budget,
) -> Result<Option<Match>, Error> {
    let start = start_index(init, hay.len());
    let Some(text) = hay.get(start..) else { return Ok(None) };
    budget.charge_copy(pattern.len())?;
    if plain || is_plain(pattern) {
        let found = memchr::memmem::find(text, pattern);
        budget.charge_copy(found.unwrap_or(text.len()))?;
        return Ok(found
            .map(|index| Match::without_captures(start + index, start + index + pattern.len())));
    }
    match pattern.strip_prefix(b"^") {
        Some(_) => attempt_at(hay, pattern, start, 1, budget),
        None => Ok(first_match_except(hay, pattern, start, None, budget)?),
    }
}

/// Matches `pattern`, with or without a leading `^`, at byte `at` (from 0) of `hay` only.
///
/// # Errors
/// A malformed pattern, or the budget.
pub fn match_at(
    hay: &[u8],
    pattern: &[u8],
    at: usize,
    budget: &mut Budget,
) -> Result<Option<Match>, Error> {
    if at > hay.len() {
        return Ok(None);
    }
    attempt_at(hay, pattern, at, usize::from(pattern.first() == Some(&b'^')), budget)
}

fn attempt_at(
    hay: &[u8],
    pattern: &[u8],
    at: usize,
    p: usize,
    budget: &mut Budget,
) -> Result<Option<Match>, Error> {
    let mut matcher = Matcher::new(hay, pattern, budget);
    let end = matcher.attempt(at, p)?;
    Ok(end.map(|end| Match { start: at, end, slots: matcher.slots }))
}

/// The first match at or behind byte `start`, except one that ends at `except`. A leading `^` means itself.
pub(super) fn first_match_except(
    hay: &[u8],
    pattern: &[u8],
    start: usize,
    except: Option<usize>,
    budget: &mut Budget,
) -> Result<Option<Match>, Stop> {
    let mut matcher = Matcher::new(hay, pattern, budget);
    let first = first_item(&mut matcher)?;
    let mut s = start;
    while let Some(text) = hay.get(s..) {
        if let Some(item) = first {
            let skipped = item.first_in(text);
            matcher.budget.charge_scan(skipped.unwrap_or(text.len()))?;
            match skipped {
                Some(bytes) => s += bytes,
                None => return Ok(None),
            }
        }
        if let Some(end) = matcher.attempt(s, 0)?
            && Some(end) != except
        {
            return Ok(Some(Match { start: s, end, slots: matcher.slots }));
        }
        s += 1;
    }
    Ok(None)
}

/// The item that the first byte of any match must match, when the pattern begins with one that is not optional.
///
/// Looks through opening parentheses. A malformed first item is an error here as it would be at the first attempt.
fn first_item(matcher: &mut Matcher<'_>) -> Result<Option<Item>, Stop> {
    let mut p = 0;
    while matcher.pattern.get(p) == Some(&b'(') {
        // More parentheses than captures: the matcher says so.
        if p == super::MAX_CAPTURES {
            return Ok(None);
        }
        p += 1;
    }
    match (matcher.pattern.get(p), matcher.pattern.get(p + 1)) {
        (Some(b')'), _) | (Some(b'$'), None) | (Some(b'%'), Some(b'f' | b'0'..=b'9')) => {
            return Ok(None);
        }
        (Some(b'%'), Some(b'b')) => {
            let (Some(&open), Some(_)) = (matcher.pattern.get(p + 2), matcher.pattern.get(p + 3))
            else {
                return Ok(None);
            };
            return Ok(Some(Item::Byte(open)));
        }
        _ => {}
    }
    let Some((item, next)) = matcher.sets.item(matcher.pattern, p, matcher.budget)? else {
        return Ok(None);
    };
    Ok((!matches!(matcher.pattern.get(next), Some(b'?' | b'*' | b'-'))).then_some(item))
}

/// Whether no byte of the pattern means anything but itself.
fn is_plain(pattern: &[u8]) -> bool {
    !pattern.iter().any(|byte| b"^$*+?.([%-".contains(byte))
}
