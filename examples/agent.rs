//! An agent in the process: it takes webhooks of an output that is nobody's address,
//! and its report is the sender's answer.
//!
//! ```text
//! cargo run -p examples --example agent
//! ```

use http_body_util::{BodyExt, Full};
use tower_service::Service;
use webhook_core::{
    Clock, SystemClock, Webhooks,
    admin::Caller,
    forward::http::HttpForwarder,
    model::{BucketSpec, DeliveryStatus, InputSpec, OutputSpec, ResponseFromOutput},
    relay::{ClientInfo, Listening, Streamed},
    store::{ClientReport, Stores, memory::MemoryStore},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let forwarder = HttpForwarder::builder().build();
    let webhooks =
        Webhooks::builder(Stores::of(MemoryStore::default())).forwarder(forwarder).build();
    let admin = webhooks.admin();
    let account = admin.create_account("me", None).await?.0.id;
    let me = Caller::for_account(account);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let mut output = OutputSpec::new("laptop", "http://localhost:3000/hook");
    output.internal = true;
    admin.create_output(&me, bucket.id, output).await?;
    let mut input = InputSpec::default();
    input.name = "asks".into();
    input.response_from_output = ResponseFromOutput::Any;
    let input = admin.create_input(&me, bucket.id, input).await?;

    let clients = webhooks.clients();
    let mut subscription = clients.subscribe(account, Listening::All, ClientInfo::default());
    let agent = async {
        let Streamed::Webhook(webhook) = subscription.next().await? else { return Ok(()) };
        println!("{} gets {:?}", webhook.output_destination, webhook.request.body);
        let mut report = ClientReport::new(webhook.id, SystemClock.now(), DeliveryStatus::Sent);
        (report.status_code, report.response_body) = (201, "taken".into());
        clients.report(account, report).await.map(drop)
    };
    let request =
        http::Request::post(format!("/v1/webhooks/{}", input.id)).body(Full::from("7"))?;
    let mut ingest = webhooks.ingest();
    let (answer, agent) = tokio::join!(ingest.call(request), agent);
    agent?;
    let answer = answer?;
    let status = answer.status();
    println!("the sender gets {status}: {:?}", answer.into_body().collect().await?.to_bytes());
    Ok(())
}
