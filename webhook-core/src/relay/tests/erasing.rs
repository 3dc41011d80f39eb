//! Webhooks that are erased on their way.

use super::*;
use crate::{
    ErrorKind,
    id::{ErasureId, NodeId},
    model::{
        Erasure, ErasureSpec, ReplayFilter, ReplayStatus, ResponseFromOutput, Throttle,
        ThrottleMode,
    },
    store::{Claim, ClaimWork, ErasedWebhook, Lease},
};

fn one_at_a_time() -> Throttle {
    let mode = ThrottleMode::Concurrency;
    Throttle { enabled: true, mode, max_concurrent: 1, ..Throttle::default() }
}

impl World {
    async fn erase(&self, log: &Log) -> Result<ErasedWebhook, Error> {
        self.relay.eraser.erase(self.bucket.account_id, log.webhook.id).await
    }

    /// The logs of the answered webhook.
    async fn logs_of(&self, answer: &Response<Bytes>) -> Vec<Log> {
        let id = answer.headers()["request-id"].to_str().expect("text").parse().expect("an id");
        let logs = self.stores.deliveries.logs_of(self.bucket.account_id, id).await;
        logs.expect("readable")
    }

    fn bodies(&self) -> Vec<Bytes> {
        self.forwarder.requests().into_iter().map(|sent| sent.body).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_in_memory_is_withdrawn_and_the_others_keep_their_order() {
    let mut world = World::new().await;
    let throttle = one_at_a_time();
    world.output(OutputSpec { destination: HOOK.into(), throttle, ..OutputSpec::default() }).await;
    world.deliver().await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(1))]);
    let mut logs = Vec::new();
    for body in ["0", "1", "2", "3"] {
        let answer = world.post(body).await;
        logs.extend(world.logs_of(&answer).await);
    }
    world.forwarder.received(1).await;
    let refused = world.erase(&logs[0]).await.expect_err("it is in flight");
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let erased = world.erase(&logs[2]).await.expect("it waits");
    assert_eq!((erased.logs, erased.withdrawn), (vec![logs[2].delivery.id], 1));
    world.forwarder.finished(3).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(world.bodies(), ["0", "1", "3"]);
    world.erase(&logs[0]).await.expect("it has ended");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_erased_waits_on_in_its_place() {
    let mut world = World::new().await;
    let (slow, quick) = ("https://example.com/slow", "https://example.com/quick");
    for destination in [slow, quick] {
        let throttle = one_at_a_time();
        let spec = OutputSpec {
            name: destination.to_owned(),
            destination: destination.to_owned(),
            throttle,
            ..OutputSpec::default()
        };
        world.output(spec).await;
    }
    world.deliver().await;
    // At one output the second webhook is in flight, at the other it still waits.
    world.forwarder.script(slow, [Answer::ok().after(Duration::from_secs(9))]);
    let quickly = Answer::ok().after(Duration::from_millis(10));
    let last = Answer::ok().after(Duration::from_secs(9));
    world.forwarder.script(quick, [quickly, last]);
    let mut logs = Vec::new();
    for body in ["0", "1", "2"] {
        let answer = world.post(body).await;
        logs.extend(world.logs_of(&answer).await);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let of_second: Vec<_> =
        logs.iter().filter(|log| &log.webhook.request.body[..] == b"1").collect();
    assert_eq!(of_second.len(), 2);
    world.erase(of_second[0]).await.expect_err("one of its deliveries is in flight");
    world.forwarder.finished(6).await;
    let sent = world.forwarder.requests().into_iter();
    let to_slow: Vec<_> = sent.filter(|sent| sent.url == slow).map(|sent| sent.body).collect();
    assert_eq!(to_slow, ["0", "1", "2"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_waits_is_not_made_after_the_erasure() {
    let mut world = World::new().await;
    world.output_to(HOOK).await;
    world.deliver().await;
    world.forwarder.script(HOOK, [unavailable()]);
    let answer = world.post("x").await;
    world.forwarder.finished(1).await;
    let log = loop {
        let log = world.logs_of(&answer).await.remove(0);
        if log.delivery.attempts == 1 {
            break log;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(log.delivery.status, DeliveryStatus::Received);
    world.erase(&log).await.expect("nothing is in flight");
    pass(Duration::from_secs(24 * 3_600)).await;
    assert_eq!(world.bodies(), ["x"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_sender_that_waits_for_an_erased_webhook_gets_the_inputs_answer() {
    let input = InputSpec {
        response_from_output: ResponseFromOutput::Any,
        status_code: 202,
        ..InputSpec::default()
    };
    let mut world = World::with(BucketSpec::default(), input, RelayOptions::default()).await;
    let throttle = one_at_a_time();
    world.output(OutputSpec { destination: HOOK.into(), throttle, ..OutputSpec::default() }).await;
    world.deliver().await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(4))]);
    let (_, second) = tokio::join!(world.post("first"), async {
        world.forwarder.received(1).await;
        let asked = tokio::time::Instant::now();
        let (answer, ()) = tokio::join!(world.post("second"), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let newest = crate::store::LogQuery::new(1);
            let page = world.stores.logs.logs(world.bucket.account_id, &newest).await;
            let newest = page.expect("readable").logs.remove(0);
            assert_eq!(&newest.webhook.request.body[..], b"second");
            world.erase(&newest).await.expect("it waits");
        });
        assert!(asked.elapsed() < Duration::from_secs(2), "nobody waits for what is erased");
        answer
    });
    assert_eq!(second.status(), 202);
    world.stop().await;
}

impl World {
    /// Begins an erasure of everything so far that this filter finds.
    async fn begin(&self, filter: ReplayFilter) -> Erasure {
        let erasure = Erasure {
            id: ErasureId::generate(),
            account_id: self.bucket.account_id,
            bucket_id: None,
            status: ReplayStatus::Running,
            error: String::new(),
            found: 0,
            erased: 0,
            withdrawn: 0,
            in_flight: Vec::new(),
            created_at: START + self.began.elapsed() + Duration::from_millis(1),
            finished_at: None,
            cursor: String::new(),
            spec: ErasureSpec { filter, ..ErasureSpec::default() },
        };
        self.stores.erasures.create_erasure(&erasure, 10).await.expect("it begins");
        self.relay.erasures_changed();
        erasure
    }

    async fn stored(&self, erasure: &Erasure) -> Erasure {
        let stored = self.stores.erasures.erasure(erasure.account_id, erasure.id).await;
        stored.expect("readable").expect("it is there")
    }

    /// The erasure when it is over, and how long that took.
    async fn over(&self, erasure: &Erasure) -> (Erasure, Duration) {
        let began = tokio::time::Instant::now();
        loop {
            let stored = self.stored(erasure).await;
            if stored.finished_at.is_some() {
                return (stored, began.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn everything() -> ReplayFilter {
    ReplayFilter { from: "0".to_owned(), ..ReplayFilter::default() }
}

#[tokio::test(start_paused = true)]
async fn an_erasure_comes_back_to_what_is_in_flight() {
    let mut world = World::new().await;
    let throttle = one_at_a_time();
    world.output(OutputSpec { destination: HOOK.into(), throttle, ..OutputSpec::default() }).await;
    world.deliver().await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(9))]);
    for number in 0..100 {
        world.post(&number.to_string()).await;
    }
    world.forwarder.received(1).await;
    // The filter finds the webhook no more when its attempt has ended.
    let waiting = ReplayFilter { status: "received".to_owned(), ..everything() };
    let erasure = world.begin(waiting).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.post("fresh").await;
    let now = world.stored(&erasure).await;
    assert_eq!((now.erased, now.withdrawn, now.in_flight.len()), (99, 99, 1));
    assert_eq!(now.status, ReplayStatus::Running);
    let (over, _) = world.over(&erasure).await;
    assert_eq!((over.status, over.found, over.erased), (ReplayStatus::Done, 100, 100));
    assert_eq!((over.withdrawn, over.in_flight.len()), (99, 0));
    assert_eq!(over.spec, ErasureSpec::default(), "the filter may tell what was erased");
    world.forwarder.finished(2).await;
    assert_eq!(world.bodies(), ["0", "fresh"], "what came later is sent");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_erasure_ends_without_what_stays_in_flight_for_ten_minutes() {
    let mut world = World::new().await;
    let output = world.output_to(HOOK).await;
    for body in ["a", "b"] {
        world.post(body).await;
    }
    let other = NodeId::generate();
    let lease = Lease::new(other, 0, START + Duration::from_secs(100_000));
    world.stores.deliveries.extend_lease(lease).await.expect("a lease");
    let claim = Claim::new(other, output, START + Duration::from_secs(1), 1);
    let held = world.stores.deliveries.claim(claim).await.expect("a claim").deliveries;
    assert_eq!(held.len(), 1);
    // It is not sent to the other node's.
    let erasure = world.begin(everything()).await;
    world.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(1))]);
    world.deliver().await;
    let (over, took) = world.over(&erasure).await;
    assert_eq!((over.status, over.erased), (ReplayStatus::Done, 1));
    assert_eq!(over.in_flight, [held[0].webhook.id]);
    assert!(took >= Duration::from_secs(600) && took < Duration::from_secs(620), "{took:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_erasure_looks_no_further_when_too_many_webhooks_are_in_flight() {
    let mut world = World::new().await;
    let output = world.output_to(HOOK).await;
    let in_flight = Erasure::MAX_IN_FLIGHT + 100;
    for number in 0..in_flight {
        world.post(&number.to_string()).await;
    }
    let other = NodeId::generate();
    let lease = Lease::new(other, 0, START + Duration::from_secs(100_000));
    world.stores.deliveries.extend_lease(lease).await.expect("a lease");
    let claim = Claim::new(other, output, START + Duration::from_secs(1), in_flight);
    world.stores.deliveries.claim(claim).await.expect("a claim");
    let erasure = world.begin(everything()).await;
    world.deliver().await;
    let (over, _) = world.over(&erasure).await;
    assert_eq!((over.status, over.erased), (ReplayStatus::Failed, 0));
    let left = over.in_flight.len();
    assert!((Erasure::MAX_IN_FLIGHT..in_flight).contains(&left), "{left}");
    assert!(over.error.contains("in flight"), "{}", over.error);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_node_goes_on_with_an_erasure() {
    let mut world = World::new().await;
    for number in 0..50 {
        world.post(&number.to_string()).await;
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    let erasure = world.begin(everything()).await;
    let now = START + world.began.elapsed() + Duration::from_millis(2);
    let until = now + Duration::from_secs(15);
    let claim = ClaimWork::new(NodeId::generate(), now, until, 1);
    let claimed = world.stores.erasures.claim_erasures(claim).await.expect("a claim");
    assert_eq!(claimed.len(), 1);
    world.deliver().await;
    let (over, took) = world.over(&erasure).await;
    assert_eq!((over.status, over.erased), (ReplayStatus::Done, 50));
    assert!(took >= Duration::from_secs(14), "the other one has it for {took:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_erasure_whose_filter_cannot_be_read_fails() {
    let mut world = World::new().await;
    world.post("x").await;
    world.deliver().await;
    let wrong = ReplayFilter { status: "lost".to_owned(), ..everything() };
    let erasure = world.begin(wrong).await;
    let (over, _) = world.over(&erasure).await;
    assert_eq!((over.status, over.erased), (ReplayStatus::Failed, 0));
    assert!(over.error.starts_with("filter.status: "), "{}", over.error);
    world.stop().await;
}
