use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use serde_json::Value;

use super::*;
use crate::{
    FunctionId, NotificationId,
    admin::{Admin, Caller},
    model::{
        CircuitBreaker, Extension, Function, FunctionSpec, Health, Notification, NotificationEvent,
        NotificationSpec, PauseRequest, ReplayChange, ReplayFilter, ReplaySpec, ReplayStatus,
        RetrySchedule,
    },
    store::{LogQuery, Note, Notice, NoticeSent, NotificationStore},
};

const OPS: &str = "https://ops.example.com/";
const HOUR: Duration = Duration::from_secs(3600);

/// A relay with an output that has health, and a bucket for what is told.
struct House {
    stores: Stores,
    webhooks: Webhooks,
    clock: TokioClock,
    forwarder: ScriptedForwarder,
    admin: Arc<Admin>,
    caller: Caller,
    orders: Bucket,
    output: OutputId,
    ops: Bucket,
    running: Option<Dispatcher>,
}

impl House {
    async fn new() -> Self {
        Self::over(Stores::of(MemoryStore::default())).await
    }

    async fn over(stores: Stores) -> Self {
        let (forwarder, clock) = (ScriptedForwarder::new(), TokioClock::starting_at(START));
        let webhooks = Webhooks::builder(stores.clone()).forwarder(forwarder.clone()).clock(clock);
        let webhooks = webhooks.build();
        let admin = Arc::clone(webhooks.admin());
        let (account, _) = admin.create_account("first", None).await.expect("an account");
        let caller = Caller::for_account(account.id);
        let bucket = |name| admin.create_bucket(&caller, BucketSpec::new(name));
        let orders = bucket("orders").await.expect("a bucket");
        let ops = bucket("ops").await.expect("a bucket");
        let mut spec = OutputSpec::new("shop", HOOK);
        // Each attempt is to fail by itself.
        let circuit = CircuitBreaker { enabled: false, ..CircuitBreaker::default() };
        spec.health = Extension::Set(Health { circuit, ..Health::default() });
        spec.durability.enabled = true;
        let output = admin.create_output(&caller, orders.id, spec).await.expect("an output").id;
        let to_ops = OutputSpec::new("pager", OPS);
        admin.create_output(&caller, ops.id, to_ops).await.expect("an output");
        let running = None;
        let mut house = Self {
            stores,
            webhooks,
            clock,
            forwarder,
            admin,
            caller,
            orders,
            output,
            ops,
            running,
        };
        house.run();
        house
    }

    fn run(&mut self) {
        let (stop, stopped) = oneshot::channel();
        let webhooks = self.webhooks.clone();
        let run = tokio::spawn(async move { webhooks.run(async { drop(stopped.await) }).await });
        self.running = Some((stop, run));
    }

    async fn stop(&mut self) {
        let (stop, run) = self.running.take().expect("it runs");
        drop(stop);
        run.await.expect("no panic").expect("a clean stop");
    }

    /// Another process on the same store, after this one was killed.
    async fn killed(&mut self) {
        let (_stop, run) = self.running.take().expect("it runs");
        run.abort();
        drop(run.await);
        let builder = Webhooks::builder(self.stores.clone()).forwarder(self.forwarder.clone());
        self.webhooks = builder.clock(self.clock).build();
        self.admin = Arc::clone(self.webhooks.admin());
    }

    async fn notify(&self, events: &[NotificationEvent]) -> Notification {
        let spec = NotificationSpec::new(events, "ops");
        self.admin.create_notification(&self.caller, spec).await.expect("a notification")
    }

    async fn post(&self) {
        assert_eq!(self.answer_of_post(b"{}").await, 200);
    }

    async fn answer_of_post(&self, body: &'static [u8]) -> u16 {
        let request = http::Request::post(format!("/v1/webhooks/{}", self.orders.inputs[0].id));
        let request = request.body(Full::from(body)).expect("a request");
        self.webhooks.ingest().call(request).await.expect("infallible").status().as_u16()
    }

    /// The events that came into the bucket of the notification, oldest first.
    async fn told(&self) -> Vec<Value> {
        let query = LogQuery { bucket_id: Some(self.ops.id), ..LogQuery::new(1_000) };
        let page = self.stores.logs.logs(self.orders.account_id, &query).await.expect("logs");
        let event = |log: &Log| serde_json::from_slice(&log.webhook.request.body).expect("JSON");
        page.logs.iter().rev().map(event).collect()
    }

    async fn kinds(&self) -> Vec<String> {
        let told = self.told().await;
        told.iter().map(|event| event["type"].as_str().expect("text").to_owned()).collect()
    }
}

/// How many attempts fail. An output whose attempts all fail is attempted twice a second at most, so
/// that no more than 1 250 fit into the ten minutes.
const FAILURES: usize = 1_000;

#[tokio::test(start_paused = true)]
async fn very_many_failures_are_one_event_and_the_end_is_one_more() {
    let mut house = House::new().await;
    let notify_after = Duration::from_secs(600);
    let mut spec = OutputSpec::new("shop", HOOK);
    let circuit = CircuitBreaker { enabled: false, ..CircuitBreaker::default() };
    spec.health = Extension::Set(Health { circuit, notify_after, ..Health::default() });
    spec.durability.enabled = true;
    spec.durability.schedule = RetrySchedule::Custom;
    spec.durability.custom_delays = vec![Duration::from_secs(5)];
    spec.durability.deadline = 24 * HOUR;
    let (bucket, output) = (house.orders.id, house.output);
    house.admin.update_output(&house.caller, bucket, output, spec).await.expect("an output");
    let all_but_of_queues: Vec<_> = NotificationEvent::ALL
        .iter()
        .copied()
        .filter(|event| !event.to_string().starts_with("queue."))
        .collect();
    let made = house.notify(&all_but_of_queues).await;
    house.forwarder.script(HOOK, [unavailable()]);
    let began = tokio::time::Instant::now();
    for _ in 0..FAILURES / 10 {
        house.post().await;
    }
    let failed = tokio::time::timeout(notify_after, house.forwarder.received(FAILURES)).await;
    failed.expect("they fail before that is told");
    assert_eq!(house.kinds().await, Vec::<String>::new(), "it has not failed for long enough");
    tokio::time::sleep_until(began + notify_after + Duration::from_secs(60)).await;
    assert_eq!(house.kinds().await, ["output.failing"]);
    let event = &house.told().await[0];
    assert_eq!(event["specversion"], "1.0");
    assert_eq!(event["source"], format!("/v1/buckets/{}", house.orders.id));
    assert_eq!(event["subject"], format!("outputs/{}", house.output));
    let data = &event["data"];
    assert_eq!(data["count"], 1);
    assert_eq!(data["failing_since"], "2023-11-14T22:13:20Z");
    assert_eq!(data["last_error"], "the destination answered 503");
    assert_eq!(data["output"]["name"], "shop");
    assert_eq!(data["notification_id"], made.id.to_string());
    let logs = format!("/v1/logs?bucket={}&output={}", house.orders.id, house.output);
    assert_eq!(data["links"]["logs"], logs);
    let request = house.forwarder.requests_to(OPS).remove(0);
    assert_eq!(request.headers["content-type"], "application/cloudevents+json");
    let read = house.admin.notification(&house.caller, made.id).await.expect("it is there");
    assert!(read.last_sent_at.is_some());

    house.forwarder.script(HOOK, [Answer::ok()]);
    pass(HOUR).await;
    assert_eq!(house.kinds().await, ["output.failing", "output.recovered"]);
    house.stop().await;
}

/// A store that does not come back from one of its calls, as when the process is killed then.
#[derive(Debug)]
struct Stuck {
    inner: Arc<dyn NotificationStore>,
    /// Which call: 1 before and 2 after a note, 3 before and 4 after one is told, 5 before what
    /// was told is forgotten.
    at: AtomicU8,
}

impl Stuck {
    async fn pass(&self, place: u8) {
        if self.at.load(Ordering::Relaxed) == place {
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl NotificationStore for Stuck {
    async fn note(&self, note: &Note) -> Result<bool, Error> {
        self.pass(1).await;
        let noted = self.inner.note(note).await;
        self.pass(2).await;
        noted
    }
    async fn notices(
        &self,
        notification: NotificationId,
        bucket: Option<BucketId>,
    ) -> Result<Vec<Notice>, Error> {
        self.inner.notices(notification, bucket).await
    }
    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<Notice>, Error> {
        self.inner.due_notices(now, limit).await
    }
    async fn notices_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        self.inner.notices_wake_at().await
    }
    async fn notice_sent(&self, sent: &NoticeSent) -> Result<bool, Error> {
        self.pass(3).await;
        let first = self.inner.notice_sent(sent).await;
        self.pass(4).await;
        first
    }
    async fn forget_notices(
        &self,
        notification: NotificationId,
        subject: uuid::Uuid,
    ) -> Result<(), Error> {
        self.pass(5).await;
        self.inner.forget_notices(notification, subject).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_what_happens_and_what_is_told_of_it_tells_once() {
    for place in 1..=4 {
        let stores = Stores::of(MemoryStore::default());
        let inner = stores.notifications.clone();
        let stuck = Arc::new(Stuck { inner, at: AtomicU8::new(0) });
        let stores = stores.with_notifications(stuck.clone());
        let mut house = House::over(stores).await;
        house.notify(NotificationEvent::ALL).await;
        house.forwarder.script(HOOK, [unavailable()]);
        for _ in 0..50 {
            house.post().await;
        }
        stuck.at.store(place, Ordering::Relaxed);
        pass(3 * HOUR).await;
        house.killed().await;
        stuck.at.store(0, Ordering::Relaxed);
        house.run();
        pass(HOUR).await;
        assert_eq!(house.kinds().await, ["output.failing"], "{place}");

        house.forwarder.script(HOOK, [Answer::ok()]);
        stuck.at.store(place, Ordering::Relaxed);
        pass(24 * HOUR).await;
        house.killed().await;
        stuck.at.store(0, Ordering::Relaxed);
        house.run();
        pass(HOUR).await;
        assert_eq!(house.kinds().await, ["output.failing", "output.recovered"], "{place}");
        house.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_told_and_its_end_also_when_it_ends_by_itself() {
    let mut house = House::new().await;
    house.notify(NotificationEvent::ALL).await;
    let (caller, bucket, id) = (&house.caller, house.orders.id, house.output);
    let request = PauseRequest { reason: "a deploy".to_owned(), ..PauseRequest::default() };
    house.admin.pause_output(caller, bucket, id, request).await.expect("paused");
    pass(HOUR).await;
    assert_eq!(house.kinds().await, ["output.paused"]);
    let data = house.told().await[0]["data"].clone();
    assert_eq!(data["paused_by"], "caller");
    assert_eq!(data["pause_reason"], "a deploy");
    assert_eq!(data["paused_at"], "2023-11-14T22:13:20Z");
    house.admin.resume_output(caller, bucket, id, Default::default()).await.expect("resumed");
    pass(HOUR).await;
    assert_eq!(house.kinds().await, ["output.paused", "output.resumed"]);
    let until = house.admin.now() + HOUR;
    let request = PauseRequest { until, ..PauseRequest::default() };
    house.admin.pause_output(caller, bucket, id, request).await.expect("paused");
    pass(HOUR - Duration::from_secs(1)).await;
    assert_eq!(house.kinds().await.len(), 3);
    pass(Duration::from_secs(2)).await;
    assert_eq!(house.kinds().await[2..], ["output.paused", "output.resumed"]);
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deliveries_that_fail_are_gathered_with_their_number() {
    let mut house = House::new().await;
    house.notify(&[NotificationEvent::DeliveryFailed]).await;
    house.forwarder.script(HOOK, [Answer::status(StatusCode::BAD_REQUEST)]);
    for _ in 0..100 {
        house.post().await;
        pass(Duration::from_secs(1)).await;
    }
    assert_eq!(house.kinds().await, ["delivery.failed"], "the first at once");
    assert_eq!(house.told().await[0]["data"]["count"], 1);
    pass(HOUR).await;
    let told = house.told().await;
    assert_eq!(told.len(), 2, "the others after 15 minutes");
    assert_eq!(told[1]["data"]["count"], 99);
    assert_eq!(told[1]["data"]["last_error"], "the destination answered 400");
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_leaves_what_it_noted_to_the_next() {
    let mut house = House::new().await;
    house.notify(&[NotificationEvent::DeliveryFailed]).await;
    house.forwarder.script(HOOK, [Answer::status(StatusCode::BAD_REQUEST)]);
    for _ in 0..10 {
        house.post().await;
    }
    pass(Duration::from_secs(1)).await;
    house.killed().await;
    house.run();
    pass(HOUR).await;
    let told = house.told().await;
    assert!((1..=2).contains(&told.len()), "{told:?}");
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_happens_where_notifications_lead_is_told_by_none() {
    let mut house = House::new().await;
    let first = house.notify(NotificationEvent::ALL).await;
    // The second one would tell in `orders` of what the first one does in `ops`.
    let spec = NotificationSpec {
        min_interval: Duration::from_secs(1),
        ..NotificationSpec::new(NotificationEvent::ALL, "orders")
    };
    house.admin.create_notification(&house.caller, spec.clone()).await.expect("made");
    for url in [HOOK, OPS] {
        house.forwarder.script(url, [Answer::status(StatusCode::BAD_REQUEST)]);
    }
    house.post().await;
    pass(24 * HOUR).await;
    assert_eq!(house.kinds().await, Vec::<String>::new());
    assert_eq!(house.forwarder.requests().len(), 1);

    // Of its own target a notification tells nothing either.
    let spec = NotificationSpec { disabled: true, ..spec };
    let all = house.admin.notifications(&house.caller).await.expect("a list");
    let second = all.iter().find(|other| other.id != first.id).expect("it is there").id;
    house.admin.update_notification(&house.caller, second, spec).await.expect("changed");
    house.post().await;
    pass(24 * HOUR).await;
    assert_eq!(house.kinds().await, ["delivery.failed"]);
    assert_eq!(house.forwarder.requests().len(), 3);
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_disabled_or_about_other_buckets_tells_nothing() {
    let mut house = House::new().await;
    let other = house.admin.create_bucket(&house.caller, BucketSpec::new("other")).await;
    let other = other.expect("a bucket");
    let mut elsewhere = NotificationSpec::new(NotificationEvent::ALL, "ops");
    elsewhere.buckets = vec!["other".to_owned()];
    let made = house.admin.create_notification(&house.caller, elsewhere.clone()).await;
    let made = made.expect("made");
    assert_eq!(made.spec.buckets, [other.id.to_string()]);
    assert_eq!(made.spec.target(), Some(house.ops.id));
    let mut disabled = NotificationSpec::new(NotificationEvent::ALL, "ops");
    disabled.disabled = true;
    let disabled = house.admin.create_notification(&house.caller, disabled).await.expect("made");
    house.forwarder.script(HOOK, [Answer::status(StatusCode::GONE)]);
    house.post().await;
    pass(24 * HOUR).await;
    assert_eq!(house.kinds().await, Vec::<String>::new());
    let enabled = NotificationSpec { disabled: false, ..disabled.spec };
    let id = disabled.id;
    house.admin.update_notification(&house.caller, id, enabled).await.expect("enabled");
    pass(HOUR).await;
    assert_eq!(house.kinds().await, ["output.paused"], "it is still so");
    assert_eq!(house.told().await[0]["data"]["paused_by"], "gone");
    house.admin.delete_notification(&house.caller, id).await.expect("deleted");
    let (caller, orders, output) = (&house.caller, house.orders.id, house.output);
    house.admin.resume_output(caller, orders, output, Default::default()).await.expect("resumed");
    pass(HOUR).await;
    assert_eq!(house.kinds().await.len(), 1);
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn functions_that_fail_and_webhooks_that_are_not_verified_are_told() {
    let mut house = House::new().await;
    house.notify(NotificationEvent::ALL).await;
    // There is no such function by the time a webhook comes, as after a restore.
    let mut bucket = house.orders.clone();
    let account = bucket.account_id;
    let gone = Function::new(FunctionId::generate(), account, START, FunctionSpec::default());
    house.stores.documents.create(account, &gone).await.expect("a new function");
    let (function, input) = (gone.id, &mut bucket.inputs[0]);
    input.spec.function_id = Some(function);
    house.stores.documents.update_input(account, input).await.expect("it is there");
    input.version += 1;
    let id = function.as_uuid();
    house.stores.documents.delete::<Function>(account, id).await.expect("it is there");
    house.webhooks.relay().bucket_changed(&bucket);
    house.answer_of_post(b"{}").await;
    pass(HOUR).await;
    let told = house.told().await;
    assert_eq!((told.len(), &told[0]["type"]), (1, &Value::from("function.failing")));
    assert_eq!(told[0]["subject"], format!("functions/{function}"));
    assert_eq!(told[0]["data"]["links"]["function"], format!("/v1/functions/{function}"));
    let error = told[0]["data"]["last_error"].as_str().expect("text");
    assert!(error.starts_with("the input's function failed"), "{error}");

    let signed =
        serde_json::json!({"signature": {"provider": "github", "secrets": [{"secret": "s"}]}});
    let spec: InputSpec = serde_json::from_value(signed).expect("a spec");
    let input = &mut bucket.inputs[0];
    (input.spec.function_id, input.spec.signature) = (None, spec.signature);
    house.stores.documents.update_input(account, input).await.expect("it is there");
    let (id, name) = (input.id, input.spec.name.clone());
    house.webhooks.relay().bucket_changed(&bucket);
    for _ in 0..100 {
        assert_eq!(house.answer_of_post(b"{}").await, 401);
    }
    pass(HOUR).await;
    let told = house.told().await;
    assert_eq!((told.len(), &told[1]["type"]), (2, &Value::from("signature.failing")));
    let data = &told[1]["data"];
    assert_eq!(data["count"], 100, "they are told together");
    assert_eq!(data["input"], serde_json::json!({ "id": id, "name": name }));
    let error = data["last_error"].as_str().expect("text");
    assert!(error.starts_with("signature: "), "{error}");
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_test_puts_one_webhook_into_the_bucket() {
    let mut house = House::new().await;
    let made = house.notify(NotificationEvent::ALL).await;
    let id = house.admin.test_notification(&house.caller, made.id).await.expect("sent");
    pass(HOUR).await;
    let told = house.told().await;
    assert_eq!((told.len(), &told[0]["type"]), (1, &Value::from("notification.test")));
    assert_eq!(told[0]["id"], id.to_string());
    assert_eq!(house.forwarder.requests_to(OPS).len(), 1);
    let read = house.admin.notification(&house.caller, made.id).await.expect("it is there");
    assert_eq!(read.last_sent_at, Some(START));
    house.stop().await;
}

impl House {
    async fn notify_of_queues(&self, queue_deep_at: u32) {
        let events = [NotificationEvent::QueueDeep, NotificationEvent::QueueDrained];
        let spec = NotificationSpec { queue_deep_at, ..NotificationSpec::new(&events, "ops") };
        self.admin.create_notification(&self.caller, spec).await.expect("a notification");
    }

    async fn pause(&self) {
        let (caller, bucket, id) = (&self.caller, self.orders.id, self.output);
        self.admin.pause_output(caller, bucket, id, PauseRequest::default()).await.expect("paused");
    }

    async fn resume(&self) {
        let (caller, bucket, id) = (&self.caller, self.orders.id, self.output);
        self.admin.resume_output(caller, bucket, id, Default::default()).await.expect("resumed");
    }

    /// Sends what came in again, to the end.
    async fn replay(&self) -> crate::model::Replay {
        let filter = ReplayFilter { bucket: "orders".to_owned(), ..ReplayFilter::default() };
        let spec = ReplaySpec { filter, ..ReplaySpec::default() };
        self.admin.create_replay(&self.caller, spec).await.expect("a replay")
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_becomes_deep_is_told_and_that_it_is_drained() {
    let mut house = House::new().await;
    house.notify_of_queues(20).await;
    house.pause().await;
    for _ in 0..19 {
        house.post().await;
    }
    pass(HOUR).await;
    assert_eq!(house.kinds().await, Vec::<String>::new(), "19 are not 20");
    for _ in 0..30 {
        house.post().await;
        pass(Duration::from_secs(1)).await;
    }
    pass(HOUR).await;
    assert_eq!(house.kinds().await, ["queue.deep"]);
    let event = house.told().await.remove(0);
    assert_eq!(event["subject"], format!("outputs/{}", house.output));
    assert_eq!((&event["data"]["count"], &event["data"]["queue_deep_at"]), (&1.into(), &20.into()));
    let waiting = event["data"]["waiting"].as_u64().expect("a number");
    assert!((20..=36).contains(&waiting), "it is told within 15 s: {waiting}");

    house.resume().await;
    pass(HOUR).await;
    assert_eq!(house.kinds().await, ["queue.deep", "queue.drained"]);
    assert_eq!(house.told().await[1]["data"]["waiting"], 0);
    // Then it begins anew.
    house.pause().await;
    for _ in 0..20 {
        house.post().await;
    }
    pass(HOUR).await;
    assert_eq!(house.kinds().await[2..], ["queue.deep"]);
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn two_nodes_and_crashes_tell_of_a_queue_once() {
    for place in 1..=4 {
        let stores = Stores::of(MemoryStore::default());
        let inner = stores.notifications.clone();
        let stuck = Arc::new(Stuck { inner, at: AtomicU8::new(0) });
        let stores = stores.with_notifications(stuck.clone());
        let mut house = House::over(stores).await;
        house.notify_of_queues(5).await;
        house.pause().await;
        for _ in 0..9 {
            house.post().await;
        }
        for resumed in [false, true] {
            if resumed {
                house.resume().await;
            }
            stuck.at.store(place, Ordering::Relaxed);
            pass(HOUR).await;
            house.killed().await;
            stuck.at.store(0, Ordering::Relaxed);
            house.run();
            pass(HOUR).await;
        }
        assert_eq!(house.kinds().await, ["queue.deep", "queue.drained"], "{place}");
        house.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_replay_is_told_once_whenever_a_node_ends() {
    for place in [0, 1, 2, 5] {
        let stores = Stores::of(MemoryStore::default());
        let inner = stores.notifications.clone();
        let stuck = Arc::new(Stuck { inner, at: AtomicU8::new(0) });
        let stores = stores.with_notifications(stuck.clone());
        let mut house = House::over(stores).await;
        house.notify(&[NotificationEvent::ReplayFinished]).await;
        for _ in 0..3 {
            house.post().await;
        }
        pass(Duration::from_secs(60)).await;
        stuck.at.store(place, Ordering::Relaxed);
        let replay = house.replay().await;
        pass(HOUR).await;
        house.killed().await;
        stuck.at.store(0, Ordering::Relaxed);
        house.run();
        pass(HOUR).await;
        assert_eq!(house.kinds().await, ["replay.finished"], "{place}");
        let event = house.told().await.remove(0);
        assert_eq!(event["subject"], format!("replays/{}", replay.id));
        let data = &event["data"];
        assert_eq!(
            (&data["status"], &data["queued"], &data["sent"]),
            (&"done".into(), &3.into(), &3.into())
        );
        assert_eq!(data["links"]["logs"], format!("/v1/logs?replay={}", replay.id));
        assert_eq!(data["bucket"]["name"], "orders");
        house.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_is_cancelled_or_somewhere_else_is_not_told() {
    let mut house = House::new().await;
    let mut elsewhere = NotificationSpec::new(&[NotificationEvent::ReplayFinished], "ops");
    elsewhere.buckets = vec!["ops".to_owned()];
    house.admin.create_notification(&house.caller, elsewhere).await.expect("made");
    house.post().await;
    pass(Duration::from_secs(60)).await;
    house.replay().await;
    pass(HOUR).await;
    assert_eq!(house.kinds().await, Vec::<String>::new());
    house.notify(&[NotificationEvent::ReplayFinished]).await;
    for _ in 0..50 {
        house.post().await;
    }
    pass(Duration::from_secs(60)).await;
    let replay = house.replay().await;
    pass(Duration::from_secs(1)).await;
    let cancel = ReplayChange { status: Some(ReplayStatus::Cancelled), ..ReplayChange::default() };
    house.admin.change_replay(&house.caller, replay.id, cancel).await.expect("cancelled");
    pass(HOUR).await;
    assert_eq!(house.kinds().await, Vec::<String>::new());
    house.stop().await;
}
