//! Senders that number what they send, a destination that counts what comes, and what must be
//! true of both.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{
    harness::{self, Client},
    sink::{Arrived, Reply, Sink},
};

/// How long a sender waits for an answer: longer than a server takes to refuse.
const PATIENCE: Duration = Duration::from_secs(15);

/// A webhook that was sent, and what came back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) number: u64,
    /// Which of the addresses it was sent to.
    pub(crate) to: usize,
    /// When the answer came, or did not.
    pub(crate) at: Instant,
    /// None when there was no answer.
    pub(crate) status: Option<u16>,
}

impl Sent {
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.status == Some(200)
    }
}

/// Senders: some connections for each address, which take turns with their numbers.
pub(crate) struct Senders {
    stop: Arc<AtomicBool>,
    /// How many webhooks each address has acknowledged.
    acknowledged: Vec<Arc<AtomicU64>>,
    running: JoinSet<Vec<Sent>>,
}

impl Senders {
    /// Sends to each address over so many connections, over each with this pause after an answer.
    pub(crate) fn start(urls: &[String], connections: usize, pause: Duration) -> Self {
        let (stop, next) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let acknowledged: Vec<_> = urls.iter().map(|_| Arc::<AtomicU64>::default()).collect();
        let mut running = JoinSet::new();
        for (to, url) in urls.iter().enumerate() {
            for _ in 0..connections {
                let (stop, next, url) = (stop.clone(), next.clone(), url.clone());
                let acknowledged = acknowledged[to].clone();
                running.spawn(async move {
                    let (client, mut sent) = (Client::default(), Vec::new());
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let request = client.request("POST", &url).body(number.to_string());
                        let answer = tokio::time::timeout(PATIENCE, request.try_send()).await;
                        let status = answer.ok().and_then(Result::ok);
                        let status = status.map(|answer| answer.status.as_u16());
                        let answered = Sent { number, to, at: Instant::now(), status };
                        let count = u64::from(answered.is_acknowledged());
                        acknowledged.fetch_add(count, Ordering::Relaxed);
                        sent.push(answered);
                        tokio::time::sleep(pause).await;
                    }
                    sent
                });
            }
        }
        Self { stop, acknowledged, running }
    }

    /// Waits until each address has acknowledged `more` webhooks since this call.
    pub(crate) async fn acknowledged(&self, more: u64) {
        let counts = || self.acknowledged.iter().map(|count| count.load(Ordering::Relaxed));
        let (since, before) = (Instant::now(), counts().collect::<Vec<_>>());
        while counts().zip(&before).any(|(count, before)| count < before + more) {
            let counts: Vec<_> = counts().collect();
            assert!(since.elapsed() < harness::PATIENCE, "{before:?} became {counts:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What was sent, when the last answers are there.
    pub(crate) async fn stop(self) -> Vec<Sent> {
        self.stop.store(true, Ordering::Relaxed);
        self.running.join_all().await.into_iter().flatten().collect()
    }
}

/// How many answers there were of each status; 0 stands for none.
pub(crate) fn statuses(sent: &[Sent]) -> BTreeMap<u16, usize> {
    sent.iter().fold(BTreeMap::new(), |mut counts, sent| {
        *counts.entry(sent.status.unwrap_or_default()).or_default() += 1;
        counts
    })
}

/// When each number came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<HashMap<u64, Vec<Instant>>>>);

impl Seen {
    fn seen(&self) -> MutexGuard<'_, HashMap<u64, Vec<Instant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A destination that counts, and answers what `script` says of a number and of how often
    /// it has come before.
    pub(crate) async fn sink(
        script: impl Fn(u64, usize) -> Reply + Send + Sync + 'static,
    ) -> (Self, Sink) {
        let seen = Self::default();
        let counting = seen.clone();
        let sink = Sink::answering(move |arrived: &Arrived| {
            let number = str::from_utf8(&arrived.body).ok().and_then(|text| text.parse().ok());
            let number = number.expect("a number");
            let mut seen = counting.seen();
            let times = seen.entry(number).or_default();
            times.push(Instant::now());
            script(number, times.len() - 1)
        });
        (seen, sink.await)
    }

    /// Forgets what came.
    pub(crate) fn forget(&self) {
        self.seen().clear();
    }

    /// How often each number came, by number.
    pub(crate) fn times(&self) -> BTreeMap<u64, usize> {
        self.seen().iter().map(|(number, times)| (*number, times.len())).collect()
    }

    /// The numbers in the order in which they first came.
    pub(crate) fn order(&self) -> Vec<u64> {
        let seen = self.seen();
        let mut first: Vec<_> = seen.iter().map(|(number, times)| (times[0], *number)).collect();
        first.sort_unstable();
        first.into_iter().map(|(_, number)| number).collect()
    }

    /// When this number came first.
    pub(crate) fn first(&self, number: u64) -> Option<Instant> {
        self.seen().get(&number).map(|times| times[0])
    }

    /// Waits until everything came that was acknowledged, and fails when `within` is over. How
    /// many came more than once.
    pub(crate) async fn all(&self, sent: &[Sent], within: Duration) -> usize {
        let deadline = Instant::now() + within;
        loop {
            let acknowledged = sent.iter().filter(|sent| sent.is_acknowledged());
            let missing: Vec<_> =
                acknowledged.map(|sent| sent.number).filter(|n| self.first(*n).is_none()).collect();
            if missing.is_empty() {
                return self.times().values().filter(|count| **count > 1).count();
            }
            let (count, some) = (missing.len(), &missing[..missing.len().min(5)]);
            assert!(Instant::now() < deadline, "{count} acknowledged and not there: {some:?} …");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
