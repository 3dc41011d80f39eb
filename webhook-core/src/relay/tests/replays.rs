use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{failing::Errors, *};
use crate::{
    ErrorKind, NodeId, ReplayId,
    admin::{Admin, Caller},
    id::DeliveryId,
    model::{
        ProcessPolicy, RateInterval, Reason, Replay, ReplayChange, ReplayFilter, ReplayOrder,
        ReplaySpec, ReplayStatus, ReplayTotals,
    },
    store::{ClaimWork, FeedReplay, LogFilter, LogQuery, LogSearch, ReplayStore, ScanBounds},
};

const REPLAY_OF: &str = "x-webhook-relay-replay-of";

/// A relay whose webhooks have been delivered, and its management.
struct Archive {
    stores: Stores,
    relay: Relay,
    forwarder: ScriptedForwarder,
    admin: Arc<Admin>,
    caller: Caller,
    bucket: Bucket,
    nodes: Vec<Dispatcher>,
}

impl Archive {
    async fn new() -> Self {
        Self::over(Stores::of(MemoryStore::default())).await
    }

    async fn over(stores: Stores) -> Self {
        let forwarder = ScriptedForwarder::new();
        let clock = TokioClock::starting_at(START);
        let builder = Webhooks::builder(stores.clone()).forwarder(forwarder.clone()).clock(clock);
        let webhooks = builder.build();
        let (relay, admin) = (webhooks.relay().clone(), Arc::clone(webhooks.admin()));
        let (account, _) = admin.create_account("first", None).await.expect("an account");
        let caller = Caller::for_account(account.id);
        let bucket = admin.create_bucket(&caller, BucketSpec::new("b")).await.expect("a bucket");
        let nodes = Vec::new();
        let mut archive = Self { stores, relay, forwarder, admin, caller, bucket, nodes };
        archive.run();
        archive
    }

    fn run(&mut self) {
        let (relay, (stop, stopped)) = (self.relay.clone(), oneshot::channel());
        let run = tokio::spawn(async move { relay.run(async { drop(stopped.await) }).await });
        self.nodes.push((stop, run));
    }

    async fn stop(&mut self) {
        for (stop, node) in self.nodes.drain(..) {
            drop(stop);
            node.await.expect("no panic").expect("a clean stop");
        }
    }

    async fn output(&mut self, name: &str) -> OutputId {
        let destination = format!("https://example.com/{name}");
        let spec = OutputSpec { name: name.to_owned(), destination, ..OutputSpec::default() };
        let output = self.admin.create_output(&self.caller, self.bucket.id, spec).await;
        output.expect("an output").id
    }

    async fn post(&self, body: &str) {
        let uri = format!("/v1/webhooks/{}", self.bucket.inputs[0].id);
        let request = http::Request::post(uri).header("host", "example.com");
        let request = request.body(Full::from(body.to_owned())).expect("a request");
        let response = self.relay.ingest().call(request).await.expect("infallible");
        assert_eq!(response.status(), StatusCode::OK);
    }

    /// Delivers so many webhooks, each at a moment of its own.
    async fn delivered(&self, count: usize) {
        let before = self.forwarder.requests().len();
        for number in 0..count {
            self.post(&format!("{number:04}")).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.forwarder.finished(before + count).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    async fn begin(&self, spec: ReplaySpec) -> Replay {
        self.admin.create_replay(&self.caller, spec).await.expect("it begins")
    }

    async fn stored(&self, id: ReplayId) -> Replay {
        self.admin.replay(&self.caller, id).await.expect("it is there")
    }

    async fn change(&self, id: ReplayId, status: Option<ReplayStatus>) -> Result<Replay, Error> {
        let change = ReplayChange { status, ..ReplayChange::default() };
        self.admin.change_replay(&self.caller, id, change).await
    }

    /// Waits for the end of a replay.
    async fn over_with(&self, id: ReplayId) -> Replay {
        for _ in 0..10_000 {
            let replay = self.stored(id).await;
            if replay.status.is_over() {
                return replay;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("it does not end: {:?}", self.stored(id).await);
    }

    /// How often each log was sent again, and the bodies in their order.
    fn sent_again(&self) -> (BTreeMap<String, usize>, Vec<String>) {
        let (mut logs, mut bodies) = (BTreeMap::new(), Vec::new());
        for request in self.forwarder.requests() {
            if let Some(of) = request.headers.get(REPLAY_OF) {
                *logs.entry(of.to_str().expect("text").to_owned()).or_default() += 1;
                bodies.push(String::from_utf8(request.body.to_vec()).expect("text"));
            }
        }
        (logs, bodies)
    }

    async fn logs_of(&self, id: ReplayId) -> Vec<Log> {
        let mut filter = LogFilter::default();
        filter.replay_id = Some(id);
        let bounds = ScanBounds { max_bytes: usize::MAX, max_time: Duration::from_secs(60) };
        let search = LogSearch::new(LogQuery::new(10_000), filter, bounds);
        self.stores.logs.search(self.caller.account_id(), &search).await.expect("a search").logs
    }
}

fn everything() -> ReplaySpec {
    let filter = ReplayFilter { from: "0".to_owned(), ..ReplayFilter::default() };
    ReplaySpec { filter, ..ReplaySpec::default() }
}

#[tokio::test(start_paused = true)]
async fn the_dry_run_counts_what_is_made_and_what_comes_meanwhile_is_left_out() {
    let mut archive = Archive::new().await;
    let output = archive.output("a").await;
    archive.delivered(25).await;
    let plan = archive.admin.plan_replay(&archive.caller, everything()).await.expect("a plan");
    assert_eq!((plan.count, plan.exact, plan.webhooks, plan.skipped), (25, true, 25, 0));
    assert_eq!(plan.by_output, BTreeMap::from([(output.to_string(), 25)]));
    assert_eq!(plan.by_status, BTreeMap::from([("sent", 25)]));
    assert_eq!(plan.duration_at_rate, Duration::from_millis(2_500));
    assert_eq!(plan.sample.len(), 10);

    let began = tokio::time::Instant::now();
    let replay = archive.begin(everything()).await;
    assert_eq!((replay.total, &*replay.outputs), (Some(25), &[output][..]));
    archive.post("fresh").await;
    let over = archive.over_with(replay.id).await;
    let lasted = began.elapsed();
    assert!(lasted >= Duration::from_millis(2_400), "10 a second: {lasted:?}");
    assert!(lasted <= Duration::from_secs(4), "and no slower: {lasted:?}");
    assert_eq!(over.status, ReplayStatus::Done);
    let (logs, bodies) = archive.sent_again();
    assert_eq!((logs.len(), bodies.len()), (25, 25), "each once, and not the fresh one");
    let receipt: Vec<_> = (0..25).map(|number| format!("{number:04}")).collect();
    assert_eq!(bodies, receipt);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let totals = archive.stored(replay.id).await.totals;
    assert_eq!(totals, ReplayTotals { queued: 25, sent: 25, ..ReplayTotals::default() });
    assert_eq!(archive.logs_of(replay.id).await.len(), 25);
    archive.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_at_once_is_over_at_once() {
    let mut archive = Archive::new().await;
    archive.output("a").await;
    archive.delivered(1).await;
    let replay = archive.begin(everything()).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(archive.stored(replay.id).await.status, ReplayStatus::Done);
    archive.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_replay_is_fast_and_newest_first_when_that_is_asked_for() {
    let mut archive = Archive::new().await;
    archive.output("a").await;
    archive.delivered(300).await;
    let began = tokio::time::Instant::now();
    let spec = ReplaySpec { rate: 100, order: ReplayOrder::Newest, ..everything() };
    let replay = archive.begin(spec).await;
    archive.over_with(replay.id).await;
    let lasted = began.elapsed().as_secs_f64();
    assert!((2.85..=4.2).contains(&lasted), "300 at 100 a second: {lasted}");
    let (_, bodies) = archive.sent_again();
    let newest: Vec<_> = (0..300).rev().map(|number| format!("{number:04}")).collect();
    assert_eq!(bodies, newest);
    archive.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_rate_is_kept_within_a_twentieth() {
    for (rate, interval, seconds) in [
        (10, RateInterval::Second, 60),
        (37, RateInterval::Second, 20),
        (500, RateInterval::Second, 2),
        (300, RateInterval::Minute, 120),
        (7_200, RateInterval::Hour, 300),
    ] {
        let mut archive = Archive::new().await;
        archive.output("a").await;
        archive.delivered(1_010).await;
        let spec = ReplaySpec { rate, interval, max_waiting: 1_000, ..everything() };
        let replay = archive.begin(spec).await;
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let sent = archive.sent_again().1.len() as u64;
        let due = u64::from(rate) * seconds / interval.duration().as_secs();
        // The first is due at once.
        assert!((due * 19..=due * 21 + 20).contains(&(sent * 20)), "{sent} of {due} at {rate}");
        // Nothing leaves once it is cancelled.
        archive.change(replay.id, Some(ReplayStatus::Cancelled)).await.expect("it ends");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let left = archive.sent_again().1.len();
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(archive.sent_again().1.len(), left, "it ends within a second");
        archive.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_are_made_as_were_counted_whatever_comes_meanwhile() {
    let mut archive = Archive::new().await;
    archive.output("a").await;
    archive.delivered(200).await;
    let traffic = async {
        for number in 0..2_000 {
            archive.post(&format!("fresh {number}")).await;
            tokio::time::sleep(Duration::from_millis(7)).await;
        }
    };
    let replaying = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let to = (archive.admin.now().as_secs() - 1).to_string();
        let filter = ReplayFilter { to, ..everything().filter };
        let spec = ReplaySpec { rate: 100, filter, ..everything() };
        let plan = archive.admin.plan_replay(&archive.caller, spec.clone()).await.expect("a plan");
        tokio::time::sleep(Duration::from_secs(1)).await;
        (plan, archive.begin(spec).await)
    };
    let ((), (plan, replay)) = tokio::join!(traffic, replaying);
    archive.over_with(replay.id).await;
    assert!(plan.exact && plan.count >= 200, "{plan:?}");
    assert_eq!(replay.total, Some(plan.count));
    let made = archive.logs_of(replay.id).await.len() as u64;
    assert_eq!(made, plan.count);
    assert_eq!(archive.sent_again().1.len() as u64, plan.count);
    archive.stop().await;
}

#[tokio::test(start_paused = true)]
async fn paused_it_waits_and_cancelled_it_ends_and_both_are_fine_twice() {
    let mut archive = Archive::new().await;
    archive.output("a").await;
    archive.delivered(100).await;
    let replay = archive.begin(everything()).await;
    tokio::time::sleep(Duration::from_millis(950)).await;
    for _ in 0..2 {
        let paused = archive.change(replay.id, Some(ReplayStatus::Paused)).await.expect("paused");
        assert_eq!(paused.status, ReplayStatus::Paused);
    }
    let before = archive.sent_again().1.len();
    assert!((9..=11).contains(&before), "{before}");
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(archive.sent_again().1.len(), before);
    archive.change(replay.id, Some(ReplayStatus::Running)).await.expect("resumed");
    let faster = ReplayChange { rate: Some(20), ..ReplayChange::default() };
    let faster = archive.admin.change_replay(&archive.caller, replay.id, faster).await;
    assert_eq!(faster.expect("changed").spec.rate, 20);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let after = archive.sent_again().1.len() - before;
    assert!((36..=44).contains(&after), "20 a second: {after}");
    for _ in 0..2 {
        let ended = archive.change(replay.id, Some(ReplayStatus::Cancelled)).await.expect("ended");
        assert!(ended.finished_at.is_some());
    }
    let at_end = archive.sent_again().1.len();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(archive.sent_again().1.len(), at_end, "nothing leaves after the end");
    let error = archive.change(replay.id, Some(ReplayStatus::Running)).await.expect_err("over");
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let (logs, bodies) = archive.sent_again();
    assert_eq!(logs.len(), bodies.len(), "each once");
    archive.stop().await;
}

#[tokio::test(start_paused = true)]
async fn cancelling_withdraws_what_waits_for_a_paused_output() {
    let mut archive = Archive::new().await;
    let output = archive.output("a").await;
    archive.delivered(20).await;
    let request = crate::model::PauseRequest::default();
    let (admin, caller, bucket) = (&archive.admin, &archive.caller, archive.bucket.id);
    admin.pause_output(caller, bucket, output, request).await.expect("paused");
    let spec = ReplaySpec { max_waiting: 7, ..everything() };
    let plan = archive.admin.plan_replay(&archive.caller, spec.clone()).await.expect("a plan");
    assert_eq!(plan.paused_outputs, [output]);
    let replay = archive.begin(spec).await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    let waits = archive.stored(replay.id).await;
    assert_eq!((waits.status, waits.totals.queued), (ReplayStatus::Running, 7), "as many as may");
    archive.change(replay.id, Some(ReplayStatus::Cancelled)).await.expect("ended");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let totals = archive.stored(replay.id).await.totals;
    assert_eq!(totals, ReplayTotals { queued: 7, rejected: 7, ..ReplayTotals::default() });
    for log in archive.logs_of(replay.id).await {
        assert_eq!(log.delivery.reason, Some(Reason::Cancelled));
    }
    let resume = crate::model::ResumeRequest::default();
    let (admin, caller, bucket) = (&archive.admin, &archive.caller, archive.bucket.id);
    admin.resume_output(caller, bucket, output, resume).await.expect("resumed");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(archive.sent_again().1, Vec::<String>::new());
    archive.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_rules_stopped_is_sent_after_they_are_mended_and_named_logs_alone() {
    let mut archive = Archive::new().await;
    let output = archive.output("a").await;
    let rules = serde_json::json!({"match": {"type": "value", "value": "x",
        "parameter": {"source": "header", "name": "X-Kind"}}});
    let never = serde_json::from_value(rules).expect("rules");
    let (admin, caller, bucket) = (&archive.admin, &archive.caller, archive.bucket.id);
    admin.put_rules(caller, bucket, output, never).await.expect("rules");
    for number in 0..3 {
        archive.post(&number.to_string()).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut spec = everything();
    spec.filter.reason = "rules".to_owned();
    spec.process_policy = ProcessPolicy::Force;
    let still = archive.begin(spec.clone()).await;
    let still = archive.over_with(still.id).await;
    assert_eq!(still.totals, ReplayTotals { queued: 3, rejected: 3, ..ReplayTotals::default() });
    let (admin, caller, bucket) = (&archive.admin, &archive.caller, archive.bucket.id);
    admin.delete_rules(caller, bucket, output).await.expect("mended");
    let logs = archive.logs_of(still.id).await;
    let ids: Vec<DeliveryId> = logs.iter().map(|log| log.delivery.id).collect();
    spec.filter.ids = vec![ids[0], ids[2], ids[0], DeliveryId::generate()];
    let replay = archive.begin(spec).await;
    assert_eq!(replay.total, Some(2));
    archive.over_with(replay.id).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let over = archive.stored(replay.id).await;
    assert_eq!(over.totals, ReplayTotals { queued: 2, sent: 2, ..ReplayTotals::default() });
    archive.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_is_named_and_nothing_is_no_replay() {
    let mut archive = Archive::new().await;
    archive.output("a").await;
    let refused = async |spec: ReplaySpec| {
        let error = archive.admin.create_replay(&archive.caller, spec).await;
        error.expect_err("it is refused").to_string()
    };
    assert_eq!(refused(everything()).await, "filter: nothing is like that");
    let empty = refused(ReplaySpec::default()).await;
    assert!(empty.starts_with("filter: must say which logs"), "{empty}");
    let rate = refused(ReplaySpec { rate: 0, ..everything() }).await;
    assert!(rate.starts_with("rate: must be"), "{rate}");
    let waiting = refused(ReplaySpec { max_waiting: 1_001, ..everything() }).await;
    assert!(waiting.starts_with("max_waiting: must be"), "{waiting}");
    let nowhere = Some(OutputId::generate());
    let nowhere = refused(ReplaySpec { to_output: nowhere, ..everything() }).await;
    assert_eq!(nowhere, "to_output: the bucket has no such output");
    let mut absent = everything();
    absent.filter.bucket = "absent".to_owned();
    let absent = refused(absent).await;
    assert!(absent.starts_with("filter.bucket: "), "{absent}");
    archive.delivered(1).await;
    let spec = ReplaySpec { rate: 1, interval: RateInterval::Hour, ..everything() };
    archive.delivered(2).await;
    let first = archive.begin(spec.clone()).await;
    let second = archive.admin.create_replay(&archive.caller, spec).await.expect_err("it runs");
    assert_eq!(second.kind(), ErrorKind::Conflict);
    assert!(second.to_string().contains(&first.id.to_string()), "{second}");
    let done = archive.change(first.id, Some(ReplayStatus::Done)).await.expect_err("not asked");
    assert_eq!(done.to_string(), "status: must be paused, running or cancelled");
    archive.stop().await;
}

/// A store whose answers about steps are lost from time to time.
#[derive(Debug)]
struct Losing {
    stores: Stores,
    lost: Errors,
}

#[async_trait]
impl ReplayStore for Losing {
    async fn create_replay(&self, replay: &Replay, most: usize) -> Result<(), Error> {
        self.stores.replays.create_replay(replay, most).await
    }
    async fn replay(&self, account: AccountId, id: ReplayId) -> Result<Option<Replay>, Error> {
        self.stores.replays.replay(account, id).await
    }
    async fn replays(
        &self,
        account: AccountId,
        before: Option<ReplayId>,
        limit: usize,
    ) -> Result<Vec<Replay>, Error> {
        self.stores.replays.replays(account, before, limit).await
    }
    async fn replay_totals(&self, ids: &[ReplayId]) -> Result<Vec<ReplayTotals>, Error> {
        self.stores.replays.replay_totals(ids).await
    }
    async fn change_replay(
        &self,
        replay: &Replay,
        from: ReplayStatus,
        now: Timestamp,
    ) -> Result<bool, Error> {
        self.stores.replays.change_replay(replay, from, now).await
    }
    async fn claim_replays(&self, claim: ClaimWork) -> Result<Vec<Replay>, Error> {
        self.stores.replays.claim_replays(claim).await
    }
    async fn replays_wake_at(&self) -> Result<Option<Timestamp>, Error> {
        self.stores.replays.replays_wake_at().await
    }
    async fn release_replays(&self, node: NodeId) -> Result<(), Error> {
        self.stores.replays.release_replays(node).await
    }
    async fn replay_waiting(&self, id: ReplayId) -> Result<Vec<(OutputId, u64)>, Error> {
        self.stores.replays.replay_waiting(id).await
    }
    async fn feed_replay(&self, feed: FeedReplay) -> Result<Option<Vec<bool>>, Error> {
        let is_step = !feed.items.is_empty();
        let fed = self.stores.replays.feed_replay(feed).await?;
        if is_step { self.lost.next().map(|()| fed) } else { Ok(fed) }
    }
}

#[tokio::test(start_paused = true)]
async fn each_is_queued_once_although_answers_are_lost_and_the_relay_starts_again() {
    let stores = Stores::of(MemoryStore::default());
    let losing = Arc::new(Losing { stores: stores.clone(), lost: Errors::default() });
    let mut archive = Archive::over(stores.with_replays(losing.clone())).await;
    archive.output("a").await;
    archive.delivered(60).await;
    let replay = archive.begin(everything()).await;
    for round in 0..3 {
        tokio::time::sleep(Duration::from_millis(1_050)).await;
        let lost = Error::unavailable("the answer is lost", Duration::from_secs(1));
        losing.lost.script([lost]);
        tokio::time::sleep(Duration::from_millis(350 + 100 * round)).await;
        // What it held and did not know of is freed at the start.
        archive.stop().await;
        archive.run();
    }
    archive.over_with(replay.id).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let (logs, _) = archive.sent_again();
    assert_eq!(logs.len(), 60, "none is passed over");
    let made = archive.logs_of(replay.id).await;
    let of: std::collections::BTreeSet<_> =
        made.iter().filter_map(|log| Some(log.delivery.replay.as_ref()?.of)).collect();
    assert_eq!((made.len(), of.len()), (60, 60), "each is queued once");
    let totals = archive.stored(replay.id).await.totals;
    assert_eq!(totals, ReplayTotals { queued: 60, sent: 60, ..ReplayTotals::default() });
    archive.stop().await;
}
