//! The suites on the store in memory, and what holds for the suites themselves.

use crate::{conformance::Fixture, store::memory::MemoryStore};

async fn make_store() -> Fixture {
    Fixture::new(MemoryStore::default())
}

mod account_store {
    crate::account_store_conformance!(super::make_store);
}
mod bucket_store {
    crate::bucket_store_conformance!(super::make_store);
}
mod input_store {
    crate::input_store_conformance!(super::make_store);
}
mod output_store {
    crate::output_store_conformance!(super::make_store);
}
mod function_store {
    crate::function_store_conformance!(super::make_store);
}
mod delivery_store {
    crate::delivery_store_conformance!(super::make_store);
}
mod deletion {
    crate::deletion_conformance!(super::make_store);
}

/// A case that no suite lists would be a test that never runs.
#[test]
fn every_case_is_listed() {
    let suites = include_str!("suite.rs");
    let cases = [
        include_str!("account.rs"),
        include_str!("bucket.rs"),
        include_str!("deletion.rs"),
        include_str!("delivery/accept.rs"),
        include_str!("delivery/claim.rs"),
        include_str!("delivery/ephemeral.rs"),
        include_str!("delivery/lease.rs"),
        include_str!("delivery/settle.rs"),
        include_str!("function.rs"),
        include_str!("input.rs"),
        include_str!("output.rs"),
    ];
    let mut found = 0;
    for source in cases {
        for definition in source.split("\npub async fn ").skip(1) {
            let name = definition.split('(').next().expect("a function has parameters");
            let listed = suites.matches(&format!(" {name},")).count();
            assert_eq!(listed, 1, "{name} is in one suite");
            found += 1;
        }
    }
    assert!(found > 100, "the sources were read; {found} cases found");
}
