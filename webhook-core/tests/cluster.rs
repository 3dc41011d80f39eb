//! Several relays over one store that tell one another what they know, while what carries it
//! works, loses and doubles messages.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tower_service::Service;
use webhook_core::{
    Error, NodeId, Timestamp, TokioClock, Webhooks,
    admin::Caller,
    cluster::{Broadcast, Inbox, Local, To},
    forward::{Answer, ScriptedForwarder},
    model::{
        Bucket, BucketSpec, DeliveryStatus, InputSpec, OutputSpec, ResponseFromOutput, TokenSpec,
    },
    relay::{ClientInfo, Listening, RelayOptions, Streamed, StreamedWebhook, Subscription},
    store::{ClientReport, Stores, memory::MemoryStore},
};

const START: Timestamp = Timestamp::from_secs(1_700_000_000);
/// What a message takes at most here.
const AT_ONCE: Duration = Duration::from_millis(100);
/// Within which time clients get what was lost on the way to them.
const FOUND: Duration = Duration::from_secs(6);

/// A carrier that does not always do what it should.
#[derive(Clone, Debug, Default)]
struct Carrier {
    local: Local,
    /// How many of the next messages for single nodes get lost.
    loses: Arc<AtomicU64>,
    doubles: Arc<AtomicU64>,
    /// How many messages for single nodes there were.
    told: Arc<AtomicU64>,
}

impl Broadcast for Carrier {
    fn publish(&self, to: To, message: Bytes) {
        if to != To::All {
            self.told.fetch_add(1, Ordering::Relaxed);
            let lose = |left: u64| left.checked_sub(1);
            if self.loses.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lose).is_ok() {
                return;
            }
        }
        for _ in 0..=self.doubles.load(Ordering::Relaxed) {
            self.local.publish(to, message.clone());
        }
    }

    fn subscribe(&self, node: NodeId) -> Box<dyn Inbox> {
        self.local.subscribe(node)
    }
}

/// A process.
struct Node {
    webhooks: Webhooks,
    forwarder: ScriptedForwarder,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), Error>>,
}

impl Node {
    fn start(stores: &Stores, carrier: &Carrier, clock: TokioClock) -> Self {
        let forwarder = ScriptedForwarder::new();
        let mut options = RelayOptions::default();
        options.sweep_interval = Some(Duration::from_secs(1));
        options.lease = Duration::from_secs(5);
        let webhooks = Webhooks::builder(stores.clone())
            .forwarder(forwarder.clone())
            .clock(clock)
            .broadcast(Arc::new(carrier.clone()))
            .options(options)
            .build();
        let (stop, stopped) = oneshot::channel();
        let running = webhooks.clone();
        let task = tokio::spawn(async move { running.run(async { drop(stopped.await) }).await });
        Self { webhooks, forwarder, stop: Some(stop), task }
    }

    async fn post(&self, bucket: &Bucket, body: &str) -> Response<Bytes> {
        let request = http::Request::post(format!("/v1/webhooks/{}", bucket.inputs[0].id));
        let request = request.body(Full::from(body.to_owned())).expect("a request");
        let answer = self.webhooks.ingest().call(request).await.expect("infallible");
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.expect("infallible").to_bytes();
        Response::from_parts(parts, body)
    }

    fn subscribe(&self, me: &Caller, listening: Listening) -> Subscription {
        let info = ClientInfo { token_id: me.token_id(), ..ClientInfo::default() };
        self.webhooks.clients().subscribe(me.account_id(), listening, info)
    }

    async fn stop(mut self) {
        drop(self.stop.take());
        self.task.await.expect("no panic").expect("a clean stop");
    }
}

/// Three processes over one store, with an account and a bucket.
struct House {
    carrier: Carrier,
    nodes: [Node; 3],
    me: Caller,
    bucket: Bucket,
}

async fn house(input: InputSpec) -> Result<House, Error> {
    let stores = Stores::of(MemoryStore::default());
    let (carrier, clock) = (Carrier::default(), TokioClock::starting_at(START));
    let nodes = [(); 3].map(|()| Node::start(&stores, &carrier, clock));
    let admin = nodes[0].webhooks.admin();
    let me = Caller::for_account(admin.create_account("me", None).await?.0.id);
    let mut bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
    let mut spec = input;
    spec.name = "in".to_owned();
    bucket.inputs[0] = admin.update_input(&me, bucket.id, bucket.inputs[0].id, spec).await?;
    sleep(AT_ONCE).await;
    Ok(House { carrier, nodes, me, bucket })
}

impl House {
    /// Adds an output for clients.
    async fn internal(&self) -> Result<(), Error> {
        let mut spec = OutputSpec::new("agent", "http://localhost:3000/hook");
        spec.internal = true;
        self.nodes[0].webhooks.admin().create_output(&self.me, self.bucket.id, spec).await?;
        sleep(AT_ONCE).await;
        Ok(())
    }
}

async fn next(subscription: &mut Subscription, within: Duration) -> Arc<StreamedWebhook> {
    let next = timeout(within, subscription.next()).await.expect("it comes in time");
    match next.expect("readable") {
        Streamed::Webhook(event) => event,
        other => panic!("a webhook expected, not {other:?}"),
    }
}

async fn nothing(subscription: &mut Subscription) {
    let waiting = timeout(Duration::from_secs(30), subscription.next()).await;
    assert!(waiting.is_err(), "nothing expected, not {waiting:?}");
}

#[tokio::test(start_paused = true)]
async fn what_changes_at_one_is_seen_at_the_others_at_once() -> Result<(), Error> {
    let House { nodes, me, bucket, .. } = house(InputSpec::default()).await?;
    // They keep what they have read until they are told.
    for node in &nodes {
        assert_eq!(node.post(&bucket, "1").await.status(), StatusCode::OK);
    }
    let admin = nodes[0].webhooks.admin();
    let spec = OutputSpec::new("shop", "https://example.com/");
    let output = admin.create_output(&me, bucket.id, spec.clone()).await?;
    sleep(AT_ONCE).await;
    nodes[1].post(&bucket, "2").await;
    nodes[1].forwarder.finished(1).await;
    let mut spec = spec;
    spec.disabled = true;
    admin.update_output(&me, bucket.id, output.id, spec).await?;
    sleep(AT_ONCE).await;
    nodes[1].post(&bucket, "3").await;
    admin.delete_bucket(&me, bucket.id, true).await?;
    sleep(AT_ONCE).await;
    for node in &nodes {
        assert_eq!(node.post(&bucket, "4").await.status(), StatusCode::NOT_FOUND);
    }
    assert_eq!(nodes[1].forwarder.requests().len(), 1);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn who_came_with_a_credential_that_is_withdrawn_elsewhere_goes() -> Result<(), Error> {
    let House { nodes, me, .. } = house(InputSpec::default()).await?;
    let admin = nodes[0].webhooks.admin();
    let token = admin.create_token(&me, TokenSpec::default()).await?.token;
    let mut with_token = nodes[1].webhooks.clients().subscribe(
        me.account_id(),
        Listening::All,
        ClientInfo { token_id: Some(token.id), ..ClientInfo::default() },
    );
    let mut with_key = nodes[1].subscribe(&me, Listening::All);
    admin.delete_token(&me, token.id).await?;
    let ended = timeout(AT_ONCE, with_token.next()).await.expect("at once")?;
    assert_eq!(ended, Streamed::Closed);
    nothing(&mut with_key).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_client_gets_what_any_node_receives_and_no_node_is_told_in_vain() -> Result<(), Error> {
    let house = house(InputSpec::default()).await?;
    house.internal().await?;
    let House { carrier, nodes, me, bucket } = &house;
    let mut here = nodes[0].subscribe(me, Listening::All);
    let mut there = nodes[1].subscribe(me, Listening::Buckets([bucket.id].into()));
    let mut elsewhere = nodes[1].subscribe(me, Listening::Buckets(HashSet::new()));
    sleep(AT_ONCE).await;
    let told = carrier.told.load(Ordering::Relaxed);
    for (node, body) in nodes.iter().zip(["a", "b", "c"]) {
        node.post(bucket, body).await;
        for client in [&mut here, &mut there] {
            let event = next(client, AT_ONCE).await;
            assert_eq!((&*event.request.body, &*event.output_name), (body.as_bytes(), "agent"));
        }
    }
    // The first tells the second one, the second the first, the third both.
    assert_eq!(carrier.told.load(Ordering::Relaxed) - told, 4);
    for client in [&mut here, &mut there, &mut elsewhere] {
        nothing(client).await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_is_found_in_the_store_and_what_is_doubled_comes_once() -> Result<(), Error> {
    let house = house(InputSpec::default()).await?;
    house.internal().await?;
    let House { carrier, nodes, me, bucket } = &house;
    let mut client = nodes[1].subscribe(me, Listening::All);
    sleep(AT_ONCE).await;
    carrier.loses.store(1, Ordering::Relaxed);
    nodes[0].post(bucket, "lost").await;
    assert_eq!(next(&mut client, FOUND).await.request.body, "lost");

    // The number of the next one says that one is missing.
    sleep(FOUND).await;
    carrier.loses.store(1, Ordering::Relaxed);
    nodes[0].post(bucket, "lost too").await;
    nodes[0].post(bucket, "not lost").await;
    let two = [next(&mut client, AT_ONCE).await, next(&mut client, AT_ONCE).await];
    let two: HashSet<_> = two.iter().map(|event| event.request.body.clone()).collect();
    assert_eq!(two, HashSet::from([Bytes::from_static(b"lost too"), "not lost".into()]));

    // What is too long to be carried is read at once.
    let long = "x".repeat(1 << 20);
    nodes[0].post(bucket, &long).await;
    assert_eq!(next(&mut client, AT_ONCE).await.request.body, long);

    carrier.doubles.store(2, Ordering::Relaxed);
    nodes[0].post(bucket, "tripled").await;
    assert_eq!(next(&mut client, AT_ONCE).await.request.body, "tripled");
    nothing(&mut client).await;

    // Nothing comes through for long.
    carrier.loses.store(u64::MAX, Ordering::Relaxed);
    for number in 0..60 {
        nodes[0].post(bucket, &number.to_string()).await;
        let event = next(&mut client, FOUND).await;
        assert_eq!(event.request.body, number.to_string());
        sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

fn answering() -> InputSpec {
    let mut input = InputSpec::default();
    (input.response_from_output, input.status_code) = (ResponseFromOutput::Any, 202);
    input
}

/// What a client says that it did.
fn report(event: &StreamedWebhook, body: &'static str) -> ClientReport {
    let mut report = ClientReport::new(event.id, START, DeliveryStatus::Sent);
    report.status_code = 201;
    report.response_headers = HeaderMap::from_iter([(
        http::HeaderName::from_static("x-from"),
        http::HeaderValue::from_static("agent"),
    )]);
    report.response_body = Bytes::from_static(body.as_bytes());
    report
}

#[tokio::test(start_paused = true)]
async fn a_sender_gets_the_answer_of_a_client_at_another_node_through_a_third() -> Result<(), Error>
{
    for has_output in [true, false] {
        let house = house(answering()).await?;
        if has_output {
            house.internal().await?;
        }
        let House { nodes: [first, second, third], me, bucket, .. } = &house;
        let mut client = second.subscribe(me, Listening::All);
        sleep(AT_ONCE).await;
        let began = Instant::now();
        let reporting = async {
            let event = next(&mut client, AT_ONCE).await;
            // What it does with it takes a moment.
            sleep(Duration::from_millis(5)).await;
            third.webhooks.clients().report(me.account_id(), report(&event, "made")).await
        };
        let (answer, reported) = tokio::join!(first.post(bucket, "x"), reporting);
        assert_eq!(reported?.delivery.status, DeliveryStatus::Sent);
        let got = (answer.status(), &answer.body()[..]);
        assert_eq!(got, (StatusCode::CREATED, &b"made"[..]), "{has_output} {:?}", began.elapsed());
        assert_eq!(answer.headers()["x-from"], "agent");
        assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_sender_gets_the_static_answer_when_the_answer_is_lost() -> Result<(), Error> {
    let house = house(answering()).await?;
    house.internal().await?;
    let House { carrier, nodes: [first, second, _], me, bucket } = &house;
    let mut client = second.subscribe(me, Listening::All);
    sleep(AT_ONCE).await;
    let reporting = async {
        let event = next(&mut client, AT_ONCE).await;
        carrier.loses.store(1, Ordering::Relaxed);
        second.webhooks.clients().report(me.account_id(), report(&event, "lost")).await
    };
    let began = Instant::now();
    let (answer, reported) = tokio::join!(first.post(bucket, "x"), reporting);
    assert_eq!(reported?.delivery.status, DeliveryStatus::Sent);
    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    assert!(began.elapsed() >= Duration::from_secs(10));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_clients_of_all_nodes_are_listed() -> Result<(), Error> {
    let House { carrier, nodes, me, bucket } = house(InputSpec::default()).await?;
    let admin = nodes[0].webhooks.admin();
    let _clients = [
        nodes[0].subscribe(&me, Listening::All),
        nodes[1].subscribe(&me, Listening::All),
        nodes[1].subscribe(&me, Listening::Buckets([bucket.id].into())),
    ];
    let other = Caller::for_account(webhook_core::AccountId::generate());
    let _stranger = nodes[2].subscribe(&other, Listening::All);
    let began = Instant::now();
    let (clients, more) = admin.clients(&me).await?;
    assert_eq!((clients.len(), more), (3, false));
    assert!(began.elapsed() < AT_ONCE);

    // Nobody answers in time.
    carrier.loses.store(u64::MAX, Ordering::Relaxed);
    let (clients, more) = admin.clients(&me).await?;
    assert_eq!((clients.len(), more), (1, true));
    assert_eq!(began.elapsed().as_millis(), 200);

    // A node that ended is not waited for.
    let [first, second, third] = nodes;
    second.stop().await;
    third.stop().await;
    sleep(AT_ONCE).await;
    let (clients, more) = first.webhooks.admin().clients(&me).await?;
    assert_eq!((clients.len(), more), (1, false));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn retries_of_a_node_that_ends_are_made_in_time() -> Result<(), Error> {
    let House { nodes: [first, second, third], me, bucket, .. } =
        house(InputSpec::default()).await?;
    let spec = OutputSpec::new("shop", "https://example.com/");
    first.webhooks.admin().create_output(&me, bucket.id, spec).await?;
    sleep(AT_ONCE).await;
    let down = Answer::status(StatusCode::SERVICE_UNAVAILABLE);
    first.forwarder.script("https://example.com/", [down]);
    first.post(&bucket, "x").await;
    first.forwarder.finished(1).await;
    sleep(AT_ONCE).await;
    let began = Instant::now();
    first.stop().await;
    // The first retry comes a second after the attempt; a sweep would wait for 2 s more.
    tokio::select! {
        _ = second.forwarder.finished(1) => {}
        _ = third.forwarder.finished(1) => {}
    }
    assert!(began.elapsed() < Duration::from_millis(1_300), "{:?}", began.elapsed());
    Ok(())
}
