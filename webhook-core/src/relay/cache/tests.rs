//! The cache over a store that counts its readers.

use std::sync::atomic::AtomicUsize;

use super::*;
use crate::clock::TokioClock;

fn cache(max_age: Option<Duration>) -> Snapshots<String, usize> {
    let clock = Arc::new(TokioClock::starting_at(Timestamp::from_secs(1_000)));
    Snapshots::new(10, MaxAge { clock, max_age }).with_absent(10)
}

/// How long a read takes.
const READING: Duration = Duration::from_millis(10);

/// Reads `value`, after a while, and counts that.
async fn slowly(reads: &AtomicUsize, value: Option<usize>) -> Result<Option<usize>, Error> {
    reads.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(READING).await;
    Ok(value)
}

fn one_key(key: &str) -> impl FnOnce(&usize) -> Vec<String> {
    let key = key.to_owned();
    move |_| vec![key]
}

#[tokio::test(start_paused = true)]
async fn many_who_ask_at_once_read_once() {
    for value in [Some(7), None] {
        let (cache, reads) = (cache(None), AtomicUsize::new(0));
        let get = || cache.get("a", || slowly(&reads, value), one_key("a"));
        let (a, b, c) = tokio::join!(get(), get(), get());
        assert_eq!([a.ok(), b.ok(), c.ok()], [Some(value); 3]);
        assert_eq!(get().await.ok(), Some(value));
        assert_eq!(reads.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_holds_up_nobody_for_long() {
    let (cache, reads) = (cache(None), AtomicUsize::new(0));
    let start = tokio::time::Instant::now();
    let hangs = cache.get("a", std::future::pending, one_key("a"));
    let other = async {
        tokio::task::yield_now().await;
        cache.get("a", || slowly(&reads, Some(7)), one_key("a")).await
    };
    tokio::select! {
        _ = hangs => panic!("it hangs"),
        read = other => assert_eq!(read.ok(), Some(Some(7))),
    }
    assert_eq!(start.elapsed(), TURN_TIMEOUT + READING);
}

#[tokio::test(start_paused = true)]
async fn what_was_read_before_a_change_is_not_kept_after_it() {
    let (cache, reads) = (cache(None), AtomicUsize::new(0));
    let before = cache.get("a", || slowly(&reads, Some(1)), one_key("a"));
    let change = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        cache.changed(["a"]);
    };
    let (before, ()) = tokio::join!(before, change);
    assert_eq!(before.ok(), Some(Some(1)));
    let after = cache.get("a", || slowly(&reads, Some(2)), one_key("a")).await;
    assert_eq!(after.ok(), Some(Some(2)));
    cache.changed(["b"]);
    let kept = cache.get("a", || slowly(&reads, Some(3)), one_key("a")).await;
    assert_eq!(kept.ok(), Some(Some(2)), "another key's change is its own");
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_has_a_greatest_age_and_all_of_its_keys() {
    let age = Duration::from_secs(5);
    let (cache, reads) = (cache(Some(age)), AtomicUsize::new(0));
    let both = |_: &usize| vec!["a".to_owned(), "b".to_owned()];
    let get = async |key, value| {
        let got = cache.get(key, || slowly(&reads, Some(value)), both).await;
        got.expect("it can be read")
    };
    assert_eq!(get("a", 1).await, Some(1));
    assert_eq!(get("b", 2).await, Some(1));
    // Its age counts from the moment in which reading it began.
    tokio::time::advance(age - READING).await;
    assert_eq!(get("b", 3).await, Some(1), "it is as old as it may be");
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(get("b", 4).await, Some(4));
    assert_eq!(get("a", 5).await, Some(4));
}
