//! Which tests run at the same time.
//!
//! Most tests wait, so that more of them run than there are cores (`.cargo/config.toml`).
//! A test that measures time or memory runs [`alone`]; tests that keep a core busy take one of
//! as many [`cores`] as there are; few tests at a time connect servers to PostgreSQL.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
    thread::available_parallelism,
};

use tokio::{
    runtime::{Handle, Id},
    sync::{
        Mutex as AsyncMutex, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit,
    },
};

static TURNS: RwLock<()> = RwLock::const_new(());

static CORES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));

/// A server of PostgreSQL admits a hundred connections, and a test has up to five servers.
static SCHEMAS: Semaphore = Semaphore::const_new(3);

/// A test runs while it holds this: together with other tests, or alone.
#[derive(Debug)]
enum Guard {
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

/// The turn of one test.
#[derive(Debug)]
pub(crate) struct Turn(Guard);

/// The turn that one test has, if any.
type OfTest = Arc<AsyncMutex<Weak<Turn>>>;

/// The turns of all tests. A test has a runtime of its own.
static TAKEN: LazyLock<Mutex<HashMap<Id, OfTest>>> = LazyLock::new(Mutex::default);

/// The turn that this test has, or else the one that `take` waits for. Everything in a test
/// shares one turn: a second one would wait for a test that waits to be alone, and that test
/// for the first turn.
async fn turn_or(take: impl Future<Output = Guard>) -> Arc<Turn> {
    let place = {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(taken.entry(Handle::current().id()).or_default())
    };
    let mut place = place.lock().await;
    if let Some(turn) = place.upgrade() {
        return turn;
    }
    let turn = Arc::new(Turn(take.await));
    *place = Arc::downgrade(&turn);
    turn
}

/// A turn together with other tests. Each server of the harness holds one.
pub(crate) async fn shared() -> Arc<Turn> {
    turn_or(async { Guard::Shared(TURNS.read().await) }).await
}

/// Waits until no other test of this program runs, and keeps others waiting while it is held:
/// for tests that measure time or memory. A test takes it before everything else.
pub(crate) async fn alone() -> Arc<Turn> {
    turn_or(async { Guard::Alone(TURNS.write().await) }).await
}

/// A place among a few, and the turn that goes with it. A test takes the turn first, so that
/// no test with a place waits for a turn.
#[derive(Debug)]
pub(crate) struct Place(SemaphorePermit<'static>, Arc<Turn>);

async fn place_in(places: &'static Semaphore) -> Place {
    let turn = shared().await;
    Place(places.acquire().await.expect("it is never closed"), turn)
}

/// One of the cores, for a test that keeps it busy for seconds.
pub(crate) async fn core() -> Place {
    place_in(&CORES).await
}

/// A place for the servers of a test on PostgreSQL.
pub(crate) async fn schema() -> Place {
    place_in(&SCHEMAS).await
}
