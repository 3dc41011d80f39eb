//! One seed: nodes over one store, a minute of webhooks and faults, and what must hold then.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep, sleep_until};
use webhook_core::{
    AccountId, Clock, ErrorKind, Ids, InputId, NodeId, Timestamp, TokioClock,
    model::{Bucket, BucketSpec, Input, InputSpec, Output, OutputSpec},
    store::{BucketStore as _, OutputStore as _, Stores, Sweep, memory::MemoryStore},
};

use crate::{
    carrier::Carrier,
    limit::{Limit, Posted},
    node::{Node, Seeded},
    sink::{Attempt, Sink},
};

const START: Timestamp = Timestamp::from_secs(1_700_000_000);
/// How long webhooks come and things fail.
const BUSY: u64 = 40_000;
/// How long everything may take once nothing fails any more.
const SETTLED: Duration = Duration::from_secs(120);

/// Everything that one seed is about.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) stores: Stores,
    pub(crate) clock: TokioClock,
    pub(crate) sink: Arc<Sink>,
    pub(crate) carrier: Option<Carrier>,
    input: InputId,
    /// The paths of the outputs, with how they are throttled.
    outputs: BTreeMap<String, Limit>,
    nodes: Vec<Node>,
    random: fastrand::Rng,
    ids: Ids,
    /// What was acknowledged, and when it was sent and answered.
    acknowledged: Arc<Mutex<BTreeMap<String, Posted>>>,
    sent: usize,
    began: Instant,
    /// What was done to the nodes, for who has to find out what went wrong.
    faults: Vec<String>,
}

impl Cluster {
    async fn new(seed: u64, is_throttled: bool) -> Self {
        // Jitter comes from this one.
        fastrand::seed(seed);
        let mut random = fastrand::Rng::with_seed(seed);
        let clock = TokioClock::starting_at(START);
        let ids = Ids::new(Arc::new(clock), Arc::new(Seeded::new(seed)));
        let stores = Stores::of(MemoryStore::default());
        let account: AccountId = ids.next();
        let mut bucket = Bucket::new(ids.next(), account, START, BucketSpec::default());
        let input = Input::new(ids.next(), bucket.id, START, InputSpec::default());
        let id = input.id;
        bucket.inputs.push(input);
        stores.documents.create_bucket(&bucket).await.expect("a new bucket");
        let mut outputs = BTreeMap::new();
        // Apart from all else, so that a seed is the same with throttles and without.
        let mut limits = fastrand::Rng::with_seed(!seed);
        for number in 0..random.usize(1..=3) {
            let limit = if is_throttled { Limit::any(&mut limits) } else { Limit::None };
            let path = format!("/{number}{}", limit.path());
            let mut spec = OutputSpec::default();
            spec.throttle = limit.throttle();
            (spec.name, spec.destination) =
                (number.to_string(), format!("https://example.com{path}"));
            let output = Output::new(ids.next(), bucket.id, START, spec);
            stores.documents.create_output(bucket.account_id, &output).await.expect("a new output");
            outputs.insert(path, limit);
        }
        let carrier = Carrier::new(&mut random);
        Self {
            stores,
            clock,
            carrier,
            sink: Sink::new(seed),
            input: id,
            outputs,
            nodes: Vec::new(),
            random,
            ids,
            acknowledged: Arc::default(),
            sent: 0,
            began: Instant::now(),
            faults: Vec::new(),
        }
    }

    /// Starts a process, under the name of one that ended or a new one.
    fn start_node(&mut self, name: Option<NodeId>) {
        let name = name.unwrap_or_else(|| self.ids.next());
        // One that is 1.25 s off is refused.
        let ahead = self.random.i64(-1_000..=1_000);
        let seed = self.random.u64(..);
        let node = Node::start(self, name, ahead, seed);
        self.nodes.push(node);
    }

    /// A node that works, if there is one.
    fn any(&mut self) -> Option<usize> {
        let works = |node: &Node| !node.link.is_dead() && !node.is_stopping();
        let working: Vec<_> =
            (0..self.nodes.len()).filter(|index| works(&self.nodes[*index])).collect();
        self.random.choice(working)
    }

    fn post(&mut self) {
        let Some(node) = self.any() else { return };
        let body = self.sent.to_string();
        self.sent += 1;
        let is_timed = self.nodes[node].link.is_timed();
        let answer = self.nodes[node].post(self.input, body.clone());
        let acknowledged = self.acknowledged.clone();
        let sent = Instant::now();
        tokio::spawn(async move {
            if answer.await {
                let posted = Posted { sent, answered: Instant::now(), is_timed };
                let mut acknowledged = acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
                acknowledged.insert(body, posted);
            }
        });
    }

    /// Something goes wrong.
    fn fault(&mut self) {
        let Some(index) = self.any() else { return };
        let kind = self.random.u8(..6);
        let names = ["restart", "kill", "stop", "cut", "fail", "set the clock of"];
        let (at, name) = (self.began.elapsed(), names[usize::from(kind)]);
        self.faults.push(format!("{at:?}: {name} {index}"));
        match kind {
            0 => {
                self.nodes[index].link.kill();
                let name = self.nodes[index].name;
                // Its machine comes back, or another one comes in its place.
                let name = self.random.bool().then_some(name);
                self.start_node(name);
            }
            1 => self.nodes[index].link.kill(),
            2 => {
                self.nodes[index].stop();
                self.start_node(None);
            }
            3 => self.nodes[index].link.cut(true),
            4 => {
                let of_a_thousand = self.random.u64(..100);
                self.nodes[index].link.fail(of_a_thousand);
            }
            _ => {
                let ahead = self.random.i64(-60_000..=60_000);
                self.nodes[index].set_clock(ahead);
            }
        }
    }

    /// Starts those again that found no store at their start, or a clock that had just been set.
    async fn revive(&mut self) -> Result<(), String> {
        while let Some(index) = self.nodes.iter().position(Node::has_failed) {
            let node = self.nodes.swap_remove(index);
            let name = node.name;
            // With the process ends what it was still answering.
            node.link.kill();
            let error = node.error().await;
            if error.kind() != ErrorKind::Unavailable && !error.to_string().starts_with("clock") {
                return Err(format!("node {name} ended by itself: {error}"));
            }
            self.start_node(Some(name));
        }
        Ok(())
    }

    fn heal(&mut self) {
        for node in &self.nodes {
            node.link.cut(false);
            node.link.fail(0);
        }
    }

    /// Runs a seed; what did not hold, if anything.
    pub(crate) async fn run(seed: u64, is_throttled: bool) -> Result<(), String> {
        let mut cluster = Self::new(seed, is_throttled).await;
        let nodes = match cluster.random.u8(..20) {
            0 => cluster.random.usize(7..=50),
            _ => cluster.random.usize(2..=6),
        };
        for _ in 0..nodes {
            cluster.start_node(None);
        }
        sleep(Duration::from_secs(2)).await;
        let began = Instant::now();
        cluster.began = began;
        let mut moments: Vec<(u64, bool)> =
            (0..cluster.random.usize(10..60)).map(|_| (cluster.random.u64(..BUSY), true)).collect();
        for _ in 0..cluster.random.usize(..6) {
            moments.push((cluster.random.u64(..BUSY), false));
        }
        moments.sort_unstable();
        for (moment, is_webhook) in moments {
            sleep_until(began + Duration::from_millis(moment)).await;
            if is_webhook {
                cluster.post()
            } else {
                cluster.fault()
            }
            cluster.revive().await?;
            // What is cut heals at some time.
            if cluster.random.u8(..8) == 0 {
                cluster.heal();
            }
        }
        cluster.heal();
        // Somebody has to be there in the end.
        if cluster.any().is_none() {
            cluster.start_node(None);
        }
        let held = match cluster.wait().await {
            Ok(()) => cluster.check(),
            lost => lost,
        };
        held.map_err(|reason| format!("{reason}\n  {}", cluster.faults.join("\n  ")))
    }

    /// Until nothing waits.
    async fn wait(&mut self) -> Result<(), String> {
        let healed = Instant::now();
        loop {
            sleep(Duration::from_secs(1)).await;
            self.revive().await?;
            let now = self.clock.now();
            let sweep = Sweep::new(self.ids.next(), now, now);
            let waits = self.stores.deliveries.backlogs(sweep).await.expect("in memory");
            if waits.iter().all(|output| output.pending == 0 && !output.is_attended)
                && self.undelivered().is_empty()
            {
                return Ok(());
            }
            if healed.elapsed() > SETTLED {
                return Err(format!("lost: {:?}, waiting: {waits:?}", self.undelivered()));
            }
        }
    }

    /// What was acknowledged, and has not come to one of the outputs.
    fn undelivered(&self) -> Vec<(String, String)> {
        let attempts = self.sink.attempts();
        let delivered: BTreeSet<(&str, &str)> = attempts
            .values()
            .flatten()
            .filter(|attempt| attempt.ended.is_some_and(|(_, status)| status.is_success()))
            .map(|attempt| (attempt.body.as_str(), attempt.output.as_str()))
            .collect();
        let acknowledged = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = acknowledged
            .keys()
            .flat_map(|body| self.outputs.keys().map(move |output| (body, output)));
        wanted
            .filter(|(body, output)| !delivered.contains(&(body.as_str(), output.as_str())))
            .map(|(body, output)| (body.clone(), output.clone()))
            .collect()
    }

    fn tell(&self, attempt: &Attempt) -> String {
        let since = |at: Instant| at.saturating_duration_since(self.began);
        let node = self.nodes.iter().position(|node| Arc::ptr_eq(&node.link, &attempt.by));
        let ended = attempt.ended.map(|(at, status)| (since(at), status));
        let body = &attempt.body;
        format!("{body} by {node:?} at {:?}, ended {ended:?}", since(attempt.began))
    }

    fn check(&self) -> Result<(), String> {
        for (delivery, attempts) in &*self.sink.attempts() {
            for pair in attempts.windows(2) {
                let [first, second] = pair else { continue };
                if !may_follow(first, second) {
                    let [first, second] = [first, second].map(|attempt| self.tell(attempt));
                    return Err(format!("{delivery} was sent twice: {first}; {second}"));
                }
            }
        }
        self.check_throttles()
    }

    fn check_throttles(&self) -> Result<(), String> {
        let attempts = self.sink.attempts();
        let acknowledged = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, limit) in &self.outputs {
            let all = attempts.values().flatten().filter(|attempt| attempt.output == *path);
            let mut all: Vec<_> = all.collect();
            all.sort_by_key(|attempt| attempt.began);
            limit.check(&all, &acknowledged).map_err(|(what, of)| {
                let of: Vec<_> = of.into_iter().map(|attempt| self.tell(attempt)).collect();
                format!("{path}: {what}: {}", of.join("; "))
            })?;
        }
        Ok(())
    }
}

/// Whether `second` may have been made: the first one was refused, or something happened to
/// who made it.
fn may_follow(first: &Attempt, second: &Attempt) -> bool {
    let was_refused =
        first.ended.is_some_and(|(at, status)| !status.is_success() && at <= second.began);
    was_refused || first.by.was_troubled(first.began, second.began)
}
