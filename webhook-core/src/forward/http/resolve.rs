//! Names to addresses.

use std::{
    collections::HashMap,
    fmt, io,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use tokio::sync::Semaphore;

/// Finds the addresses of a name.
///
/// Implement it to ask something else than the operating system. The
/// addresses go through the guard afterwards, whatever says them.
#[async_trait]
pub trait Resolve: Send + Sync + fmt::Debug {
    /// The addresses of `host`, best first; an empty list if it has none. The
    /// caller gives up after its own deadline and drops the future.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// How many names are asked for at the same time.
const MAX_LOOKUPS: usize = 128;

/// Resolves as the operating system does (`getaddrinfo`: hosts file, DNS, search domains).
///
/// A lookup there holds a thread and cannot be called off, so everybody who
/// wants the same name waits for the same lookup: a name whose servers do not
/// answer holds one thread, however many webhooks go to it. At most 128 names
/// are looked up at the same time. Nothing is remembered.
#[derive(Clone)]
pub struct SystemResolver {
    lookups: Arc<Mutex<HashMap<Box<str>, Lookup>>>,
    permits: Arc<Semaphore>,
}

type Addresses = Result<Vec<IpAddr>, Arc<io::Error>>;
type Lookup = Shared<BoxFuture<'static, Addresses>>;

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::default(), permits: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemResolver").finish_non_exhaustive()
    }
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.lookup(host).await.map_err(|error| io::Error::new(error.kind(), error))
    }
}

impl SystemResolver {
    fn lookup(&self, host: &str) -> Lookup {
        let mut lookups = self.lookups.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lookup) = lookups.get(host) {
            return lookup.clone();
        }
        let name: Box<str> = host.into();
        let (running, permits) = (self.lookups.clone(), self.permits.clone());
        // A task, so that the entry lives as long as the thread does and not
        // only as long as somebody waits.
        let task = tokio::spawn(async move {
            let _permit = permits.acquire().await;
            let found = tokio::net::lookup_host((&*name, 0)).await;
            running.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            found.map(|found| found.map(|address| address.ip()).collect()).map_err(Arc::new)
        });
        let lookup = async { task.await.unwrap_or_else(|gone| Err(Arc::new(gone.into()))) };
        let lookup = lookup.boxed().shared();
        lookups.insert(host.into(), lookup.clone());
        lookup
    }
}

#[cfg(test)]
impl SystemResolver {
    /// How many lookups are under way.
    pub(super) fn running(&self) -> usize {
        self.lookups.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
