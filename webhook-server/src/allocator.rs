//! Where memory comes from: mimalloc, with which a webhook needs less of the processor
//! than with the C library's allocator (`docs/performance.md`).

use std::time::Duration;

use commonware_allocator::mimalloc::{Config, MiMalloc, Purge};

/// What is freed goes back to the system when a busy thread looks after it, and
/// when no thread is busy it stays. So what functions may want for a moment, large
/// strings and tables, is taken from the system and given back piece by piece.
const LARGEST_KEPT: usize = 512 * 1024;

/// Without huge pages, of which an idle server would hold some and use little.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc::new(Config {
    purge: Purge::After(Duration::from_millis(100)),
    transparent_huge_pages: false,
    arena_max_object_size: LARGEST_KEPT,
    ..Config::DEFAULT
});
