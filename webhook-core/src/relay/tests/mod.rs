//! The data path over memory stores, a scripted forwarder and paused time.

mod answering;
mod bounds;
mod credentials;
mod crons;
mod delivering;
mod duplicates;
mod erasing;
mod failing;
mod forwarding;
mod functions;
mod handshakes;
mod health;
mod history;
mod hosting;
mod incomplete;
mod judging;
mod naming;
mod notifying;
mod pausing;
mod receiving;
mod reconnecting;
mod replays;
mod routing;
mod signatures;
mod skew;
mod slow;
mod streaming;
mod sweeping;
mod throttling;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tokio::{sync::oneshot, task::JoinHandle};
use tower_service::Service;

use super::{ClientAddr, Relay, RelayOptions};
use crate::{
    Error, Timestamp, TokioClock, Webhooks,
    forward::{Answer, CheckedOnDrop, ScriptedForwarder},
    id::{AccountId, BucketId, InputId, OutputId},
    model::{
        Bucket, BucketSpec, DeliveryStatus, Input, InputSpec, Log, Output, OutputSpec, PauseChange,
    },
    store::{BucketStore, Change, InputStore, OutputStore, Stores, memory::MemoryStore},
};

const START: Timestamp = Timestamp::from_secs(1_700_000_000);
const HOOK: &str = "https://example.com/hook";

/// A relay with one bucket and one input, that delivers until the test ends it.
struct World {
    stores: Stores,
    relay: Relay,
    forwarder: ScriptedForwarder,
    bucket: Bucket,
    input: InputId,
    dispatcher: Option<Dispatcher>,
    began: tokio::time::Instant,
    _checked: CheckedOnDrop,
}

/// Ends when its sender is dropped.
type Dispatcher = (oneshot::Sender<()>, JoinHandle<Result<(), Error>>);

impl World {
    async fn new() -> Self {
        Self::with(BucketSpec::default(), InputSpec::default(), RelayOptions::default()).await
    }

    async fn with(bucket: BucketSpec, input: InputSpec, options: RelayOptions) -> Self {
        let stores = Stores::of(MemoryStore::default());
        let began = tokio::time::Instant::now();
        let forwarder = ScriptedForwarder::new();
        let relay = Webhooks::builder(stores.clone())
            .forwarder(forwarder.clone())
            .clock(TokioClock::starting_at(START))
            .options(options)
            .build()
            .relay()
            .clone();
        let mut bucket = Bucket::new(BucketId::generate(), AccountId::generate(), START, bucket);
        let input = Input::new(InputId::generate(), bucket.id, START, input);
        bucket.inputs.push(input.clone());
        stores.documents.create_bucket(&bucket).await.expect("a new bucket");
        let _checked = forwarder.checked_on_drop();
        Self {
            stores,
            relay,
            forwarder,
            bucket,
            input: input.id,
            dispatcher: None,
            began,
            _checked,
        }
    }

    /// Adds an output.
    async fn output(&mut self, spec: OutputSpec) -> OutputId {
        let output = Output::new(OutputId::generate(), self.bucket.id, START, spec);
        self.stores
            .documents
            .create_output(self.bucket.account_id, &output)
            .await
            .expect("a new output");
        self.relay.bucket_changed(&self.bucket);
        self.bucket.outputs.push(output.clone());
        output.id
    }

    async fn output_to(&mut self, destination: &str) -> OutputId {
        self.output(OutputSpec {
            name: destination.to_owned(),
            destination: destination.to_owned(),
            ..OutputSpec::default()
        })
        .await
    }

    /// Starts to deliver.
    async fn deliver(&mut self) {
        let (stop, stopped) = oneshot::channel();
        let relay = self.relay.clone();
        let dispatcher =
            tokio::spawn(async move { relay.run(async { drop(stopped.await) }).await });
        self.dispatcher = Some((stop, dispatcher));
        tokio::task::yield_now().await;
    }

    /// Delivers one webhook, and then stops. The log of that webhook.
    async fn deliver_one(&mut self) -> Log {
        self.deliver().await;
        self.post("x").await;
        self.forwarder.finished(1).await;
        let log = self.outcome_of_request(0).await;
        self.stop().await;
        log
    }

    /// Stops to deliver and waits for what is in flight.
    async fn stop(&mut self) {
        let (stop, dispatcher) = self.dispatcher.take().expect("it delivers");
        drop(stop);
        dispatcher.await.expect("no panic").expect("a clean stop");
    }

    async fn send(&self, request: http::request::Builder, body: &str) -> Response<Bytes> {
        let mut request = request.body(Full::from(body.to_owned())).expect("a request");
        let ip = [203, 0, 113, 7].into();
        request.extensions_mut().insert(ClientAddr { ip, secure: true });
        let response = self.relay.ingest().call(request).await.expect("infallible");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("infallible").to_bytes();
        Response::from_parts(parts, body)
    }

    async fn post(&self, body: &str) -> Response<Bytes> {
        self.send(http::Request::post(self.address()), body).await
    }

    fn address(&self) -> String {
        format!("/v1/webhooks/{}", self.input)
    }

    /// The logs of all deliveries to the forwarder so far, by their header.
    async fn log_of_request(&self, index: usize) -> Log {
        let request = self.forwarder.requests().swap_remove(index);
        let id = request.headers["x-webhook-relay-id"].to_str().expect("text").parse();
        self.stores
            .deliveries
            .log(self.bucket.account_id, id.expect("an id"))
            .await
            .expect("readable")
            .expect("logged")
    }

    /// Waits until the log of the request is final.
    async fn outcome_of_request(&self, index: usize) -> Log {
        loop {
            let log = self.log_of_request(index).await;
            if log.delivery.status.is_final() {
                return log;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Lets time pass in steps of a minute. The relay looks at a queue that waits every few seconds,
/// and in a step it looks once. So a test of some days takes less than a second.
async fn pass(time: Duration) {
    const STEP: Duration = Duration::from_secs(60);
    const AFTER: Duration = Duration::from_millis(1);
    let mut left = time;
    while left > STEP {
        // The relay does its work before the next step.
        tokio::time::sleep(AFTER).await;
        tokio::time::advance(STEP - AFTER).await;
        left -= STEP;
    }
    tokio::time::sleep(left).await;
}

fn unavailable() -> Answer {
    Answer::status(StatusCode::SERVICE_UNAVAILABLE)
}
