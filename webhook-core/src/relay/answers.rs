//! Senders that wait for an output's answer wait for that delivery's settle.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use foldhash::HashMap;
use http::{HeaderMap, StatusCode};
use tokio::sync::oneshot;

use crate::id::DeliveryId;

/// What a settle has for a waiting sender.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// The destination answered.
    Response(DestinationAnswer),
    /// The delivery ended without an answer.
    None,
}

/// The answer of a destination, whole.
#[derive(Clone, Debug)]
pub(super) struct DestinationAnswer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The senders that wait, by the delivery that they wait for.
#[derive(Debug, Default)]
pub(super) struct Answers {
    waiting: Mutex<HashMap<DeliveryId, Arc<Waiting>>>,
    /// The size of `waiting`, so that the many settles nobody waits for take no lock.
    count: AtomicUsize,
}

/// One sender, known by each delivery that it waits for: it gets the first
/// answer, or learns that there is none when the last of them has let go of it.
type Waiting = Mutex<Option<oneshot::Sender<DestinationAnswer>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Answers {
    /// Waits for the first answer of any of `deliveries`, which must not have
    /// been stored yet, or else a settle could come first.
    pub(super) fn expect(&self, deliveries: Vec<DeliveryId>) -> Expected<'_> {
        let (sender, receiver) = oneshot::channel();
        let one: Arc<Waiting> = Arc::new(Mutex::new(Some(sender)));
        let mut waiting = lock(&self.waiting);
        waiting.extend(deliveries.iter().map(|id| (*id, Arc::clone(&one))));
        self.count.store(waiting.len(), Ordering::Release);
        drop(waiting);
        Expected { answers: self, deliveries, receiver }
    }

    /// Whether somebody waits for this delivery.
    pub(super) fn is_awaited(&self, id: DeliveryId) -> bool {
        self.count.load(Ordering::Acquire) > 0 && lock(&self.waiting).contains_key(&id)
    }

    /// Tells whoever waits for the delivery, if anyone does.
    pub(super) fn resolve(&self, id: DeliveryId, answer: Answer) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut waiting = lock(&self.waiting);
        let Some(one) = waiting.remove(&id) else { return };
        self.count.store(waiting.len(), Ordering::Release);
        drop(waiting);
        if let Answer::Response(answer) = answer
            && let Some(sender) = lock(&one).take()
        {
            // It may have stopped waiting a moment ago.
            let _ = sender.send(answer);
        }
    }
}

/// A sender that waits; it stops when this is dropped.
#[derive(Debug)]
pub(super) struct Expected<'a> {
    answers: &'a Answers,
    deliveries: Vec<DeliveryId>,
    receiver: oneshot::Receiver<DestinationAnswer>,
}

impl Expected<'_> {
    /// The first answer; none when every delivery has ended without one. It
    /// must not be asked again.
    pub(super) async fn first(&mut self) -> Option<DestinationAnswer> {
        (&mut self.receiver).await.ok()
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.answers.waiting);
        for id in &self.deliveries {
            waiting.remove(id);
        }
        self.answers.count.store(waiting.len(), Ordering::Release);
    }
}
