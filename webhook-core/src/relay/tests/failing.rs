//! What was acknowledged is delivered although the store fails at one call.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use async_trait::async_trait;
use futures_util::future::join_all;

use super::*;
use crate::{
    id::{DeliveryId, NodeId, WebhookId},
    relay::Observer,
    store::{
        Accept, Accepted, Backlog, Claim, Claimed, DeliveryStore, Extended, Lease, Redeliver,
        RouteStore, Settle, Sweep,
    },
};

/// A store that answers the next calls of a kind with these errors.
#[derive(Debug)]
pub(super) struct Faulty {
    stores: Stores,
    routes: Errors,
    /// After the claim was made: its answer is lost.
    claims: Errors,
    settles: Errors,
    /// After the webhook was stored: the answer is lost.
    pub(super) accepts: Errors,
    /// Long enough that the route is read again for the delivery.
    accept_takes: Duration,
    /// How long the answer about what waits takes to come.
    lanes_take: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Errors(Mutex<VecDeque<Error>>);

impl Errors {
    pub(super) fn script(&self, errors: impl IntoIterator<Item = Error>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(errors);
    }

    pub(super) fn next(&self) -> Result<(), Error> {
        let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.map_or(Ok(()), Err)
    }
}

impl Faulty {
    pub(super) fn over(stores: &Stores) -> (Stores, Arc<Self>) {
        Self::accepting_in(stores, Duration::from_millis(10))
    }

    pub(super) fn accepting_in(stores: &Stores, accept_takes: Duration) -> (Stores, Arc<Self>) {
        let faulty = Arc::new(Self {
            stores: stores.clone(),
            routes: Errors::default(),
            claims: Errors::default(),
            settles: Errors::default(),
            accepts: Errors::default(),
            accept_takes,
            lanes_take: Duration::from_millis(100),
        });
        let (deliveries, routes) = (faulty.clone(), faulty.clone());
        (Stores { deliveries, routes, ..stores.clone() }, faulty)
    }
}

#[async_trait]
impl DeliveryStore for Faulty {
    async fn accept(&self, accept: Accept) -> Result<Accepted, Error> {
        tokio::time::sleep(self.accept_takes).await;
        let accepted = self.stores.deliveries.accept(accept).await?;
        self.accepts.next().map(|()| accepted)
    }
    async fn claim(&self, claim: Claim) -> Result<Claimed, Error> {
        let claimed = self.stores.deliveries.claim(claim).await?;
        if claimed.deliveries.is_empty() {
            return Ok(claimed);
        }
        self.claims.next().map(|()| claimed)
    }
    async fn settle(&self, settle: Settle) -> Result<(), Error> {
        self.settles.next()?;
        self.stores.deliveries.settle(settle).await
    }
    async fn redeliver(&self, account: AccountId, redeliver: Redeliver) -> Result<(), Error> {
        self.stores.deliveries.redeliver(account, redeliver).await
    }
    async fn extend_lease(&self, lease: Lease) -> Result<Extended, Error> {
        self.stores.deliveries.extend_lease(lease).await
    }
    async fn release(&self, node: NodeId, of: Option<OutputId>) -> Result<(), Error> {
        self.stores.deliveries.release(node, of).await
    }
    async fn backlogs(&self, sweep: Sweep) -> Result<Vec<Backlog>, Error> {
        let backlogs = self.stores.deliveries.backlogs(sweep).await;
        tokio::time::sleep(self.lanes_take).await;
        backlogs
    }
    async fn log(&self, account: AccountId, id: DeliveryId) -> Result<Option<Log>, Error> {
        self.stores.deliveries.log(account, id).await
    }
    async fn logs_of(&self, account: AccountId, webhook: WebhookId) -> Result<Vec<Log>, Error> {
        self.stores.deliveries.logs_of(account, webhook).await
    }
}

#[async_trait]
impl RouteStore for Faulty {
    async fn bucket_of_input(&self, id: InputId) -> Result<Option<Bucket>, Error> {
        self.stores.routes.bucket_of_input(id).await
    }
    async fn bucket_of_output(&self, id: OutputId) -> Result<Option<Bucket>, Error> {
        self.routes.next()?;
        self.stores.routes.bucket_of_output(id).await
    }
}

/// How many deliveries wait, as the relay tells it.
#[derive(Debug, Default)]
struct Waiting(AtomicI64);

impl Observer for Waiting {
    fn pending(&self, count: i64) {
        self.0.fetch_add(count, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_while_the_relay_starts_is_delivered_and_counted_once() {
    let mut world = World::new().await;
    let (stores, _) = Faulty::over(&world.stores);
    let waiting = Arc::new(Waiting::default());
    world.relay = Webhooks::builder(stores)
        .forwarder(world.forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .observer(waiting.clone())
        .build()
        .relay()
        .clone();
    world.output_to(HOOK).await;
    for _ in 0..2 {
        let before = world.forwarder.requests().len();
        assert_eq!(world.post("before it starts").await.status(), 200);
        let relay = world.relay.clone();
        let address = world.address();
        let posts = (0..30).map(|number| {
            let (relay, address) = (relay.clone(), address.clone());
            async move {
                tokio::time::sleep(Duration::from_millis(5 * number)).await;
                let body = Full::from(format!("{number}"));
                let mut request = http::Request::post(address).body(body).expect("a request");
                let ip = [203, 0, 113, 7].into();
                request.extensions_mut().insert(ClientAddr { ip, secure: true });
                relay.ingest().call(request).await.expect("infallible").status()
            }
        });
        let start = async {
            tokio::time::sleep(Duration::from_millis(25)).await;
            world.deliver().await;
        };
        let (statuses, ()) = tokio::join!(join_all(posts), start);
        assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
        let patience = Duration::from_secs(10);
        let all = world.forwarder.finished(before + 31);
        tokio::time::timeout(patience, all).await.expect("all are delivered");
        world.stop().await;
        assert_eq!(world.forwarder.requests().len(), before + 31, "each once");
        assert_eq!(waiting.0.load(Ordering::SeqCst), 0, "none waits any more");
    }
}

async fn faulty_world() -> (World, Arc<Faulty>) {
    let mut world = World::new().await;
    let (stores, faulty) = Faulty::over(&world.stores);
    let route_max_age = Some(Duration::from_millis(1));
    world.relay = Webhooks::builder(stores)
        .forwarder(world.forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .options(RelayOptions { route_max_age, ..RelayOptions::default() })
        .build()
        .relay()
        .clone();
    world.output_to(HOOK).await;
    world.deliver().await;
    // It dispatches, so that a worker starts with what comes next in its hand.
    tokio::time::sleep(2 * faulty.lanes_take).await;
    (world, faulty)
}

pub(super) fn cut() -> Error {
    Error::unavailable("the store cannot be reached", Duration::from_secs(1))
}

fn broken() -> Error {
    Error::internal("an answer that the store does not take")
}

/// Sends one webhook and waits until its delivery has ended, for at most `patience`.
async fn delivered(world: &mut World, patience: Duration) -> Log {
    assert_eq!(world.post("x").await.status(), 200);
    let delivered = async {
        world.forwarder.finished(1).await;
        world.outcome_of_request(0).await
    };
    let log = tokio::time::timeout(patience, delivered).await.expect("it is delivered");
    world.stop().await;
    log
}

#[tokio::test(start_paused = true)]
async fn a_failed_route_read_puts_the_delivery_back() {
    let (mut world, faulty) = faulty_world().await;
    faulty.routes.script([cut(), cut(), broken()]);
    let log = delivered(&mut world, Duration::from_secs(10)).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 1));
    assert_eq!(world.forwarder.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_lost_claim_holds_is_freed_and_claimed_again() {
    let (mut world, faulty) = faulty_world().await;
    world.forwarder.script(HOOK, [unavailable(), Answer::ok()]);
    faulty.claims.script([cut(), cut()]);
    assert_eq!(world.post("x").await.status(), 200);
    let second = async {
        world.forwarder.finished(2).await;
        world.outcome_of_request(1).await
    };
    let log = tokio::time::timeout(Duration::from_secs(60), second).await.expect("a retry");
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 2));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_outcome_is_written_until_the_store_can_be_reached() {
    let (mut world, faulty) = faulty_world().await;
    faulty.settles.script((0..20).map(|_| cut()));
    let log = delivered(&mut world, Duration::from_secs(120)).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 1));
    assert_eq!(world.forwarder.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_store_refuses_is_left_out_of_the_outcome() {
    let (mut world, faulty) = faulty_world().await;
    world.forwarder.script(HOOK, [Answer::status(StatusCode::OK).body("taken")]);
    faulty.settles.script([broken()]);
    let log = delivered(&mut world, Duration::from_secs(10)).await;
    assert_eq!((log.delivery.status, log.delivery.attempts), (DeliveryStatus::Sent, 1));
    let last = log.delivery.last.expect("an attempt");
    assert_eq!(last.status_code, 200);
    assert!(last.response_body.is_empty());
    assert_eq!(world.forwarder.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_delivery_whose_outcome_the_store_refuses_is_attempted_again() {
    let (mut world, faulty) = faulty_world().await;
    world.forwarder.script(HOOK, [Answer::ok().body("taken")]);
    // With the answer, and without it.
    faulty.settles.script([broken(), broken()]);
    assert_eq!(world.post("x").await.status(), 200);
    let second = async {
        world.forwarder.finished(2).await;
        world.outcome_of_request(1).await
    };
    let log = tokio::time::timeout(Duration::from_secs(60), second).await.expect("a second try");
    assert_eq!(log.delivery.status, DeliveryStatus::Sent);
    assert_eq!(world.forwarder.requests().len(), 2);
    world.stop().await;
}
