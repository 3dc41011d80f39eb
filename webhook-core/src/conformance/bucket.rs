//! Cases for [`BucketStore`](crate::store::BucketStore).

use std::time::Duration;

use super::sample::{
    NOW, ODD_TEXT, after, bucket, expect_conflict, expect_not_found, expect_one_winner, input,
    output, race,
};
use crate::{
    clock::Timestamp,
    error::ErrorKind,
    id::{AccountId, BucketId, CronId},
    model::{AuthType, Bucket, BucketAuth, BucketSpec, Secret},
    store::Stores,
};

async fn create(stores: &Stores, bucket: &Bucket) {
    stores.buckets.create_bucket(bucket).await.expect("the bucket is new");
}

async fn stored(stores: &Stores, account: AccountId, name: &str) -> Bucket {
    let bucket = bucket(account, name);
    create(stores, &bucket).await;
    bucket
}

async fn read(stores: &Stores, account: AccountId, id: BucketId) -> Option<Bucket> {
    stores.buckets.bucket(account, id).await.expect("the bucket can be read")
}

async fn by_name(stores: &Stores, account: AccountId, name: &str) -> Option<Bucket> {
    stores.buckets.bucket_by_name(account, name).await.expect("the bucket can be looked up")
}

async fn list(stores: &Stores, account: AccountId) -> Vec<Bucket> {
    stores.buckets.buckets(account).await.expect("buckets can be listed")
}

/// What was created is read back by ID, by name, by owner and in the list.
pub async fn created_bucket_is_read_back(stores: &Stores) {
    let account = AccountId::generate();
    let bucket = stored(stores, account, "orders").await;
    assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
    assert_eq!(by_name(stores, account, "orders").await.as_ref(), Some(&bucket));
    let owner = stores.buckets.bucket_owner(bucket.id).await.expect("the owner can be read");
    assert_eq!(owner, Some(account));
    assert_eq!(list(stores, account).await, [bucket]);
}

/// Every field survives, with odd text and milliseconds.
pub async fn every_field_of_a_bucket_round_trips(stores: &Stores) {
    let account = AccountId::generate();
    for (number, kind) in [AuthType::None, AuthType::Basic, AuthType::Token].into_iter().enumerate()
    {
        let flag = number % 2 == 0;
        let mut bucket = bucket(account, &format!("{ODD_TEXT}{number}"));
        bucket.created_at = Timestamp::from_millis(1);
        bucket.updated_at = Timestamp::from_millis(4_102_444_800_999);
        bucket.suspended = flag;
        bucket.cron_id = flag.then(CronId::generate);
        bucket.spec = BucketSpec {
            description: ODD_TEXT.repeat(20),
            stream: !flag,
            ephemeral: flag,
            large_webhooks: !flag,
            static_ip: flag,
            auth: BucketAuth {
                kind,
                username: format!("user{ODD_TEXT}"),
                password: Secret::new(format!("pass{ODD_TEXT}")),
                token: Secret::new(format!("token{ODD_TEXT}")),
                ..BucketAuth::default()
            },
            ..bucket.spec
        };
        bucket.stamp_auth();
        create(stores, &bucket).await;
        assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
        assert_eq!(by_name(stores, account, &bucket.spec.name).await, Some(bucket));
    }
}

/// Inputs and outputs are stored with their bucket and come back in ID order.
pub async fn bucket_comes_with_inputs_and_outputs_in_id_order(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "orders");
    bucket.inputs = ["c", "a", "b"].map(|name| input(bucket.id, name)).into();
    bucket.outputs = ["f", "e", "d"].map(|name| output(bucket.id, name)).into();
    let mut shuffled = bucket.clone();
    shuffled.inputs.rotate_left(1);
    shuffled.outputs.reverse();
    create(stores, &shuffled).await;
    assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
    assert_eq!(by_name(stores, account, "orders").await.as_ref(), Some(&bucket));
    assert_eq!(list(stores, account).await, [bucket]);
}

/// The read-only fields of `auth` are the bucket's, whatever was handed in.
pub async fn auth_is_stamped_by_the_store(stores: &Stores) {
    let account = AccountId::generate();
    let expected = stored(stores, account, "a").await;
    let junk = BucketAuth {
        id: Some(BucketId::generate()),
        created_at: Timestamp::from_secs(-62_135_596_800),
        updated_at: after(1_000),
        ..BucketAuth::default()
    };
    let mut unstamped = expected.clone();
    unstamped.updated_at = after(7);
    unstamped.spec.auth = junk.clone();
    stores.buckets.update_bucket(&unstamped).await.expect("the bucket exists");

    let auth = read(stores, account, expected.id).await.expect("the bucket exists").spec.auth;
    let stamped =
        BucketAuth { id: Some(expected.id), created_at: NOW, updated_at: after(7), ..junk.clone() };
    assert_eq!(auth, stamped);

    let mut created = bucket(account, "b");
    created.spec.auth = junk;
    create(stores, &created).await;
    created.stamp_auth();
    assert_eq!(by_name(stores, account, "b").await, Some(created));
}

/// Nothing has an unknown ID or name.
pub async fn absent_bucket_is_none(stores: &Stores) {
    let account = AccountId::generate();
    stored(stores, account, "a").await;
    let absent = BucketId::generate();
    assert_eq!(read(stores, account, absent).await, None);
    assert_eq!(by_name(stores, account, "b").await, None);
    assert_eq!(by_name(stores, account, "").await, None);
    assert_eq!(stores.buckets.bucket_owner(absent).await.expect("reading works"), None);
    assert_eq!(list(stores, AccountId::generate()).await, []);
}

/// What is not there can be neither changed nor removed.
pub async fn update_or_delete_of_no_bucket_is_not_found(stores: &Stores) {
    let account = AccountId::generate();
    let absent = bucket(account, "a");
    expect_not_found(stores.buckets.update_bucket(&absent).await);
    expect_not_found(stores.buckets.delete_bucket(account, absent.id, None, false).await);
    expect_not_found(stores.buckets.delete_bucket(account, absent.id, None, true).await);
    assert_eq!(list(stores, account).await, []);
}

/// A taken ID is refused, even to its owner, and changes nothing.
pub async fn taken_bucket_id_is_a_conflict(stores: &Stores) {
    let (owner, other) = (AccountId::generate(), AccountId::generate());
    let first = stored(stores, owner, "a").await;
    for account in [owner, other] {
        let second = Bucket { id: first.id, ..bucket(account, "b") };
        expect_conflict(stores.buckets.create_bucket(&second).await);
    }
    assert_eq!(list(stores, owner).await, [first]);
    assert_eq!(list(stores, other).await, []);
}

/// A name that the account has is refused; another account may have it too.
pub async fn taken_bucket_name_is_a_conflict(stores: &Stores) {
    let (account, other) = (AccountId::generate(), AccountId::generate());
    let first = stored(stores, account, "orders").await;
    expect_conflict(stores.buckets.create_bucket(&bucket(account, "orders")).await);
    assert_eq!(list(stores, account).await, [first]);
    let theirs = stored(stores, other, "orders").await;
    assert_eq!(by_name(stores, other, "orders").await, Some(theirs));
}

/// Names that differ in case, blanks or accents only are different names.
pub async fn bucket_names_are_compared_exactly(stores: &Stores) {
    let account = AccountId::generate();
    for name in ["Name", "name", "name ", " name", "nàme", "na\u{300}me", "n_me", "n%"] {
        stored(stores, account, name).await;
        let read = by_name(stores, account, name).await.expect("the bucket exists");
        assert_eq!(read.spec.name, name);
    }
}

/// A bucket is stored with all its inputs and outputs, or nothing is.
pub async fn refused_bucket_leaves_nothing_behind(stores: &Stores) {
    let account = AccountId::generate();
    let mut first = bucket(account, "first");
    first.inputs.push(input(first.id, "in"));
    first.outputs.push(output(first.id, "out"));
    create(stores, &first).await;

    let mut same_input = bucket(account, "second");
    same_input.outputs.push(output(same_input.id, "fresh"));
    same_input
        .inputs
        .push(crate::model::Input { bucket_id: same_input.id, ..first.inputs[0].clone() });
    let mut same_output = bucket(account, "third");
    same_output.inputs.push(input(same_output.id, "fresh"));
    same_output
        .outputs
        .push(crate::model::Output { bucket_id: same_output.id, ..first.outputs[0].clone() });
    let mut one_name = bucket(account, "fourth");
    one_name.outputs = ["twice", "twice"].map(|name| output(one_name.id, name)).into();

    for refused in [same_input, same_output, one_name] {
        expect_conflict(stores.buckets.create_bucket(&refused).await);
        assert_eq!(read(stores, account, refused.id).await, None);
        assert_eq!(by_name(stores, account, &refused.spec.name).await, None);
    }
    assert_eq!(list(stores, account).await, [first]);
}

/// Of several buckets with one name that are created at once, one is stored.
pub async fn concurrent_buckets_with_one_name_store_one(stores: &Stores) {
    let account = AccountId::generate();
    let results = race(8, |_| {
        let store = stores.buckets.clone();
        async move { store.create_bucket(&bucket(account, "orders")).await }
    })
    .await;
    expect_one_winner(results, ErrorKind::Conflict);
    assert_eq!(list(stores, account).await.len(), 1);
}

/// Of several buckets with one ID that are created at once, one is stored.
pub async fn concurrent_buckets_with_one_id_store_one(stores: &Stores) {
    let (account, id) = (AccountId::generate(), BucketId::generate());
    let results = race(8, |number| {
        let store = stores.buckets.clone();
        let mut bucket = Bucket { id, ..bucket(account, &format!("bucket {number}")) };
        bucket.inputs.push(input(id, "in"));
        async move { store.create_bucket(&bucket).await }
    })
    .await;
    expect_one_winner(results, ErrorKind::Conflict);
    let buckets = list(stores, account).await;
    assert_eq!(buckets.len(), 1);
    assert_eq!(buckets[0].inputs.len(), 1);
}

/// An account sees, changes and removes its own buckets only.
pub async fn buckets_of_another_account_are_absent(stores: &Stores) {
    let (owner, other) = (AccountId::generate(), AccountId::generate());
    let bucket = stored(stores, owner, "orders").await;
    assert_eq!(read(stores, other, bucket.id).await, None);
    assert_eq!(by_name(stores, other, "orders").await, None);
    assert_eq!(list(stores, other).await, []);
    let theirs = Bucket { account_id: other, ..bucket.clone() };
    expect_not_found(stores.buckets.update_bucket(&theirs).await);
    expect_not_found(stores.buckets.delete_bucket(other, bucket.id, None, true).await);
    let owned_by = stores.buckets.bucket_owner(bucket.id).await.expect("the owner can be read");
    assert_eq!(owned_by, Some(owner));
    assert_eq!(list(stores, owner).await, [bucket]);
}

/// The list is in ID order, whatever the order of creation.
pub async fn buckets_are_listed_in_id_order(stores: &Stores) {
    let account = AccountId::generate();
    let buckets = ["c", "a", "d", "b"].map(|name| bucket(account, name));
    for index in [2, 0, 3, 1] {
        create(stores, &buckets[index]).await;
    }
    assert_eq!(list(stores, account).await, buckets);
}

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
    update.spec.auth.kind = AuthType::Token;
    update.spec.auth.token = Secret::new("new");
    update.outputs.push(output(update.id, "not stored by an update"));
    stores.buckets.update_bucket(&update).await.expect("the bucket exists");

    let mut expected =
        Bucket { inputs: before.inputs.clone(), outputs: before.outputs.clone(), ..update };
    expected.stamp_auth();
    assert_eq!(read(stores, account, before.id).await.as_ref(), Some(&expected));
    assert_eq!(list(stores, account).await, [expected]);

    // Back to the defaults, so that nothing of the first update can stick.
    stores.buckets.update_bucket(&before).await.expect("the bucket exists");
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
    expect_conflict(stores.buckets.update_bucket(&taken).await);
    assert_eq!(list(stores, account).await, [first, second.clone()]);

    let mut own = second;
    own.spec.description = "stored".to_owned();
    stores.buckets.update_bucket(&own).await.expect("its own name is free to it");
    own.spec.name = "c".to_owned();
    stores.buckets.update_bucket(&own).await.expect("another account's name is free");
    assert_eq!(by_name(stores, account, "c").await, Some(own));
}

/// The former name leads nowhere and can be given anew.
pub async fn renamed_bucket_frees_its_name(stores: &Stores) {
    let account = AccountId::generate();
    let mut renamed = stored(stores, account, "old").await;
    renamed.spec.name = "new".to_owned();
    stores.buckets.update_bucket(&renamed).await.expect("the name is free");
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
        let (store, mut bucket) = (stores.buckets.clone(), buckets[number].clone());
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
    stores.buckets.delete_bucket(account, gone.id, None, false).await.expect("it is empty");
    assert_eq!(read(stores, account, gone.id).await, None);
    assert_eq!(by_name(stores, account, "a").await, None);
    assert_eq!(stores.buckets.bucket_owner(gone.id).await.expect("reading works"), None);
    assert_eq!(list(stores, account).await, [stays]);
    expect_not_found(stores.buckets.delete_bucket(account, gone.id, None, true).await);
    expect_not_found(stores.buckets.update_bucket(&gone).await);
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
    expect_conflict(stores.buckets.delete_bucket(account, bucket.id, spare, false).await);
    expect_conflict(stores.buckets.delete_bucket(account, bucket.id, None, false).await);
    assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
    stores.buckets.delete_bucket(account, bucket.id, None, true).await.expect("force is set");
    assert_eq!(list(stores, account).await, []);
}

/// An input that is not spared keeps its bucket from being removed, unless by force.
pub async fn bucket_with_an_input_is_deleted_by_force_only(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "a");
    bucket.inputs = ["spare", "other"].map(|name| input(bucket.id, name)).into();
    create(stores, &bucket).await;
    for spare in [None, Some(bucket.inputs[0].id), Some(bucket.inputs[1].id)] {
        expect_conflict(stores.buckets.delete_bucket(account, bucket.id, spare, false).await);
    }
    assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
    stores.buckets.delete_bucket(account, bucket.id, None, true).await.expect("force is set");
    assert_eq!(list(stores, account).await, []);
}

/// A bucket whose only input is the spare one can be removed; any other input cannot be spared.
pub async fn spare_input_does_not_keep_a_bucket(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "a");
    bucket.inputs.push(input(bucket.id, "spare"));
    create(stores, &bucket).await;
    let stranger = Some(crate::InputId::generate());
    expect_conflict(stores.buckets.delete_bucket(account, bucket.id, None, false).await);
    expect_conflict(stores.buckets.delete_bucket(account, bucket.id, stranger, false).await);
    let spare = Some(bucket.inputs[0].id);
    stores.buckets.delete_bucket(account, bucket.id, spare, false).await.expect("it is spared");
    assert_eq!(list(stores, account).await, []);
}

/// Of several deletions of one bucket at once, one succeeds.
pub async fn concurrent_deletes_of_a_bucket_succeed_once(stores: &Stores) {
    let account = AccountId::generate();
    let id = stored(stores, account, "a").await.id;
    let results = race(6, |_| {
        let store = stores.buckets.clone();
        async move { store.delete_bucket(account, id, None, true).await }
    })
    .await;
    expect_one_winner(results, ErrorKind::NotFound);
}
