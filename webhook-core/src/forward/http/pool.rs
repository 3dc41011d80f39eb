//! Connections, and those that wait for their next request.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use ::http::{HeaderMap, HeaderName};
use tokio::{
    runtime::{self, Handle},
    time::{Instant, sleep},
};

use super::{failure::Failure, http1::Http1, http2::Http2};
use crate::forward::{ForwardResponse, message::Outgoing, timings::Stopwatch};

/// A connection that can take requests.
pub(super) struct Connection {
    pub(super) protocol: Protocol,
    /// The other end.
    pub(super) address: SocketAddr,
}

/// What it speaks.
pub(super) enum Protocol {
    Http1(Box<Http1>),
    Http2(Http2),
}

impl Connection {
    /// Sends a request and reads the answer, its body up to `max_response_bytes`. `head` has the
    /// answer without its body while that is read.
    pub(super) async fn exchange(
        &mut self,
        outgoing: Outgoing,
        max_response_bytes: usize,
        watch: &mut Stopwatch,
        head: &mut Option<ForwardResponse>,
    ) -> Result<ForwardResponse, Failure> {
        match &mut self.protocol {
            Protocol::Http1(http1) => {
                http1.exchange(outgoing, max_response_bytes, watch, head).await
            }
            Protocol::Http2(http2) => {
                http2.exchange(outgoing, max_response_bytes, watch, head).await
            }
        }
    }

    /// Whether other requests were put on it, too.
    pub(super) fn has_others(&self) -> bool {
        matches!(&self.protocol, Protocol::Http2(http2) if http2.has_others())
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PoolLimits {
    pub(super) idle_timeout: Duration,
    pub(super) max_idle_per_host: usize,
    pub(super) max_idle: usize,
}

/// Keeps connections by destination: scheme, host and port.
#[derive(Clone)]
pub(super) struct Pool {
    limits: PoolLimits,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    hosts: HashMap<Box<str>, Host>,
    connections: usize,
    /// Whether a task looks after expiry; only while something is kept.
    reaping: bool,
}

#[derive(Default)]
struct Host {
    /// In the order of being put back: the last is the most likely to be open still.
    http1: Vec<Idle>,
    http2: Option<SharedHttp2>,
}

/// A connection that nobody uses.
struct Idle {
    http1: Box<Http1>,
    address: SocketAddr,
    expires: Instant,
    /// Where it was opened. On another runtime's thread each of its events would
    /// cost a switch between threads, and with that runtime it ends.
    runtime: runtime::Id,
}

struct SharedHttp2 {
    connection: Http2,
    address: SocketAddr,
    expires: Instant,
}

impl Pool {
    pub(super) fn new(limits: PoolLimits) -> Self {
        Self { limits, kept: Arc::default() }
    }

    /// A kept connection to `destination` that is open as far as can be seen.
    pub(super) fn take(&self, destination: &str) -> Option<Connection> {
        let now = Instant::now();
        let runtime = Handle::current().id();
        loop {
            let Idle { mut http1, address, expires, .. } = {
                let mut kept = self.lock();
                let Kept { hosts, connections, .. } = &mut *kept;
                let host = hosts.get_mut(destination)?;
                if let Some(shared) = &mut host.http2 {
                    if shared.connection.is_open() && now < shared.expires {
                        shared.expires = now + self.limits.idle_timeout;
                        let protocol = Protocol::Http2(shared.connection.clone());
                        return Some(Connection { protocol, address: shared.address });
                    }
                    host.http2 = None;
                    *connections -= 1;
                }
                let own = host.http1.iter().rposition(|idle| idle.runtime == runtime)?;
                let idle = host.http1.remove(own);
                *connections -= 1;
                idle
            };
            // Outside of the lock, because it reads from the socket, and
            // because dropping one closes it.
            if now < expires && http1.is_ready() {
                return Some(Connection { protocol: Protocol::Http1(http1), address });
            }
        }
    }

    /// Lets others use a new HTTP/2 connection at once.
    pub(super) fn share(&self, destination: &str, connection: &Connection) {
        let Connection { protocol: Protocol::Http2(http2), address } = connection else { return };
        let expires = Instant::now() + self.limits.idle_timeout;
        let mut kept = self.lock();
        if self.limits.idle_timeout.is_zero() || kept.connections >= self.limits.max_idle {
            return;
        }
        let host = kept.host(destination);
        if host.http2.as_ref().is_some_and(|shared| shared.connection.is_open()) {
            // Another request was quicker; this one serves its own request and ends.
            return;
        }
        let shared = SharedHttp2 { connection: http2.clone(), address: *address, expires };
        if host.http2.replace(shared).is_none() {
            kept.connections += 1;
        }
        self.reap(&mut kept);
    }

    /// Keeps a connection after `response`, if it can take another request.
    pub(super) fn put_back(
        &self,
        destination: &str,
        connection: Connection,
        response: &ForwardResponse,
    ) {
        let keep_for = keep_alive(&response.headers).min(self.limits.idle_timeout);
        let expires = Instant::now() + keep_for;
        let Connection { protocol, address } = connection;
        match protocol {
            Protocol::Http1(mut http1) => {
                if response.truncated || keep_for.is_zero() || !http1.is_ready() {
                    return;
                }
                let mut kept = self.lock();
                if kept.connections >= self.limits.max_idle {
                    return;
                }
                let host = kept.host(destination);
                if host.http1.len() >= self.limits.max_idle_per_host {
                    return;
                }
                let runtime = Handle::current().id();
                host.http1.push(Idle { http1, address, expires, runtime });
                kept.connections += 1;
                self.reap(&mut kept);
            }
            Protocol::Http2(http2) => {
                let mut kept = self.lock();
                if let Some(host) = kept.hosts.get_mut(destination)
                    && let Some(shared) = &mut host.http2
                    && shared.connection.is_same(&http2)
                {
                    shared.expires = expires.max(shared.expires);
                }
            }
        }
    }

    /// Takes a connection that failed away from those who would share it.
    /// Requests that are on it already go on.
    pub(super) fn forget(&self, destination: &str, connection: &Connection) {
        let Protocol::Http2(http2) = &connection.protocol else { return };
        let mut kept = self.lock();
        if let Some(host) = kept.hosts.get_mut(destination)
            && host.http2.as_ref().is_some_and(|shared| shared.connection.is_same(http2))
        {
            host.http2 = None;
            kept.connections -= 1;
        }
    }

    fn reap(&self, kept: &mut Kept) {
        if !kept.reaping {
            kept.reaping = true;
            let reaper = Reaper { kept: Arc::downgrade(&self.kept), done: false };
            tokio::spawn(reaper.run(self.limits.idle_timeout));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().connections
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn host(&mut self, destination: &str) -> &mut Host {
        // Two lookups and no allocation, instead of an entry's one of each.
        if !self.hosts.contains_key(destination) {
            self.hosts.insert(destination.into(), Host::default());
        }
        self.hosts.get_mut(destination).expect("inserted above")
    }
}

/// Closes what has expired, until nothing is left.
struct Reaper {
    kept: Weak<Mutex<Kept>>,
    done: bool,
}

impl Reaper {
    async fn run(mut self, idle_timeout: Duration) {
        while !self.done {
            sleep(idle_timeout).await;
            let Some(kept) = self.kept.upgrade() else { return };
            let mut expired = Vec::new();
            let mut kept = lock(&kept);
            let now = Instant::now();
            let mut left = 0;
            kept.hosts.retain(|_, host| {
                expired.extend(host.http1.extract_if(.., |idle| idle.expires <= now));
                host.http2.take_if(|shared| shared.expires <= now || !shared.connection.is_open());
                left += host.http1.len() + usize::from(host.http2.is_some());
                !host.http1.is_empty() || host.http2.is_some()
            });
            kept.connections = left;
            kept.reaping = left > 0;
            self.done = !kept.reaping;
            drop(kept);
            drop(expired);
        }
    }
}

impl Drop for Reaper {
    /// Its runtime may end before it is done; the next connection starts another.
    fn drop(&mut self) {
        if let Some(kept) = self.kept.upgrade().filter(|_| !self.done) {
            lock(&kept).reaping = false;
        }
    }
}

/// How long the destination says it keeps an idle connection (`Keep-Alive:
/// timeout=5`), less a second for the way there.
fn keep_alive(headers: &HeaderMap) -> Duration {
    static KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
    headers
        .get(&KEEP_ALIVE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| {
            value.split(',').find_map(|part| {
                let (name, seconds) = part.split_once('=')?;
                name.trim().eq_ignore_ascii_case("timeout").then(|| seconds.trim().parse().ok())?
            })
        })
        .map_or(Duration::MAX, |seconds: u64| Duration::from_secs(seconds.saturating_sub(1)))
}
