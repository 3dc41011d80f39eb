//! Whatever the pattern and the text, matching ends within its budget, what it
//! finds lies inside the text, and the ways of asking agree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use webhook_functions::lua::bytes::{Budget, pattern::{self, Captured, GMatch, Match}};

const STEPS: u64 = 20_000;
const STRING_BYTES: usize = 64 << 10;

fn budget() -> Budget {
    Budget::new(STEPS, STRING_BYTES)
}

/// Looks at all that a match shows.
fn inspect(hay: &[u8], found: &Match) {
    let range = found.range();
    assert!(range.start <= range.end && range.end <= hay.len(), "{range:?}");
    for index in 0..found.values() {
        match found.value(hay, index) {
            Ok(Captured::Bytes(bytes)) => assert!(bytes.len() <= hay.len()),
            Ok(Captured::Position(at)) => {
                let at = usize::try_from(at).expect("positions begin at 1");
                assert!(at >= 1 && at <= hay.len() + 1, "{at}");
            }
            // A capture that is not closed.
            Err(_) => {}
        }
    }
}

// The first byte says where to begin and how long the pattern is, the second how
// long the replacement is; the rest is the text.
fuzz_target!(|data: &[u8]| {
    let [first, second, rest @ ..] = data else { return };
    let (pattern, rest) = rest.split_at(usize::from(*first & 63).min(rest.len()));
    let (template, hay) = rest.split_at(usize::from(*second & 15).min(rest.len()));
    let init = i64::from(*first >> 6) - 1;

    let found = pattern::find(hay, pattern, init, false, &mut budget());
    if let Ok(Some(found)) = &found {
        inspect(hay, found);
    }
    // A plain search is one without magic.
    if !pattern.iter().any(|byte| b"^$*+?.([%-".contains(byte)) {
        let plain = pattern::find(hay, pattern, init, true, &mut budget());
        if let (Ok(found), Ok(plain)) = (&found, &plain) {
            assert_eq!(found.as_ref().map(Match::range), plain.as_ref().map(Match::range));
        }
    }

    let mut work = budget();
    let mut matches = GMatch::new(1, hay.len());
    let mut count = 0;
    let mut last_end = 0;
    let ended = loop {
        match matches.next(hay, pattern, &mut work) {
            Ok(Some(found)) => {
                inspect(hay, &found);
                assert!(found.range().start >= last_end, "matches overlap");
                last_end = found.range().end;
                count += 1;
                assert!(count <= hay.len() + 1, "more matches than places");
            }
            Ok(None) => break true,
            Err(_) => break false,
        }
    };

    let replaced = pattern::gsub(hay, pattern, template, None, &mut budget());
    if let Ok(replaced) = replaced {
        // An anchor means something else to gmatch.
        if ended && pattern.first() != Some(&b'^') {
            assert_eq!(usize::try_from(replaced.count), Ok(count), "gsub and gmatch disagree");
        }
        assert!(replaced.text.is_none_or(|text| text.len() <= STRING_BYTES));
    }
});
