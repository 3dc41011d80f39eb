use super::*;
use crate::{
    admin::{Admin, Caller},
    model::{Extension, Health, PausedBy, RateInterval, ResumeRequest},
};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A relay and its management with one output that has `health`.
struct House {
    webhooks: Webhooks,
    forwarder: ScriptedForwarder,
    admin: Arc<Admin>,
    caller: Caller,
    bucket: Bucket,
    output: OutputId,
    running: Option<Dispatcher>,
}

impl House {
    async fn new(health: Health) -> Self {
        let forwarder = ScriptedForwarder::new();
        let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
            .forwarder(forwarder.clone())
            .clock(TokioClock::starting_at(START))
            .build();
        let admin = Arc::clone(webhooks.admin());
        let (account, _) = admin.create_account("first", None).await.expect("an account");
        let caller = Caller::for_account(account.id);
        let bucket = admin.create_bucket(&caller, BucketSpec::new("orders")).await;
        let bucket = bucket.expect("a bucket");
        let mut spec = OutputSpec::new("shop", HOOK);
        spec.health = Extension::Set(health);
        spec.durability.enabled = true;
        let output = admin.create_output(&caller, bucket.id, spec).await.expect("an output").id;
        let mut house = Self { webhooks, forwarder, admin, caller, bucket, output, running: None };
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

    async fn post(&self) {
        let request = http::Request::post(format!("/v1/webhooks/{}", self.bucket.inputs[0].id));
        let request = request.body(Full::from("{}")).expect("a request");
        assert_eq!(self.webhooks.ingest().call(request).await.expect("infallible").status(), 200);
    }

    async fn output(&self) -> Output {
        let bucket = self.admin.bucket(&self.caller, self.bucket.id).await.expect("it is there");
        bucket.outputs.into_iter().find(|output| output.id == self.output).expect("the output")
    }

    async fn paused_by(&self) -> Option<PausedBy> {
        let now = self.admin.now();
        self.output().await.pauses.current(now).map(|pause| pause.by)
    }

    fn sent(&self) -> usize {
        self.forwarder.requests().len()
    }
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_fails_for_long_is_paused_tried_once_an_hour_and_resumed() {
    let mut house = House::new(Health::default()).await;
    house.forwarder.script(HOOK, [unavailable()]);
    for _ in 0..10 {
        house.post().await;
    }
    pass(Duration::from_secs(50)).await;
    assert_eq!(house.output().await.failing_since, None, "not for a minute");
    pass(Duration::from_secs(600)).await;
    assert_eq!(house.output().await.failing_since, Some(START), "since the first of them");
    pass(4 * DAY).await;
    assert_eq!(house.paused_by().await, None);
    pass(3 * DAY).await;
    assert_eq!(house.paused_by().await, Some(PausedBy::Failing));
    // It outlives a restart.
    house.stop().await;
    house.run();
    let before = house.sent();
    pass(2 * DAY).await;
    let tries = house.sent() - before;
    assert!((47..=49).contains(&tries), "{tries} tries in 48 hours");
    house.post().await;
    house.forwarder.script(HOOK, [Answer::ok()]);
    pass(2 * HOUR).await;
    assert_eq!(house.paused_by().await, None);
    assert_eq!(house.output().await.failing_since, None);
    pass(DAY).await;
    let sent: std::collections::HashSet<_> = house.forwarder.requests()[before + tries..]
        .iter()
        .map(|request| request.headers["x-webhook-relay-id"].clone())
        .collect();
    assert_eq!(sent.len(), 11, "each of them leaves");
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_person_who_resumes_or_pauses_decides() {
    let mut house = House::new(Health::default()).await;
    house.forwarder.script(HOOK, [unavailable()]);
    house.post().await;
    pass(7 * DAY).await;
    assert_eq!(house.paused_by().await, Some(PausedBy::Failing));
    let (caller, bucket, id) = (&house.caller, house.bucket.id, house.output);
    let resume =
        ResumeRequest { rate: 5, interval: RateInterval::Second, ..ResumeRequest::default() };
    house.admin.resume_output(caller, bucket, id, resume).await.expect("resumed");
    pass(2 * DAY).await;
    assert_eq!(house.paused_by().await, None, "it has five days again");
    pass(6 * DAY).await;
    assert_eq!(house.paused_by().await, Some(PausedBy::Failing));
    let pause = house.admin.pause_output(caller, bucket, id, Default::default()).await;
    pause.expect("paused");
    assert_eq!(house.paused_by().await, Some(PausedBy::Caller));
    let before = house.sent();
    house.forwarder.script(HOOK, [Answer::ok()]);
    pass(2 * DAY).await;
    assert_eq!((house.sent(), house.paused_by().await), (before, Some(PausedBy::Caller)));
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_fails_now_and_then_or_has_it_switched_off_is_left_alone() {
    let health = Health { pause_after: Duration::ZERO, ..Health::default() };
    let mut house = House::new(health).await;
    house.forwarder.script(HOOK, [unavailable()]);
    house.post().await;
    pass(8 * DAY).await;
    assert_eq!(house.paused_by().await, None);
    assert_eq!(house.output().await.failing_since, Some(START));
    house.forwarder.script(HOOK, [Answer::ok()]);
    house.post().await;
    pass(DAY).await;
    assert_eq!(house.output().await.failing_since, None);
    house.forwarder.script(HOOK, [unavailable(), Answer::ok()]);
    for _ in 0..20 {
        house.post().await;
        pass(HOUR).await;
        assert_eq!(house.output().await.failing_since, None);
    }
    house.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_410_pauses_an_output_only_where_it_is_final() {
    for (lists, paused_by) in [
        ("{}", Some(PausedBy::Gone)),
        (r#"{"success": ["410"]}"#, None),
        (r#"{"retry": ["4xx"]}"#, None),
    ] {
        let mut house = House::new(Health::default()).await;
        let mut spec = house.output().await.spec;
        spec.outcomes = Extension::Set(serde_json::from_str(lists).expect(lists));
        let updated = house.admin.update_output(&house.caller, house.bucket.id, house.output, spec);
        updated.await.expect("it is changed");
        house.forwarder.script(HOOK, [Answer::status(StatusCode::GONE)]);
        house.post().await;
        pass(Duration::from_secs(5)).await;
        assert_eq!(house.sent(), 1, "{lists}");
        assert_eq!(house.paused_by().await, paused_by, "{lists}");
        house.stop().await;
    }
}
