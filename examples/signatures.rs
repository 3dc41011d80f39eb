//! Only webhooks that GitHub has signed get in.
//!
//! ```text
//! cargo run -p examples --example signatures
//! ```

use http_body_util::Full;
use ring::hmac;
use tower_service::Service;
use webhook_core::{
    Webhooks,
    admin::Caller,
    forward::http::HttpForwarder,
    model::{BucketSpec, Extension, InputSpec, Secret, SecretSpec, SignatureSpec},
    store::{Stores, memory::MemoryStore},
};

const SECRET: &str = "what GitHub was given";

/// What GitHub does.
fn signed(body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let tag = hmac::sign(&key, body.as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let forwarder = HttpForwarder::builder().build();
    let webhooks =
        Webhooks::builder(Stores::of(MemoryStore::default())).forwarder(forwarder).build();
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("repository")).await?;
    let mut input = InputSpec::default();
    input.name = "github".into();
    input.signature = Extension::Set(SignatureSpec {
        provider: "github".into(),
        secrets: vec![SecretSpec { secret: Secret::new(SECRET), ..SecretSpec::default() }],
        ..SignatureSpec::default()
    });
    let input = admin.create_input(&me, bucket.id, input).await?;

    let body = r#"{"action":"opened"}"#;
    for (who, signature) in [("GitHub", signed(body)), ("somebody", signed("something else"))] {
        let request = http::Request::post(format!("/v1/webhooks/{}", input.id))
            .header("X-Hub-Signature-256", signature)
            .body(Full::from(body))?;
        println!("{who} gets {}", webhooks.ingest().call(request).await?.status());
    }
    Ok(())
}
