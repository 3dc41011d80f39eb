//! Cases for changes that happen together.

use webhook_core::{
    AccountId, FunctionId,
    model::{Function, Output, Pause, PauseChange},
    store::{
        Bounds, BucketStore as _, Change, Configured as _, DocumentKind, OutputStore as _, Refusal,
        StateChange, Stores,
    },
};

use super::{all, counts, refusal, stored_bucket};
use crate::sample::{NOW, bucket, function, output, with};

/// When the last of several changes is refused, none has happened.
pub async fn changes_happen_together_or_not_at_all(stores: &Stores) {
    let account = AccountId::generate();
    let mut made = bucket(account, "b");
    made.outputs = vec![output(made.id, "changed"), output(made.id, "removed")];
    stores.documents.create_bucket(&made).await.expect("the bucket is new");
    let (used, removed) = (function(account, "used"), function(account, "removed"));
    for function in [&used, &removed] {
        stores.documents.create(account, function).await.expect("the function is new");
    }
    let (before, counted) = (all(stores, account).await, counts(stores, account).await);

    let mut changed = with(made.outputs[0].clone(), |output| {
        output.spec.function_id = Some(used.id);
        output.spec.name = "free".to_owned();
    });
    let pause = PauseChange::Pause(Pause::new(NOW, None, String::new()));
    let several = [
        Change::create(account, &bucket(account, "new"), Bounds::NONE).expect("a document"),
        Change::update(account, &changed, 1).expect("a document"),
        Change::State(StateChange::Pauses(changed.id, pause)),
        Change::State(StateChange::Failing(changed.id, NOW)),
        Change::delete::<Output>(account, made.outputs[1].id.as_uuid()),
        Change::delete::<Function>(account, removed.id.as_uuid()),
    ];
    let taken = Change::create(account, &bucket(account, "b"), Bounds::NONE).expect("a document");
    let last_ones = [
        (
            Change::delete::<Function>(account, FunctionId::generate().as_uuid()),
            Refusal::Missing(DocumentKind::Function),
        ),
        (Change::update(account, &made.outputs[0], 1).expect("a document"), Refusal::Stale),
        (taken, Refusal::NameTaken(DocumentKind::Bucket)),
        (Change::Unused(Function::key(used.id.as_uuid())), Refusal::Used),
    ];
    for (last, expected) in last_ones {
        let changes = [&several[..], &[last]].concat();
        assert_eq!(refusal(stores, &changes).await, Some(expected));
        assert_eq!(all(stores, account).await, before, "{expected:?}");
        assert_eq!(counts(stores, account).await, counted, "{expected:?}");
        let key = Output::key(changed.id.as_uuid());
        let versions = stores.documents.history(account, key).await.expect("readable");
        assert_eq!(versions.len(), 1, "{expected:?}");
        let unused = Change::Unused(Function::key(used.id.as_uuid()));
        assert_eq!(refusal(stores, &[unused]).await, None, "{expected:?}: nothing uses it");
    }

    assert_eq!(refusal(stores, &several).await, None, "nothing is in their way");
    changed = stores
        .documents
        .output(account, made.id, changed.id)
        .await
        .expect("readable")
        .expect("there");
    assert_eq!((changed.version, changed.failing_since), (2, Some(NOW)));
    assert_eq!(changed.pauses.all().len(), 1);
    let expected =
        [(DocumentKind::Bucket, 2), (DocumentKind::Output, 1), (DocumentKind::Function, 1)];
    assert_eq!(counts(stores, account).await, expected);
}

/// Each change sees those before it: what uses a document can go with it.
pub async fn changes_follow_each_other(stores: &Stores) {
    let account = AccountId::generate();
    let made = stored_bucket(stores, account, "b").await;
    let function = function(account, "f");
    let user = with(output(made.id, "o"), |output| output.spec.function_id = Some(function.id));
    let create = [
        Change::create(account, &function, Bounds::NONE).expect("a document"),
        Change::create(account, &user, Bounds::NONE).expect("a document"),
    ];
    let [first, second] = create.clone();
    let missing = Some(Refusal::Missing(DocumentKind::Function));
    assert_eq!(refusal(stores, &[second, first]).await, missing, "it is used before it is made");
    assert_eq!(refusal(stores, &create).await, None);

    let id = function.id.as_uuid();
    let unused = Change::Unused(Function::key(id));
    let remove_user = Change::delete::<Output>(account, user.id.as_uuid());
    let remove = Change::delete::<Function>(account, id);
    let too_early = [unused.clone(), remove_user.clone(), remove.clone()];
    assert_eq!(refusal(stores, &too_early).await, Some(Refusal::Used));
    assert_eq!(refusal(stores, &[remove_user, unused, remove]).await, None);
    assert_eq!(counts(stores, account).await, [(DocumentKind::Bucket, 1)]);
}
