//! The process that sends: several connections, each sending when it has had
//! its answer and a short pause.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    io,
    net::SocketAddr,
    path::PathBuf,
    rc::Rc,
    time::{Duration, Instant},
};

use benches::{
    Outcome,
    connection::Connection,
    orders::{order, say},
};
use serde::{Deserialize, Serialize};
use tokio::{
    task::{JoinSet, LocalSet},
    time::{error::Elapsed, sleep, timeout},
};

use crate::{
    ledger::{Entry, Ledger},
    webhook::{Sizes, Webhooks},
};

/// How long an answer may take: longer than the server says that it does.
const PATIENCE: Duration = Duration::from_secs(30);
/// Before another connection is tried.
const PAUSE: Duration = Duration::from_millis(10);

/// What to send.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The servers. Each connection uses one of them.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) path: String,
    pub(crate) connections: usize,
    /// The number of the first event.
    pub(crate) first: u64,
    /// How many events there may be.
    pub(crate) most: u64,
    /// The longest pause between two events of one connection.
    pub(crate) pause: Duration,
    pub(crate) sizes: Sizes,
    pub(crate) lasts: Duration,
    pub(crate) seed: u64,
    pub(crate) ledger: PathBuf,
}

/// What came back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// Answers of 2xx.
    pub(crate) acknowledged: u64,
    /// Other answers, by status.
    pub(crate) others: BTreeMap<u16, u64>,
    /// Requests whose connection broke before the answer.
    pub(crate) broken: u64,
    /// Requests that nobody answered in half a minute.
    pub(crate) unanswered: u64,
}

struct Shared {
    plan: Plan,
    until: Instant,
    next: Cell<u64>,
    answered: RefCell<Answered>,
    ledger: RefCell<Ledger>,
    webhooks: RefCell<Webhooks>,
}

pub(crate) fn run() -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    while let Some(plan) = order::<Plan>()? {
        say(&LocalSet::new().block_on(&runtime, follow(plan))?)?;
    }
    Ok(())
}

async fn follow(plan: Plan) -> Outcome<Answered> {
    let host = plan.addresses.first().ok_or("there is no server to send to")?.to_string();
    let shared = Rc::new(Shared {
        until: Instant::now() + plan.lasts,
        next: Cell::new(0),
        answered: RefCell::default(),
        ledger: RefCell::new(Ledger::open(&plan.ledger)?),
        webhooks: RefCell::new(Webhooks::new(&plan.path, &host, plan.sizes)),
        plan,
    });
    let mut connections = JoinSet::new();
    for number in 0..shared.plan.connections {
        let shared = Rc::clone(&shared);
        connections.spawn_local(async move { send(&shared, number as u64).await });
    }
    while let Some(ended) = connections.join_next().await {
        ended??;
    }
    Ok(shared.answered.take())
}

impl Shared {
    /// Counts an answer, after it is in the ledger; whether the connection goes on.
    fn note(&self, id: u64, answer: Result<io::Result<u16>, Elapsed>) -> Outcome<bool> {
        let mut answered = self.answered.borrow_mut();
        match answer {
            Ok(Ok(200..=299)) => {
                self.ledger.borrow_mut().write(Entry::Acknowledged(id))?;
                answered.acknowledged += 1;
            }
            Ok(Ok(status)) => *answered.others.entry(status).or_default() += 1,
            Ok(Err(_)) => {
                answered.broken += 1;
                return Ok(false);
            }
            Err(_) => {
                answered.unanswered += 1;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Sends over one connection after the other, until nobody listens any more or
/// all is sent.
async fn send(shared: &Shared, number: u64) -> Outcome<()> {
    let plan = &shared.plan;
    let address = plan.addresses[number as usize % plan.addresses.len()];
    let mut random = fastrand::Rng::with_seed(plan.seed.wrapping_add(number));
    while let Ok(mut connection) = Connection::open(address).await {
        loop {
            let sent = shared.next.replace(shared.next.get() + 1);
            if sent >= plan.most || Instant::now() >= shared.until {
                return Ok(());
            }
            let id = plan.first + sent;
            let webhook = shared.webhooks.borrow_mut().make(id);
            shared.ledger.borrow_mut().write(Entry::Sent(id, webhook.content))?;
            let parts = [webhook.head.as_slice(), &webhook.body];
            let answer = timeout(PATIENCE, connection.exchange_parts(&parts)).await;
            if !shared.note(id, answer)? {
                break;
            }
            sleep(plan.pause.mul_f64(random.f64())).await;
        }
        sleep(PAUSE).await;
    }
    Ok(())
}
