//! Which versions of the program can work on the schema.
//!
//! Nodes are brought to a new version one after the other, so two versions work on one
//! schema for a while. A change that the older one cannot see is spread over releases: one
//! adds what is new and writes it beside what was there, the next one reads it, and the one
//! after that drops what was there. Only the last of these steps shuts versions out.
//!
//! The number of a version is that of the last step it knows. What the schema asks for is in
//! the table `meta`, as digits: who knows less does not begin, and who is running learns of
//! it with the lease and ends.

use std::sync::LazyLock;

use webhook_core::Error;

use super::{STEPS, Step};
use crate::{
    database::SHARDS_REMOVED,
    entity::meta,
    fault::{About, DatabaseError},
    tx::{Read, Tx},
};

/// Steps that shut no version out, because one that does not know them neither misses what
/// they add, nor has to write it, nor reads what they drop. All others ask for a version that knows them.
const UNNOTICED: &[&str] = &["m0036_purges", SHARDS_REMOVED];

/// The number of this version.
static KNOWN: LazyLock<u32> = LazyLock::new(|| STEPS.last().map_or(0, |(name, _)| number(name)));

/// The number in a step's name: 30 of `m0030_runs`.
fn number(step: &str) -> u32 {
    let digits = step.trim_start_matches('m').split('_').next().unwrap_or_default();
    digits.parse().unwrap_or(u32::MAX)
}

/// What a schema asks for that is as these steps leave it.
pub(super) fn asked_by(steps: &[Step]) -> u32 {
    let noticed = steps.iter().filter(|(name, _)| !UNNOTICED.contains(name));
    noticed.map(|(name, _)| number(name)).max().unwrap_or(0)
}

/// The number in a value of [`meta::MIN_READER`]. A value without a number asks for more than any
/// version has.
fn asked(value: &[u8]) -> u32 {
    str::from_utf8(value).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX)
}

/// What the schema asks for; none of one that no version with this rule has written.
pub(super) async fn asked_by_schema(tx: &impl Read) -> Result<Option<u32>, DatabaseError> {
    Ok(meta::get(tx, meta::MIN_READER).await?.map(|value| asked(&value)))
}

/// Lets the schema ask for this from now on.
pub(super) async fn ask(tx: &impl Tx, number: u32) -> Result<(), Error> {
    meta::set(tx, meta::MIN_READER, number.to_string().into_bytes()).await.about("schema")
}

/// Whether this version can work on a schema that asks for so much.
pub(super) fn is_enough(asked: u32) -> bool {
    *KNOWN >= asked
}

/// What the schema asks for in whose table `meta` this stands, if that is more than this
/// version knows.
pub(crate) fn too_much(value: &[u8]) -> Option<u32> {
    Some(asked(value)).filter(|asked| !is_enough(*asked))
}

/// The error of a version that is too old for the schema.
pub(crate) fn too_old(asked: u32) -> Error {
    Error::invalid(
        "database",
        format!(
            "its schema asks for a newer version of this program: one that knows step {asked}; \
             this one knows those up to {}",
            *KNOWN
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_number_and_they_rise() {
        let numbers: Vec<_> = STEPS.iter().map(|(name, _)| number(name)).collect();
        assert!(numbers.is_sorted_by(|earlier, later| earlier < later), "{numbers:?}");
        assert!(*KNOWN < 10_000);
        for step in UNNOTICED {
            assert!(STEPS.iter().any(|(name, _)| name == step), "{step} is no step");
        }
    }

    #[test]
    fn a_version_works_on_what_asks_for_no_more_than_it_knows() {
        let too_much = |number: u32| too_much(number.to_string().as_bytes());
        assert_eq!((too_much(0), too_much(*KNOWN)), (None, None));
        assert_eq!(too_much(*KNOWN + 1), Some(*KNOWN + 1));
        assert_eq!(super::too_much(b"soon"), Some(u32::MAX));
        let said = too_old(*KNOWN + 1).to_string();
        assert!(said.contains(&format!("step {}", *KNOWN + 1)), "{said}");
        assert!(is_enough(asked_by(STEPS)));
    }
}
