//! The webhook forwarding service as one binary.
//!
//! This crate reads the configuration and connects the parts: `webhook_core` decides what
//! happens, `webhook_storage` keeps it. A reader starts at [`cli`] and goes on to
//! [`service::lifecycle`], then to [`listen::edge`], which gives webhooks to the relay and everything else
//! to [`router`].

mod agent;
mod api;
mod cli;
mod config;
#[cfg(feature = "dashboard")]
mod dashboard;
mod failure;
mod listen;
mod manifest;
mod mcp;
mod openapi;
mod pages;
mod print;
mod router;
mod service;
mod socket;
mod state;
mod telemetry;

/// It gives memory back to the operating system, which the C library's keeps (`docs/deploying.md`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
