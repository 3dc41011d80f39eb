//! The load generator.
//!
//! Closed loop: each connection sends its next request when it has its answer.
//! Open loop: requests are due at a steady rate whether or not the earlier ones
//! are answered, and latency counts from when a request was *due*, so that a
//! server that stalls cannot hide it by holding up the generator.

use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    path::PathBuf,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::{join_all, try_join_all};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::Semaphore,
    task::LocalSet,
    time::{sleep, timeout},
};

use super::{
    Said,
    connection::{Connection, Request},
    event,
    latency::{Latency, Stopwatch},
};
use crate::{
    Outcome,
    ledger::{Ledger, now_micros},
};

/// How long the last answers may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What to send.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) address: SocketAddr,
    pub(crate) method: String,
    /// Taken in turn; all of one length.
    pub(crate) paths: Vec<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    /// The number of the first event.
    pub(crate) first: u64,
    /// What the requests are signed with, each anew, in place of the signature in `headers`.
    pub(crate) secret: Option<String>,
    pub(crate) connections: usize,
    /// How long to send.
    pub(crate) lasts: Duration,
    /// Requests per second; without it, as many as are answered.
    pub(crate) rate: Option<f64>,
    /// Where to save the ledger of what was acknowledged.
    pub(crate) ledger: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Body {
    /// Numbered events of so many bytes.
    Event(usize),
    Text(String),
}

/// What came back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// Answers of 2xx.
    pub(crate) acknowledged: u64,
    /// Answers of 503 and 429: come again later.
    pub(crate) refused: u64,
    /// Other answers.
    pub(crate) failed: u64,
    /// Requests without an answer; their connection ends.
    pub(crate) broken: u64,
    /// From the first request to the last answer.
    pub(crate) took: Duration,
    /// When the first request was due, in microseconds of the wall clock.
    pub(crate) began: u64,
    /// Of what was acknowledged.
    pub(crate) latency: Latency,
}

pub(super) fn run() -> Outcome<()> {
    let runtime = super::single_threaded()?;
    while let Some(plan) = super::order::<Plan>()? {
        let answered = LocalSet::new().block_on(&runtime, follow(plan))?;
        super::say(&Said::Done(answered))?;
    }
    Ok(())
}

impl Plan {
    fn request(&self) -> Outcome<Request> {
        let Self { method, paths, headers, body, .. } = self;
        let (bytes, is_event) = match body {
            Body::Event(bytes) => (event::body(*bytes), true),
            Body::Text(text) => (text.clone().into_bytes(), false),
        };
        let first = paths.first().ok_or("there is nowhere to send to")?;
        if paths.iter().any(|path| path.len() != first.len()) {
            return Err("the paths differ in length".into());
        }
        let Some(secret) = &self.secret else {
            return Ok(Request::new(method, first, headers, bytes, is_event));
        };
        let others = headers.iter().filter(|(name, _)| name != "x-hub-signature-256");
        let others: Vec<_> = others.cloned().collect();
        Ok(Request::new(method, first, &others, bytes, is_event).signed(secret))
    }
}

/// What the connections of one plan share.
struct Shared {
    plan: Plan,
    began: Instant,
    next: Cell<u64>,
    /// Requests that are due, in the open loop.
    due: Option<Arc<Semaphore>>,
    answered: RefCell<Answered>,
    watch: RefCell<Stopwatch>,
    ledger: RefCell<Ledger>,
}

async fn follow(plan: Plan) -> Outcome<Answered> {
    let connections = (0..plan.connections).map(|_| Connection::open(plan.address));
    let connections = try_join_all(connections).await?;
    let request = plan.request()?;
    let connections: Vec<_> = connections.into_iter().map(|each| (each, request.clone())).collect();
    // Before the pace begins, or what is sent at once would be early.
    let answered = Answered { began: now_micros(), ..Answered::default() };
    let began = Instant::now();
    let shared = Rc::new(Shared {
        due: plan.rate.map(|rate| pace(began, rate, plan.lasts, plan.connections)),
        began,
        next: Cell::new(0),
        answered: RefCell::new(answered),
        watch: RefCell::new(Stopwatch::new()?),
        ledger: RefCell::default(),
        plan,
    });
    let senders = connections.into_iter().map(|(connection, request)| {
        let shared = Rc::clone(&shared);
        tokio::task::spawn_local(async move { send(&shared, connection, request).await })
    });
    let senders: Vec<_> = senders.collect();
    let progress = tokio::task::spawn_local({
        let shared = Rc::clone(&shared);
        async move {
            loop {
                sleep(Duration::from_secs(1)).await;
                // The harness hears the end of a broken pipe by itself.
                let _ = super::say(&Said::<()>::Progress(shared.answered.borrow().acknowledged));
            }
        }
    });
    let all = timeout(shared.plan.lasts + PATIENCE, join_all(senders)).await;
    progress.abort();
    let mut answered = shared.answered.borrow_mut();
    answered.took = shared.began.elapsed();
    for ended in all.map_err(|_| "some requests were never answered")? {
        ended?;
    }
    answered.latency = shared.watch.borrow().latency();
    if let Some(path) = &shared.plan.ledger {
        shared.ledger.borrow().save(path)?;
    }
    Ok(answered.clone())
}

/// Sends what is to be sent over one connection.
async fn send(shared: &Shared, mut connection: Connection, mut request: Request) {
    let paths = &shared.plan.paths;
    while let Some((id, due)) = shared.next().await {
        let path = &paths[id as usize % paths.len()];
        let id = shared.plan.first + id;
        request.set(id, path);
        let status = connection.exchange(&request).await;
        let mut answered = shared.answered.borrow_mut();
        match status {
            Ok(200..=299) => {
                answered.acknowledged += 1;
                shared.watch.borrow_mut().record(due.elapsed());
                if shared.plan.ledger.is_some() {
                    // A run ends long before its IDs do.
                    let _ = shared.ledger.borrow_mut().mark(id, now_micros());
                }
            }
            Ok(503 | 429) => answered.refused += 1,
            Ok(_) => answered.failed += 1,
            Err(_) => {
                answered.broken += 1;
                return;
            }
        }
    }
}

impl Shared {
    /// The number of the next request and when it is due; none at the end.
    async fn next(&self) -> Option<(u64, Instant)> {
        match (&self.due, self.plan.rate) {
            (Some(due), Some(rate)) => {
                due.acquire().await.ok()?.forget();
                let id = self.next.replace(self.next.get() + 1);
                let after = Duration::from_secs_f64(id as f64 / rate);
                (after < self.plan.lasts).then(|| (id, self.began + after))
            }
            _ => {
                let id = self.next.replace(self.next.get() + 1);
                (self.began.elapsed() < self.plan.lasts).then(|| (id, Instant::now()))
            }
        }
    }
}

/// Adds a permit whenever a request is due. A thread, because the timers of the
/// runtime only know milliseconds.
fn pace(began: Instant, rate: f64, lasts: Duration, connections: usize) -> Arc<Semaphore> {
    let due = Arc::new(Semaphore::new(0));
    let permits = Arc::clone(&due);
    std::thread::spawn(move || {
        for number in 0_u32.. {
            let at = Duration::from_secs_f64(f64::from(number) / rate);
            if at >= lasts {
                break;
            }
            std::thread::sleep(at.saturating_sub(began.elapsed()));
            permits.add_permits(1);
        }
        // Everybody who still waits learns that it is over.
        permits.add_permits(connections);
    });
    due
}
