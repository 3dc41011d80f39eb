//! Benchmarks of the library: `cargo bench -p benches`.
