//! Senders that wait for an output's answer wait for that delivery's settle.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::sync::mpsc;

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
    waiting: Mutex<HashMap<DeliveryId, mpsc::UnboundedSender<Answer>>>,
    /// The size of `waiting`, so that the many settles nobody waits for take no lock.
    count: AtomicUsize,
}

impl Answers {
    /// Waits for the first answer of any of `deliveries`, which must not have
    /// been stored yet, or else a settle could come first.
    pub(super) fn expect(&self, deliveries: Vec<DeliveryId>) -> Expected<'_> {
        // Bounded by what is sent: at most one answer for each delivery.
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for id in &deliveries {
            waiting.insert(*id, sender.clone());
        }
        self.count.store(waiting.len(), Ordering::Release);
        drop(waiting);
        Expected { answers: self, deliveries, receiver }
    }

    /// Whether somebody waits for this delivery.
    pub(super) fn is_awaited(&self, id: DeliveryId) -> bool {
        self.count.load(Ordering::Acquire) > 0
            && self.waiting.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&id)
    }

    /// Tells whoever waits for the delivery, if anyone does.
    pub(super) fn resolve(&self, id: DeliveryId, answer: impl FnOnce() -> Answer) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = waiting.remove(&id) {
            self.count.store(waiting.len(), Ordering::Release);
            drop(waiting);
            // The sender may have stopped waiting a moment ago.
            let _ = sender.send(answer());
        }
    }
}

/// A sender that waits; it stops when this is dropped.
#[derive(Debug)]
pub(super) struct Expected<'a> {
    answers: &'a Answers,
    deliveries: Vec<DeliveryId>,
    receiver: mpsc::UnboundedReceiver<Answer>,
}

impl Expected<'_> {
    /// The first answer; none when every delivery has ended without one.
    pub(super) async fn first(&mut self) -> Option<DestinationAnswer> {
        for _ in 0..self.deliveries.len() {
            match self.receiver.recv().await {
                Some(Answer::Response(answer)) => return Some(answer),
                Some(Answer::None) => {}
                None => return None,
            }
        }
        None
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        let mut waiting = self.answers.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for id in &self.deliveries {
            waiting.remove(id);
        }
        self.answers.count.store(waiting.len(), Ordering::Release);
    }
}
