//! Traces of webhooks, for an OpenTelemetry collector.
//!
//! A webhook that is received is a span, and so is each attempt to deliver it. A trace goes on
//! that the sender's `traceparent` names; otherwise the trace has the webhook's identifier, so
//! that nothing has to be stored for attempts to find it, and the destination gets a
//! `traceparent` with the attempt's span. Spans leave by OTLP over HTTP, in protobuf, in
//! batches, and are dropped when too many wait: no webhook waits for its trace.
//!
//! ```no_run
//! use std::sync::Arc;
//! use webhook_core::{Webhooks, forward::Forwarder, relay::Observer, store::{Stores, memory::MemoryStore}};
//! use webhook_otel::{Settings, Traced, Tracer};
//!
//! async fn traced(
//!     counts: Arc<dyn Observer>,
//!     to_collector: Arc<dyn Forwarder>,
//! ) -> Result<(Webhooks, Tracer), webhook_otel::InvalidVariable> {
//!     let settings = Settings::read(|name| std::env::var(name).ok())?;
//!     let tracer = Tracer::start(settings, to_collector);
//!     let observer = Arc::new(Traced::new(counts, tracer.clone()));
//!     let stores = Stores::of(MemoryStore::default());
//!     Ok((Webhooks::builder(stores).observer(observer).build(), tracer))
//! }
//! ```

mod context;
mod export;
mod observer;
mod sampler;
mod settings;
mod span;
mod tracer;

pub use observer::Traced;
pub use settings::{InvalidVariable, Settings};
pub use tracer::{Receiving, Tracer};
