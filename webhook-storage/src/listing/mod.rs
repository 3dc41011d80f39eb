//! Reading logs: which ones, in what order, and how many.
//!
//! A list asks for the first logs of several [`IndexRange`]s, each of which is in the order
//! of time, and the database merges them; [`Places`] says which. Which ranges have logs is known from the tallies,
//! so that nothing is looked for where there is nothing.

mod count;
mod index_range;
mod load;
mod page;
mod places;
mod range;
mod sources;
mod time;

pub(crate) use count::{Buckets, buckets_of_erased, received, sums, total};
pub(crate) use index_range::{IndexRange, Kind};
pub(crate) use load::{Loaded, heads, load};
pub(crate) use page::{first, merge};
pub(crate) use places::Places;
pub(crate) use range::{Direction, Range};
pub(crate) use sources::{Source, for_clients, sources};
