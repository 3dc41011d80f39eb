//! Cases for the states of documents.

use webhook_core::{
    AccountId, OutputId,
    model::{Bucket, Output, Pause, PauseChange, PausedBy},
    store::{BucketStore as _, Change, OutputStore as _, StateChange, Stores},
};

use super::settled;
use crate::sample::{NOW, after, bucket, change_state, output, race};

/// A bucket with an output.
async fn stored(stores: &Stores) -> Bucket {
    let mut made = bucket(AccountId::generate(), "b");
    made.outputs.push(output(made.id, "o"));
    stores.documents.create_bucket(&made).await.expect("the bucket is new");
    made
}

async fn read(stores: &Stores, bucket: &Bucket) -> Output {
    let id = bucket.outputs[0].id;
    let read = stores.documents.output(bucket.account_id, bucket.id, id).await;
    read.expect("the output can be read").expect("it is there")
}

async fn change(stores: &Stores, change: StateChange) {
    change_state(stores, change).await.expect("the output is there");
}

fn pause(output: OutputId, by: PausedBy, reason: &str) -> StateChange {
    let mut pause = Pause::new(NOW, None, reason.to_owned());
    pause.by = by;
    StateChange::Pauses(output, PauseChange::Pause(pause))
}

/// Who paused an output, for each of its pauses.
fn paused_by(output: &Output) -> Vec<PausedBy> {
    output.pauses.all().iter().map(|pause| pause.by).collect()
}

/// Pauses by a person, by the destination and by the health check are three; each ends alone.
pub async fn pauses_by_two_do_not_overwrite_each_other(stores: &Stores) {
    let made = stored(stores).await;
    let output = made.outputs[0].id;
    let pauses = [
        pause(output, PausedBy::Failing, "it fails"),
        pause(output, PausedBy::Caller, "a deploy"),
        pause(output, PausedBy::Gone, "it is gone"),
    ];
    race(pauses.len(), |number| {
        let (stores, change) = (stores.clone(), pauses[number].clone());
        async move { assert_eq!(settled(&stores, &[Change::State(change)]).await, None) }
    })
    .await;
    let paused = read(stores, &made).await;
    assert_eq!(paused_by(&paused), [PausedBy::Caller, PausedBy::Gone, PausedBy::Failing]);
    assert_eq!(paused.version, 1, "a state is no version");
    assert_eq!(paused.pauses.current(after(1)).map(|it| &*it.reason), Some("a deploy"));

    change(stores, pause(output, PausedBy::Caller, "a longer deploy")).await;
    let again = read(stores, &made).await;
    assert_eq!(again.pauses.all()[0].reason, "a longer deploy");
    assert_eq!(again.pauses.all()[1..], paused.pauses.all()[1..]);
    change(stores, StateChange::Pauses(output, PauseChange::Recover(after(2)))).await;
    assert_eq!(paused_by(&read(stores, &made).await), [PausedBy::Caller, PausedBy::Gone]);
    let resume = PauseChange::Resume { at: after(3), rate: None, discard_before: NOW };
    change(stores, StateChange::Pauses(output, resume)).await;
    assert_eq!(paused_by(&read(stores, &made).await), []);
}

/// A concurrent pause and update are both kept: neither overwrites the other.
pub async fn a_pause_and_an_update_are_both_kept(stores: &Stores) {
    let made = stored(stores).await;
    let (account, mut updated) = (made.account_id, made.outputs[0].clone());
    updated.spec.description = "changed".to_owned();
    // What an update says of the state counts for nothing.
    updated.failing_since = Some(after(5));
    let changes = [
        Change::update(account, &updated, 1).expect("a document"),
        Change::State(pause(updated.id, PausedBy::Caller, "a deploy")),
    ];
    race(changes.len(), |number| {
        let (stores, change) = (stores.clone(), changes[number].clone());
        async move { assert_eq!(settled(&stores, &[change]).await, None) }
    })
    .await;
    let found = read(stores, &made).await;
    assert_eq!((found.version, &*found.spec.description), (2, "changed"));
    assert_eq!((paused_by(&found), found.failing_since), (vec![PausedBy::Caller], None));
}

/// Since when a destination fails is the earliest moment that was noted, until it works.
pub async fn the_first_failure_is_known(stores: &Stores) {
    let made = stored(stores).await;
    let output = made.outputs[0].id;
    for moment in [NOW, after(9)] {
        change(stores, StateChange::Failing(output, moment)).await;
        assert_eq!(read(stores, &made).await.failing_since, Some(NOW));
    }
    change(stores, StateChange::Working(output)).await;
    assert_eq!(read(stores, &made).await.failing_since, None);
    let gone = OutputId::generate();
    change(stores, StateChange::Failing(gone, NOW)).await;
    change(stores, StateChange::Working(gone)).await;
    change(stores, pause(gone, PausedBy::Caller, "nothing is there")).await;
    let found = stores.documents.output(made.account_id, made.id, gone).await;
    assert_eq!(found.expect("it can be looked up"), None);
}
