//! So many bytes at once.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Bounds how many bytes are held at once; permits for them are never waited for.
#[derive(Clone, Debug)]
pub(crate) struct ByteSemaphore {
    used: Arc<AtomicUsize>,
    limit: usize,
}

impl ByteSemaphore {
    pub(super) fn new(limit: usize) -> Self {
        Self { used: Arc::default(), limit }
    }

    /// A permit for no bytes yet.
    pub(super) fn permit(&self) -> BytePermit {
        BytePermit { semaphore: self.clone(), bytes: 0 }
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= self.limit
    }

    /// A permit for `bytes` that are held already, over the limit or not.
    pub(super) fn take_anyway(&self, bytes: usize) -> BytePermit {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        BytePermit { semaphore: self.clone(), bytes }
    }

    /// A permit for `bytes`, unless they are over the limit.
    pub(super) fn take(&self, bytes: usize) -> Option<BytePermit> {
        let mut permit = self.permit();
        permit.grow(bytes).then_some(permit)
    }
}

/// Bytes that are held, given back when dropped.
#[derive(Debug)]
pub(crate) struct BytePermit {
    semaphore: ByteSemaphore,
    bytes: usize,
}

impl BytePermit {
    /// Takes `bytes` more; `false`, and no change, when they are over the limit.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let before = self.semaphore.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.semaphore.limit {
            self.semaphore.used.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.bytes += bytes;
        true
    }
}

impl Drop for BytePermit {
    fn drop(&mut self) {
        self.semaphore.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_its_limit_and_gives_back() {
        let bytes = ByteSemaphore::new(10);
        let mut first = bytes.take(6).expect("fits");
        assert!(bytes.take(5).is_none());
        assert!(first.grow(4));
        assert!(!first.grow(1));
        drop(first);
        assert!(bytes.take(10).is_some());
    }
}
