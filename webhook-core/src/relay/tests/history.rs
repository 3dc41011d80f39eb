//! What is remembered of attempts.

use http::header::RETRY_AFTER;

use super::*;
use crate::{
    forward::history::{FailureKind, NextBecause, PastAttempt, Trigger},
    model::{Extension, Health, Pause, PausedBy, ProcessPolicy},
    relay::Resend,
};

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn attempts(log: &Log) -> Vec<PastAttempt> {
    log.delivery.history.attempts()
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_remembered_with_why_the_next_one_is_when_it_is() {
    let mut world = World::new().await;
    world.forwarder.script(
        HOOK,
        [
            unavailable().header(RETRY_AFTER, 3600.into()).after(secs(2)),
            Answer::connection_refused(),
            Answer::ok().after(secs(1)),
        ],
    );
    world.output_to(HOOK).await;
    world.deliver().await;
    world.post("{}").await;
    world.forwarder.finished(3).await;
    let log = world.outcome_of_request(0).await;
    let made = attempts(&log);
    let [first, second, third] = made[..] else { panic!("three attempts: {made:?}") };

    assert_eq!((first.number, first.trigger, first.status_code), (1, Trigger::First, 503));
    assert_eq!(first.timings.total, secs(2));
    let ended = log.webhook.received_at + secs(2);
    assert_eq!(first.next, Some(((ended + secs(3600)).as_millis(), NextBecause::RetryAfter)));

    assert_eq!((second.number, second.trigger, second.status_code), (2, Trigger::Retry, 0));
    assert_eq!(second.failure, Some(FailureKind::Connect));
    assert!(second.at_ms >= (ended + secs(3600)).as_millis());
    assert!(second.queued < secs(1), "it was made when it was due: {second:?}");
    let (next, because) = second.next.expect("another one");
    assert_eq!(because, NextBecause::Schedule);
    assert!((4_500..=5_500).contains(&(next - second.at_ms)), "five seconds, a tenth either way");

    assert_eq!((third.number, third.status_code, third.next), (3, 200, None));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_no_attempt_is_not_in_it_and_another_delivery_begins_anew() {
    let mut world = World::new().await;
    let output = world.output_to(HOOK).await;
    world.deliver().await;
    world.post("{}").await;
    world.forwarder.finished(1).await;
    let first = world.outcome_of_request(0).await;
    assert!(first.delivery.history.as_bytes().len() < 40, "few bytes for one attempt");

    tokio::time::sleep(secs(60)).await;
    let resend =
        Resend { log: first.delivery.id, output: Some(output), policy: ProcessPolicy::Skip };
    world.relay.resend(world.bucket.account_id, resend).await.expect("delivered again");
    world.forwarder.finished(2).await;
    let again = attempts(&world.outcome_of_request(1).await);
    let [again] = again[..] else { panic!("one attempt: {again:?}") };
    assert_eq!((again.number, again.trigger), (1, Trigger::Resend));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_waited_for_the_end_of_a_pause_was_resumed_and_what_tries_is_a_probe() {
    let mut world = World::new().await;
    let health = Extension::Set(Health::default());
    let spec = OutputSpec { destination: HOOK.into(), health, ..OutputSpec::default() };
    world.output(spec).await;
    world.deliver().await;
    world.change(|now| PauseChange::Pause(Pause::new(now, None, String::new()))).await;
    world.post("waits").await;
    tokio::time::sleep(secs(100)).await;
    let discard_before = Timestamp::default();
    world.change(|at| PauseChange::Resume { at, rate: None, discard_before }).await;
    world.forwarder.finished(1).await;
    world.post("fresh").await;
    world.forwarder.finished(2).await;
    for (index, trigger) in [(0, Trigger::Resume), (1, Trigger::First)] {
        let made = attempts(&world.outcome_of_request(index).await);
        assert_eq!(made.first().map(|attempt| attempt.trigger), Some(trigger));
    }
    let failing = |now| Pause { by: PausedBy::Failing, ..Pause::new(now, None, String::new()) };
    world.change(|now| PauseChange::Pause(failing(now))).await;
    world.post("tries").await;
    world.forwarder.finished(3).await;
    let made = attempts(&world.outcome_of_request(2).await);
    assert_eq!(made.first().map(|attempt| attempt.trigger), Some(Trigger::Probe));
    world.stop().await;
}
