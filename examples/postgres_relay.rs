//! The relay on PostgreSQL, which several programs share: what one has taken, another delivers.
//!
//! ```text
//! cargo run -p examples --example postgres_relay -- postgres://postgres@127.0.0.1:5432/test
//! ```

use http_body_util::Full;
use tower_service::Service;
use webhook_core::{
    Webhooks,
    admin::Caller,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    model::{BucketSpec, OutputSpec},
    store::Stores,
};
use webhook_storage::{SecretKey, Storage, StorageOptions};

/// Says what would leave, and of which program.
#[derive(Debug)]
struct Printer(&'static str);

#[async_trait::async_trait]
impl Forwarder for Printer {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        println!("{}: {:?}", self.0, request.body);
        Ok(ForwardResponse::empty(http::StatusCode::OK))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("give the URL of a database")?;
    // Programs that share a database share the key that encrypts what is secret in it.
    let key = SecretKey::load_or_create(std::env::temp_dir().join("webhook-example.key"))?;
    let storage = Storage::connect(&StorageOptions::new(url.parse()?, key)).await?;
    let of = |name| Webhooks::builder(Stores::of(storage.clone())).forwarder(Printer(name)).build();
    let (receives, delivers) = (of("receives"), of("delivers"));

    let admin = receives.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let spec = OutputSpec::new("shop", "https://orders.example.com/new");
    admin.create_output(&me, bucket.id, spec).await?;
    let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id))
        .body(Full::from("shared"))?;
    println!("the sender gets {}", receives.ingest().call(request).await?.status());
    delivers.run_until_idle().await?;
    storage.close().await;
    Ok(())
}
