//! The destination of the example, under all that the relay does for every destination.

#[path = "../own_destination.rs"]
mod example;

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::Full;
use ring::hmac;
use tokio::{
    sync::{
        mpsc::{Receiver, Sender, channel, error::TryRecvError},
        oneshot,
    },
    task::JoinHandle,
    time::sleep,
};
use tower_service::Service;
use webhook_core::{
    Error, ErrorKind, OutputId, Timestamp, TokioClock, Webhooks,
    admin::{Caller, LogQuery},
    credentials::{ApiKeyAuth, AuthSpec, BearerAuth, SigningFormat, SigningSecret, SigningSpec},
    destination::{Answer, Deadline, Destination, Outgoing, SendError},
    forward::ScriptedForwarder,
    model::{
        Bucket, BucketSpec, CircuitState, DeliveryStatus, Extension, Health, InputSpec, Log,
        OutputSpec, RateInterval, Reason, ReplaySpec, ResponseFromOutput, ResumeRequest, Trace,
    },
    store::{Stores, memory::MemoryStore},
};

const START: Timestamp = Timestamp::from_secs(1_700_000_000);

/// A relay with an output to a queue, which has one place.
struct Shop {
    webhooks: Webhooks,
    me: Caller,
    bucket: Bucket,
    output: OutputId,
    queue: Receiver<Bytes>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Result<(), Error>>,
}

impl Shop {
    async fn new() -> Result<Self, Error> {
        let (sender, queue) = channel(1);
        let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
            .destination(example::Queue(sender))
            .clock(TokioClock::starting_at(START))
            .build();
        let admin = webhooks.admin();
        let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
        let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
        let mut spec = OutputSpec::new("queue", "queue://orders");
        let mut health = Health::default();
        (health.circuit.failures, health.circuit.ratio) = (3, 0.1);
        spec.health = Extension::Set(health);
        let output = admin.create_output(&me, bucket.id, spec).await?.id;
        let (stop, stopped) = oneshot::channel();
        let running = webhooks.clone();
        let running = tokio::spawn(async move { running.run(async { drop(stopped.await) }).await });
        Ok(Self { webhooks, me, bucket, output, queue, stop, running })
    }

    async fn post(&self, body: &'static str) -> http::StatusCode {
        let request = http::Request::post(format!("/v1/webhooks/{}", self.bucket.inputs[0].id));
        let request = request.body(Full::from(body)).expect("a request");
        let answer = self.webhooks.ingest().call(request).await.expect("infallible");
        sleep(Duration::from_millis(10)).await;
        answer.status()
    }

    /// The newest log.
    async fn log(&self) -> Result<Log, Error> {
        let page = self.webhooks.admin().logs(&self.me, &LogQuery::default()).await?;
        Ok(page.logs.into_iter().next().expect("a log"))
    }

    async fn trace(&self) -> Result<Trace, Error> {
        self.webhooks.admin().trace(&self.me, self.log().await?.delivery.id).await
    }

    async fn circuit(&self) -> Result<CircuitState, Error> {
        let admin = self.webhooks.admin();
        Ok(admin.output_state(&self.me, self.bucket.id, self.output).await?.circuit)
    }

    /// Takes the next body out of the queue.
    fn take(&mut self) -> Result<Bytes, TryRecvError> {
        self.queue.try_recv()
    }

    async fn stop(self) -> Result<(), Error> {
        drop(self.stop);
        self.running.await.expect("no panic")
    }
}

#[test]
fn the_example_runs() {
    example::main().expect("it ends well");
}

#[tokio::test(start_paused = true)]
async fn an_output_is_checked_by_its_destination() -> Result<(), Error> {
    let shop = Shop::new().await?;
    for (url, refusal) in [
        ("queue://others", "destination: the only queue is orders"),
        ("queue:///orders", "destination: host is missing"),
        (
            "QUEUE://me:secret@orders",
            "destination: user name and password do not belong into the url; use an Authorization header",
        ),
        (
            "line://orders",
            "destination: must be an absolute url that starts with http:// or https:// or queue://",
        ),
        ("http://127.0.0.1/", "destination: host 127.0.0.1 is not public (loopback)"),
    ] {
        let spec = OutputSpec::new("another", url);
        let refused = shop.webhooks.admin().create_output(&shop.me, shop.bucket.id, spec).await;
        let error = refused.expect_err(url);
        assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::Invalid, refusal));
    }
    shop.stop().await
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_gets_the_webhook_again() -> Result<(), Error> {
    let mut shop = Shop::new().await?;
    shop.post("first").await;
    let log = shop.log().await?;
    let last = log.delivery.last.as_ref().expect("an attempt");
    assert_eq!(log.delivery.status, DeliveryStatus::Sent);
    assert_eq!(
        (last.status_code, &last.response_body[..], &last.error),
        (0, &b"queued"[..], &None)
    );
    assert_eq!(shop.trace().await?.verdict, "sent: the destination took it at attempt 1");

    shop.post("second").await;
    let log = shop.log().await?;
    assert_eq!(log.delivery.status, DeliveryStatus::Received);
    let last = log.delivery.last.as_ref().expect("an attempt");
    assert_eq!((last.status_code, last.error.as_deref()), (0, Some("the queue is full")));
    assert_eq!(shop.take().expect("the first"), "first");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(shop.take().expect("the second"), "second");

    let trace = shop.trace().await?;
    assert_eq!(
        (trace.status, &*trace.verdict),
        (DeliveryStatus::Sent, "sent: the destination took it at attempt 2")
    );
    let attempts: Vec<_> =
        trace.attempts.iter().map(|it| (it.trigger, it.status_code, it.error_kind)).collect();
    assert_eq!(attempts, [("first", 0, Some("nack")), ("retry", 0, None)]);
    shop.stop().await
}

#[tokio::test(start_paused = true)]
async fn a_closed_queue_fails_the_delivery() -> Result<(), Error> {
    let mut shop = Shop::new().await?;
    shop.queue.close();
    shop.post("first").await;
    let Log { delivery, .. } = shop.log().await?;
    assert_eq!(
        (delivery.status, delivery.reason),
        (DeliveryStatus::Failed, Some(Reason::DestinationRefused))
    );
    assert_eq!(shop.trace().await?.verdict, "failed: the queue is closed");
    shop.stop().await
}

#[tokio::test(start_paused = true)]
async fn the_circuit_opens_and_closes() -> Result<(), Error> {
    let mut shop = Shop::new().await?;
    for body in ["first", "second", "third"] {
        shop.post(body).await;
    }
    assert_eq!(shop.circuit().await?, CircuitState::Closed);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(shop.circuit().await?, CircuitState::Open);
    assert_eq!(shop.take().expect("the first"), "first");
    sleep(Duration::from_secs(20)).await;
    assert_eq!(shop.take(), Err(TryRecvError::Empty), "nothing is sent");
    sleep(Duration::from_secs(20)).await;
    assert_eq!(shop.circuit().await?, CircuitState::Closed);
    assert!(shop.take().is_ok());
    shop.stop().await
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_webhooks_back_and_a_replay_sends_them_again() -> Result<(), Error> {
    let mut shop = Shop::new().await?;
    let (admin, bucket) = (shop.webhooks.admin().clone(), shop.bucket.id);
    admin.pause_output(&shop.me, bucket, shop.output, Default::default()).await?;
    shop.post("held").await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(shop.take(), Err(TryRecvError::Empty));
    admin.resume_output(&shop.me, bucket, shop.output, ResumeRequest::default()).await?;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(shop.take().expect("the webhook"), "held");
    assert_eq!(shop.trace().await?.attempts[0].trigger, "resume");

    let mut again = ReplaySpec::default();
    (again.rate, again.interval) = (1, RateInterval::Second);
    again.filter.from = "0".to_owned();
    let replay = admin.create_replay(&shop.me, again).await?;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(shop.take().expect("the webhook again"), "held");
    let replay = admin.replay(&shop.me, replay.id).await?;
    assert_eq!((replay.totals.queued, replay.totals.sent), (1, 1));
    assert_eq!(shop.trace().await?.attempts[0].trigger, "replay");
    shop.stop().await
}

#[tokio::test(start_paused = true)]
async fn a_sender_that_waits_gets_the_answer_of_the_input() -> Result<(), Error> {
    let shop = Shop::new().await?;
    let mut input = InputSpec::default();
    input.name = "waits".to_owned();
    input.status_code = 202;
    input.response_from_output = ResponseFromOutput::Any;
    let admin = shop.webhooks.admin();
    admin.update_input(&shop.me, shop.bucket.id, shop.bucket.inputs[0].id, input).await?;
    assert_eq!(shop.post("first").await, http::StatusCode::ACCEPTED);
    shop.stop().await
}

/// Keeps all that it gets.
#[derive(Debug)]
struct Recorder(Sender<Outgoing>);

#[async_trait::async_trait]
impl Destination for Recorder {
    fn schemes(&self) -> &[&str] {
        &["record"]
    }

    async fn send(&self, outgoing: Outgoing, _: Deadline) -> Result<Answer, SendError> {
        self.0.try_send(outgoing).expect("room for it");
        Ok(Answer::Ack { detail: Bytes::new() })
    }
}

/// An output whose secrets begin with `name`.
fn output_with_secrets(name: &str, url: &str, auth: AuthSpec) -> OutputSpec {
    let mut signing = SigningSpec::default();
    signing.format = SigningFormat::HmacBody;
    let secret = format!("{name}-signing-secret").into();
    signing.secrets = vec![SigningSecret { secret, expires_at: Timestamp::default() }];
    let mut spec = OutputSpec::new(name, url);
    spec.headers.0.insert("x-shop", format!("{name}-header").parse().expect("a value"));
    (spec.signing, spec.auth) = (Extension::Set(signing), Extension::Set(auth));
    spec
}

/// The signature of `body` with the secret of the output `name`.
fn signature(name: &str, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, format!("{name}-signing-secret").as_bytes());
    let tag = hmac::sign(&key, body.as_bytes());
    let hex = tag.as_ref().iter().map(|byte| format!("{byte:02x}"));
    format!("sha256={}", hex.collect::<String>())
}

fn values<'a>(headers: &'a HeaderMap, name: &str) -> Vec<&'a [u8]> {
    headers.get_all(name).iter().map(|value| value.as_bytes()).collect()
}

/// All that a destination can read. A value that is marked as a secret counts as its text.
fn all_text(outgoing: &Outgoing) -> String {
    let headers = outgoing.headers.iter();
    let values = headers.map(|(_, value)| String::from_utf8_lossy(value.as_bytes()));
    format!("{outgoing:?} {}", values.collect::<Vec<_>>().join(" "))
}

#[tokio::test(start_paused = true)]
async fn a_destination_gets_no_secrets_of_other_outputs() -> Result<(), Error> {
    let (sender, mut record) = channel(2);
    let forwarder = ScriptedForwarder::new();
    let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
        .destination(Recorder(sender))
        .forwarder(forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .build();
    let admin = webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let key = |name: &str| {
        let value = format!("{name}-key").into();
        AuthSpec::ApiKey(ApiKeyAuth { name: "x-api-key".into(), place: None, value })
    };
    let bearer = AuthSpec::Bearer(BearerAuth { token: "shop-token".to_owned().into() });
    for spec in [
        output_with_secrets("first", "record://first", key("first")),
        output_with_secrets("second", "record://second", key("second")),
        output_with_secrets("shop", "https://shop.example/", bearer),
    ] {
        admin.create_output(&me, bucket.id, spec).await?;
    }
    let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id));
    let request = request.body(Full::from("order")).expect("a request");
    webhooks.ingest().call(request).await.expect("infallible");
    webhooks.run_until_idle().await?;

    let mut seen = Vec::new();
    while let Ok(outgoing) = record.try_recv() {
        let name = outgoing.url.host().expect("a host").to_owned();
        assert_eq!(values(&outgoing.headers, "x-api-key"), [format!("{name}-key").as_bytes()]);
        assert_eq!(values(&outgoing.headers, "x-shop"), [format!("{name}-header").as_bytes()]);
        let signed = signature(&name, "order");
        assert_eq!(values(&outgoing.headers, "webhook-signature"), [signed.as_bytes()]);
        let text = all_text(&outgoing);
        for other in ["first", "second", "shop"].into_iter().filter(|it| *it != name) {
            assert!(!text.contains(&format!("{other}-")), "{name} sees {other}: {text}");
            assert!(!text.contains(&signature(other, "order")), "{name} sees {other}: {text}");
        }
        assert!(!text.contains("signing-secret"), "the secret itself stays with the relay: {text}");
        seen.push(name);
    }
    seen.sort();
    assert_eq!(seen, ["first", "second"]);
    // The secrets of the third output were in use at the same time.
    let requests = forwarder.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(values(&requests[0].headers, "authorization"), [b"Bearer shop-token"]);
    let signed = signature("shop", "order");
    assert_eq!(values(&requests[0].headers, "webhook-signature"), [signed.as_bytes()]);
    Ok(())
}
