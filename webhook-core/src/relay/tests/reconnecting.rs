//! A request that a destination has not processed is sent again immediately, and costs no attempt.

use futures_util::future::join_all;

use super::*;
use crate::{
    forward::{
        ForwardError,
        history::{FailureKind, NextBecause, PastAttempt, Trigger},
        http::{HttpForwarder, tests::http2_server::GoingAway},
    },
    guard::AddressGuard,
    store::LogQuery,
};

fn unprocessed() -> Answer {
    let reason = || "the destination goes away".to_owned();
    let error = move || ForwardError::Unprocessed { reason: reason(), source: None, timings: None };
    Answer::error(error)
}

fn kept_closed() -> Answer {
    let reason = || "closed".to_owned();
    Answer::error(move || ForwardError::KeptClosed {
        reason: reason(),
        source: None,
        timings: None,
    })
}

fn once() -> OutputSpec {
    OutputSpec { destination: HOOK.into(), retries: -1, ..OutputSpec::default() }
}

/// The log of a webhook whose requests get these answers.
async fn sent(answers: impl IntoIterator<Item = Answer>, spec: OutputSpec) -> (World, Log) {
    let mut world = World::new().await;
    world.forwarder.script(HOOK, answers);
    world.output(spec).await;
    let log = world.deliver_one().await;
    (world, log)
}

fn attempts(log: &Log) -> Vec<PastAttempt> {
    log.delivery.history.attempts()
}

#[tokio::test(start_paused = true)]
async fn what_was_not_processed_is_sent_again_without_a_wait_and_an_attempt() {
    let (world, log) = sent([unprocessed(), unprocessed(), Answer::ok()], once()).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 1));
    assert_eq!(log.delivery.updated_at, START, "nobody has waited");
    let made = attempts(&log);
    let [first, second, third] = made[..] else { panic!("three entries: {made:?}") };
    assert_eq!((first.number, second.number, third.number), (1, 1, 1));
    assert_eq!(first.trigger, Trigger::First);
    assert_eq!((second.trigger, third.trigger), (Trigger::Reconnect, Trigger::Reconnect));
    for unprocessed in [first, second] {
        assert_eq!((unprocessed.status_code, unprocessed.is_answer_incomplete()), (0, false));
        assert_eq!(unprocessed.failure, Some(FailureKind::Unprocessed));
        assert_eq!(unprocessed.next, Some((START.as_millis(), NextBecause::Reconnect)));
    }
    assert_eq!((third.status_code, third.failure, third.next), (200, None, None));
    let requests = world.forwarder.requests();
    assert!(requests.windows(2).all(|pair| pair[0].headers == pair[1].headers));
    assert!(requests.iter().all(|request| !request.new_connection), "one that is shared will do");
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_processes_nothing_costs_nine_requests_for_each_attempt() {
    let (world, log) = sent([unprocessed()], once()).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Failed, 1));
    assert_eq!(world.forwarder.requests().len(), 9);
    let error = log.delivery.last.and_then(|last| last.error);
    assert_eq!(error.as_deref(), Some("not processed: the destination goes away"));
    let three = OutputSpec { retries: 0, ..once() };
    let (world, log) = sent([unprocessed()], three).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Failed, 3));
    assert_eq!(world.forwarder.requests().len(), 27);
    let numbers: Vec<_> = attempts(&log).iter().map(|attempt| attempt.number).collect();
    assert!(numbers.is_sorted() && numbers.last() == Some(&3), "{numbers:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_kept_connection_that_closed_a_new_one_is_used_once() {
    let (world, log) = sent([kept_closed(), Answer::ok()], once()).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 1));
    let made = attempts(&log);
    assert_eq!(made[0].failure, Some(FailureKind::KeptClosed));
    assert_eq!((made[1].trigger, made.len()), (Trigger::Reconnect, 2));
    let new: Vec<_> =
        world.forwarder.requests().iter().map(|request| request.new_connection).collect();
    assert_eq!(new, [false, true]);
    let (world, log) = sent([kept_closed()], once()).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Failed, 1));
    assert_eq!(world.forwarder.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn all_of_it_ends_with_the_timeout_of_the_attempt() {
    let slow = unprocessed().after(Duration::from_secs(4));
    let spec = OutputSpec { timeout: Some(Duration::from_secs(10)), ..once() };
    let (world, log) = sent([slow], spec).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Failed, 1));
    assert_eq!(log.delivery.updated_at.since(START), Duration::from_secs(10));
    let kinds: Vec<_> = attempts(&log).iter().filter_map(|attempt| attempt.failure).collect();
    use FailureKind::{Timeout, Unprocessed};
    assert_eq!(kinds, [Unprocessed, Unprocessed, Timeout]);
    assert_eq!(world.forwarder.requests().len(), 3);
}

/// Sends 60 webhooks in bursts of 20 to a destination that goes away at each fifth request.
async fn through_goaway(retries: i32) {
    let server = GoingAway::after(5).await;
    let pem = server.certificate_pem.as_bytes();
    let forwarder = HttpForwarder::builder().guard(AddressGuard::allow_all());
    let forwarder = forwarder.add_root_certificates(pem).expect("a certificate").build();
    let mut world = World::new().await;
    world.relay =
        Webhooks::builder(world.stores.clone()).forwarder(forwarder).build().relay().clone();
    world.output(OutputSpec { destination: server.url(), retries, ..OutputSpec::default() }).await;
    world.deliver().await;
    for burst in 0..3 {
        let bodies: Vec<_> = (0..20).map(|number| format!("{burst}-{number}")).collect();
        join_all(bodies.iter().map(|body| world.post(body))).await;
        while server.processed().len() < 20 * (burst + 1) {
            tokio::task::yield_now().await;
        }
    }
    world.stop().await;
    let mut processed = server.processed();
    processed.sort_unstable();
    processed.dedup();
    assert_eq!((processed.len(), server.processed().len()), (60, 60), "each once");
    assert!(server.unprocessed() > 0, "some met a GOAWAY");
    let query = LogQuery::new(100);
    let page = world.stores.logs.logs(world.bucket.account_id, &query).await.expect("logs");
    assert_eq!(page.logs.len(), 60);
    let mut reconnects = 0;
    for log in page.logs {
        let delivery = &log.delivery;
        assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Sent, 1), "{log:?}");
        let made = attempts(&log);
        reconnects += made.iter().filter(|made| made.trigger == Trigger::Reconnect).count();
        assert!(made.iter().all(|made| made.number == 1), "{made:?}");
    }
    assert!(reconnects > 0);
}

#[tokio::test]
async fn no_webhook_fails_at_a_destination_that_goes_away_at_each_fifth() {
    through_goaway(-1).await;
}

#[tokio::test]
async fn no_attempt_is_spent_at_a_destination_that_goes_away_at_each_fifth() {
    through_goaway(3).await;
}
