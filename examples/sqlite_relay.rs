//! The relay on SQLite without the server: what it has taken survives a crash.
//!
//! ```text
//! cargo run -p examples --example sqlite_relay
//! ```

use http_body_util::Full;
use tower_service::Service;
use webhook_core::{
    Webhooks, admin::Caller, forward::http::HttpForwarder, model::BucketSpec, store::Stores,
};
use webhook_storage::{DatabaseUrl, SecretKey, Storage, StorageOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join("webhook-example");
    std::fs::create_dir_all(&folder)?;
    let key = SecretKey::load_or_create(folder.join("secret.key"))?;
    let url = DatabaseUrl::Sqlite(folder.join("webhooks.db"));
    let stores = Stores::of(Storage::connect(&StorageOptions::new(url, key)).await?);

    let forwarder = HttpForwarder::builder().build();
    let webhooks = Webhooks::builder(stores).forwarder(forwarder).build();
    let admin = webhooks.admin();
    let me = match admin.accounts().await?.first() {
        Some(account) => Caller::for_account(account.id),
        None => Caller::for_account(admin.create_account("me", None).await?.0.id),
    };
    let bucket = match admin.buckets(&me).await?.into_iter().next() {
        Some(bucket) => bucket,
        None => admin.create_bucket(&me, BucketSpec::new("orders")).await?,
    };

    let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id))
        .body(Full::from("durable"))?;
    println!("the sender gets {}", webhooks.ingest().call(request).await?.status());
    webhooks.run_until_idle().await?;
    Ok(())
}
