use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;

use super::{
    failing::{Faulty, cut},
    *,
};
use crate::{
    Clock, CronId, NodeId, Rules,
    admin::{Admin, Caller},
    forward::ForwardRequest,
    model::{Cron, CronSpec, Headers},
    store::{AdvanceCron, ClaimWork, CronStore, LogQuery},
};

fn at(text: &str) -> Timestamp {
    let moment: jiff::Timestamp = text.parse().expect(text);
    Timestamp::from_millis(moment.as_millisecond())
}

fn show(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.as_millis()).expect("in range").to_string()
}

/// The moment that the request's run was scheduled for.
fn scheduled(request: &ForwardRequest) -> &str {
    request.headers["x-webhook-cron-time"].to_str().expect("text")
}

/// A relay and its management on a clock that shows what the test says.
struct Clockwork {
    stores: Stores,
    relay: Relay,
    forwarder: ScriptedForwarder,
    clock: TokioClock,
    admin: Arc<Admin>,
    caller: Caller,
    dispatchers: Vec<Dispatcher>,
}

impl Clockwork {
    async fn at(now: &str) -> Self {
        Self::over(Stores::of(MemoryStore::default()), now).await
    }

    async fn over(stores: Stores, now: &str) -> Self {
        let (clock, forwarder) = (TokioClock::starting_at(at(now)), ScriptedForwarder::new());
        let builder = Webhooks::builder(stores.clone()).forwarder(forwarder.clone());
        let webhooks = builder.clock(clock).build();
        let (relay, admin) = (webhooks.relay().clone(), Arc::clone(webhooks.admin()));
        let (account, _) = admin.create_account("first", None).await.expect("an account");
        let caller = Caller::for_account(account.id);
        Self { stores, relay, forwarder, clock, admin, caller, dispatchers: Vec::new() }
    }

    /// Another node on the same stores.
    fn node(&self) -> Relay {
        let builder = Webhooks::builder(self.stores.clone()).forwarder(self.forwarder.clone());
        let options = RelayOptions {
            crons_max_age: Some(Duration::from_secs(15)),
            route_max_age: Some(Duration::from_secs(5)),
            ..RelayOptions::default()
        };
        builder.clock(self.clock).options(options).build().relay().clone()
    }

    fn run(&mut self, relay: Relay) {
        let (stop, stopped) = oneshot::channel();
        let run = tokio::spawn(async move { relay.run(async { drop(stopped.await) }).await });
        self.dispatchers.push((stop, run));
    }

    async fn stop(&mut self) {
        for (stop, dispatcher) in self.dispatchers.drain(..) {
            drop(stop);
            dispatcher.await.expect("no panic").expect("a clean stop");
        }
    }

    async fn cron(&self, spec: CronSpec) -> Cron {
        let spec = CronSpec { destination: HOOK.to_owned(), ..spec };
        self.admin.create_cron(&self.caller, spec).await.expect("a new cron").cron
    }

    async fn scheduled(&self, schedule: &str, timezone: &str) -> Cron {
        let (schedule, timezone) = (schedule.to_owned(), timezone.to_owned());
        self.cron(CronSpec { schedule, timezone, ..CronSpec::default() }).await
    }

    async fn stored(&self, id: CronId) -> Cron {
        self.admin.cron(&self.caller, id).await.expect("it is there").cron
    }

    async fn next_run(&self, id: CronId) -> Option<String> {
        self.stored(id).await.next_run.map(show)
    }

    /// Lets the clock run until it shows `moment`.
    async fn until(&self, moment: &str) {
        self.clock.sleep_until(at(moment)).await;
        // What is due at that very moment is done as well.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// The scheduled moments of all requests so far.
    fn runs(&self) -> Vec<String> {
        self.forwarder.requests().iter().map(|request| scheduled(request).to_owned()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn runs_over_the_start_of_summer_time() {
    let mut house = Clockwork::at("2026-03-27T12:00:00Z").await;
    let fixed = house.scheduled("30 2 * * *", "Europe/Berlin").await;
    house.run(house.relay.clone());
    house.until("2026-03-29T00:59:59Z").await;
    assert_eq!(house.runs(), ["2026-03-28T01:30:00Z"]);
    house.until("2026-03-29T01:00:00Z").await;
    assert_eq!(house.runs().len(), 2, "at the first moment after the skipped hour");
    house.until("2026-03-30T12:00:00Z").await;
    let expected = ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"];
    assert_eq!(house.runs(), expected);
    assert_eq!(house.next_run(fixed.id).await.as_deref(), Some("2026-03-31T00:30:00Z"));
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn runs_over_the_end_of_summer_time() {
    let mut house = Clockwork::at("2026-10-24T21:00:00Z").await;
    house.scheduled("30 2 * * *", "Europe/Berlin").await;
    house.run(house.relay.clone());
    house.until("2026-10-26T12:00:00Z").await;
    assert_eq!(house.runs(), ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"], "once a day");
    house.stop().await;

    let mut house = Clockwork::at("2026-10-24T23:30:00Z").await;
    house.scheduled("0 * * * *", "Europe/Berlin").await;
    house.run(house.relay.clone());
    house.until("2026-10-25T03:30:00Z").await;
    let hours = ["00", "01", "02", "03"].map(|hour| format!("2026-10-25T{hour}:00:00Z"));
    assert_eq!(house.runs(), hours, "once an hour that has passed");
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn runs_at_month_ends_and_on_leap_days() {
    let mut house = Clockwork::at("2028-02-28T12:00:00Z").await;
    let last = house.scheduled("0 0 31 * *", "UTC").await;
    let leap = house.scheduled("0 6 29 2 *", "America/New_York").await;
    house.run(house.relay.clone());
    pass(at("2028-03-30T00:00:00Z").since(at("2028-02-28T12:00:00Z"))).await;
    house.until("2028-03-31T00:00:00Z").await;
    assert_eq!(house.runs(), ["2028-02-29T11:00:00Z", "2028-03-31T00:00:00Z"]);
    assert_eq!(house.next_run(last.id).await.as_deref(), Some("2028-05-31T00:00:00Z"));
    assert_eq!(house.next_run(leap.id).await.as_deref(), Some("2032-02-29T11:00:00Z"));
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_stored_without_an_answer_is_delivered() {
    let (stores, faulty) = Faulty::over(&Stores::of(MemoryStore::default()));
    let mut house = Clockwork::over(stores, "2026-05-01T00:00:00Z").await;
    house.scheduled("@hourly", "UTC").await;
    faulty.accepts.script([cut()]);
    house.run(house.relay.clone());
    house.until("2026-05-01T01:05:00Z").await;
    assert_eq!(house.runs(), ["2026-05-01T01:00:00Z"]);
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_is_a_webhook_in_the_crons_bucket() {
    let mut house = Clockwork::at("2026-05-01T00:00:00Z").await;
    house.forwarder.script(HOOK, [unavailable(), Answer::ok()]);
    let headers: Headers =
        serde_json::from_str(r#"{"x-own":"1","X-Webhook-Cron-Id":"forged"}"#).expect("headers");
    let spec = CronSpec {
        schedule: "@hourly".to_owned(),
        method: Method::PUT,
        payload: r#"{"n":1}"#.to_owned(),
        headers,
        ..CronSpec::default()
    };
    let cron = house.cron(spec).await;
    house.run(house.relay.clone());
    house.forwarder.finished(2).await;
    let requests = house.forwarder.requests();
    let [first, second] = &requests[..] else { panic!("one run, tried twice: {requests:?}") };
    assert_eq!(first.headers, second.headers);
    assert_eq!((&first.method, &first.body[..]), (&Method::PUT, &br#"{"n":1}"#[..]));
    for (name, value) in [
        ("x-own", "1"),
        ("content-type", "application/json"),
        ("x-webhook-cron-id", &cron.id.to_string()),
        ("x-webhook-cron-time", "2026-05-01T01:00:00Z"),
    ] {
        let values: Vec<_> = first.headers.get_all(name).iter().collect();
        assert_eq!(values, [value], "{name}");
    }
    house.until("2026-05-01T01:01:00Z").await;
    let log = logs(&house, &cron).await.remove(0);
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 2));
    assert_eq!((log.webhook.input_id, log.webhook.remote_addr), (cron.input_id, None));
    assert_eq!(log.webhook.received_at, at("2026-05-01T01:00:00Z"));

    let rules: Rules = serde_json::from_str(r#"{"or":[]}"#).expect("rules");
    let put = house.admin.put_rules(&house.caller, cron.bucket_id, cron.output_id, rules).await;
    put.expect("stored");
    house.until("2026-05-01T02:01:00Z").await;
    assert_eq!(house.forwarder.requests().len(), 2);
    let log = logs(&house, &cron).await.remove(0);
    assert_eq!(log.delivery.status, DeliveryStatus::Rejected);
    house.stop().await;
}

/// The logs of the cron's bucket, newest first.
async fn logs(house: &Clockwork, cron: &Cron) -> Vec<Log> {
    let query = LogQuery { bucket_id: Some(cron.bucket_id), limit: 9, ..LogQuery::default() };
    house.stores.logs.logs(cron.account_id, &query).await.expect("readable").logs
}

#[tokio::test(start_paused = true)]
async fn once_is_once() {
    let mut house = Clockwork::at("2026-05-01T00:00:00Z").await;
    let spec = CronSpec { schedule: "@hourly".to_owned(), recurring: false, ..CronSpec::default() };
    let cron = house.cron(spec).await;
    house.run(house.relay.clone());
    house.until("2026-05-01T05:00:00Z").await;
    assert_eq!(house.runs(), ["2026-05-01T01:00:00Z"]);
    let stored = house.stored(cron.id).await;
    assert_eq!((stored.next_run, stored.spec.enabled), (None, false));
    // Until somebody enables it again.
    house.admin.update_cron(&house.caller, cron.id, cron.spec).await.expect("enabled");
    house.until("2026-05-01T09:00:00Z").await;
    assert_eq!(house.runs(), ["2026-05-01T01:00:00Z", "2026-05-01T06:00:00Z"]);
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_it_should_and_a_disabled_one_does_not_run() {
    let mut house = Clockwork::at("2026-05-01T00:00:00Z").await;
    let spec = CronSpec {
        schedule: "@every 30m".to_owned(),
        starts_at: Some(at("2026-05-01T02:15:00Z")),
        ends_at: Some(at("2026-05-01T03:15:00Z")),
        ..CronSpec::default()
    };
    let cron = house.cron(spec).await;
    house.run(house.relay.clone());
    house.until("2026-05-01T06:00:00Z").await;
    let expected = ["2026-05-01T02:15:00Z", "2026-05-01T02:45:00Z", "2026-05-01T03:15:00Z"];
    assert_eq!(house.runs(), expected);
    let stored = house.stored(cron.id).await;
    assert_eq!((stored.next_run, stored.spec.enabled), (None, true));

    let other = house.scheduled("@hourly", "UTC").await;
    house.until("2026-05-01T07:00:00Z").await;
    let disabled = CronSpec { enabled: false, ..other.spec };
    house.admin.update_cron(&house.caller, other.id, disabled).await.expect("changed");
    house.until("2026-05-01T12:00:00Z").await;
    assert_eq!(house.runs().len(), 4);
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn late_runs_are_made_up_for_within_one_period() {
    let mut house = Clockwork::at("2026-05-01T00:30:00Z").await;
    let cron = house.scheduled("@hourly", "UTC").await;
    // Nothing runs: the server is down.
    house.until("2026-05-01T04:20:00Z").await;
    house.run(house.relay.clone());
    house.forwarder.finished(1).await;
    assert!(house.clock.now() < at("2026-05-01T04:20:01Z"));
    assert_eq!(house.next_run(cron.id).await.as_deref(), Some("2026-05-01T05:00:00Z"));
    house.until("2026-05-01T06:30:00Z").await;
    let expected = ["2026-05-01T04:00:00Z", "2026-05-01T05:00:00Z", "2026-05-01T06:00:00Z"];
    assert_eq!(house.runs(), expected, "one for the time away, then on schedule");
    house.stop().await;

    house.until("2026-05-01T06:59:00Z").await;
    house.relay.run_until_idle().await.expect("nothing is due");
    assert_eq!(house.runs().len(), 3);
    house.until("2026-05-01T07:00:00Z").await;
    house.relay.run_until_idle().await.expect("a run");
    assert_eq!(house.runs().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_crash_before_the_advance_repeats_nothing() {
    let mut house = Clockwork::at("2026-05-01T00:30:00Z").await;
    let cron = house.scheduled("@hourly", "UTC").await;
    house.run(house.relay.clone());
    house.until("2026-05-01T01:05:00Z").await;
    house.stop().await;
    // As if the node had ended between storing the webhook and advancing.
    let back = AdvanceCron {
        id: cron.id,
        from: at("2026-05-01T02:00:00Z"),
        to: cron.next_run,
        is_over: false,
    };
    assert!(house.stores.crons.advance_cron(back).await.expect("written"));
    let after_crash = house.node();
    house.run(after_crash);
    house.until("2026-05-01T02:05:00Z").await;
    assert_eq!(house.runs(), ["2026-05-01T01:00:00Z", "2026-05-01T02:00:00Z"]);
    assert_eq!(logs(&house, &cron).await.len(), 2);
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn several_nodes_run_each_run_once() {
    let mut house = Clockwork::at("2026-05-01T00:00:30Z").await;
    for node in [house.node(), house.node(), house.node()] {
        house.run(node);
    }
    house.scheduled("* * * * *", "UTC").await;
    house.scheduled("@every 90s", "UTC").await;
    house.until("2026-05-01T01:00:15Z").await;
    let mut runs: Vec<_> = house
        .forwarder
        .requests()
        .iter()
        .map(|sent| (sent.headers["x-webhook-cron-id"].clone(), scheduled(sent).to_owned()))
        .map(|(id, moment)| (id.to_str().expect("text").to_owned(), moment))
        .collect();
    assert_eq!(runs.len(), 60 + 39, "{runs:?}");
    runs.sort();
    runs.dedup();
    assert_eq!(runs.len(), 60 + 39, "each once");
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_dead_node_leaves_its_runs_to_others() {
    let mut house = Clockwork::at("2026-05-01T00:59:00Z").await;
    let cron = house.scheduled("@hourly", "UTC").await;
    house.until("2026-05-01T01:00:00Z").await;
    let now = house.clock.now();
    let until = now + Duration::from_secs(30);
    let claim = ClaimWork { node: NodeId::generate(), now, until, limit: 9 };
    let held = house.stores.crons.claim_crons(claim).await.expect("claimed");
    assert_eq!(held.len(), 1);
    let node = house.node();
    house.run(node);
    house.until("2026-05-01T01:00:29Z").await;
    assert_eq!(house.runs().len(), 0);
    house.until("2026-05-01T01:00:31Z").await;
    assert_eq!(house.runs(), ["2026-05-01T01:00:00Z"]);
    assert_eq!(house.next_run(cron.id).await.as_deref(), Some("2026-05-01T02:00:00Z"));
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_be_stored_waits() {
    let mut house =
        Clockwork::over(Stores::of(MemoryStore::with_capacity(1)), "2026-05-01T00:59:00Z").await;
    house.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(10))]);
    let cron = house.scheduled("@hourly", "UTC").await;
    house.scheduled("@hourly", "UTC").await;
    house.run(house.relay.clone());
    house.until("2026-05-01T01:00:05Z").await;
    assert_eq!(house.runs().len(), 1, "the store is full");
    house.until("2026-05-01T01:00:30Z").await;
    assert_eq!(house.runs(), ["2026-05-01T01:00:00Z", "2026-05-01T01:00:00Z"]);
    assert_eq!(house.next_run(cron.id).await.as_deref(), Some("2026-05-01T02:00:00Z"));
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_cron_and_one_without_output_do_no_harm() {
    let mut house = Clockwork::at("2026-05-01T00:00:00Z").await;
    let (gone, bare) =
        (house.scheduled("@hourly", "UTC").await, house.scheduled("@hourly", "UTC").await);
    house.run(house.relay.clone());
    house.admin.delete_cron(&house.caller, gone.id).await.expect("deleted");
    let output = house.admin.delete_output(&house.caller, bare.bucket_id, bare.output_id).await;
    output.expect("deleted");
    let input = house.admin.delete_input(&house.caller, bare.bucket_id, bare.input_id).await;
    input.expect("deleted");
    house.until("2026-05-01T01:00:01Z").await;
    assert_eq!(house.runs().len(), 0);
    let logs = logs(&house, &bare).await;
    assert_eq!(logs.len(), 1, "it can be seen and pulled");
    assert_eq!(logs[0].delivery.output_id, None);
    house.stop().await;
}

/// Counts what it is asked.
#[derive(Debug)]
struct Counting(Arc<dyn CronStore>, AtomicUsize);

impl Counting {
    fn asked(&self) -> &dyn CronStore {
        self.1.fetch_add(1, Ordering::Relaxed);
        &*self.0
    }
}

#[async_trait]
impl CronStore for Counting {
    async fn claim_crons(&self, claim: ClaimWork) -> Result<Vec<Cron>, Error> {
        self.asked().claim_crons(claim).await
    }
    async fn crons_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        self.asked().crons_wake_at().await
    }
    async fn advance_cron(&self, advance: AdvanceCron) -> Result<bool, Error> {
        self.asked().advance_cron(advance).await
    }
    async fn release_crons(&self, node: NodeId) -> Result<(), Error> {
        self.0.release_crons(node).await
    }
}

#[tokio::test(start_paused = true)]
async fn between_two_runs_the_store_is_asked_nothing() {
    let stores = Stores::of(MemoryStore::default());
    let counting = Arc::new(Counting(stores.crons.clone(), AtomicUsize::default()));
    let stores = Stores { crons: counting.clone(), ..stores };
    let mut house = Clockwork::over(stores, "2026-05-01T00:00:00Z").await;
    let asked = || counting.1.load(Ordering::Relaxed);
    house.run(house.relay.clone());
    house.until("2026-05-02T00:30:00Z").await;
    assert_eq!(asked(), 1, "at the start");
    house.scheduled("@daily", "UTC").await;
    house.until("2026-05-02T00:31:00Z").await;
    assert_eq!(asked(), 2, "a new cron");
    house.until("2026-05-02T23:59:00Z").await;
    assert_eq!(asked(), 2, "it waits");
    house.until("2026-05-04T23:59:00Z").await;
    assert_eq!(house.runs().len(), 2);
    let for_runs = asked() - 2;
    assert!(for_runs <= 2 * 6, "{for_runs} for two runs");
    house.stop().await;
}
