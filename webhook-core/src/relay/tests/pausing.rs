use super::*;
use crate::{
    model::{Extension, Health, OnDisabled, Pause, RateInterval, Reason, Throttle, ThrottleMode},
    store::StateChange,
};

impl World {
    /// Changes its only output, as `Admin` does.
    pub(super) async fn change(&mut self, change: impl FnOnce(Timestamp) -> PauseChange) {
        let change = change(START + self.elapsed());
        let output = &mut self.bucket.outputs[0];
        output.pauses.change(change.clone());
        let mut changes = Vec::new();
        if let PauseChange::Disable(disabled, _) = change {
            output.spec.disabled = disabled;
            let update = Change::update(self.bucket.account_id, output, output.version);
            changes.push(update.expect("a document"));
            output.version += 1;
        }
        changes.push(Change::State(StateChange::Pauses(output.id, change)));
        self.stores.documents.apply(&changes).await.expect("the output is there");
        self.relay.bucket_changed(&self.bucket);
    }

    async fn pause(&mut self, until: Option<Timestamp>) {
        self.change(|now| PauseChange::Pause(Pause::new(now, until, String::new()))).await;
    }

    async fn resume(&mut self, rate: Option<(u32, RateInterval)>) {
        let discard_before = Timestamp::default();
        self.change(|at| PauseChange::Resume { at, rate, discard_before }).await;
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn sent(&self) -> usize {
        self.forwarder.requests().len()
    }
}

async fn sleep(secs: u64) {
    pass(Duration::from_secs(secs)).await;
}

const DAY: u64 = 24 * 3600;

#[tokio::test(start_paused = true)]
async fn what_comes_during_a_pause_waits_and_leaves_at_the_rate_of_the_end() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    world.deliver().await;
    world.pause(None).await;
    for number in 0..30 {
        assert_eq!(world.post(&number.to_string()).await.status(), 200);
    }
    sleep(3 * DAY).await;
    assert_eq!(world.sent(), 0);
    world.resume(Some((3, RateInterval::Second))).await;
    for second in 1..10 {
        tokio::time::sleep(Duration::from_millis(990)).await;
        assert!(world.sent() <= 3 * second, "{} after {second} s", world.sent());
    }
    world.forwarder.finished(30).await;
    // What came after the end is not held up.
    for _ in 0..20 {
        world.post("fresh").await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(world.sent(), 50);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_outlives_a_restart_and_ends_by_itself() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    world.deliver().await;
    world.post("before").await;
    world.forwarder.finished(1).await;
    world.pause(Some(START + Duration::from_secs(1_000))).await;
    world.post("1").await;
    world.stop().await;
    world.post("2").await;
    world.deliver().await;
    world.post("3").await;
    sleep(990).await;
    assert_eq!(world.sent(), 1);
    sleep(20).await;
    world.forwarder.finished(4).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_waited_for_an_end_by_itself_leaves_ever_faster() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    world.deliver().await;
    world.pause(Some(START + Duration::from_secs(100))).await;
    for _ in 0..35 {
        world.post("x").await;
    }
    sleep(100).await;
    for second in 1..=3 {
        tokio::time::sleep(Duration::from_millis(990)).await;
        assert!(world.sent() <= 10 * second, "{} after {second} s", world.sent());
    }
    world.forwarder.finished(35).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_circuit_breaker_that_is_taken_away_keeps_nothing_back() {
    let mut world = World::new().await;
    let mut spec = OutputSpec { destination: HOOK.into(), ..OutputSpec::default() };
    spec.health = Extension::Set(Health::default());
    spec.durability.enabled = true;
    world.output(spec).await;
    world.forwarder.script(HOOK, [unavailable()]);
    world.deliver().await;
    for _ in 0..50 {
        world.post("x").await;
    }
    sleep(DAY).await;
    let output = &mut world.bucket.outputs[0];
    output.spec.health = Extension::Absent;
    let account = world.bucket.account_id;
    world.stores.documents.update_output(account, output).await.expect("it is there");
    output.version += 1;
    world.relay.bucket_changed(&world.bucket);
    let before = world.sent();
    world.forwarder.script(HOOK, [Answer::ok()]);
    for _ in 0..20 {
        world.post("fresh").await;
    }
    sleep(5).await;
    assert!(world.sent() - before >= 20, "{} in five seconds", world.sent() - before);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_year_of_pause_brings_no_deadline_nearer() {
    let mut world = World::new().await;
    let throttle = Throttle {
        enabled: true,
        mode: ThrottleMode::Concurrency,
        max_concurrent: 1,
        deadline: Duration::from_secs(60),
        ..Throttle::default()
    };
    let mut spec = OutputSpec { destination: HOOK.into(), throttle, ..OutputSpec::default() };
    spec.durability.enabled = true;
    spec.durability.deadline = Duration::from_secs(3600);
    world.output(spec).await;
    world.forwarder.script(HOOK, [unavailable(), Answer::ok()]);
    world.deliver().await;
    world.post("tried").await;
    world.post("waits").await;
    world.forwarder.finished(1).await;
    world.pause(None).await;
    // In one step: a paused queue is looked at every few seconds.
    tokio::time::advance(Duration::from_secs(365 * DAY)).await;
    sleep(1).await;
    assert_eq!(world.sent(), 1);
    world.resume(None).await;
    world.forwarder.finished(3).await;
    for index in 0..3 {
        assert_eq!(world.outcome_of_request(index).await.delivery.status, DeliveryStatus::Sent);
    }
    // The clocks go on where they stood: what waits now has what was left.
    world.post("late").await;
    world.forwarder.finished(4).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_waits_when_an_output_is_disabled_is_delivered_when_it_is_enabled() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [unavailable(), Answer::ok()]);
    world.deliver().await;
    world.post("first").await;
    world.forwarder.finished(1).await;
    let disable = |disabled: bool| move |now| PauseChange::Disable(disabled, now);
    world.change(disable(true)).await;
    world.post("goes nowhere, as the output is disabled").await;
    sleep(3 * DAY).await;
    assert_eq!(world.sent(), 1);
    world.change(disable(false)).await;
    world.forwarder.finished(2).await;
    assert_eq!(world.outcome_of_request(1).await.delivery.status, DeliveryStatus::Sent);
    sleep(60).await;
    assert_eq!(world.sent(), 2);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_comes_while_a_parking_output_is_disabled_waits_until_it_is_enabled() {
    let mut world = World::new().await;
    let on_disabled = Some(OnDisabled::Park);
    let mut spec = OutputSpec { destination: HOOK.into(), on_disabled, ..OutputSpec::default() };
    spec.throttle = Throttle { enabled: true, rate: 100, ..Throttle::default() };
    spec.throttle.deadline = Duration::from_secs(60);
    world.output(spec).await;
    world.deliver().await;
    let disable = |disabled: bool| move |now| PauseChange::Disable(disabled, now);
    world.change(disable(true)).await;
    for _ in 0..3 {
        assert_eq!(world.post("parked").await.status(), 200);
    }
    world.stop().await;
    world.deliver().await;
    sleep(3 * DAY).await;
    assert_eq!(world.sent(), 0);
    world.change(disable(false)).await;
    world.forwarder.finished(3).await;
    for index in 0..3 {
        assert_eq!(world.outcome_of_request(index).await.delivery.status, DeliveryStatus::Sent);
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_received_before_the_moment_of_the_resume_is_not_sent() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    world.forwarder.script(HOOK, [unavailable(), Answer::ok()]);
    world.deliver().await;
    world.post("tried").await;
    world.forwarder.finished(1).await;
    world.pause(None).await;
    for _ in 0..50 {
        world.post("old").await;
    }
    sleep(1_000).await;
    let before = START + world.elapsed();
    for _ in 0..2 {
        world.post("young").await;
    }
    world
        .change(|at| {
            let rate = Some((1, RateInterval::Second));
            PauseChange::Resume { at, rate, discard_before: before }
        })
        .await;
    world.forwarder.finished(3).await;
    // At once, and not at the rate of what is sent.
    sleep(5).await;
    let bodies: Vec<_> = world.forwarder.requests().into_iter().map(|sent| sent.body).collect();
    assert_eq!(bodies, ["tried", "young", "young"]);
    let query = crate::store::LogQuery { limit: 100, ..Default::default() };
    let logs = world.stores.logs.logs(world.bucket.account_id, &query).await.expect("logs").logs;
    let ended = logs.iter().filter(|log| log.delivery.reason == Some(Reason::Cancelled));
    let ended: Vec<_> = ended.map(|log| log.delivery.status).collect();
    assert_eq!(ended, [DeliveryStatus::Rejected; 51]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_sender_does_not_wait_for_an_output_that_is_paused() {
    let input = InputSpec {
        response_from_output: crate::model::ResponseFromOutput::Any,
        ..InputSpec::default()
    };
    let mut world = World::with(BucketSpec::default(), input, RelayOptions::default()).await;
    world.output_to(HOOK).await;
    world.deliver().await;
    world.pause(None).await;
    let before = world.elapsed();
    assert_eq!(world.post("x").await.status(), 200);
    assert!(world.elapsed() - before < Duration::from_secs(1));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_open_circuit_uses_up_no_attempts_and_closes_when_the_destination_works() {
    let mut world = World::new().await;
    let mut spec = OutputSpec { destination: HOOK.into(), ..OutputSpec::default() };
    spec.health = Extension::Set(Health::default());
    spec.durability.enabled = true;
    world.output(spec).await;
    world.forwarder.script(HOOK, [unavailable()]);
    world.deliver().await;
    for number in 0..100 {
        world.post(&number.to_string()).await;
    }
    sleep(DAY).await;
    let tries = world.sent();
    assert!(tries <= 100 + 300, "{tries} attempts in a day");
    for _ in 0..10 {
        world.post("more").await;
    }
    sleep(DAY).await;
    assert!(world.sent() <= tries + 300, "{} attempts in two days", world.sent());
    world.forwarder.script(HOOK, [Answer::ok()]);
    sleep(3 * DAY).await;
    let requests = world.forwarder.requests().len();
    for index in requests - 50..requests {
        assert_eq!(world.outcome_of_request(index).await.delivery.status, DeliveryStatus::Sent);
    }
    let bodies: std::collections::HashSet<_> =
        world.forwarder.requests().into_iter().map(|sent| sent.body).collect();
    assert_eq!(bodies.len(), 101, "each was attempted");
    world.stop().await;
}
