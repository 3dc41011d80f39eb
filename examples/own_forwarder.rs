//! A forwarder of one's own: deliveries are printed in place of being sent.
//!
//! ```text
//! cargo run -p examples --example own_forwarder
//! ```

use http_body_util::Full;
use tower_service::Service;
use webhook_core::{
    Webhooks,
    admin::Caller,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    model::{BucketSpec, OutputSpec},
    store::{Stores, memory::MemoryStore},
};

/// Writes each delivery to standard output.
#[derive(Debug)]
struct Printer;

#[async_trait::async_trait]
impl Forwarder for Printer {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        println!("{} {} {:?}", request.method, request.url, request.body);
        Ok(ForwardResponse::empty(http::StatusCode::OK))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stores = Stores::of(MemoryStore::default());
    let webhooks = Webhooks::builder(stores).forwarder(Printer).build();
    let admin = webhooks.admin();
    let (account, _key) = admin.create_account("me", None).await?;
    let me = Caller::for_account(account.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let spec = OutputSpec::new("shop", "https://orders.example.com/new");
    admin.create_output(&me, bucket.id, spec).await?;

    let request = http::Request::post(format!("/v1/webhooks/{}?id=7", bucket.inputs[0].id))
        .body(Full::from("{\"total\":12}"))?;
    let answer = webhooks.ingest().call(request).await?;
    println!("the sender gets {}", answer.status());
    webhooks.run_until_idle().await?;
    Ok(())
}
