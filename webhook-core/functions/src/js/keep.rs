//! Which sources an engine is kept for, to serve more than one call.
//!
//! A source comes to what its words lead to, and with computed names (`list[key]`) to prototypes
//! and their constructors as well. So what it leaves behind is found with little work.

use std::{collections::HashSet, time::Duration};

use super::{reach::plain_words, styles};
use crate::list::list_of;

/// Calls that one engine serves.
pub(super) const CALLS: u32 = 1_000;
/// How long an engine is kept.
pub(super) const AGE: Duration = Duration::from_secs(60);
/// Engines that a thread keeps.
pub(super) const ENGINES: usize = 4;

/// Words with which a source may change how a property behaves and not what is seen of it, and the
/// one whose object cannot be looked at.
const HIDING: [&str; 5] =
    list_of("defineProperty defineProperties __defineGetter__ __defineSetter__ Intl");

/// The words of a source for which engines are kept.
pub(super) fn words_of(source: &str) -> Option<HashSet<&str>> {
    if styles::of(source).is_some() {
        return None;
    }
    plain_words(source).filter(|words| !HIDING.iter().any(|word| words.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_kept_for_sources_that_come_to_little() {
        for source in ["r.body = [1].map((a) => a)", "r.body = a[b].map()"] {
            assert!(words_of(source).is_some_and(|words| words.contains("map")), "{source}");
        }
        for source in [
            "r.body = a['\\u0061']",
            "globalThis.a = 1",
            "this.a = 1",
            "Object.defineProperty(console, 'log', { writable: false })",
            "Intl",
            "exports.handler = async (event) => event",
        ] {
            assert_eq!(words_of(source), None, "{source}");
        }
    }
}
