//! The relay inside an axum application, with everything in memory.
//!
//! ```text
//! cargo run -p examples --example embed_in_axum
//! curl -d '{"hello":"world"}' http://127.0.0.1:3000/v1/webhooks/<the printed input>
//! ```
//!
//! The webhook arrives at the application's own route `/orders`.

use axum::{Router, routing};
use webhook_core::{
    Webhooks,
    admin::{AdminOptions, Caller},
    forward::http::HttpForwarder,
    guard::AddressGuard,
    model::{BucketSpec, OutputSpec},
    store::{Stores, memory::MemoryStore},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).unwrap_or_else(|| "3000".into());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    let address = listener.local_addr()?;

    // This program sends to itself, which senders from outside must not reach.
    let mut options = AdminOptions::default();
    options.guard = AddressGuard::allow_all();
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
        .forwarder(HttpForwarder::builder().guard(options.guard.clone()).build())
        .admin_options(options)
        .build();

    let admin = webhooks.admin();
    let (account, _key) = admin.create_account("me", None).await?;
    let me = Caller::for_account(account.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let spec = OutputSpec::new("here", format!("http://{address}/orders"));
    admin.create_output(&me, bucket.id, spec).await?;
    println!("http://{address}/v1/webhooks/{}", bucket.inputs[0].id);

    let application = Router::new()
        .route("/orders", routing::post(|body: String| async move { println!("arrived: {body}") }))
        .route_service("/v1/webhooks/{*rest}", webhooks.ingest());
    let dispatcher = tokio::spawn(async move { webhooks.run(stop()).await });
    axum::serve(listener, application).with_graceful_shutdown(stop()).await?;
    Ok(dispatcher.await??)
}

async fn stop() {
    let _ = tokio::signal::ctrl_c().await;
}
