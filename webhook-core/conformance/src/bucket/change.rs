//! Changing and deleting buckets.

use std::time::Duration;

use crate::sample::Together as _;
use webhook_core::store::BucketStore as _;
use webhook_core::{
    AccountId, CronId, ErrorKind, InputId,
    model::{AuthType, Bucket, Extension, LogRetention, Secret},
    store::Stores,
};

use super::{by_name, create, list, read, stored};
use crate::sample::{
    NOW, ODD_TEXT, bucket, expect_conflict, expect_not_found, expect_one_winner, input, output,
    race,
};

/// An update replaces every field, and leaves inputs and outputs as they are stored.
pub async fn update_bucket_replaces_all_but_inputs_and_outputs(stores: &Stores) {
    let account = AccountId::generate();
    let mut before = bucket(account, "before");
    before.inputs.push(input(before.id, "in"));
    before.outputs.push(output(before.id, "out"));
    before.spec.auth.kind = AuthType::Basic;
    before.spec.auth.password = Secret::new("old");
    create(stores, &before).await;

    let mut update = bucket(account, "after");
    update.id = before.id;
    update.updated_at = NOW + Duration::from_millis(1);
    update.suspended = true;
    update.cron_id = Some(CronId::generate());
    update.spec.description = ODD_TEXT.to_owned();
    update.spec.stream = false;
    update.spec.ephemeral = true;
    update.spec.large_webhooks = true;
    update.spec.static_ip = true;
    let day = Duration::from_secs(86_400);
    update.spec.retention = Extension::Set(LogRetention::new(day, day * 30));
    update.spec.auth.kind = AuthType::Token;
    update.spec.auth.token = Secret::new("new");
    update.outputs.push(output(update.id, "not stored by an update"));
    stores.documents.update_bucket(&update).await.expect("the bucket exists");

    let mut expected = Bucket {
        inputs: before.inputs.clone(),
        outputs: before.outputs.clone(),
        version: 2,
        ..update
    };
    expected.stamp_auth();
    assert_eq!(read(stores, account, before.id).await.as_ref(), Some(&expected));
    assert_eq!(list(stores, account).await, [expected]);

    // Back to the defaults, so that nothing of the first update can stick.
    before.version = 2;
    stores.documents.update_bucket(&before).await.expect("the bucket exists");
    before.version = 3;
    assert_eq!(read(stores, account, before.id).await, Some(before));
}

/// A name that another bucket of the account has is refused; its own it may keep.
pub async fn update_to_a_taken_bucket_name_is_a_conflict(stores: &Stores) {
    let (account, other) = (AccountId::generate(), AccountId::generate());
    let (first, second) = (stored(stores, account, "a").await, stored(stores, account, "b").await);
    stored(stores, other, "c").await;

    let mut taken = second.clone();
    taken.spec.name = "a".to_owned();
    taken.spec.description = "not stored".to_owned();
    expect_conflict(stores.documents.update_bucket(&taken).await);
    assert_eq!(list(stores, account).await, [first, second.clone()]);

    let mut own = second;
    own.spec.description = "stored".to_owned();
    stores.documents.update_bucket(&own).await.expect("its own name is free to it");
    own.version += 1;
    own.spec.name = "c".to_owned();
    stores.documents.update_bucket(&own).await.expect("another account's name is free");
    own.version += 1;
    assert_eq!(by_name(stores, account, "c").await, Some(own));
}

/// The former name leads nowhere and can be given anew.
pub async fn renamed_bucket_frees_its_name(stores: &Stores) {
    let account = AccountId::generate();
    let mut renamed = stored(stores, account, "old").await;
    renamed.spec.name = "new".to_owned();
    stores.documents.update_bucket(&renamed).await.expect("the name is free");
    renamed.version += 1;
    assert_eq!(by_name(stores, account, "old").await, None);
    assert_eq!(by_name(stores, account, "new").await, Some(renamed));
    stored(stores, account, "old").await;
}

/// Of several buckets that take one name at once, one gets it.
pub async fn concurrent_renames_to_one_name_let_one_through(stores: &Stores) {
    let account = AccountId::generate();
    let mut buckets = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        buckets.push(stored(stores, account, name).await);
    }
    let results = race(buckets.len(), |number| {
        let (store, mut bucket) = (stores.documents.clone(), buckets[number].clone());
        bucket.spec.name = "one".to_owned();
        async move { store.update_bucket(&bucket).await }
    })
    .await;
    expect_one_winner(results, ErrorKind::Conflict);
    let named = list(stores, account).await.iter().filter(|b| b.spec.name == "one").count();
    assert_eq!(named, 1);
}

/// A removed bucket is absent in every way, and its name can be given anew.
pub async fn delete_bucket_removes_it_and_frees_its_name(stores: &Stores) {
    let account = AccountId::generate();
    let (gone, stays) = (stored(stores, account, "a").await, stored(stores, account, "b").await);
    stores.documents.remove_bucket(account, gone.id, None, false).await.expect("it is empty");
    assert_eq!(read(stores, account, gone.id).await, None);
    assert_eq!(by_name(stores, account, "a").await, None);
    assert_eq!(stores.documents.bucket_owner(gone.id).await.expect("reading works"), None);
    assert_eq!(list(stores, account).await, [stays]);
    expect_not_found(stores.documents.remove_bucket(account, gone.id, None, true).await);
    expect_not_found(stores.documents.update_bucket(&gone).await);
    stored(stores, account, "a").await;
}

/// An output keeps its bucket from being removed, unless by force.
pub async fn bucket_with_an_output_is_deleted_by_force_only(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "a");
    bucket.inputs.push(input(bucket.id, "spare"));
    bucket.outputs.push(output(bucket.id, "out"));
    create(stores, &bucket).await;
    let spare = Some(bucket.inputs[0].id);
    expect_conflict(stores.documents.remove_bucket(account, bucket.id, spare, false).await);
    expect_conflict(stores.documents.remove_bucket(account, bucket.id, None, false).await);
    assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
    stores.documents.remove_bucket(account, bucket.id, None, true).await.expect("force is set");
    assert_eq!(list(stores, account).await, []);
}

/// An input that is not spared keeps its bucket from being removed, unless by force.
pub async fn bucket_with_an_input_is_deleted_by_force_only(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "a");
    bucket.inputs = ["spare", "other"].map(|name| input(bucket.id, name)).into();
    create(stores, &bucket).await;
    for spare in [None, Some(bucket.inputs[0].id), Some(bucket.inputs[1].id)] {
        expect_conflict(stores.documents.remove_bucket(account, bucket.id, spare, false).await);
    }
    assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
    stores.documents.remove_bucket(account, bucket.id, None, true).await.expect("force is set");
    assert_eq!(list(stores, account).await, []);
}

/// A bucket whose only input is the spare one can be removed; any other input cannot be spared.
pub async fn spare_input_does_not_keep_a_bucket(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "a");
    bucket.inputs.push(input(bucket.id, "spare"));
    create(stores, &bucket).await;
    let stranger = Some(InputId::generate());
    expect_conflict(stores.documents.remove_bucket(account, bucket.id, None, false).await);
    expect_not_found(stores.documents.remove_bucket(account, bucket.id, stranger, false).await);
    let spare = Some(bucket.inputs[0].id);
    stores.documents.remove_bucket(account, bucket.id, spare, false).await.expect("it is spared");
    assert_eq!(list(stores, account).await, []);
}

/// Of several deletions of one bucket at once, one succeeds.
pub async fn concurrent_deletes_of_a_bucket_succeed_once(stores: &Stores) {
    let account = AccountId::generate();
    let id = stored(stores, account, "a").await.id;
    let results = race(6, |_| {
        let store = stores.documents.clone();
        async move { store.remove_bucket(account, id, None, true).await }
    })
    .await;
    expect_one_winner(results, ErrorKind::NotFound);
}
