//! A runtime with one thread for each core, for connections.
//!
//! A connection stays on the runtime that it is put on, and with it what its webhooks
//! cause up to the outcome of their deliveries: nothing is handed from one thread to
//! another, which costs a wake-up there and cold memory here. What computes has its
//! place elsewhere: functions on threads of their own, management requests on the main
//! runtime, whose threads take work from each other.

use std::{
    io,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::AbortHandle,
};

/// The runtimes for connections. Dropped it cuts off what still runs on its own ones.
#[derive(Debug)]
pub(crate) struct CoreRuntimes {
    cores: Vec<Core>,
}

#[derive(Debug)]
struct Core {
    handle: Handle,
    /// None when the runtime is the caller's.
    own: Option<Runtime>,
    /// How many connections are there.
    connections: Arc<AtomicUsize>,
}

/// The place of one connection on a runtime, until it is dropped.
#[derive(Debug)]
pub(crate) struct CoreSlot {
    handle: Handle,
    connections: Arc<AtomicUsize>,
}

impl CoreRuntimes {
    /// As many as the cores that this process may use, unless connections are to
    /// `share` the runtime that this is called on.
    pub(crate) fn start(share: bool) -> io::Result<Self> {
        if share {
            let core = Core { handle: Handle::current(), own: None, connections: Arc::default() };
            return Ok(Self { cores: vec![core] });
        }
        Self::of(thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }

    fn of(count: usize) -> io::Result<Self> {
        let core = |_| {
            // The kind with several threads, though it has one: whoever wakes a task from
            // outside, as SQLite's thread does for each webhook, makes a system call only
            // when the thread sleeps.
            let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
            let handle = runtime.handle().clone();
            Ok(Core { handle, own: Some(runtime), connections: Arc::default() })
        };
        Ok(Self { cores: (0..count).map(core).collect::<io::Result<_>>()? })
    }

    /// A place on the runtime that has the fewest connections.
    pub(crate) fn slot(&self) -> Option<CoreSlot> {
        let core = self.cores.iter().min_by_key(|core| core.connections.load(Ordering::Relaxed))?;
        core.connections.fetch_add(1, Ordering::Relaxed);
        Some(CoreSlot { handle: core.handle.clone(), connections: Arc::clone(&core.connections) })
    }
}

impl Drop for CoreRuntimes {
    fn drop(&mut self) {
        for runtime in self.cores.drain(..).filter_map(|core| core.own) {
            runtime.shutdown_background();
        }
    }
}

impl CoreSlot {
    /// Runs what is `made` there, to its end.
    pub(crate) fn spawn<F>(self, made: impl FnOnce() -> F + Send + 'static) -> AbortHandle
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let handle = self.handle.clone();
        let task = handle.spawn(async move {
            let _slot = self;
            made().await;
        });
        task.abort_handle()
    }
}

impl Drop for CoreSlot {
    fn drop(&mut self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tokio::{runtime, sync::oneshot};

    use super::*;

    async fn runtime_of(slot: CoreSlot) -> runtime::Id {
        let (say, said) = oneshot::channel();
        slot.spawn(move || async move {
            let _ = say.send(Handle::current().id());
        });
        said.await.expect("it runs")
    }

    #[tokio::test]
    async fn slots_are_shared_out_and_given_back() -> io::Result<()> {
        let cores = CoreRuntimes::of(2)?;
        let (first, second) = (cores.slot().expect("one"), cores.slot().expect("another"));
        let taken = HashSet::from([first.handle.id(), second.handle.id()]);
        assert_eq!(taken.len(), 2);
        let freed = first.handle.id();
        assert_eq!(runtime_of(first).await, freed);
        // The task has said so just before its end.
        while cores.cores.iter().all(|core| core.connections.load(Ordering::Relaxed) == 1) {
            tokio::task::yield_now().await;
        }
        assert_eq!(cores.slot().map(|slot| slot.handle.id()), Some(freed));
        drop(second);
        Ok(())
    }

    #[tokio::test]
    async fn the_end_cuts_off_what_runs() -> io::Result<()> {
        let cores = CoreRuntimes::of(1)?;
        let (held, cut) = oneshot::channel::<()>();
        cores.slot().expect("one").spawn(move || async move {
            let _held = held;
            std::future::pending().await
        });
        // Within a runtime, where waiting for another's end is not allowed.
        drop(cores);
        assert!(cut.await.is_err());
        Ok(())
    }

    #[tokio::test]
    async fn a_shared_runtime_is_the_caller_s_and_goes_on() -> io::Result<()> {
        let cores = CoreRuntimes::start(true)?;
        let slot = cores.slot().expect("one");
        assert_eq!(slot.handle.id(), Handle::current().id());
        drop(cores);
        assert_eq!(runtime_of(slot).await, Handle::current().id());
        Ok(())
    }
}
