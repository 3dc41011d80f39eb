//! Which cores a thread may run on. Linux only; elsewhere all stay as they are.

/// Binds the calling thread to one core. Threads that it starts are bound as
/// well, until they [`roam`].
#[cfg(target_os = "linux")]
pub(super) fn stay_on(core: usize) {
    use rustix::thread::CpuSet;

    if let Some(all) = linux::all()
        && all.is_set(core)
    {
        let mut one = CpuSet::new();
        one.set(core);
        linux::bind(&one);
    }
}

/// Lets the calling thread run wherever the process might when it started.
#[cfg(target_os = "linux")]
pub(crate) fn roam() {
    if let Some(all) = linux::all() {
        linux::bind(all);
    }
}

/// The cores that the process might run on when it was first asked.
#[cfg(target_os = "linux")]
pub(super) fn cores() -> Vec<usize> {
    use rustix::thread::CpuSet;

    let all = linux::all();
    all.map_or_else(Vec::new, |all| (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core)).collect())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::OnceLock;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// None on a machine with more cores than a set has room for.
    pub(super) fn all() -> Option<&'static CpuSet> {
        static ALL: OnceLock<Option<CpuSet>> = OnceLock::new();
        ALL.get_or_init(|| sched_getaffinity(None).ok()).as_ref()
    }

    pub(super) fn bind(cores: &CpuSet) {
        // It is faster so, and no worse than before if it is not.
        if let Err(error) = sched_setaffinity(None, cores) {
            tracing::debug!(%error, "a thread stays where it is");
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn stay_on(_: usize) {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn roam() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn cores() -> Vec<usize> {
    Vec::new()
}
