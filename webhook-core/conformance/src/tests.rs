//! The suites on the store in memory, and what holds for the suites themselves.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use futures_util::FutureExt;
use webhook_core::store::{Stores, memory::MemoryStore};

use crate::{Fixture, run};

async fn make_store() -> Fixture {
    Fixture::new(MemoryStore::default())
}

mod account_store {
    crate::account_store_conformance!(super::make_store);
}
mod document_store {
    crate::document_store_conformance!(super::make_store);
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
mod log_store {
    crate::log_store_conformance!(super::make_store);
}
mod token_store {
    crate::token_store_conformance!(super::make_store);
}
mod session_store {
    crate::session_store_conformance!(super::make_store);
}
mod domain_store {
    crate::domain_store_conformance!(super::make_store);
}

mod cron_store {
    crate::cron_store_conformance!(super::make_store);
}

mod notification_store {
    crate::notification_store_conformance!(super::make_store);
}

mod erasure_store {
    crate::erasure_store_conformance!(super::make_store);
}

mod replay_store {
    crate::replay_store_conformance!(super::make_store);
}

mod queues {
    crate::queue_store_conformance!(super::make_store);
}

mod billing_store {
    crate::billing_store_conformance!(super::make_store);
}
mod deletion {
    crate::deletion_conformance!(super::make_store);
}

/// A case that no suite lists would be a test that never runs.
#[test]
fn every_case_is_listed() {
    let suites =
        [include_str!("suite/configuration.rs"), include_str!("suite/delivery.rs")].concat();
    let cases = [
        include_str!("account.rs"),
        include_str!("billing.rs"),
        include_str!("bucket/change.rs"),
        include_str!("bucket/create.rs"),
        include_str!("cron.rs"),
        include_str!("deletion.rs"),
        include_str!("delivery/accept.rs"),
        include_str!("delivery/claim.rs"),
        include_str!("delivery/ephemeral.rs"),
        include_str!("delivery/lease.rs"),
        include_str!("delivery/redeliver.rs"),
        include_str!("delivery/seen.rs"),
        include_str!("delivery/settle.rs"),
        include_str!("documents/bounds.rs"),
        include_str!("documents/names.rs"),
        include_str!("documents/state.rs"),
        include_str!("documents/together.rs"),
        include_str!("documents/uses.rs"),
        include_str!("documents/versions.rs"),
        include_str!("documents/writers.rs"),
        include_str!("domain.rs"),
        include_str!("execution.rs"),
        include_str!("function.rs"),
        include_str!("input.rs"),
        include_str!("kv.rs"),
        include_str!("log/count.rs"),
        include_str!("log/drain.rs"),
        include_str!("log/erase.rs"),
        include_str!("log/lease.rs"),
        include_str!("log/page.rs"),
        include_str!("log/purge.rs"),
        include_str!("log/report.rs"),
        include_str!("log/search.rs"),
        include_str!("log/waiting.rs"),
        include_str!("notification.rs"),
        include_str!("output.rs"),
        include_str!("queue.rs"),
        include_str!("erasure.rs"),
        include_str!("replay.rs"),
        include_str!("runs.rs"),
        include_str!("token.rs"),
        include_str!("versions.rs"),
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

#[tokio::test]
async fn skipped_case_does_not_run() {
    let fixture = async { Fixture::skip("TEST_STORE_URL is not set") };
    run(fixture, async |_: &Stores| panic!("the case runs")).await;
}

/// Notes when it is dropped.
struct Guard(Arc<Mutex<Vec<&'static str>>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.lock().expect("nobody panics with the lock").push("guard dropped");
    }
}

async fn order_of_cleanup(case: impl AsyncFnOnce(&Stores)) -> (bool, Vec<&'static str>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let (kept, noted) = (Guard(events.clone()), events.clone());
    let fixture = make_store().await.keep(kept).teardown(async move {
        noted.lock().expect("nobody panics with the lock").push("torn down");
    });
    let outcome = AssertUnwindSafe(run(async { fixture }, case)).catch_unwind().await;
    let events = events.lock().expect("nobody panics with the lock").clone();
    (outcome.is_ok(), events)
}

#[tokio::test]
async fn fixture_is_cleaned_up_after_the_case() {
    let cleanup = order_of_cleanup(async |_: &Stores| ()).await;
    assert_eq!(cleanup, (true, vec!["torn down", "guard dropped"]));
}

#[tokio::test]
async fn fixture_is_cleaned_up_after_a_case_that_failed() {
    let cleanup = order_of_cleanup(async |_: &Stores| panic!("as a failed case does")).await;
    assert_eq!(cleanup, (false, vec!["torn down", "guard dropped"]));
}

#[tokio::test(start_paused = true)]
async fn case_that_hangs_fails() {
    let cleanup = order_of_cleanup(async |_: &Stores| std::future::pending().await).await;
    assert_eq!(cleanup, (false, vec!["torn down", "guard dropped"]));
}
