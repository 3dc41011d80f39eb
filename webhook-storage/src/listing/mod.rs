//! Reading logs: which ones, in what order, and how many.
//!
//! Logs lie on *shelves*, each a range of one index in the order of time. What
//! a list asks for is the first so many of several shelves, which the database
//! merges. Which shelves there are is known from the tallies, so that nothing
//! is looked for where there is nothing.

mod count;
mod load;
mod page;
mod range;
mod shelf;
mod time;

pub(crate) use count::{Buckets, days, minutes, received, total};
pub(crate) use load::load;
pub(crate) use page::{first, held, merge, sources};
pub(crate) use range::{Direction, Range};
pub(crate) use shelf::{Kind, Shelf};
