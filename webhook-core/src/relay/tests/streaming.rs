use super::*;
use crate::{
    id::DeliveryId,
    model::{ProcessPolicy, ReplayMissing, Resend},
    relay::{ClientInfo, Listening, Streamed, StreamedWebhook, Subscription},
    store::ClientReport,
};

async fn internal() -> World {
    let mut world = World::new().await;
    world
        .output(OutputSpec {
            name: "agent".into(),
            destination: "http://localhost:3000/hook".into(),
            internal: true,
            ..OutputSpec::default()
        })
        .await;
    world
}

impl World {
    fn subscribe(&self) -> Subscription {
        Subscription::new(
            self.relay.clients.clone(),
            self.bucket.account_id,
            Listening::All,
            ClientInfo::default(),
        )
    }

    async fn report(&self, event: &StreamedWebhook, status: DeliveryStatus, code: u16) -> Log {
        self.report_on(event.id, status, code).await
    }

    async fn report_on(&self, id: DeliveryId, status: DeliveryStatus, code: u16) -> Log {
        let report = ClientReport {
            id,
            now: START,
            status,
            status_code: code,
            response_headers: HeaderMap::new(),
            response_body: Bytes::from_static(b"from the agent"),
            retries: 0,
            duration: Duration::from_millis(5),
            lease: None,
        };
        self.relay.clients.report(self.bucket.account_id, report).await.expect("reported").log
    }
}

async fn next(subscription: &mut Subscription) -> Arc<StreamedWebhook> {
    match subscription.next().await.expect("readable") {
        Streamed::Webhook(event) => event,
        other => panic!("a webhook expected, not {other:?}"),
    }
}

async fn nothing(subscription: &mut Subscription) {
    let waiting = tokio::time::timeout(Duration::from_secs(5), subscription.next()).await;
    assert!(waiting.is_err(), "nothing expected, not {waiting:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_comes_first_then_what_is_new_to_everyone() {
    let world = internal().await;
    world.post("1").await;
    world.post("2").await;
    let mut first = world.subscribe();
    assert_eq!(next(&mut first).await.request.body, "1");
    let event = next(&mut first).await;
    assert_eq!(event.request.body, "2");
    assert_eq!(event.output_name, "agent");
    assert_eq!(event.output_destination, "http://localhost:3000/hook");
    let mut second = world.subscribe();
    nothing(&mut second).await;
    let request = http::Request::post(format!("{}/extra?q=1", world.address()));
    world.send(request, "3").await;
    for subscription in [&mut first, &mut second] {
        let event = next(subscription).await;
        assert_eq!(event.request.body, "3");
        assert_eq!(event.output_destination, "http://localhost:3000/hook/extra");
        assert_eq!(event.request.raw_query, "q=1");
        nothing(subscription).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_reported_on_waits_for_the_next_client() {
    let world = internal().await;
    let mut first = world.subscribe();
    world.post("reported").await;
    world.post("not reported").await;
    let event = next(&mut first).await;
    let log = world.report(&event, DeliveryStatus::Sent, 200).await;
    assert_eq!(log.delivery.status, DeliveryStatus::Sent);
    next(&mut first).await;
    drop(first);
    let mut second = world.subscribe();
    assert_eq!(next(&mut second).await.request.body, "not reported");
    nothing(&mut second).await;
}

#[tokio::test(start_paused = true)]
async fn a_second_report_changes_nothing() {
    let world = internal().await;
    let mut client = world.subscribe();
    world.post("x").await;
    let event = next(&mut client).await;
    world.report(&event, DeliveryStatus::Failed, 500).await;
    let log = world.report(&event, DeliveryStatus::Sent, 200).await;
    assert_eq!(log.delivery.status, DeliveryStatus::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_is_told_and_gets_everything() {
    let options = RelayOptions { client_queue: 4, ..RelayOptions::default() };
    let mut world = World::with(BucketSpec::default(), InputSpec::default(), options).await;
    world.output(OutputSpec { internal: true, ..OutputSpec::default() }).await;
    let mut slow = world.subscribe();
    nothing(&mut slow).await;
    for number in 0..200 {
        world.post(&number.to_string()).await;
    }
    let (mut bodies, mut told) = (Vec::new(), 0);
    while bodies.len() < 200 {
        match slow.next().await.expect("readable") {
            Streamed::Webhook(event) => bodies.push(event.request.body.clone()),
            Streamed::Missed(count) => told += count,
            Streamed::Closed => panic!("not closed"),
        }
    }
    assert_eq!(told, 196);
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), 200, "each once");
    nothing(&mut slow).await;
}

#[tokio::test(start_paused = true)]
async fn a_bucket_without_outputs_streams_and_one_that_does_not_stream_is_silent() {
    let world = World::new().await;
    let mut client = world.subscribe();
    world.post("live").await;
    let event = next(&mut client).await;
    assert_eq!((&event.output_name[..], &event.output_destination[..]), ("", ""));
    let silent = BucketSpec { stream: false, ..BucketSpec::default() };
    let world = World::with(silent, InputSpec::default(), RelayOptions::default()).await;
    let mut client = world.subscribe();
    world.post("x").await;
    nothing(&mut client).await;
}

#[tokio::test(start_paused = true)]
async fn public_outputs_are_not_streamed_and_other_accounts_hear_nothing() {
    let mut world = internal().await;
    world.output_to(HOOK).await;
    let mut stranger = Subscription::new(
        world.relay.clients.clone(),
        AccountId::generate(),
        Listening::All,
        ClientInfo::default(),
    );
    let mut elsewhere = Subscription::new(
        world.relay.clients.clone(),
        world.bucket.account_id,
        Listening::Buckets([BucketId::generate()].into()),
        ClientInfo::default(),
    );
    let mut client = world.subscribe();
    world.post("x").await;
    assert_eq!(next(&mut client).await.output_name, "agent");
    nothing(&mut client).await;
    nothing(&mut stranger).await;
    nothing(&mut elsewhere).await;
    assert_eq!(world.relay.clients.of(world.bucket.account_id).len(), 2);
    drop((client, elsewhere));
    assert!(world.relay.clients.of(world.bucket.account_id).is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_agents_answer_answers_the_sender() {
    let input = InputSpec {
        response_from_output: crate::model::ResponseFromOutput::Any,
        ..InputSpec::default()
    };
    let mut world = World::with(BucketSpec::default(), input, RelayOptions::default()).await;
    world.output(OutputSpec { internal: true, ..OutputSpec::default() }).await;
    let mut client = world.subscribe();
    let (answer, ()) = tokio::join!(world.post("x"), async {
        let event = next(&mut client).await;
        world.report(&event, DeliveryStatus::Sent, 201).await;
    });
    assert_eq!(
        (answer.status(), &answer.body()[..]),
        (StatusCode::CREATED, &b"from the agent"[..])
    );
}

#[tokio::test(start_paused = true)]
async fn without_outputs_a_subscribed_client_answers_the_sender() {
    let input = InputSpec {
        response_from_output: crate::model::ResponseFromOutput::Any,
        status_code: 202,
        ..InputSpec::default()
    };
    let world = World::with(BucketSpec::default(), input.clone(), RelayOptions::default()).await;
    assert_eq!(world.post("nobody is there").await.status(), 202);
    let other = Listening::Buckets([BucketId::generate()].into());
    let account = world.bucket.account_id;
    let _elsewhere =
        Subscription::new(world.relay.clients.clone(), account, other, ClientInfo::default());
    let mut agent = world.subscribe();
    agent.listen_to_outputs(Listening::All, vec!["agent".into()]);
    assert_eq!(world.post("nobody gets it").await.status(), 202);
    assert_eq!(world.relay.functions.clock.now(), START, "nobody was waited for");

    let mut client = world.subscribe();
    let (answer, ()) = tokio::join!(world.post("x"), async {
        let event = next(&mut client).await;
        world.report(&event, DeliveryStatus::Failed, 418).await;
    });
    let said = (answer.status(), &answer.body()[..]);
    assert_eq!(said, (StatusCode::IM_A_TEAPOT, &b"from the agent"[..]));
    assert_eq!(world.post("no report").await.status(), 202);
    assert_eq!(world.relay.functions.clock.now().since(START), Duration::from_secs(10));

    let quiet = BucketSpec { stream: false, ..BucketSpec::default() };
    let quiet = World::with(quiet, input, RelayOptions::default()).await;
    let _client = quiet.subscribe();
    assert_eq!(quiet.post("not streamed").await.status(), 202);
    assert_eq!(quiet.relay.functions.clock.now(), START);
}

#[tokio::test(start_paused = true)]
async fn without_outputs_a_client_that_connects_again_answers_the_sender() {
    let input = InputSpec {
        response_from_output: crate::model::ResponseFromOutput::Any,
        status_code: 202,
        ..InputSpec::default()
    };
    let world = World::with(BucketSpec::default(), input, RelayOptions::default()).await;
    let now = || world.relay.functions.clock.now();
    drop(world.subscribe());
    tokio::time::sleep(Duration::from_secs(59)).await;
    let (answer, ()) = tokio::join!(world.post("x"), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        // The client has connected again, and pulls what it has missed.
        let query = crate::store::LogQuery::new(1);
        let account = world.bucket.account_id;
        let page = world.stores.logs.logs(account, &query).await.expect("readable");
        world.report_on(page.logs[0].delivery.id, DeliveryStatus::Sent, 201).await;
    });
    assert_eq!(answer.status(), 201);
    tokio::time::sleep(Duration::from_secs(61)).await;
    let before = now();
    assert_eq!(world.post("nobody connects again").await.status(), 202);
    assert_eq!(now(), before, "nobody was waited for");
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_credential_ends_its_subscriptions() {
    let world = World::new().await;
    let mut client = world.subscribe();
    world.relay.clients.close(world.bucket.account_id, |_| true);
    assert_eq!(client.next().await.expect("readable"), Streamed::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_resend_is_a_delivery_of_its_own() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    let other = world.output_to("https://example.com/other").await;
    world.deliver().await;
    world.post("x").await;
    world.forwarder.finished(2).await;
    let log = world.outcome_of_request(0).await.delivery.id;
    // It is stored later than the webhook, and its outcome counts there.
    tokio::time::advance(Duration::from_secs(60)).await;
    for (output, policy) in [(None, ProcessPolicy::Skip), (Some(other), ProcessPolicy::Force)] {
        let resend = Resend { log, output, policy };
        world.relay.resend(world.bucket.account_id, resend).await.expect("sent again");
    }
    world.forwarder.finished(4).await;
    let requests = world.forwarder.requests();
    assert_eq!(requests[2].url, HOOK);
    assert_eq!(requests[3].url, "https://example.com/other");
    assert!(requests.iter().all(|request| request.body == "x"));
    let ids: std::collections::HashSet<_> =
        requests.iter().map(|request| &request.headers["x-webhook-relay-id"]).collect();
    assert_eq!(ids.len(), 4);
    for number in [2, 3] {
        let outcome = world.outcome_of_request(number);
        let settled = tokio::time::timeout(Duration::from_secs(60), outcome).await;
        let delivery = settled.expect("the store takes the outcome").delivery;
        assert_eq!(delivery.status, DeliveryStatus::Sent);
        assert!(delivery.created_at >= START + Duration::from_secs(60));
    }
    let absent = Resend { log: DeliveryId::generate(), output: None, policy: ProcessPolicy::Skip };
    let error = world.relay.resend(world.bucket.account_id, absent).await.expect_err("no such log");
    assert_eq!(error.kind(), crate::ErrorKind::NotFound);
    let foreign = Resend { log, output: None, policy: ProcessPolicy::Skip };
    let error =
        world.relay.resend(AccountId::generate(), foreign).await.expect_err("another's log");
    assert_eq!(error.kind(), crate::ErrorKind::NotFound);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_of_one_output_leaves_the_others_alone() {
    let mut world = internal().await;
    let headers = [("x-own", "1")].map(|(name, value)| {
        (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
    });
    let headers = crate::model::Headers(HeaderMap::from_iter(headers));
    let other =
        OutputSpec { name: "other".into(), internal: true, headers, ..OutputSpec::default() };
    world.output(other).await;
    let mut one = world.subscribe();
    one.listen_to_outputs(Listening::All, vec!["agent".to_owned()]);
    world.post("x").await;
    assert_eq!(next(&mut one).await.output_name, "agent");
    nothing(&mut one).await;
    let mut other = world.subscribe();
    other.listen_to_outputs(Listening::All, vec!["other".to_owned()]);
    let event = next(&mut other).await;
    assert_eq!(event.output_name, "other");
    assert_eq!(event.request.headers["x-own"], "1");
    assert_eq!(event.request.headers["x-webhook-relay-id"], event.id.to_string());
    nothing(&mut other).await;
}

#[tokio::test(start_paused = true)]
async fn an_output_limits_how_much_of_what_was_missed_it_hands_over() {
    let mut world = World::new().await;
    let replay_missing =
        ReplayMissing { enabled: true, lookback: Duration::from_secs(3_600), limit: 2 };
    let spec = OutputSpec { internal: true, replay_missing, ..OutputSpec::default() };
    world.output(spec).await;
    world.post("old").await;
    tokio::time::sleep(Duration::from_secs(3_601)).await;
    for body in ["1", "2", "3"] {
        world.post(body).await;
    }
    let mut first = world.subscribe();
    for body in ["1", "2"] {
        let event = next(&mut first).await;
        assert_eq!(event.request.body, body);
        world.report(&event, DeliveryStatus::Sent, 200).await;
    }
    nothing(&mut first).await;
    // What comes now was not missed.
    for body in ["4", "5", "6"] {
        world.post(body).await;
        assert_eq!(next(&mut first).await.request.body, body);
    }
    drop(first);
    let mut second = world.subscribe();
    for body in ["3", "4"] {
        assert_eq!(next(&mut second).await.request.body, body, "each connection has its own");
    }
    nothing(&mut second).await;
}

/// Whether something comes that could be leased.
async fn arrives(subscription: &mut Subscription) -> Option<bool> {
    tokio::time::timeout(Duration::from_secs(5), subscription.arrived()).await.ok()
}

#[tokio::test(start_paused = true)]
async fn what_arrives_is_told_and_left_to_be_leased() {
    let world = internal().await;
    world.post("before").await;
    let mut subscription = world.subscribe();
    assert_eq!(arrives(&mut subscription).await, None, "what waited is no arrival");
    let account = world.bucket.account_id;
    let waiting = world.stores.logs.waiting(account, &[world.bucket.id], None, 10).await;
    let log = waiting.expect("readable").remove(0);
    let event = subscription.leased(&log).await.expect("readable").expect("for clients");
    assert_eq!((&*event.output_name, event.id), ("agent", log.delivery.id));

    world.post("1").await;
    world.post("2").await;
    assert_eq!(arrives(&mut subscription).await, Some(true));
    assert_eq!(arrives(&mut subscription).await, Some(true));
    assert_eq!(arrives(&mut subscription).await, None);
    // It took none of them: who subscribes without leases gets all.
    let mut other = world.subscribe();
    for body in ["before", "1", "2"] {
        assert_eq!(next(&mut other).await.request.body, body);
    }

    subscription.listen_to_outputs(Listening::All, vec!["another".into()]);
    assert_eq!(subscription.leased(&log).await.expect("readable"), None);
    world.post("3").await;
    assert_eq!(arrives(&mut subscription).await, None);
    world.relay.clients.close(account, |_| true);
    assert_eq!(arrives(&mut subscription).await, Some(false));
}
