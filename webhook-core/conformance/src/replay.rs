//! What every store of replays does.

use std::{sync::Arc, time::Duration};

use webhook_core::{
    AccountId, BucketId, DeliveryId, ErrorKind, NodeId, OutputId, ReplayId, Timestamp, WebhookId,
    model::{
        DeliveryStatus, ProcessPolicy, RateInterval, Reason, Replay, ReplayOrder, ReplaySpec,
        ReplayStatus, ReplayTotals,
    },
    store::{
        Accept, Claim, ClaimWork, FeedReplay, LogFilter, LogOrder, LogQuery, LogSearch,
        NewDelivery, ReplayItem, ReplayedWebhook, ScanBounds, Stores,
    },
};

use crate::{
    delivery::{accept, claim_as, find_log, logs_of, node, rejected, sent, settle, take_due},
    log::oracle::assert_exact,
    sample::{NOW, after, expect_conflict, expect_kind, ids, webhook, with},
};

fn replay_of(account: AccountId, outputs: Vec<OutputId>) -> Replay {
    Replay {
        id: ReplayId::generate(),
        account_id: account,
        bucket_id: None,
        status: ReplayStatus::Running,
        error: String::new(),
        total: Some(2),
        outputs,
        totals: ReplayTotals::default(),
        skipped: 0,
        created_at: NOW,
        finished_at: None,
        cursor: String::new(),
        spec: ReplaySpec::default(),
    }
}

async fn claimed(stores: &Stores, node: NodeId, now: Timestamp) -> Vec<ReplayId> {
    let claim = ClaimWork::new(node, now, now + Duration::from_secs(10), 10);
    let claimed = stores.replays.claim_replays(claim).await.expect("a claim");
    claimed.iter().map(|replay| replay.id).collect()
}

/// A step from one place to another that queues one delivery of each log.
fn step(
    replay: &Replay,
    node: NodeId,
    (from, to): (&str, &str),
    items: Vec<ReplayItem>,
) -> FeedReplay {
    let mut feed = FeedReplay::new(replay, node, after(5), after(90));
    (feed.from, feed.to) = (from.to_owned(), to.to_owned());
    feed.items = items;
    feed
}

/// A replay with two rejected logs to send again, which `node` goes on with.
async fn going(stores: &Stores) -> (Replay, NodeId, Vec<ReplayItem>) {
    let (account, output) = (AccountId::generate(), OutputId::generate());
    let node = node(stores).await;
    let mut items = Vec::new();
    for _ in 0..2 {
        let (webhook, log) = (webhook(account), rejected(output));
        accept(stores, &webhook, std::slice::from_ref(&log)).await;
        let deliveries = vec![NewDelivery::new(DeliveryId::generate(), Some(output), Some(NOW))];
        let again = ReplayedWebhook::Stored { id: webhook.id, deliveries, processed: None };
        items.push(ReplayItem { of: log.id, webhook: again });
    }
    let replay = replay_of(account, vec![output]);
    stores.replays.create_replay(&replay, 10).await.expect("it begins");
    assert_eq!(claimed(stores, node, NOW).await, [replay.id]);
    (replay, node, items)
}

fn made(item: &ReplayItem) -> DeliveryId {
    match &item.webhook {
        ReplayedWebhook::Stored { deliveries, .. } => deliveries[0].id,
        ReplayedWebhook::Received(accept) => accept.deliveries[0].id,
    }
}

async fn stored(stores: &Stores, replay: &Replay) -> Replay {
    let stored = stores.replays.replay(replay.account_id, replay.id).await;
    stored.expect("it can be read").expect("it is there")
}

/// Every field of a replay comes back, of its own account alone, newest first.
pub async fn every_field_of_a_replay_round_trips(stores: &Stores) {
    let account = AccountId::generate();
    let mut replay = replay_of(account, ids(2));
    replay.bucket_id = Some(BucketId::generate());
    replay.spec.filter.status = "failed".to_owned();
    replay.spec.filter.search = "a\0b\u{1f980}\"".to_owned();
    replay.spec.filter.ids = ids(3);
    replay.spec.to_output = Some(OutputId::generate());
    replay.spec.process_policy = ProcessPolicy::Force;
    replay.spec.order = ReplayOrder::Newest;
    (replay.spec.rate, replay.spec.interval) = (7, RateInterval::Minute);
    replay.spec.description = "after the outage".to_owned();
    stores.replays.create_replay(&replay, 10).await.expect("it begins");
    assert_eq!(stored(stores, &replay).await, replay);
    let other = replay_of(account, Vec::new());
    stores.replays.create_replay(&other, 10).await.expect("it begins");
    let list = stores.replays.replays(account, None, 10).await.expect("a list");
    let listed: Vec<_> = list.iter().map(|replay| replay.id).collect();
    let mut newest = vec![replay.id, other.id];
    newest.sort_unstable();
    newest.reverse();
    assert_eq!(listed, newest);
    let older = stores.replays.replays(account, Some(newest[0]), 10).await.expect("a list");
    assert_eq!(older.iter().map(|replay| replay.id).collect::<Vec<_>>(), newest[1..]);
    let stranger = AccountId::generate();
    assert_eq!(stores.replays.replay(stranger, replay.id).await.expect("read"), None);
    assert_eq!(stores.replays.replays(stranger, None, 10).await.expect("read"), []);
}

/// One replay at a time sends to an output, and an account has so many that are not over.
pub async fn replays_of_one_output_exclude_each_other(stores: &Stores) {
    let (account, output) = (AccountId::generate(), OutputId::generate());
    let first = replay_of(account, vec![output]);
    stores.replays.create_replay(&first, 2).await.expect("it begins");
    let second = replay_of(account, vec![OutputId::generate(), output]);
    expect_conflict(stores.replays.create_replay(&second, 2).await);
    let elsewhere = replay_of(account, ids(1));
    stores.replays.create_replay(&elsewhere, 2).await.expect("it begins");
    let third = replay_of(account, ids(1));
    expect_kind(stores.replays.create_replay(&third, 2).await, ErrorKind::Busy);
    let mut over = first.clone();
    over.finish(ReplayStatus::Done, after(1)).expect("it runs");
    let ended = stores.replays.change_replay(&over, ReplayStatus::Running, after(1)).await;
    assert!(ended.expect("written"));
    assert_eq!(stored(stores, &first).await, over);
    stores.replays.create_replay(&second, 2).await.expect("it begins");
    let again = stores.replays.change_replay(&over, ReplayStatus::Running, after(2)).await;
    assert!(!again.expect("read"), "it is over");
}

/// A replay is held by one node, until its hold ends or it is released.
pub async fn a_replay_is_held_by_one_node(stores: &Stores) {
    let replay = replay_of(AccountId::generate(), ids(1));
    assert_eq!(stores.replays.replays_wake_at().await.expect("read"), None);
    stores.replays.create_replay(&replay, 10).await.expect("it begins");
    assert!(stores.replays.replays_wake_at().await.expect("read").is_some_and(|at| at <= NOW));
    let (one, two) = (NodeId::generate(), NodeId::generate());
    assert_eq!(claimed(stores, one, NOW).await, [replay.id]);
    assert_eq!(stores.replays.replays_wake_at().await.expect("read"), Some(after(10)));
    assert_eq!(claimed(stores, two, after(9)).await, []);
    assert_eq!(claimed(stores, two, after(10)).await, [replay.id]);
    let late = FeedReplay::new(&replay, one, after(11), after(30));
    assert_eq!(stores.replays.feed_replay(late).await.expect("read"), None);
    let hold = FeedReplay::new(&replay, two, after(11), after(30));
    assert_eq!(stores.replays.feed_replay(hold).await.expect("written"), Some(Vec::new()));
    assert_eq!(claimed(stores, one, after(29)).await, []);
    stores.replays.release_replays(two).await.expect("released");
    assert_eq!(claimed(stores, one, after(12)).await, [replay.id]);
    let mut paused = replay.clone();
    paused.status = ReplayStatus::Paused;
    let changed = stores.replays.change_replay(&paused, ReplayStatus::Running, after(13)).await;
    assert!(changed.expect("written"));
    assert_eq!(stores.replays.replays_wake_at().await.expect("read"), None);
    let feed = FeedReplay::new(&replay, one, after(14), after(30));
    assert_eq!(stores.replays.feed_replay(feed).await.expect("read"), None);
    let resumed = stores.replays.change_replay(&replay, ReplayStatus::Paused, after(15)).await;
    assert!(resumed.expect("written"));
    assert_eq!(claimed(stores, two, after(15)).await, [replay.id]);
}

/// What is queued and the place of the replay are written together, once.
pub async fn a_step_of_a_replay_is_taken_once(stores: &Stores) {
    let (replay, node, mut items) = going(stores).await;
    let gone = WebhookId::generate();
    let deliveries = vec![NewDelivery::new(DeliveryId::generate(), None, None)];
    let again = ReplayedWebhook::Stored { id: gone, deliveries, processed: None };
    items.insert(1, ReplayItem { of: DeliveryId::generate(), webhook: again });
    let feed = step(&replay, node, ("", "1.here"), items.clone());
    let queued = stores.replays.feed_replay(feed.clone()).await.expect("written");
    assert_eq!(queued, Some(vec![true, false, true]));
    assert_eq!(stores.replays.feed_replay(feed).await.expect("read"), None, "it was taken");
    let now = stored(stores, &replay).await;
    assert_eq!((&*now.cursor, now.skipped), ("1.here", 1));
    let totals = stores.replays.replay_totals(&[replay.id, ReplayId::generate()]).await;
    let queued = ReplayTotals { queued: 2, ..ReplayTotals::default() };
    assert_eq!(totals.expect("counted"), [queued, ReplayTotals::default()]);
    let log = find_log(stores, replay.account_id, made(&items[0])).await.expect("it is made");
    let of = log.delivery.replay.expect("a replay made it");
    assert_eq!((of.id, of.of), (replay.id, items[0].of));
    let waiting = stores.replays.replay_waiting(replay.id).await.expect("counted");
    assert_eq!(waiting, [(replay.outputs[0], 2)]);
    let claimed = take_due(stores, node, replay.outputs[0], after(20)).await.deliveries;
    assert_eq!(claimed.len(), 2);
    assert!(
        claimed.iter().all(|pending| pending.replay.as_ref().is_some_and(|it| it.id == replay.id))
    );
    for pending in &claimed {
        settle(stores, sent(pending, node, after(21))).await;
    }
    assert_eq!(stores.replays.replay_waiting(replay.id).await.expect("counted"), []);
    let totals = stores.replays.replay_totals(&[replay.id]).await.expect("counted");
    assert_eq!(totals, [ReplayTotals { queued: 2, sent: 2, ..ReplayTotals::default() }]);
}

/// A webhook that is received again is stored with the step.
pub async fn a_replay_receives_webhooks_again(stores: &Stores) {
    let (replay, node, _) = going(stores).await;
    let (again, log) = (webhook(replay.account_id), rejected(replay.outputs[0]));
    let received = Accept::new(Arc::new(again.clone()), vec![log.clone()]);
    let of = DeliveryId::generate();
    let item = ReplayItem { of, webhook: ReplayedWebhook::Received(Box::new(received)) };
    let feed = step(&replay, node, ("", "1.here"), vec![item]);
    assert_eq!(stores.replays.feed_replay(feed).await.expect("written"), Some(vec![true]));
    let logs = logs_of(stores, &again).await;
    assert_eq!(logs.len(), 1);
    assert_eq!(logs[0].delivery.replay.as_ref().map(|it| (it.id, it.of)), Some((replay.id, of)));
}

/// Cancelling withdraws what was never attempted and nobody holds; the counts are exact.
pub async fn cancelling_a_replay_withdraws_what_waits(stores: &Stores) {
    let (replay, node, items) = going(stores).await;
    let feed = step(&replay, node, ("", "1.here"), items.clone());
    assert!(stores.replays.feed_replay(feed).await.expect("written").is_some());
    let claim = Claim::new(node, replay.outputs[0], after(20), 1);
    let held = claim_as(stores, claim).await.deliveries;
    let mut cancelled = replay.clone();
    cancelled.finish(ReplayStatus::Cancelled, after(30)).expect("it runs");
    let ended = stores.replays.change_replay(&cancelled, ReplayStatus::Running, after(30)).await;
    assert!(ended.expect("written"));
    let totals = stores.replays.replay_totals(&[replay.id]).await.expect("counted");
    assert_eq!(totals, [ReplayTotals { queued: 2, rejected: 1, ..ReplayTotals::default() }]);
    for item in &items {
        let log = find_log(stores, replay.account_id, made(item)).await.expect("it is made");
        if held.iter().all(|held| held.id != made(item)) {
            assert_eq!(log.delivery.status, DeliveryStatus::Rejected);
            assert_eq!(log.delivery.reason, Some(Reason::Cancelled));
            assert_eq!(log.delivery.due_at, None);
        }
    }
    settle(stores, sent(&held[0], node, after(31))).await;
    assert_exact(stores, replay.account_id).await;
}

/// Searches look at the oldest first as well, from a place on, and see every log once.
pub async fn a_search_looks_at_the_oldest_first(stores: &Stores) {
    let (account, output) = (AccountId::generate(), OutputId::generate());
    let mut stored = Vec::new();
    for second in [5, 1, 4, 2, 3] {
        let webhook = with(webhook(account), |webhook| webhook.received_at = after(second));
        let log = rejected(output);
        accept(stores, &webhook, std::slice::from_ref(&log)).await;
        stored.push((second, log.id));
    }
    stored.sort_unstable();
    let (mut found, mut place) = (Vec::new(), None);
    loop {
        let mut query = LogQuery::new(2);
        query.to = Some(after(5));
        let bounds = ScanBounds { max_bytes: usize::MAX, max_time: Duration::from_secs(60) };
        let mut search = LogSearch::new(query, LogFilter::default(), bounds);
        search.order = LogOrder::OldestFirst(place);
        let looked = stores.logs.search(account, &search).await.expect("a search");
        found.extend(looked.logs.iter().map(|log| log.delivery.id));
        place = looked.scanned_until.or(place);
        if looked.complete {
            break;
        }
    }
    let older: Vec<_> = stored.iter().take(4).map(|(_, id)| *id).collect();
    assert_eq!(found, older);
}
