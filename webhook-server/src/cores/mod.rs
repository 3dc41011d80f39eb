//! A thread and a runtime for each core, for connections.
//!
//! A connection stays where it is put, and with it what its webhooks cause up
//! to the outcome of their deliveries: nothing is handed from one core to
//! another, which costs a wake-up there and cold memory here. What computes has
//! its place elsewhere: functions on threads of their own, management requests
//! on the main runtime, whose threads take work from each other.
//!
//! The threads are bound to their cores: the system would move them about with
//! every wake-up, to where nothing of theirs is in the caches. All others roam.

mod affinity;

use std::{
    io,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::AbortHandle,
};

pub(crate) use affinity::roam;

/// Dropped it cuts off what still runs.
#[derive(Debug)]
pub(crate) struct Cores {
    cores: Vec<Core>,
}

#[derive(Debug)]
struct Core {
    handle: Handle,
    runtime: Option<Runtime>,
    places: Arc<AtomicUsize>,
}

/// A place on a core, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    runtime: Handle,
    places: Arc<AtomicUsize>,
}

impl Cores {
    /// As many as this process may use, each bound to one of them if asked.
    pub(crate) fn start(bound: bool) -> io::Result<Self> {
        if webhook_core::ablation::without("core-runtimes") {
            let handle = Handle::current();
            let core = Core { handle, runtime: None, places: Arc::default() };
            return Ok(Self { cores: vec![core] });
        }
        let count = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let cores = if bound { affinity::cores() } else { Vec::new() };
        // Who has a share of the time of many cores, as containers may, would
        // meet all others on the first ones.
        match cores.len() == count {
            true => Self::of(cores.into_iter().map(Some)),
            false => Self::of((0..count).map(|_| None)),
        }
    }

    fn of(cores: impl IntoIterator<Item = Option<usize>>) -> io::Result<Self> {
        let core = |core| {
            let runtime = runtime(core)?;
            let handle = runtime.handle().clone();
            Ok(Core { handle, runtime: Some(runtime), places: Arc::default() })
        };
        Ok(Self { cores: cores.into_iter().map(core).collect::<io::Result<_>>()? })
    }

    /// A place on the core that has the fewest.
    pub(crate) fn place(&self) -> Option<Place> {
        let core = self.cores.iter().min_by_key(|core| core.places.load(Ordering::Relaxed))?;
        core.places.fetch_add(1, Ordering::Relaxed);
        let runtime = core.handle.clone();
        Some(Place { runtime, places: Arc::clone(&core.places) })
    }
}

fn runtime(core: Option<usize>) -> io::Result<Runtime> {
    // This kind of runtime even for a single thread: who wakes a task from
    // outside, as SQLite's thread does for each webhook, makes a system
    // call only when the thread sleeps.
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all();
    if let Some(core) = core {
        // Its first thread is the one that works; others are for what blocks.
        let works = AtomicBool::new(true);
        builder.on_thread_start(move || match works.swap(false, Ordering::Relaxed) {
            true => affinity::stay_on(core),
            false => roam(),
        });
    }
    builder.build()
}

impl Drop for Cores {
    fn drop(&mut self) {
        for core in self.cores.drain(..) {
            if let Some(runtime) = core.runtime {
                runtime.shutdown_background();
            }
        }
    }
}

impl Place {
    /// Runs what is `made` there, to its end.
    pub(crate) fn spawn<F>(self, made: impl FnOnce() -> F + Send + 'static) -> AbortHandle
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = self.runtime.clone();
        let task = runtime.spawn(async move {
            let _place = self;
            made().await;
        });
        task.abort_handle()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tokio::{runtime, sync::oneshot};

    use super::*;

    async fn runtime_of(place: Place) -> runtime::Id {
        let (say, said) = oneshot::channel();
        place.spawn(move || async move {
            let _ = say.send(Handle::current().id());
        });
        said.await.expect("it runs")
    }

    #[tokio::test]
    async fn places_are_shared_out_and_given_back() -> io::Result<()> {
        let cores = Cores::of([None, None])?;
        let (first, second) = (cores.place().expect("one"), cores.place().expect("another"));
        let taken = HashSet::from([first.runtime.id(), second.runtime.id()]);
        assert_eq!(taken.len(), 2);
        let freed = first.runtime.id();
        assert_eq!(runtime_of(first).await, freed);
        // The task has said so just before its end.
        while cores.cores.iter().all(|core| core.places.load(Ordering::Relaxed) == 1) {
            tokio::task::yield_now().await;
        }
        assert_eq!(cores.place().map(|place| place.runtime.id()), Some(freed));
        drop(second);
        Ok(())
    }

    #[tokio::test]
    async fn the_end_cuts_off_what_runs() -> io::Result<()> {
        let cores = Cores::of([None])?;
        let (held, cut) = oneshot::channel::<()>();
        cores.place().expect("one").spawn(move || async move {
            let _held = held;
            std::future::pending().await
        });
        // Within a runtime, where waiting for another's end is not allowed.
        drop(cores);
        assert!(cut.await.is_err());
        Ok(())
    }

    /// How many cores the thread may run on.
    fn room() -> usize {
        thread::available_parallelism().map_or(1, NonZeroUsize::get)
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_core_s_thread_stays_there_and_what_it_starts_does_not() -> io::Result<()> {
        let everywhere = Some(room());
        let Some(core) = affinity::cores().pop() else { return Ok(()) };
        let cores = Cores::of([Some(core)])?;
        let (say, said) = oneshot::channel();
        cores.place().expect("one").spawn(move || async move {
            let blocking = tokio::task::spawn_blocking(room).await;
            let other = thread::spawn(|| {
                roam();
                room()
            });
            let _ = say.send((room(), blocking.ok(), other.join().ok()));
        });
        assert_eq!(said.await.ok(), Some((1, everywhere, everywhere)));
        Ok(())
    }
}
