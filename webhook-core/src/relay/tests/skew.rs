//! The store's clock counts, whatever the machines' show.

use std::sync::atomic::{AtomicI64, Ordering};

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
}

#[async_trait]
impl DeliveryStore for Clocked {
    async fn accept(&self, accept: Accept) -> Result<Accepted, Error> {
        self.stores.deliveries.accept(accept).await
    }
    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        self.stores.deliveries.claim(claim).await
    }
    async fn settle(&self, settle: Settle) -> Result<(), Error> {
        self.stores.deliveries.settle(settle).await
    }
    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error> {
        self.stores.deliveries.redeliver(account, redeliver).await
    }
    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error> {
        let extended = self.stores.deliveries.extend_lease(lease).await?;
        Ok(Extended { now: Some(self.clock.now()), ..extended })
    }
    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error> {
        self.stores.deliveries.release(node, of).await
    }
    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error> {
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

/// Two relays over one store; the second one's machine has a clock that can be set.
async fn two_machines() -> (World, World, Machine) {
    let mut first = World::new().await;
    let clock = TokioClock::starting_at(START);
    let deliveries = Arc::new(Clocked { stores: first.stores.clone(), clock });
    let stores = Stores { deliveries, ..first.stores.clone() };
    let relay_at = |forwarder: &ScriptedForwarder, machine: Machine| {
        let options = RelayOptions {
            sweep_interval: Some(Duration::from_secs(1)),
            lease: Duration::from_secs(5),
            ..RelayOptions::default()
        };
        let builder = Webhooks::builder(stores.clone()).forwarder(forwarder.clone());
        builder.clock(machine).options(options).build().relay().clone()
    };
    let right = Machine { clock, ahead: Arc::default() };
    let set = Machine { clock, ahead: Arc::default() };
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
