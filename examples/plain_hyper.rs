//! The relay behind hyper alone, without a web framework.
//!
//! ```text
//! cargo run -p examples --example plain_hyper
//! curl -d '{"hello":"world"}' http://127.0.0.1:3000/v1/webhooks/<the printed input>
//! ```

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tower_service::Service;
use webhook_core::{
    Webhooks,
    admin::Caller,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    model::{BucketSpec, OutputSpec},
    relay::ClientAddr,
    store::{Stores, memory::MemoryStore},
};

/// Says what would leave.
#[derive(Debug)]
struct Printer;

#[async_trait::async_trait]
impl Forwarder for Printer {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        println!("from {:?}: {:?}", request.headers["x-forwarded-for"], request.body);
        Ok(ForwardResponse::empty(http::StatusCode::OK))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).unwrap_or_else(|| "3000".into());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default())).forwarder(Printer).build();
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let spec = OutputSpec::new("shop", "https://orders.example.com/new");
    admin.create_output(&me, bucket.id, spec).await?;
    println!("http://{}/v1/webhooks/{}", listener.local_addr()?, bucket.inputs[0].id);

    let ingest = webhooks.ingest();
    tokio::spawn(async move { webhooks.run(std::future::pending()).await });
    loop {
        let (stream, from) = listener.accept().await?;
        let ingest = ingest.clone();
        let service = service_fn(move |mut request| {
            // Without this the sender's address is unknown.
            request.extensions_mut().insert(ClientAddr { ip: from.ip(), secure: false });
            ingest.clone().call(request)
        });
        let mut http = http1::Builder::new();
        let connection =
            http.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}
