//! A webhook every second, until two have arrived. `30 9 * * 1-5` is as good a schedule.
//!
//! ```text
//! cargo run -p examples --example cron
//! ```

use tokio::sync::mpsc;
use webhook_core::{
    Webhooks,
    admin::Caller,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    model::CronSpec,
    store::{Stores, memory::MemoryStore},
};

/// Tells the program in place of the network.
#[derive(Debug)]
struct Told(mpsc::UnboundedSender<ForwardRequest>);

#[async_trait::async_trait]
impl Forwarder for Told {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        // The program ends when it has seen enough.
        let _ = self.0.send(request);
        Ok(ForwardResponse::empty(http::StatusCode::OK))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (told, mut arrived) = mpsc::unbounded_channel();
    let stores = Stores::of(MemoryStore::default());
    let webhooks = Webhooks::builder(stores).forwarder(Told(told)).build();
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let mut spec = CronSpec::new("@every 1s", "https://reports.example.com/daily");
    spec.payload = r#"{"report":"sales"}"#.into();
    let cron = admin.create_cron(&me, spec).await?.cron;
    println!("it will run: {}", cron.next_run.is_some());

    let enough = async {
        for _ in 0..2 {
            if let Some(request) = arrived.recv().await {
                println!("{} {} {:?}", request.method, request.url, request.body);
            }
        }
    };
    webhooks.run(enough).await?;
    Ok(())
}
