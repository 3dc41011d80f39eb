//! The store's clock counts, whatever the machines' show.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use async_trait::async_trait;

use super::*;
use crate::{
    ErrorKind,
    clock::Clock,
    id::{DeliveryId, NodeId, WebhookId},
    store::{
        Accept, Accepted, Backlog, Claim, Claimed, DeliveryStore, Extended, Lease, Redeliver,
        Settle, Sweep,
    },
};

/// A store with a clock of its own.
#[derive(Debug)]
struct Clocked {
    stores: Stores,
    clock: TokioClock,
    /// Of one machine: it does not reach the store.
    is_cut_off: Arc<AtomicBool>,
}

impl Clocked {
    fn reach(&self) -> Result<(), Error> {
        match self.is_cut_off.load(Ordering::Relaxed) {
            true => Err(Error::unavailable("no way", Duration::from_secs(1))),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl DeliveryStore for Clocked {
    async fn accept(&self, accept: Accept) -> Result<Accepted, Error> {
        self.stores.deliveries.accept(accept).await
    }
    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        self.reach()?;
        self.stores.deliveries.claim(claim).await
    }
    async fn settle(&self, settle: Settle) -> Result<(), Error> {
        self.reach()?;
        self.stores.deliveries.settle(settle).await
    }
    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error> {
        self.stores.deliveries.redeliver(account, redeliver).await
    }
    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error> {
        self.reach()?;
        let extended = self.stores.deliveries.extend_lease(lease).await?;
        Ok(Extended { now: Some(self.clock.now()), ..extended })
    }
    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error> {
        self.reach()?;
        self.stores.deliveries.release(node, of).await
    }
    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error> {
        self.reach()?;
        self.stores.deliveries.backlogs(sweep).await
    }
    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error> {
        self.stores.deliveries.log(account, id).await
    }
    async fn logs_of(&self, account: AccountId, webhook: WebhookId) -> Result<Vec<Log>, Error> {
        self.stores.deliveries.logs_of(account, webhook).await
    }
}

/// A machine's clock, which somebody sets.
#[derive(Clone, Debug)]
struct Machine {
    clock: TokioClock,
    ahead: Arc<AtomicI64>,
    is_cut_off: Arc<AtomicBool>,
}

#[async_trait]
impl Clock for Machine {
    fn now(&self) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        Timestamp::from_millis(self.clock.now().as_millis() + ahead)
    }

    async fn sleep_until(&self, moment: Timestamp) {
        self.clock.sleep_until(moment).await;
    }
}

/// Two relays over one store; the second one's machine has a clock that can be set, and can be
/// cut off.
async fn two_machines() -> (World, World, Machine) {
    two_machines_with(RelayOptions::default().output_concurrency).await
}

async fn two_machines_with(output_concurrency: usize) -> (World, World, Machine) {
    let mut first = World::new().await;
    let clock = TokioClock::starting_at(START);
    let inner = first.stores.clone();
    let relay_at = |forwarder: &ScriptedForwarder, machine: Machine| {
        let is_cut_off = machine.is_cut_off.clone();
        let deliveries = Arc::new(Clocked { stores: inner.clone(), clock, is_cut_off });
        let stores = Stores { deliveries, ..inner.clone() };
        let options = RelayOptions {
            sweep_interval: Some(Duration::from_secs(1)),
            lease: Duration::from_secs(5),
            output_concurrency,
            ..RelayOptions::default()
        };
        let builder = Webhooks::builder(stores).forwarder(forwarder.clone());
        builder.clock(machine).options(options).build().relay().clone()
    };
    let machine = || Machine { clock, ahead: Arc::default(), is_cut_off: Arc::default() };
    let (right, set) = (machine(), machine());
    first.output_to(HOOK).await;
    first.relay = relay_at(&first.forwarder, right);
    let second = World {
        stores: first.stores.clone(),
        relay: relay_at(&first.forwarder, set.clone()),
        forwarder: first.forwarder.clone(),
        bucket: first.bucket.clone(),
        input: first.input,
        dispatcher: None,
        began: tokio::time::Instant::now(),
        _checked: first.forwarder.checked_on_drop(),
    };
    (first, second, set)
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_sends_nothing_twice() {
    for ahead in [60_000, -60_000] {
        let (mut first, mut second, machine) = two_machines().await;
        // Three seconds, and each fifth first attempt fails.
        let slow = |answer: Answer| answer.after(Duration::from_secs(3));
        let answers =
            (0..200).map(|number| slow(if number % 5 == 0 { unavailable() } else { Answer::ok() }));
        first.forwarder.script(HOOK, answers.chain([slow(Answer::ok())]));
        first.deliver().await;
        second.deliver().await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        machine.ahead.store(ahead, Ordering::Relaxed);
        for number in 0..100 {
            for world in [&first, &second] {
                assert_eq!(world.post(&number.to_string()).await.status(), 200);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        tokio::time::sleep(Duration::from_secs(120)).await;
        let sent = first.forwarder.requests().len();
        assert_eq!(sent, 240, "200, of which 40 were tried again, with a clock {ahead} ms ahead");
        for request in [0, 5, 100, sent - 1] {
            assert_eq!(
                first.outcome_of_request(request).await.delivery.status,
                DeliveryStatus::Sent
            );
        }
        first.stop().await;
        second.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_off_by_a_quarter_of_the_lease_is_refused() {
    for (ahead, runs) in [(1_249, true), (-1_249, true), (1_250, false), (-60_000, false)] {
        let (_, mut second, machine) = two_machines().await;
        machine.ahead.store(ahead, Ordering::Relaxed);
        second.deliver().await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let ended = second.dispatcher.as_ref().is_some_and(|(_, task)| task.is_finished());
        assert_eq!(ended, !runs, "{ahead} ms");
        if runs {
            second.stop().await;
            continue;
        }
        let (_, task) = second.dispatcher.take().expect("it began");
        let error = task.await.expect("no panic").expect_err("it is refused");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().starts_with("clock: this machine's is "), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_in_flight_at_an_orderly_end_is_sent_once() {
    let (mut first, mut second, _) = two_machines().await;
    first.forwarder.script(HOOK, [Answer::ok().after(Duration::from_secs(20))]);
    first.deliver().await;
    second.deliver().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(first.post("slow").await.status(), 200);
    // Four leases long it finishes what it has begun.
    first.stop().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(first.forwarder.requests().len(), 1);
    assert_eq!(first.outcome_of_request(0).await.delivery.status, DeliveryStatus::Sent);
    second.stop().await;
}

/// What waits in the memory of a node is another's once its lease has ended, also when the node
/// has a lease again before it looks.
#[tokio::test(start_paused = true)]
async fn what_a_node_that_was_cut_off_had_not_begun_it_leaves_to_the_others() {
    for cut_off_for in [6, 20] {
        let (mut first, mut second, machine) = two_machines_with(1).await;
        let slow = Answer::ok().after(Duration::from_secs(12));
        first.forwarder.script(HOOK, [slow, Answer::ok()]);
        first.deliver().await;
        second.deliver().await;
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        for number in 0..10 {
            assert_eq!(second.post(&number.to_string()).await.status(), 200);
        }
        machine.is_cut_off.store(true, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(cut_off_for)).await;
        machine.is_cut_off.store(false, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(60)).await;
        let sent = first.forwarder.requests().len();
        assert_eq!(sent, 11, "all of them, and what was in flight twice; {cut_off_for} s");
        for request in 0..sent {
            let log = first.outcome_of_request(request).await;
            assert_eq!(log.delivery.status, DeliveryStatus::Sent);
        }
        assert_eq!(second.post("after").await.status(), 200);
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(first.forwarder.requests().len(), 12);
        first.stop().await;
        second.stop().await;
    }
}
