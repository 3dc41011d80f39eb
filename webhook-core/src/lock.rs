//! A mutex for plain data.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mutex around plain data. A panic under the lock is a defect of the module, but the data
/// stays usable: later requests are still served.
#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) const fn new(data: T) -> Self {
        Self(Mutex::new(data))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
