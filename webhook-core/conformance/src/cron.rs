//! Cases for [`CronStore`](webhook_core::store::CronStore).

use std::collections::BTreeSet;

use crate::sample::Together as _;
use http::Method;
use webhook_core::store::BucketStore as _;
use webhook_core::{
    AccountId, BucketId, CronId, ErrorKind, NodeId, OutputId, Timestamp,
    model::{Bucket, Cron, CronSpec, Headers},
    store::{AdvanceCron, ClaimWork, Stores},
};

use super::sample::{
    NOW, ODD_TEXT, after, bucket, expect_conflict, expect_every_field, expect_not_found,
    expect_one_winner, function, input, output, race, text_headers, with,
};

/// A cron that runs at `next_run`, with its bucket.
fn cron(account: AccountId, next_run: Option<Timestamp>) -> (Cron, Bucket) {
    let id = CronId::generate();
    let mut bucket = bucket(account, &id.to_string());
    bucket.cron_id = Some(id);
    bucket.inputs.push(input(bucket.id, "input"));
    let mut output = output(bucket.id, "output");
    output.cron_id = Some(id);
    bucket.outputs.push(output);
    let cron = Cron {
        id,
        account_id: account,
        version: 1,
        created_at: NOW,
        updated_at: NOW,
        next_run,
        bucket_id: bucket.id,
        input_id: bucket.inputs[0].id,
        output_id: bucket.outputs[0].id,
        spec: with(CronSpec::new("@daily", "https://example.com/"), |spec| {
            spec.name = "nightly".to_owned();
            spec.timezone = "UTC".to_owned();
        }),
    };
    (cron, bucket)
}

fn odd_spec() -> CronSpec {
    with(CronSpec::new(ODD_TEXT, ODD_TEXT), |spec| {
        spec.name = ODD_TEXT.to_owned();
        spec.enabled = false;
        spec.recurring = false;
        spec.timezone = ODD_TEXT.to_owned();
        spec.method = Method::from_bytes(b"M-SEARCH").expect("a token");
        spec.payload = format!("\0{ODD_TEXT}\0");
        spec.headers = Headers(text_headers());
        spec.starts_at = Some(Timestamp::from_millis(-62_135_596_798_999));
        spec.ends_at = Some(Timestamp::from_millis(253_370_764_799_999));
    })
}

async fn create(stores: &Stores, cron: &Cron, bucket: &Bucket) {
    stores.documents.create_cron(cron, bucket).await.expect("the cron is new");
}

/// A stored cron that runs at `next_run`.
async fn stored(stores: &Stores, account: AccountId, next_run: Option<Timestamp>) -> Cron {
    let (cron, bucket) = cron(account, next_run);
    create(stores, &cron, &bucket).await;
    cron
}

async fn find(stores: &Stores, cron: &Cron) -> Option<Cron> {
    stores
        .documents
        .get::<Cron>(cron.account_id, cron.id.as_uuid())
        .await
        .expect("the cron can be read")
}

async fn claim(stores: &Stores, node: NodeId, now: Timestamp, limit: usize) -> Vec<Cron> {
    let claim = ClaimWork::new(node, now, now + std::time::Duration::from_secs(30), limit);
    stores.crons.claim_crons(claim).await.expect("crons can be claimed")
}

async fn wake(stores: &Stores) -> Option<Timestamp> {
    stores.crons.crons_wake_at().await.expect("the moment can be read")
}

async fn advance(stores: &Stores, cron: &Cron, to: Option<Timestamp>) -> bool {
    let from = cron.next_run.expect("it is to run");
    let advance = AdvanceCron::new(cron.id, from, to);
    stores.crons.advance_cron(advance).await.expect("the cron can be written")
}

/// Every field survives, of a claimed cron as well.
pub async fn every_field_of_a_cron_round_trips(stores: &Stores) {
    let account = AccountId::generate();
    let (plain, plain_bucket) = cron(account, None);
    create(stores, &plain, &plain_bucket).await;
    let (mut odd, odd_bucket) = cron(account, Some(after(1)));
    odd.spec = odd_spec();
    let function = function(account, "f");
    stores.documents.create(account, &function).await.expect("the function is new");
    odd.spec.function_id = Some(function.id);
    expect_every_field(std::slice::from_ref(&odd.spec));
    odd.created_at = Timestamp::from_millis(1);
    odd.updated_at = after(7);
    create(stores, &odd, &odd_bucket).await;
    assert_eq!(find(stores, &plain).await.as_ref(), Some(&plain));
    assert_eq!(find(stores, &odd).await.as_ref(), Some(&odd));
    let listed = stores.documents.list::<Cron>(account).await.expect("crons can be listed");
    assert_eq!(listed, [plain, odd.clone()]);
    assert_eq!(claim(stores, NodeId::generate(), after(1), 9).await, [odd]);
}

/// The bucket is stored with its inputs and outputs.
pub async fn bucket_of_a_cron_is_stored_with_it(stores: &Stores) {
    let (cron, bucket) = cron(AccountId::generate(), None);
    create(stores, &cron, &bucket).await;
    let read = stores.documents.bucket(cron.account_id, cron.bucket_id).await.expect("readable");
    let read = read.expect("it is there");
    assert_eq!(
        (read.cron_id, read.inputs, read.outputs),
        (Some(cron.id), bucket.inputs, bucket.outputs)
    );
}

/// Another account's crons are absent; the list is in ID order.
pub async fn crons_of_another_account_are_absent(stores: &Stores) {
    let account = AccountId::generate();
    let made = [(); 3].map(|()| cron(account, Some(after(1))));
    for index in [1, 2, 0] {
        create(stores, &made[index].0, &made[index].1).await;
    }
    let other = stored(stores, AccountId::generate(), Some(after(1))).await;
    let theirs = Cron { account_id: account, ..other.clone() };
    assert_eq!(find(stores, &theirs).await, None);
    expect_not_found(stores.documents.update_cron(&theirs, theirs.next_run).await);
    expect_not_found(stores.documents.remove_cron(&theirs).await);
    let none = Cron { id: CronId::generate(), ..theirs.clone() };
    expect_not_found(stores.documents.remove_cron(&none).await);
    let listed = stores.documents.list::<Cron>(account).await.expect("crons can be listed");
    assert_eq!(listed, made.map(|(cron, _)| cron));
    assert_eq!(find(stores, &other).await, Some(other));
}

/// A taken ID or a taken bucket name is refused and leaves nothing behind.
pub async fn refused_cron_leaves_nothing_behind(stores: &Stores) {
    let account = AccountId::generate();
    let (first, first_bucket) = cron(account, None);
    create(stores, &first, &first_bucket).await;
    let (mut same_id, bucket_of_same_id) = cron(account, Some(NOW));
    same_id.id = first.id;
    expect_conflict(stores.documents.create_cron(&same_id, &bucket_of_same_id).await);
    let (same_name, mut bucket_of_same_name) = cron(account, Some(NOW));
    bucket_of_same_name.spec.name = first_bucket.spec.name.clone();
    expect_conflict(stores.documents.create_cron(&same_name, &bucket_of_same_name).await);

    let buckets = stores.documents.buckets(account).await.expect("buckets can be listed");
    assert_eq!(buckets.iter().map(|bucket| bucket.id).collect::<Vec<_>>(), [first.bucket_id]);
    assert_eq!(stores.documents.list::<Cron>(account).await.expect("readable"), [first]);
    assert_eq!(wake(stores).await, None);
}

/// Creation, bucket and input stay; the rest is replaced.
pub async fn update_replaces_a_cron(stores: &Stores) {
    let old = stored(stores, AccountId::generate(), Some(after(1))).await;
    let new = Cron {
        created_at: after(5),
        updated_at: after(6),
        next_run: Some(after(9)),
        output_id: OutputId::generate(),
        spec: odd_spec(),
        ..old.clone()
    };
    let moved = Cron { bucket_id: BucketId::generate(), ..new.clone() };
    expect_not_found(stores.documents.update_cron(&moved, old.next_run).await);
    assert_eq!(find(stores, &old).await.as_ref(), Some(&old), "it stays in its bucket");
    assert!(stores.documents.update_cron(&new, old.next_run).await.expect("it is there"));
    let expected = Cron { created_at: old.created_at, version: 2, ..new };
    assert_eq!(find(stores, &old).await, Some(expected));
    assert_eq!(wake(stores).await, Some(after(9)));
}

/// An update that knows another next run changes nothing.
pub async fn update_that_missed_a_run_changes_nothing(stores: &Stores) {
    let account = AccountId::generate();
    let old = stored(stores, account, Some(after(1))).await;
    let idle = stored(stores, account, None).await;
    for (cron, known) in [(&old, None), (&old, Some(after(2))), (&idle, Some(NOW))] {
        let new = Cron { spec: odd_spec(), next_run: Some(after(5)), ..cron.clone() };
        let updated = stores.documents.update_cron(&new, known).await;
        assert!(!updated.expect("it is there"), "known: {known:?}");
        assert_eq!(find(stores, cron).await.as_ref(), Some(cron));
    }
}

/// The bucket goes with its cron.
pub async fn deleted_cron_takes_its_bucket_along(stores: &Stores) {
    let account = AccountId::generate();
    let (stays, goes) =
        (stored(stores, account, None).await, stored(stores, account, Some(NOW)).await);
    stores.documents.remove_cron(&goes).await.expect("it is there");
    assert_eq!(find(stores, &goes).await, None);
    assert_eq!(stores.documents.bucket(account, goes.bucket_id).await.expect("readable"), None);
    assert_eq!(wake(stores).await, None);
    assert!(!advance(stores, &goes, Some(after(1))).await);
    expect_not_found(stores.documents.remove_cron(&goes).await);
    expect_not_found(stores.documents.update_cron(&goes, goes.next_run).await);
    assert_eq!(find(stores, &stays).await, Some(stays));
}

/// The cron goes with its bucket.
pub async fn cron_goes_with_its_bucket(stores: &Stores) {
    let account = AccountId::generate();
    let cron = stored(stores, account, Some(NOW)).await;
    let other = stored(stores, account, None).await;
    expect_conflict(stores.documents.remove_bucket(account, cron.bucket_id, None, false).await);
    assert_eq!(find(stores, &cron).await.as_ref(), Some(&cron));
    stores.documents.remove_bucket(account, cron.bucket_id, None, true).await.expect("by force");
    assert_eq!(find(stores, &cron).await, None);
    assert_eq!(claim(stores, NodeId::generate(), after(9), 9).await, []);
    assert_eq!(find(stores, &other).await, Some(other));
}

/// Due ones are claimed, the longest due first, at most so many, and held.
pub async fn claim_takes_due_crons(stores: &Stores) {
    assert_eq!(
        (wake(stores).await, claim(stores, NodeId::generate(), after(99), 9).await),
        (None, vec![])
    );
    let mut crons = Vec::new();
    for next_run in [Some(after(3)), Some(after(1)), None, Some(after(2)), Some(after(4))] {
        crons.push(stored(stores, AccountId::generate(), next_run).await);
    }
    let node = NodeId::generate();
    assert_eq!(wake(stores).await, Some(after(1)));
    assert_eq!(claim(stores, node, NOW, 9).await, []);
    assert_eq!(claim(stores, node, after(3), 2).await, [crons[1].clone(), crons[3].clone()]);
    assert_eq!(wake(stores).await, Some(after(3)));
    assert_eq!(claim(stores, node, after(3), 0).await, []);
    assert_eq!(claim(stores, node, after(3), 9).await, [crons[0].clone()]);
    assert_eq!(wake(stores).await, Some(after(4)));
}

/// A hold lasts until its moment, and then anybody may claim.
pub async fn hold_of_a_cron_ends(stores: &Stores) {
    let cron = stored(stores, AccountId::generate(), Some(NOW)).await;
    let nodes = [NodeId::generate(), NodeId::generate()];
    assert_eq!(claim(stores, nodes[0], after(1), 1).await, std::slice::from_ref(&cron));
    assert_eq!(wake(stores).await, Some(after(31)));
    for node in nodes {
        assert_eq!(claim(stores, node, after(30), 1).await, []);
    }
    assert_eq!(claim(stores, nodes[1], after(31), 1).await, [cron]);
    assert_eq!(wake(stores).await, Some(after(61)));
}

/// What a node held is free when it is released, and nothing else is.
pub async fn released_crons_are_due_at_once(stores: &Stores) {
    let nodes = [NodeId::generate(), NodeId::generate()];
    let first = stored(stores, AccountId::generate(), Some(NOW)).await;
    assert_eq!(claim(stores, nodes[0], NOW, 1).await.len(), 1);
    let second = stored(stores, AccountId::generate(), Some(NOW)).await;
    assert_eq!(claim(stores, nodes[1], NOW, 1).await, [second]);
    stores.crons.release_crons(NodeId::generate()).await.expect("nothing to do");
    assert_eq!(claim(stores, nodes[1], after(1), 9).await, []);
    stores.crons.release_crons(nodes[0]).await.expect("released");
    assert_eq!(wake(stores).await, Some(NOW));
    assert_eq!(claim(stores, nodes[1], after(1), 9).await, [first]);
}

/// A step is made from the run that was made, and ends the hold.
pub async fn cron_advances_from_its_run(stores: &Stores) {
    let cron = stored(stores, AccountId::generate(), Some(NOW)).await;
    let node = NodeId::generate();
    assert_eq!(claim(stores, node, NOW, 1).await.len(), 1);
    assert!(advance(stores, &cron, Some(after(5))).await);
    assert_eq!(wake(stores).await, Some(after(5)));
    assert!(!advance(stores, &cron, Some(after(9))).await, "somebody else was first");
    let second = Cron { next_run: Some(after(5)), ..cron.clone() };
    assert_eq!(claim(stores, node, after(5), 1).await, std::slice::from_ref(&second));
    assert!(advance(stores, &second, Some(after(5))).await, "back to where it was");
    assert_eq!(wake(stores).await, Some(after(5)));
    assert!(advance(stores, &second, None).await);
    assert_eq!(wake(stores).await, None);
    let last = find(stores, &cron).await.expect("it is there");
    assert_eq!((last.next_run, last.spec.enabled), (None, false));
    assert_eq!(Cron { next_run: cron.next_run, spec: cron.spec.clone(), ..last }, cron);
}

/// An update keeps a hold, unless the next run is another one.
pub async fn update_keeps_a_hold_for_the_same_run(stores: &Stores) {
    let cron = stored(stores, AccountId::generate(), Some(NOW)).await;
    let node = NodeId::generate();
    assert_eq!(claim(stores, node, NOW, 1).await.len(), 1);
    let renamed = Cron { updated_at: after(1), ..cron.clone() };
    assert!(stores.documents.update_cron(&renamed, cron.next_run).await.expect("it is there"));
    assert_eq!(wake(stores).await, Some(after(30)));
    let moved = Cron { next_run: Some(after(2)), version: 2, ..cron.clone() };
    assert!(stores.documents.update_cron(&moved, cron.next_run).await.expect("it is there"));
    assert_eq!(wake(stores).await, Some(after(2)));
    assert!(!advance(stores, &cron, Some(after(9))).await, "the run is no longer the next one");
    assert_eq!(claim(stores, node, after(2), 1).await, [Cron { version: 3, ..moved }]);
}

/// Nodes that claim at once never get the same cron, and together get all.
pub async fn concurrent_claims_of_crons_never_share(stores: &Stores) {
    let mut made = BTreeSet::new();
    for number in 0..12 {
        made.insert(stored(stores, AccountId::generate(), Some(after(number % 3))).await.id);
    }
    let claimed = race(6, |_| {
        let stores = stores.clone();
        async move {
            let node = NodeId::generate();
            let mut mine = Vec::new();
            while let Some(moment) = wake(&stores).await
                && moment <= after(5)
            {
                mine.extend(claim(&stores, node, after(5), 2).await.iter().map(|cron| cron.id));
            }
            mine
        }
    })
    .await;
    let all: Vec<_> = claimed.into_iter().flatten().collect();
    assert_eq!(all.len(), made.len(), "each once");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), made);
}

/// Of several nodes that advance the same run one wins.
pub async fn concurrent_advances_of_a_cron_succeed_once(stores: &Stores) {
    for _ in 0..5 {
        let cron = stored(stores, AccountId::generate(), Some(NOW)).await;
        let advanced = race(6, |number| {
            let (stores, cron) = (stores.clone(), cron.clone());
            async move { advance(&stores, &cron, Some(after(1 + number as u64))).await }
        })
        .await;
        assert_eq!(advanced.iter().filter(|won| **won).count(), 1);
        let winner = advanced.iter().position(|won| *won).expect("one");
        let stored = find(stores, &cron).await.expect("it is there");
        assert_eq!(stored.next_run, Some(after(1 + winner as u64)));
    }
}

/// Of an update and a run at once one is told that it came too late.
pub async fn concurrent_update_and_advance_exclude_each_other(stores: &Stores) {
    for _ in 0..10 {
        let cron = stored(stores, AccountId::generate(), Some(NOW)).await;
        let won = race(2, |number| {
            let (stores, cron) = (stores.clone(), cron.clone());
            async move {
                match number {
                    0 => advance(&stores, &cron, Some(after(1))).await,
                    _ => {
                        let update = Cron { next_run: Some(after(2)), ..cron.clone() };
                        let updated = stores.documents.update_cron(&update, cron.next_run).await;
                        updated.expect("it is there")
                    }
                }
            }
        })
        .await;
        assert_ne!(won[0], won[1]);
        let expected = if won[0] { after(1) } else { after(2) };
        assert_eq!(find(stores, &cron).await.and_then(|cron| cron.next_run), Some(expected));
    }
}

/// Of several crons with one bucket name that are made at once one is stored.
pub async fn concurrent_crons_with_one_bucket_name_store_one(stores: &Stores) {
    let account = AccountId::generate();
    let results = race(6, |_| {
        let stores = stores.clone();
        async move {
            let (cron, mut bucket) = cron(account, Some(NOW));
            bucket.spec.name = "nightly".to_owned();
            stores.documents.create_cron(&cron, &bucket).await.map(|()| cron)
        }
    })
    .await;
    let winner = results.iter().find_map(|result| result.as_ref().ok()).cloned();
    expect_one_winner(results, ErrorKind::Conflict);
    let listed = stores.documents.list::<Cron>(account).await.expect("crons can be listed");
    assert_eq!(listed.first(), winner.as_ref());
    assert_eq!(listed.len(), 1);
}
