//! Programs that measure whole processes (`src/bin/load`), that make them fail
//! (`src/bin/torture`) and that watch their memory for hours (`src/bin/soak`), and what they are made of. Benchmarks of single
//! parts: `cargo bench -p microbenches`.

pub mod api;
pub mod connection;
pub mod event;
pub mod orders;
pub mod process;
pub mod program;

/// What can go wrong here is for people to read.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
