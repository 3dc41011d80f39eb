//! The relay behind layers of tower: a trace, a deadline, a limit of requests and of bytes.
//!
//! ```text
//! cargo run -p examples --example tower_layers
//! ```

use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::Full;
use tower::{ServiceBuilder, ServiceExt, limit::ConcurrencyLimitLayer};
use tower_http::{limit::RequestBodyLimitLayer, timeout::TimeoutLayer, trace::TraceLayer};
use webhook_core::{
    Webhooks,
    admin::Caller,
    forward::http::HttpForwarder,
    model::BucketSpec,
    store::{Stores, memory::MemoryStore},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt()
        .with_env_filter("tower_http=debug")
        .with_writer(std::io::stderr)
        .init();
    let forwarder = HttpForwarder::builder().build();
    let webhooks =
        Webhooks::builder(Stores::of(MemoryStore::default())).forwarder(forwarder).build();
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;

    // A request that is dropped at the deadline is stored whole or not at all.
    let deadline = Duration::from_secs(10);
    let service = ServiceBuilder::new()
        .layer(TraceLayer::new_for_http())
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, deadline))
        .layer(ConcurrencyLimitLayer::new(256))
        .layer(RequestBodyLimitLayer::new(1024))
        .service(webhooks.ingest());

    for size in [1_000, 2_000] {
        let request = Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id));
        let request = request.header("content-length", size).body(Full::from(vec![b'a'; size]))?;
        let answer = service.clone().oneshot(request).await?;
        println!("{size} bytes: the sender gets {}", answer.status());
    }
    webhooks.run_until_idle().await?;
    Ok(())
}
