//! Programs that measure whole processes (`src/bin`). Benchmarks of single parts:
//! `cargo bench -p microbenches`.
