//! A destination of one's own: webhooks to `queue://orders` go into a queue of this process.
//!
//! ```text
//! cargo run -p examples --example own_destination
//! ```

use http_body_util::Full;
use tokio::sync::mpsc::{Sender, channel, error::TrySendError};
use tower_service::Service;
use webhook_core::{
    Webhooks,
    admin::Caller,
    destination::{Answer, Deadline, Destination, Outgoing, SendError, Url},
    model::{BucketSpec, OutputSpec},
    store::{Stores, memory::MemoryStore},
};

/// The queue `orders`. The relay tries again when the queue is full.
#[derive(Debug)]
pub(crate) struct Queue(pub(crate) Sender<bytes::Bytes>);

#[async_trait::async_trait]
impl Destination for Queue {
    fn schemes(&self) -> &[&str] {
        &["queue"]
    }

    fn check(&self, url: &Url) -> Result<(), String> {
        match url.host_str() {
            Some("orders") => Ok(()),
            _ => Err("the only queue is orders".to_owned()),
        }
    }

    async fn send(&self, outgoing: Outgoing, _: Deadline) -> Result<Answer, SendError> {
        let nack = |reason: &str, retryable| Answer::Nack { reason: reason.to_owned(), retryable };
        Ok(match self.0.try_send(outgoing.body) {
            Ok(()) => Answer::Ack { detail: "queued".into() },
            Err(TrySendError::Full(_)) => nack("the queue is full", true),
            Err(TrySendError::Closed(_)) => nack("the queue is closed", false),
        })
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (sender, mut orders) = channel(16);
    let stores = Stores::of(MemoryStore::default());
    let webhooks = Webhooks::builder(stores).destination(Queue(sender)).build();
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    admin.create_output(&me, bucket.id, OutputSpec::new("queue", "queue://orders")).await?;
    let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id));
    webhooks.ingest().call(request.body(Full::from("{\"total\":12}"))?).await?;
    webhooks.run_until_idle().await?;
    println!("in the queue: {:?}", orders.recv().await);
    Ok(())
}
