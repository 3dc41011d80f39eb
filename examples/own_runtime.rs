//! A runtime of one's own for functions: the language has one word, `upper`.
//!
//! ```text
//! cargo run -p examples --example own_runtime
//! ```

use std::{sync::Arc, time::Duration};

use http_body_util::Full;
use tower_service::Service;
use webhook_core::{
    Webhooks,
    admin::Caller,
    forward::ScriptedForwarder,
    function::{Completion, FunctionError, FunctionRuntime, Invocation, ScriptOutcome},
    model::{BucketSpec, Driver, FunctionSpec, OutputSpec},
    store::{Stores, memory::MemoryStore},
};

#[derive(Debug)]
struct Upper;

#[async_trait::async_trait]
impl FunctionRuntime for Upper {
    async fn check(&self, _: Driver, source: &str) -> Result<(), FunctionError> {
        match source.trim() {
            "upper" => Ok(()),
            other => Err(FunctionError::Compile { line: 1, reason: format!("{other}?") }),
        }
    }

    async fn run(&self, Invocation { mut request, .. }: Invocation) -> Completion {
        request.body = request.body.to_ascii_uppercase().into();
        let outcome = ScriptOutcome {
            request,
            response: None,
            response_modified: false,
            stop_forwarding: false,
        };
        Completion { result: Ok(outcome), logs: Vec::new(), duration: Duration::ZERO }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let destinations = ScriptedForwarder::new();
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
        .forwarder(destinations.clone())
        .functions(Arc::new(Upper))
        .build();
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let upper = admin.create_function(&me, FunctionSpec::new("f", Driver::Wasm, "upper")).await?;
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let mut output = OutputSpec::new("shop", "https://orders.example.com/new");
    output.function_id = Some(upper.id);
    admin.create_output(&me, bucket.id, output).await?;
    let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id))
        .body(Full::from("hello"))?;
    webhooks.ingest().call(request).await?;
    webhooks.run_until_idle().await?;
    println!("{:?}", destinations.requests()[0].body);
    Ok(())
}
