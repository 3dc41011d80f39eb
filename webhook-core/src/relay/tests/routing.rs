//! How often the store is asked where a webhook goes.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures_util::future::join_all;

use super::*;
use crate::store::RouteStore;

/// Takes its time and counts how often it is asked.
#[derive(Debug)]
struct Slow {
    inner: Arc<dyn RouteStore>,
    takes: Duration,
    asked: AtomicUsize,
}

#[async_trait]
impl RouteStore for Slow {
    async fn bucket_of_input(&self, id: InputId) -> Result<Option<Bucket>, Error> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        self.inner.bucket_of_input(id).await
    }

    async fn bucket_of_output(&self, id: OutputId) -> Result<Option<Bucket>, Error> {
        self.inner.bucket_of_output(id).await
    }
}

/// How often the store is asked, and how long it all takes, when 64 webhooks
/// come at once to an input that is not known yet.
async fn at_once(takes: Duration) -> (usize, Duration) {
    let mut world = World::new().await;
    let inner = world.stores.routes.clone();
    let slow = Arc::new(Slow { inner, takes, asked: AtomicUsize::new(0) });
    let stores = Stores { routes: slow.clone(), ..world.stores.clone() };
    world.relay = Webhooks::builder(stores)
        .forwarder(world.forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .build()
        .relay()
        .clone();
    let began = tokio::time::Instant::now();
    let answers = join_all((0..64).map(|_| world.post("x"))).await;
    assert!(answers.iter().all(|answer| answer.status() == StatusCode::OK), "{answers:?}");
    (slow.asked.load(Ordering::SeqCst), began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn webhooks_of_one_bucket_that_come_at_once_read_it_a_few_times() {
    let (asked, _) = at_once(Duration::from_millis(10)).await;
    assert!((1..=4).contains(&asked), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_keeps_nobody_waiting_for_a_turn() {
    let (asked, took) = at_once(Duration::from_secs(5)).await;
    assert_eq!(asked, 64);
    assert!(took < Duration::from_secs(6), "{took:?}");
}
