//! A budget of bytes.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// So many bytes that are held at once.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    used: Arc<AtomicUsize>,
    limit: usize,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self { used: Arc::default(), limit }
    }

    /// A claim on no bytes yet.
    pub(super) fn share(&self) -> Share {
        Share { budget: self.clone(), bytes: 0 }
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= self.limit
    }

    /// A claim on `bytes` that are held already, over the limit or not.
    pub(super) fn take_anyway(&self, bytes: usize) -> Share {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        Share { budget: self.clone(), bytes }
    }

    /// A claim on `bytes`, unless they are over the limit.
    pub(super) fn take(&self, bytes: usize) -> Option<Share> {
        let mut share = self.share();
        share.grow(bytes).then_some(share)
    }
}

/// Bytes of a budget, given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    budget: Budget,
    bytes: usize,
}

impl Share {
    /// Claims `bytes` more; `false`, and no change, when they are over the limit.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let before = self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.budget.limit {
            self.budget.used.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.bytes += bytes;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_its_limit_and_gives_back() {
        let budget = Budget::new(10);
        let mut first = budget.take(6).expect("fits");
        assert!(budget.take(5).is_none());
        assert!(first.grow(4));
        assert!(!first.grow(1));
        drop(first);
        assert!(budget.take(10).is_some());
    }
}
