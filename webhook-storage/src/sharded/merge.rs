//! Pages of several shards as the page of one store.
//!
//! A shard that has more than it returned says nothing of what comes after the last of these:
//! what others have from that place on is left to the next page, which begins there.

use std::cmp::Ordering;

use webhook_core::store::LogCursor;

/// What a shard returned of a list.
#[derive(Debug)]
pub(super) struct Part<T> {
    /// In the order of the list.
    pub(super) found: Vec<T>,
    /// How far it looked, unless to the end.
    pub(super) until: Option<LogCursor>,
}

/// The first `limit` of what the parts have between them, and how far they reach: to the end
/// of the list, or up to a place.
#[derive(Debug)]
pub(super) struct Merged<T> {
    pub(super) found: Vec<T>,
    pub(super) until: Option<LogCursor>,
}

/// Merges parts that are in the order of `newest_first`, or the other way round.
pub(super) fn merge<T>(
    parts: Vec<Part<T>>,
    cursor: impl Fn(&T) -> LogCursor,
    newest_first: bool,
    limit: usize,
) -> Merged<T> {
    let order = |a: &LogCursor, b: &LogCursor| -> Ordering {
        if newest_first { b.cmp(a) } else { a.cmp(b) }
    };
    let horizon = parts.iter().filter_map(|part| part.until).min_by(order);
    let mut found: Vec<_> = parts.into_iter().flat_map(|part| part.found).collect();
    found.sort_by(|a, b| order(&cursor(a), &cursor(b)));
    let within = horizon.map_or(found.len(), |horizon| {
        found.partition_point(|one| order(&cursor(one), &horizon) != Ordering::Greater)
    });
    let kept = within.min(limit);
    found.truncate(kept);
    let until = match found.last() {
        Some(last) if kept < within => Some(cursor(last)),
        _ => horizon,
    };
    Merged { found, until }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use webhook_core::{DeliveryId, Timestamp};

    use super::*;

    fn place(number: u8) -> LogCursor {
        let id = DeliveryId::from_uuid(uuid::Uuid::from_u128(number.into()));
        LogCursor { created_at: Timestamp::from_millis(i64::from(number / 4)), id }
    }

    /// What a shard with these places answers after `after`.
    fn part(
        places: &[LogCursor],
        after: Option<LogCursor>,
        newest: bool,
        most: usize,
    ) -> Part<LogCursor> {
        let mut left: Vec<LogCursor> = places.to_vec();
        left.sort_unstable();
        left.retain(|place| after.is_none_or(|it| if newest { *place < it } else { *place > it }));
        if newest {
            left.reverse();
        }
        let has_more = left.len() > most;
        left.truncate(most);
        let until = left.last().copied().filter(|_| has_more);
        Part { found: left, until }
    }

    proptest! {
        /// Page after page, whatever each shard returns at once, is the list of one store.
        #[test]
        fn pages_of_shards_are_those_of_one_store(
            places in prop::collection::btree_map(any::<u8>(), 0_usize..3, 0..60),
            most in prop::array::uniform3(1_usize..9),
            limit in 1_usize..12,
            newest in any::<bool>(),
        ) {
            let mut whole: Vec<_> = places.keys().map(|number| place(*number)).collect();
            whole.sort_unstable();
            if newest {
                whole.reverse();
            }
            let shard = |shard| {
                let mine = places.iter().filter(move |(_, of)| **of == shard);
                mine.map(|(number, _)| place(*number)).collect::<Vec<_>>()
            };
            let shards = [shard(0), shard(1), shard(2)];
            let (mut read, mut after) = (Vec::<LogCursor>::new(), None);
            loop {
                let parts = shards.iter().zip(most).map(|(places, most)| {
                    part(places, after, newest, most.min(limit))
                });
                let merged = merge(parts.collect(), |place| *place, newest, limit);
                prop_assert!(merged.found.len() <= limit);
                prop_assert!(merged.until.is_none() || !merged.found.is_empty());
                read.extend(&merged.found);
                match merged.until {
                    Some(until) => after = Some(until),
                    None => break,
                }
            }
            prop_assert_eq!(read, whole);
        }
    }
}
