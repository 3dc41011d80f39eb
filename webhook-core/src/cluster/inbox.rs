//! A bounded queue of messages that nobody has read.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::cluster::broadcast::{Inbox, MAX_MESSAGE_BYTES, To};

/// How many messages wait at most.
const MESSAGES: usize = 4_096;
/// How many bytes they have together at most.
const BYTES: usize = 16 << 20;

type Waiting = (To, Bytes, OwnedSemaphorePermit);

/// Where messages are put.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    sender: mpsc::Sender<Waiting>,
    bytes: Arc<Semaphore>,
}

/// Where they are read.
#[derive(Debug)]
pub(crate) struct Queue(mpsc::Receiver<Waiting>);

/// An empty one.
pub(crate) fn queue() -> (Slot, Queue) {
    let (sender, receiver) = mpsc::channel(MESSAGES);
    (Slot { sender, bytes: Arc::new(Semaphore::new(BYTES)) }, Queue(receiver))
}

impl Slot {
    /// Puts a message behind the others, unless there is no room for it.
    pub(crate) fn put(&self, to: To, message: Bytes) -> bool {
        let size = u32::try_from(message.len()).unwrap_or(u32::MAX);
        if message.len() > MAX_MESSAGE_BYTES {
            return false;
        }
        let permit = Arc::clone(&self.bytes).try_acquire_many_owned(size);
        permit.is_ok_and(|permit| self.sender.try_send((to, message, permit)).is_ok())
    }

    /// Returns when nobody reads any more.
    #[cfg(feature = "nats")]
    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

#[async_trait]
impl Inbox for Queue {
    async fn next(&mut self) -> Option<(To, Bytes)> {
        self.0.recv().await.map(|(to, message, _permit)| (to, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_nobody_reads_is_bounded() {
        let (slot, mut queue) = queue();
        let large = Bytes::from(vec![0; MAX_MESSAGE_BYTES]);
        let taken = (0..100).filter(|_| slot.put(To::All, large.clone())).count();
        assert_eq!(taken, BYTES / MAX_MESSAGE_BYTES);
        assert!(!slot.put(To::All, Bytes::from(vec![0; MAX_MESSAGE_BYTES + 1])));
        for _ in 0..taken {
            queue.next().await.expect("it waits");
        }
        let taken = (0..2 * MESSAGES).filter(|_| slot.put(To::All, Bytes::new())).count();
        assert_eq!(taken, MESSAGES);
        drop(queue);
        assert!(slot.is_closed());
    }
}
