//! Lua patterns over bytes: the matcher, [`find`], [`GMatch`] and [`GSub`].
//!
//! Bounds: 32 captures, 200 nested items, and the [`Budget`](super::Budget)'s steps. Runs of one single-character
//! item are loops, not recursion, and take one step for 16 bytes; so does skipping to a place where a match can
//! begin. A pattern that would backtrack for years ends with the step limit.
//!
//! As in Lua, what is malformed in a pattern is reported when the matcher gets there, so a pattern that fails to
//! match before that reports nothing.

mod capture;
mod class;
mod gmatch;
mod gsub;
mod item;
mod matcher;
mod repeat;
mod search;

pub use capture::{Captured, Match};
pub use gmatch::GMatch;
pub use gsub::{GSub, Replaced, gsub};
pub use search::{find, match_at};

/// Most captures in one pattern.
pub const MAX_CAPTURES: usize = 32;

/// Most nested pattern items: repeats and captures that are still open to be retried.
pub const MAX_DEPTH: u32 = 200;
