use bytes::Bytes;
use http::{HeaderMap, Method};

use super::*;
use crate::{
    id::{AccountId, BucketId, DeliveryId, InputId, WebhookId},
    model::{Request, Throttle, Webhook},
};

fn at(secs: i64) -> Timestamp {
    Timestamp::from_secs(secs)
}

fn held(id: DeliveryId, due_at: Timestamp) -> Held {
    let webhook = Webhook {
        id: WebhookId::generate(),
        account_id: AccountId::generate(),
        bucket_id: BucketId::generate(),
        input_id: InputId::generate(),
        request: Request {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        },
        remote_addr: None,
        secure: false,
        ephemeral: false,
        input_execution_id: None,
        received_at: due_at,
    };
    let pending = Pending {
        id,
        output_id: OutputId::generate(),
        due_at,
        created_at: due_at,
        attempts: 0,
        processed: None,
        webhook: Arc::new(webhook),
    };
    Held::new(pending, None)
}

fn limits(throttle: Throttle) -> Limits {
    let options = RelayOptions {
        output_queue: 3,
        output_concurrency: 2,
        output_backlog: 100,
        ..RelayOptions::default()
    };
    Limits::of(&OutputSpec { throttle, ..OutputSpec::default() }, &options)
}

fn plain() -> Limits {
    limits(Throttle::default())
}

fn strict() -> Limits {
    limits(Throttle {
        enabled: true,
        mode: ThrottleMode::Concurrency,
        max_concurrent: 1,
        ..Throttle::default()
    })
}

fn lane(limits: Limits) -> Arc<Lane> {
    Arc::new(Lane::new(OutputId::generate(), limits))
}

fn push(lane: &Arc<Lane>, limits: Limits, id: DeliveryId, due_at: Timestamp) -> Place {
    let seat = lane.seat(limits, true, None).expect("room");
    let place = seat.place();
    seat.take(held(id, due_at));
    place
}

fn worker(lane: &Lane) {
    assert!(lane.start_worker(), "there is work for a worker");
    lane.worker_started();
}

fn attempted(next: Next) -> DeliveryId {
    match next {
        Next::Attempt(held) => held.pending.id,
        other => panic!("expected an attempt, not {other:?}"),
    }
}

#[test]
fn workers_are_started_for_work_and_up_to_the_concurrency() {
    let lane = lane(plain());
    assert!(!lane.start_worker(), "an empty lane needs none");
    for _ in 0..3 {
        push(&lane, plain(), DeliveryId::generate(), at(1));
    }
    worker(&lane);
    attempted(lane.next(plain(), at(1), false));
    worker(&lane);
    attempted(lane.next(plain(), at(1), false));
    assert!(!lane.start_worker(), "two are at work");
    attempted(lane.next(plain(), at(1), false));
    assert!(matches!(lane.next(plain(), at(1), false), Next::Idle));
    assert!(matches!(lane.next(plain(), at(1), false), Next::Idle));
}

#[test]
fn a_busy_worker_does_not_keep_a_second_from_starting() {
    let lane = lane(plain());
    push(&lane, plain(), DeliveryId::generate(), at(1));
    worker(&lane);
    attempted(lane.next(plain(), at(1), false));
    push(&lane, plain(), DeliveryId::generate(), at(1));
    assert!(lane.start_worker());
    assert!(!lane.start_worker(), "one that is about to ask is enough for one delivery");
}

/// Whether a delivery that has just been stored is started with at once.
fn starts(lane: &Arc<Lane>, limits: Limits, in_memory: bool) -> bool {
    let id = DeliveryId::generate();
    let (_, first) = lane.seat(limits, in_memory, None).expect("room").start(held(id, at(1)));
    assert!(first.as_ref().is_none_or(|first| first.pending.id == id));
    first.is_some()
}

#[test]
fn what_nothing_is_before_starts_at_once_up_to_the_concurrency() {
    let lane = lane(plain());
    assert!(starts(&lane, plain(), true) && starts(&lane, plain(), true));
    assert!(!starts(&lane, plain(), true), "two are at work");
    assert!(!lane.start_worker(), "they are counted");
    attempted(lane.next(plain(), at(1), false));
    assert!(matches!(lane.next(plain(), at(1), false), Next::Idle));
    assert!(starts(&lane, plain(), true), "one has ended, and the queue is empty");
    push(&lane, plain(), DeliveryId::generate(), at(1));
    attempted(lane.next(plain(), at(1), false));
    assert!(matches!(lane.next(plain(), at(1), false), Next::Idle));
    assert!(!starts(&lane, plain(), false), "it is in the store");
    assert!(matches!(lane.next(plain(), at(1), false), Next::Claim(_)));
}

#[test]
fn what_waits_in_the_queue_goes_first() {
    let lane = lane(plain());
    push(&lane, plain(), DeliveryId::generate(), at(1));
    assert!(!starts(&lane, plain(), true));
    worker(&lane);
    attempted(lane.next(plain(), at(1), false));
}

#[test]
fn order_and_pace_are_the_lanes_to_keep() {
    let paced = limits(Throttle { enabled: true, rate: 1, ..Throttle::default() });
    for limits in [strict(), paced] {
        let lane = lane(limits);
        assert!(!starts(&lane, limits, true), "{limits:?}");
        worker(&lane);
        attempted(lane.next(limits, at(1), false));
    }
}

#[test]
fn past_the_queue_deliveries_wait_in_the_store_until_a_claim_finds_no_more() {
    let lane = lane(plain());
    for _ in 0..3 {
        assert_eq!(push(&lane, plain(), DeliveryId::generate(), at(1)), Place::Memory);
    }
    assert_eq!(push(&lane, plain(), DeliveryId::generate(), at(1)), Place::Store);
    worker(&lane);
    for _ in 0..3 {
        attempted(lane.next(plain(), at(1), false));
    }
    // There is room again, but the newer one follows the older to the store.
    assert_eq!(push(&lane, plain(), DeliveryId::generate(), at(1)), Place::Store);
    let Next::Claim(limit) = lane.next(plain(), at(1), false) else {
        panic!("the store has what the queue has not");
    };
    assert_eq!(limit, 3);
    lane.claimed(vec![held(DeliveryId::generate(), at(1))], Some(at(0)), at(1));
    assert_eq!(push(&lane, plain(), DeliveryId::generate(), at(1)), Place::Store, "cut short");
    attempted(lane.next(plain(), at(1), false));
    assert!(matches!(lane.next(plain(), at(1), false), Next::Claim(_)));
    lane.claimed(Vec::new(), None, at(1));
    assert_eq!(push(&lane, plain(), DeliveryId::generate(), at(1)), Place::Memory);
}

#[test]
fn a_retry_is_claimed_when_it_is_due() {
    let lane = lane(plain());
    lane.retry_at(at(10));
    lane.retry_at(at(20));
    worker(&lane);
    assert!(matches!(lane.next(plain(), at(1), false), Next::Until(due) if due == at(10)));
    worker(&lane);
    assert!(matches!(lane.next(plain(), at(10), false), Next::Claim(_)));
    lane.claimed(vec![held(DeliveryId::generate(), at(10))], Some(at(20)), at(10));
    attempted(lane.next(plain(), at(10), false));
    assert!(matches!(lane.next(plain(), at(10), false), Next::Until(due) if due == at(20)));
}

#[test]
fn strict_order_waits_for_the_head_and_its_retries() {
    let lane = lane(strict());
    let [first, second] = [DeliveryId::generate(), DeliveryId::generate()];
    push(&lane, strict(), second, at(1));
    push(&lane, strict(), first, at(1));
    worker(&lane);
    assert_eq!(attempted(lane.next(strict(), at(1), false)), first);
    assert!(!lane.start_worker(), "one at a time");
    lane.retry_at(at(5));
    assert!(matches!(lane.next(strict(), at(2), false), Next::Until(due) if due == at(5)));
    worker(&lane);
    assert!(matches!(lane.next(strict(), at(5), false), Next::Claim(_)));
    lane.claimed(vec![held(first, at(5))], None, at(5));
    assert_eq!(attempted(lane.next(strict(), at(5), false)), first);
    assert_eq!(attempted(lane.next(strict(), at(5), false)), second);
}

#[test]
fn strict_order_does_not_start_a_head_that_is_not_due() {
    let lane = lane(strict());
    lane.found(1, at(9));
    worker(&lane);
    assert!(matches!(lane.next(strict(), at(9), false), Next::Claim(_)));
    // Claimed in order of receipt, the head may be due only later.
    lane.claimed(vec![held(DeliveryId::generate(), at(30))], None, at(9));
    assert!(matches!(lane.next(strict(), at(9), false), Next::Until(due) if due == at(30)));
}

#[test]
fn a_rate_is_kept_and_a_deadline_ends_the_waiting() {
    let throttled = limits(Throttle {
        enabled: true,
        rate: 1,
        deadline: Duration::from_millis(500),
        ..Throttle::default()
    });
    let lane = lane(throttled);
    push(&lane, throttled, DeliveryId::generate(), at(1));
    push(&lane, throttled, DeliveryId::generate(), at(1));
    worker(&lane);
    attempted(lane.next(throttled, at(1), false));
    let deadline = at(1) + Duration::from_millis(500);
    assert!(matches!(lane.next(throttled, at(1), false), Next::Until(until) if until == deadline));
    assert_eq!(lane.take_expired(deadline).len(), 1);
}

#[test]
fn depth_and_backlog_bound_what_waits_and_a_dropped_seat_gives_its_place_back() {
    let deep = limits(Throttle {
        enabled: true,
        mode: ThrottleMode::Concurrency,
        max_concurrent: 2,
        max_queue_depth: 2,
        ..Throttle::default()
    });
    let lane = lane(deep);
    let seat = lane.seat(deep, true, None).expect("room");
    push(&lane, deep, DeliveryId::generate(), at(1));
    let full = lane.seat(deep, true, None).expect_err("full");
    assert_eq!(full.kind(), crate::ErrorKind::Busy);
    assert!(full.retry_after().is_some());
    drop(seat);
    lane.has_room(&deep).expect("the place was given back");
    lane.ended();
    lane.found(100, at(1));
    let error = lane.seat(plain(), true, None).expect_err("over the backlog");
    assert_eq!(error.kind(), crate::ErrorKind::Unavailable);
}
