//! Traces, which the feature `otel` adds (`docs/tracing.md`).

use std::sync::Arc;

use webhook_core::relay::Observer;

use crate::failure::Failure;

#[cfg(feature = "otel")]
pub(crate) use webhook_otel::Tracer;

/// A tracer as the `OTEL_*` variables say.
#[cfg(feature = "otel")]
#[allow(
    clippy::disallowed_methods,
    reason = "they are the standard's, and no options of this server"
)]
pub(crate) fn start() -> Result<Tracer, Failure> {
    use webhook_core::{forward::http::HttpForwarder, guard::AddressGuard};
    let settings = webhook_otel::Settings::read(|name| std::env::var(name).ok())
        .map_err(|error| Failure::new(error.to_string()))?;
    // The operator says where the collector is.
    let forwarder = HttpForwarder::builder().guard(AddressGuard::allow_all()).build();
    Ok(Tracer::start(settings, Arc::new(forwarder)))
}

/// What observes the relay.
#[cfg(feature = "otel")]
pub(crate) fn observer(counts: Arc<dyn Observer>, tracer: &Tracer) -> Arc<dyn Observer> {
    Arc::new(webhook_otel::Traced::new(counts, tracer.clone()))
}

#[cfg(not(feature = "otel"))]
pub(crate) use off::Tracer;

#[cfg(not(feature = "otel"))]
pub(crate) fn start() -> Result<Tracer, Failure> {
    Ok(Tracer)
}

/// A warning about `OTEL_*` variables that this program does not read.
#[cfg(not(feature = "otel"))]
#[allow(
    clippy::disallowed_methods,
    reason = "they are the standard's, and no options of this server"
)]
pub(crate) fn unheard() -> Option<String> {
    let is_off = std::env::var("OTEL_SDK_DISABLED").is_ok_and(|it| it.eq_ignore_ascii_case("true"));
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| name.starts_with("OTEL_")).collect();
    names.sort();
    (!is_off && !names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("{names}: this program was built without the feature otel, and traces nothing")
    })
}

/// Nothing: the tracer reads them all.
#[cfg(feature = "otel")]
pub(crate) fn unheard() -> Option<String> {
    None
}

#[cfg(not(feature = "otel"))]
pub(crate) fn observer(counts: Arc<dyn Observer>, _: &Tracer) -> Arc<dyn Observer> {
    counts
}

/// What stands where nothing is traced, and comes to nothing.
#[cfg(not(feature = "otel"))]
mod off {
    use axum::http::{Request, Response};

    #[derive(Clone, Debug)]
    pub(crate) struct Tracer;

    pub(crate) struct Receiving;

    impl Tracer {
        pub(crate) fn receiving<B>(&self, _: Option<&str>, _: &Request<B>) -> Receiving {
            Receiving
        }

        pub(crate) async fn close(&self) {}
    }

    impl Receiving {
        pub(crate) fn log_span(&self) -> tracing::Span {
            tracing::Span::none()
        }

        pub(crate) fn answered<B>(self, _: &Response<B>) {}
    }
}
