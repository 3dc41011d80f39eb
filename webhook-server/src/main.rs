//! The webhook forwarding service as one binary.
//!
//! This crate reads the configuration and connects the parts: `webhook_core` decides what
//! happens, `webhook_storage` keeps it. A reader starts at [`cli`] and goes on to
//! [`lifecycle`], then to [`edge`], which gives webhooks to the relay and everything else
//! to [`router`].

mod account;
mod agent;
mod api;
mod auth;
mod backup;
mod check;
mod cli;
mod compatibility;
mod config;
mod connections;
mod core_runtimes;
#[cfg(feature = "dashboard")]
mod dashboard;
mod data_folder;
mod dev;
mod docs;
mod edge;
mod error;
mod extract;
mod failure;
mod first_start;
mod functions;
mod lifecycle;
mod log;
mod manifest;
mod mcp;
mod nats;
mod node;
mod nodes;
mod objects;
mod openapi;
mod otel;
mod pages;
mod permit;
mod print;
mod query;
mod router;
mod runtime;
mod scrape;
mod service;
mod shares;
mod shell;
mod socket;
mod state;
mod telemetry;
mod tls;
mod warnings;

/// It gives memory back to the operating system, which the C library's keeps (`docs/deploying.md`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
