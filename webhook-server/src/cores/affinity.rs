//! Which cores a thread may run on. Linux only; elsewhere all stay as they are.

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use none as system;

pub(crate) use system::roam;
pub(super) use system::{cores, stay_on};

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::OnceLock;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// Where the process might run before any of its threads was bound. None on a
    /// machine with more cores than a set has room for.
    static ALL: OnceLock<Option<CpuSet>> = OnceLock::new();

    /// The cores that the process may run on, before any of its threads is bound.
    pub(crate) fn cores() -> Vec<usize> {
        let all = ALL.get_or_init(|| sched_getaffinity(None).ok()).as_ref();
        all.map_or_else(Vec::new, |all| {
            (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core)).collect()
        })
    }

    /// Binds the calling thread to one of the [`cores`]. Threads that it starts are
    /// bound as well, until they [`roam`].
    pub(crate) fn stay_on(core: usize) {
        let mut one = CpuSet::new();
        one.set(core);
        bind(&one);
    }

    /// Lets the calling thread run on all [`cores`]; without an effect where nobody
    /// has asked for them, and so no thread is bound.
    pub(crate) fn roam() {
        if let Some(all) = ALL.get().and_then(Option::as_ref) {
            bind(all);
        }
    }

    fn bind(cores: &CpuSet) {
        // It is faster so, and no worse than before if it is not.
        if let Err(error) = sched_setaffinity(None, cores) {
            tracing::debug!(%error, "a thread stays where it is");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod none {
    pub(crate) fn cores() -> Vec<usize> {
        Vec::new()
    }

    pub(crate) fn stay_on(_: usize) {}

    pub(crate) fn roam() {}
}
