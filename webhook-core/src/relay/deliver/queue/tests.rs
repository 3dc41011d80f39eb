use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};

use super::*;
use crate::{
    id::{AccountId, BucketId, DeliveryId, InputId, WebhookId},
    model::{Output, OutputSpec, Request, Throttle, ThrottleMode, Webhook},
    relay::RelayOptions,
    store::OwnedQueue,
};

/// The lease was never over.
const TERM: Option<Term> = Some(Term::FIRST);

fn at(secs: i64) -> Timestamp {
    Timestamp::from_secs(secs)
}

fn queued(id: DeliveryId, due_at: Timestamp) -> QueuedDelivery {
    let request = Request::new(Method::POST, HeaderMap::new(), Bytes::new());
    let place = (AccountId::generate(), BucketId::generate(), InputId::generate());
    let webhook = Webhook::new(WebhookId::generate(), place, request, due_at);
    let pending = Pending::new(id, OutputId::generate(), Arc::new(webhook), due_at, due_at);
    QueuedDelivery::new(pending, None)
}

fn limits(throttle: Throttle) -> QueueLimits {
    let options = RelayOptions {
        output_queue: 3,
        output_concurrency: 2,
        output_backlog: 100,
        ..RelayOptions::default()
    };
    let spec = OutputSpec { throttle, ..OutputSpec::default() };
    let output = Output::new(OutputId::generate(), BucketId::generate(), at(0), spec);
    QueueLimits::of(&output, &options, at(0))
}

fn plain() -> QueueLimits {
    limits(Throttle::default())
}

fn strict() -> QueueLimits {
    limits(Throttle {
        enabled: true,
        mode: ThrottleMode::Concurrency,
        max_concurrent: 1,
        ..Throttle::default()
    })
}

fn queue(limits: QueueLimits) -> Arc<OutputQueue> {
    Arc::new(OutputQueue::new(OutputId::generate(), limits))
}

fn push(queue: &Arc<OutputQueue>, limits: QueueLimits, id: DeliveryId, due_at: Timestamp) -> Slot {
    let reservation = queue.reserve(limits, true, Term::FIRST, None).expect("room");
    let slot = reservation.slot();
    reservation.take(queued(id, due_at));
    slot
}

fn worker(queue: &OutputQueue) {
    assert!(queue.start_worker(), "there is work for a worker");
    queue.worker_started();
}

fn attempted(next: Next) -> DeliveryId {
    match next {
        Next::Attempt(delivery) => delivery.pending.id,
        other => panic!("expected an attempt, not {other:?}"),
    }
}

#[test]
fn workers_are_started_for_work_and_up_to_the_concurrency() {
    let queue = queue(plain());
    assert!(!queue.start_worker(), "an empty queue needs none");
    for _ in 0..3 {
        push(&queue, plain(), DeliveryId::generate(), at(1));
    }
    worker(&queue);
    attempted(queue.next(plain(), at(1), TERM, false));
    worker(&queue);
    attempted(queue.next(plain(), at(1), TERM, false));
    assert!(!queue.start_worker(), "two are at work");
    attempted(queue.next(plain(), at(1), TERM, false));
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Idle));
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Idle));
}

#[test]
fn a_busy_worker_does_not_keep_a_second_from_starting() {
    let queue = queue(plain());
    push(&queue, plain(), DeliveryId::generate(), at(1));
    worker(&queue);
    attempted(queue.next(plain(), at(1), TERM, false));
    push(&queue, plain(), DeliveryId::generate(), at(1));
    assert!(queue.start_worker());
    assert!(!queue.start_worker(), "one that is about to ask is enough for one delivery");
}

/// Whether a delivery that has just been stored is started with at once.
fn starts(queue: &Arc<OutputQueue>, limits: QueueLimits, in_memory: bool) -> bool {
    let id = DeliveryId::generate();
    let (_, first) =
        queue.reserve(limits, in_memory, Term::FIRST, None).expect("room").start(queued(id, at(1)));
    assert!(first.as_ref().is_none_or(|first| first.pending.id == id));
    first.is_some()
}

#[test]
fn what_nothing_is_before_starts_at_once_up_to_the_concurrency() {
    let queue = queue(plain());
    assert!(starts(&queue, plain(), true) && starts(&queue, plain(), true));
    assert!(!starts(&queue, plain(), true), "two are at work");
    assert!(!queue.start_worker(), "they are counted");
    attempted(queue.next(plain(), at(1), TERM, false));
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Idle));
    assert!(starts(&queue, plain(), true), "one has ended, and the queue is empty");
    push(&queue, plain(), DeliveryId::generate(), at(1));
    attempted(queue.next(plain(), at(1), TERM, false));
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Idle));
    assert!(!starts(&queue, plain(), false), "it is in the store");
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Claim(_)));
}

#[test]
fn what_waits_in_the_queue_goes_first() {
    let queue = queue(plain());
    push(&queue, plain(), DeliveryId::generate(), at(1));
    assert!(!starts(&queue, plain(), true));
    worker(&queue);
    attempted(queue.next(plain(), at(1), TERM, false));
}

#[test]
fn order_and_pace_are_the_queues_to_keep() {
    let paced = limits(Throttle { enabled: true, rate: 1, ..Throttle::default() });
    for limits in [strict(), paced] {
        let queue = queue(limits.clone());
        assert!(!starts(&queue, limits.clone(), true), "{limits:?}");
        worker(&queue);
        attempted(queue.next(limits, at(1), TERM, false));
    }
}

#[test]
fn past_the_queue_deliveries_wait_in_the_store_until_a_claim_finds_no_more() {
    let queue = queue(plain());
    for _ in 0..3 {
        assert_eq!(push(&queue, plain(), DeliveryId::generate(), at(1)), Slot::InMemory);
    }
    assert_eq!(push(&queue, plain(), DeliveryId::generate(), at(1)), Slot::Stored);
    worker(&queue);
    for _ in 0..3 {
        attempted(queue.next(plain(), at(1), TERM, false));
    }
    // There is room again, but the newer one follows the older to the store.
    assert_eq!(push(&queue, plain(), DeliveryId::generate(), at(1)), Slot::Stored);
    let Next::Claim(limit) = queue.next(plain(), at(1), TERM, false) else {
        panic!("the store has what the queue has not");
    };
    assert_eq!(limit, 3);
    queue.claimed(vec![queued(DeliveryId::generate(), at(1))], Some(at(0)), at(1));
    assert_eq!(push(&queue, plain(), DeliveryId::generate(), at(1)), Slot::Stored, "cut short");
    attempted(queue.next(plain(), at(1), TERM, false));
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Claim(_)));
    queue.claimed(Vec::new(), None, at(1));
    assert_eq!(push(&queue, plain(), DeliveryId::generate(), at(1)), Slot::InMemory);
}

#[test]
fn a_retry_is_claimed_when_it_is_due() {
    let queue = queue(plain());
    assert!(queue.retry_at(at(10)));
    assert!(!queue.retry_at(at(20)), "the first is known");
    worker(&queue);
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Until(due) if due == at(10)));
    worker(&queue);
    assert!(matches!(queue.next(plain(), at(10), TERM, false), Next::Claim(_)));
    queue.claimed(vec![queued(DeliveryId::generate(), at(10))], Some(at(20)), at(10));
    attempted(queue.next(plain(), at(10), TERM, false));
    assert!(matches!(queue.next(plain(), at(10), TERM, false), Next::Until(due) if due == at(20)));
}

#[test]
fn strict_order_waits_for_the_head_and_its_retries() {
    let queue = queue(strict());
    let [first, second] = [DeliveryId::generate(), DeliveryId::generate()];
    push(&queue, strict(), second, at(1));
    push(&queue, strict(), first, at(1));
    worker(&queue);
    assert_eq!(attempted(queue.next(strict(), at(1), TERM, false)), first);
    assert!(!queue.start_worker(), "one at a time");
    queue.retry_at(at(5));
    assert!(matches!(queue.next(strict(), at(2), TERM, false), Next::Until(due) if due == at(5)));
    worker(&queue);
    assert!(matches!(queue.next(strict(), at(5), TERM, false), Next::Claim(_)));
    queue.claimed(vec![queued(first, at(5))], None, at(5));
    assert_eq!(attempted(queue.next(strict(), at(5), TERM, false)), first);
    assert_eq!(attempted(queue.next(strict(), at(5), TERM, false)), second);
}

#[test]
fn strict_order_does_not_start_a_head_that_is_not_due() {
    let queue = queue(strict());
    queue.found(1, at(9));
    worker(&queue);
    assert!(matches!(queue.next(strict(), at(9), TERM, false), Next::Claim(_)));
    // Claimed in order of receipt, the head may be due only later.
    queue.claimed(vec![queued(DeliveryId::generate(), at(30))], None, at(9));
    assert!(matches!(queue.next(strict(), at(9), TERM, false), Next::Until(due) if due == at(30)));
}

#[test]
fn a_rate_is_kept_and_a_deadline_ends_the_waiting() {
    let throttled = limits(Throttle {
        enabled: true,
        rate: 1,
        deadline: Duration::from_millis(500),
        ..Throttle::default()
    });
    let queue = queue(throttled.clone());
    push(&queue, throttled.clone(), DeliveryId::generate(), at(1));
    push(&queue, throttled.clone(), DeliveryId::generate(), at(1));
    worker(&queue);
    attempted(queue.next(throttled.clone(), at(1), TERM, false));
    let deadline = at(1) + Duration::from_millis(500);
    assert!(
        matches!(queue.next(throttled.clone(), at(1), TERM, false), Next::Until(until) if until == deadline)
    );
    assert_eq!(queue.take_expired(throttled, deadline).len(), 1);
    assert_eq!(queue.unwatched_deadline(deadline), None, "nothing waits");
}

#[test]
fn one_timer_watches_the_deadlines_of_a_queue() {
    let throttled = limits(Throttle {
        enabled: true,
        rate: 1,
        deadline: Duration::from_secs(60),
        ..Throttle::default()
    });
    let queue = queue(throttled.clone());
    assert_eq!(queue.unwatched_deadline(at(1)), None, "nothing waits");
    for second in [1, 2, 3] {
        push(&queue, throttled.clone(), DeliveryId::generate(), at(second));
    }
    assert_eq!(queue.unwatched_deadline(at(1)), Some(at(61)));
    assert_eq!(queue.unwatched_deadline(at(1)), None, "it is watched");
    worker(&queue);
    attempted(queue.next(throttled.clone(), at(4), TERM, false));
    assert_eq!(queue.unwatched_deadline(at(4)), None, "an earlier timer looks again");
    assert_eq!(queue.unwatched_deadline(at(61)), Some(at(62)), "it has looked");
    assert_eq!(queue.take_expired(throttled, at(62)).len(), 1);
    assert_eq!(queue.unwatched_deadline(at(62)), Some(at(63)));
}

#[test]
fn depth_and_backlog_bound_what_waits_and_a_dropped_reservation_gives_its_slot_back() {
    let deep = limits(Throttle {
        enabled: true,
        mode: ThrottleMode::Concurrency,
        max_concurrent: 2,
        max_queue_depth: 2,
        ..Throttle::default()
    });
    let queue = queue(deep.clone());
    let reservation = queue.reserve(deep.clone(), true, Term::FIRST, None).expect("room");
    push(&queue, deep.clone(), DeliveryId::generate(), at(1));
    let full = queue.reserve(deep.clone(), true, Term::FIRST, None).expect_err("full");
    assert_eq!(full.kind(), crate::ErrorKind::Busy);
    assert!(full.retry_after().is_some());
    drop(reservation);
    queue.has_room(&deep).expect("the slot was given back");
    assert_eq!(queue.ended(), -1);
    queue.found(100, at(1));
    let error = queue.reserve(plain(), true, Term::FIRST, None).expect_err("over the backlog");
    assert_eq!(error.kind(), crate::ErrorKind::Unavailable);
}

#[test]
fn what_is_being_stored_is_counted_while_the_store_is_compared() {
    let queue = queue(plain());
    let being_stored = queue.reserve(plain(), false, Term::FIRST, None).expect("room");
    assert_eq!(being_stored.slot(), Slot::Stored);
    let in_hand = queue.in_hand();
    let nothing = crate::store::Backlog::new(queue.output_id);
    queue.compare(&nothing, in_hand, false);
    assert_eq!(queue.pending(), 1);
    drop(being_stored);
    assert_eq!((queue.pending(), queue.is_quiet()), (0, true));
}

#[test]
fn what_was_taken_before_the_lease_was_over_is_not_attempted() {
    let queue = queue(plain());
    for _ in 0..2 {
        push(&queue, plain(), DeliveryId::generate(), at(1));
    }
    worker(&queue);
    // Of no lasting term, and so of none of these.
    assert!(matches!(queue.next(plain(), at(1), None, false), Next::Recover));
    queue.recovered();
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Claim(_)));
    queue.claimed(Vec::new(), None, at(1));
    assert!(matches!(queue.next(plain(), at(1), TERM, false), Next::Idle));
}

/// A queue of several nodes that is in strict order, which this node owns, and its limits.
fn owned() -> (Arc<OutputQueue>, QueueLimits) {
    let mut limits = strict();
    limits.is_owned = true;
    let queue = queue(limits.clone());
    assert_eq!(push(&queue, limits.clone(), DeliveryId::generate(), at(1)), Slot::Stored);
    worker(&queue);
    assert!(matches!(queue.next(limits.clone(), at(1), TERM, false), Next::Own));
    queue.owned(Some(OwnedQueue::own(Vec::new(), false, 1)), Term::FIRST, at(1));
    (queue, limits)
}

#[test]
fn an_owned_queue_is_claimed_and_left_when_nothing_is_there() {
    let (queue, limits) = owned();
    let next = || queue.next(limits.clone(), at(1), TERM, false);
    assert!(matches!(next(), Next::Claim(_)));
    queue.claimed(vec![queued(DeliveryId::generate(), at(1)).in_term(Term::FIRST)], None, at(1));
    attempted(next());
    assert_eq!(queue.ended(), -1);
    // What others have stored meanwhile.
    assert!(matches!(next(), Next::Claim(_)));
    queue.claimed(Vec::new(), None, at(1));
    assert!(matches!(next(), Next::Leave));
    assert!(matches!(queue.next(limits.clone(), at(1), TERM, true), Next::Idle));
}

#[test]
fn what_others_stored_and_was_not_counted_ends_uncounted() {
    let (queue, limits) = owned();
    assert!(matches!(queue.next(limits.clone(), at(1), TERM, false), Next::Claim(_)));
    let three = (0..3).map(|_| queued(DeliveryId::generate(), at(1)).in_term(Term::FIRST));
    queue.claimed(three.collect(), None, at(1));
    let being_stored = queue.reserve(limits, false, Term::FIRST, None).expect("room");
    let counted: Vec<_> = (0..3).map(|_| queue.ended()).collect();
    assert_eq!((counted, queue.pending()), (vec![-1, 0, 0], 1));
    drop(being_stored);
    assert_eq!(queue.pending(), 0);
}

#[test]
fn a_queue_of_another_is_asked_for_again_while_something_waits() {
    let (queue, limits) = owned();
    queue.owned(Some(OwnedQueue::of_another(1)), Term::FIRST, at(1));
    let Next::Until(again_at) = queue.next(limits.clone(), at(1), TERM, false) else {
        panic!("nothing leaves here")
    };
    worker(&queue);
    assert!(matches!(queue.next(limits.clone(), again_at, TERM, false), Next::Own));
    queue.owned(Some(OwnedQueue::of_another(0)), Term::FIRST, again_at);
    assert!(matches!(queue.next(limits, again_at, TERM, false), Next::Idle));
}

#[test]
fn what_a_lost_answer_brought_is_given_back_before_others_leave_and_before_the_queue() {
    let (queue, limits) = owned();
    assert!(matches!(queue.next(limits.clone(), at(1), TERM, false), Next::Claim(_)));
    queue.claim_failed(at(2));
    push(&queue, limits.clone(), DeliveryId::generate(), at(1));
    let next = queue.next(limits.clone(), at(1), TERM, false);
    assert!(matches!(next, Next::Until(again_at) if again_at == at(2)), "{next:?}");
    worker(&queue);
    assert!(matches!(queue.next(limits, at(2), TERM, false), Next::Own | Next::Recover));
}
