//! Locks of what threads share for a moment.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the lock guards. A thread that panicked with it has left nothing half-done.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
