//! A bound on how many management requests are answered at the same time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use webhook_core::Error;

/// How long a request may wait for a permit after its body has arrived.
const PATIENCE: Duration = Duration::from_secs(1);

/// A management request's permit. It is given back while the request waits for its
/// client, which may be slow.
#[derive(Clone, Debug)]
pub(crate) struct RequestPermit {
    requests: Arc<Semaphore>,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl RequestPermit {
    /// Takes one of `requests`, or fails when all are taken.
    pub(crate) fn of(requests: &Arc<Semaphore>) -> Result<Self, Error> {
        let held = Arc::clone(requests).try_acquire_owned().map_err(|_| too_many())?;
        Ok(Self { requests: Arc::clone(requests), held: Arc::new(Mutex::new(Some(held))) })
    }

    pub(crate) fn give_back(&self) {
        self.put(None);
    }

    /// Waits a moment until another request gives its permit back.
    pub(crate) async fn take_again(&self) -> Result<(), Error> {
        let taken = timeout(PATIENCE, Arc::clone(&self.requests).acquire_owned()).await;
        self.put(Some(taken.ok().and_then(Result::ok).ok_or_else(too_many)?));
        Ok(())
    }

    fn put(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}

fn too_many() -> Error {
    Error::unavailable("too many requests at once", Duration::from_secs(1))
}
