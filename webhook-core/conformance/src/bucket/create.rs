//! Storing buckets and reading them back.

use std::time::Duration;

use crate::sample::Together as _;
use webhook_core::store::{BucketStore as _, InputStore as _};
use webhook_core::{
    AccountId, BucketId, CronId, ErrorKind, Timestamp,
    model::{AuthType, Bucket, BucketAuth, Extension, Input, LogRetention, Output, Secret},
    store::{DocumentKind, Find, Stores},
};

use super::{by_name, create, list, read, stored};
use crate::sample::{
    NOW, ODD_TEXT, after, bucket, expect_conflict, expect_every_field, expect_not_found,
    expect_one_winner, input, output, race, with,
};

/// What was created is read back by ID, by name, by owner and in the list.
pub async fn created_bucket_is_read_back(stores: &Stores) {
    let account = AccountId::generate();
    let bucket = stored(stores, account, "orders").await;
    assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
    assert_eq!(by_name(stores, account, "orders").await.as_ref(), Some(&bucket));
    let owner = stores.documents.bucket_owner(bucket.id).await.expect("the owner can be read");
    assert_eq!(owner, Some(account));
    assert_eq!(list(stores, account).await, [bucket]);
}

/// Every field survives, with odd text and milliseconds.
pub async fn every_field_of_a_bucket_round_trips(stores: &Stores) {
    let account = AccountId::generate();
    let mut specs = Vec::new();
    for (number, kind) in [AuthType::None, AuthType::Basic, AuthType::Token].into_iter().enumerate()
    {
        let flag = number % 2 == 0;
        let mut bucket = bucket(account, &format!("{ODD_TEXT}{number}"));
        bucket.created_at = Timestamp::from_millis(1);
        bucket.updated_at = Timestamp::from_millis(4_102_444_800_999);
        bucket.suspended = flag;
        bucket.cron_id = flag.then(CronId::generate);
        bucket.spec = with(bucket.spec, |spec| {
            spec.description = ODD_TEXT.repeat(20);
            spec.stream = !flag;
            spec.ephemeral = flag;
            spec.large_webhooks = !flag;
            spec.static_ip = flag;
            if flag {
                let long = Duration::from_nanos(i64::MAX.unsigned_abs());
                let retention = LogRetention::new(Duration::from_secs(number as u64), long);
                spec.retention = Extension::Set(retention);
            }
            spec.auth = BucketAuth {
                kind,
                username: format!("user{ODD_TEXT}"),
                password: Secret::new(format!("pass{ODD_TEXT}")),
                token: Secret::new(format!("token{ODD_TEXT}")),
                ..BucketAuth::default()
            };
        });
        specs.push(bucket.spec.clone());
        bucket.stamp_auth();
        create(stores, &bucket).await;
        assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
        assert_eq!(by_name(stores, account, &bucket.spec.name).await, Some(bucket));
    }
    expect_every_field(&specs);
}

/// Inputs and outputs are stored with their bucket and come back in order: inputs,
/// whose identifiers say nothing of it, by age.
pub async fn bucket_comes_with_inputs_by_age_and_outputs_in_id_order(stores: &Stores) {
    let account = AccountId::generate();
    let mut bucket = bucket(account, "orders");
    bucket.inputs = ["c", "a", "b"].map(|name| input(bucket.id, name)).into();
    bucket.inputs.reverse();
    for (age, input) in (0..).zip(&mut bucket.inputs) {
        input.created_at = after(age);
    }
    let later = Input { created_at: after(9), ..input(bucket.id, "d") };
    bucket.outputs = ["f", "e", "d"].map(|name| output(bucket.id, name)).into();
    let mut shuffled = bucket.clone();
    shuffled.inputs.rotate_left(1);
    shuffled.outputs.reverse();
    create(stores, &shuffled).await;
    assert_eq!(read(stores, account, bucket.id).await.as_ref(), Some(&bucket));
    assert_eq!(by_name(stores, account, "orders").await.as_ref(), Some(&bucket));
    assert_eq!(list(stores, account).await, [bucket.clone()]);

    let earlier = Input { created_at: after(1), ..input(bucket.id, "e") };
    for input in [&later, &earlier] {
        stores.documents.create_input(account, input).await.expect("the input is new");
    }
    bucket.inputs.insert(2, earlier);
    bucket.inputs.push(later);
    assert_eq!(read(stores, account, bucket.id).await, Some(bucket));
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
    stores.documents.update_bucket(&unstamped).await.expect("the bucket exists");

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
    assert_eq!(stores.documents.bucket_owner(absent).await.expect("reading works"), None);
    assert_eq!(list(stores, AccountId::generate()).await, []);
}

/// What is not there can be neither changed nor removed.
pub async fn update_or_delete_of_no_bucket_is_not_found(stores: &Stores) {
    let account = AccountId::generate();
    let absent = bucket(account, "a");
    expect_not_found(stores.documents.update_bucket(&absent).await);
    expect_not_found(stores.documents.remove_bucket(account, absent.id, None, false).await);
    expect_not_found(stores.documents.remove_bucket(account, absent.id, None, true).await);
    assert_eq!(list(stores, account).await, []);
}

/// A taken ID is refused, even to its owner, and changes nothing.
pub async fn taken_bucket_id_is_a_conflict(stores: &Stores) {
    let (owner, other) = (AccountId::generate(), AccountId::generate());
    let first = stored(stores, owner, "a").await;
    for account in [owner, other] {
        let second = Bucket { id: first.id, ..bucket(account, "b") };
        expect_conflict(stores.documents.create_bucket(&second).await);
    }
    assert_eq!(list(stores, owner).await, [first]);
    assert_eq!(list(stores, other).await, []);
}

/// A name that the account has is refused; another account may have it too.
pub async fn taken_bucket_name_is_a_conflict(stores: &Stores) {
    let (account, other) = (AccountId::generate(), AccountId::generate());
    let first = stored(stores, account, "orders").await;
    expect_conflict(stores.documents.create_bucket(&bucket(account, "orders")).await);
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
    same_input.inputs.push(Input { bucket_id: same_input.id, ..first.inputs[0].clone() });
    let mut same_output = bucket(account, "third");
    same_output.inputs.push(input(same_output.id, "fresh"));
    same_output.outputs.push(Output { bucket_id: same_output.id, ..first.outputs[0].clone() });
    let mut one_name = bucket(account, "fourth");
    one_name.outputs = ["twice", "twice"].map(|name| output(one_name.id, name)).into();

    for refused in [same_input, same_output, one_name] {
        expect_conflict(stores.documents.create_bucket(&refused).await);
        assert_eq!(read(stores, account, refused.id).await, None);
        assert_eq!(by_name(stores, account, &refused.spec.name).await, None);
    }
    assert_eq!(list(stores, account).await, [first]);
}

/// Of several buckets with one name that are created at once, one is stored.
pub async fn concurrent_buckets_with_one_name_store_one(stores: &Stores) {
    let account = AccountId::generate();
    let results = race(8, |_| {
        let store = stores.documents.clone();
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
        let store = stores.documents.clone();
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
    expect_not_found(stores.documents.update_bucket(&theirs).await);
    expect_not_found(stores.documents.remove_bucket(other, bucket.id, None, true).await);
    let owned_by = stores.documents.bucket_owner(bucket.id).await.expect("the owner can be read");
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

/// Buckets, inputs and outputs are counted over the whole account, and no other's.
pub async fn buckets_are_counted_with_what_is_in_them(stores: &Stores) {
    let (ours, theirs) = (AccountId::generate(), AccountId::generate());
    let counts = |account| async move {
        let counts = stores.documents.counts(account).await.expect("documents can be counted");
        let of = |kind| counts.iter().find(|it| it.0 == kind).map_or(0, |it| it.1);
        (of(DocumentKind::Bucket), of(DocumentKind::Input), of(DocumentKind::Output))
    };
    assert_eq!(counts(ours).await, (0, 0, 0));
    let mut first = bucket(ours, "first");
    first.inputs = vec![input(first.id, "a"), input(first.id, "b")];
    first.outputs = vec![output(first.id, "a")];
    create(stores, &first).await;
    let mut second = bucket(ours, "second");
    second.outputs = vec![output(second.id, "a"), output(second.id, "b")];
    create(stores, &second).await;
    stored(stores, theirs, "theirs").await;
    assert_eq!(counts(ours).await, (2, 2, 3));
    stores.documents.remove_bucket(ours, first.id, None, true).await.expect("it is there");
    assert_eq!(counts(ours).await, (1, 0, 2));
}

/// The buckets of all accounts that say how long their logs are kept, page by page.
pub async fn retentions_are_listed_in_id_order(stores: &Stores) {
    let (ours, theirs) = (AccountId::generate(), AccountId::generate());
    let second = Duration::from_secs(1);
    let mut expected = Vec::new();
    for (number, account) in [(1, ours), (0, ours), (2, theirs), (3, ours)] {
        let mut made = bucket(account, &format!("b{number}"));
        if number > 0 {
            let retention = LogRetention::new(second * number, Duration::ZERO);
            made.spec.retention = Extension::Set(retention);
            expected.push(made.clone());
        }
        create(stores, &made).await;
    }
    expected.sort_unstable_by_key(|it| it.id);
    // Other cases may have buckets in the same store.
    let own = |it: &Bucket| [ours, theirs].contains(&it.account_id);
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = Find::Watched(DocumentKind::Bucket, after, 2);
        let page = stores.documents.search::<Bucket>(page).await.expect("they can be listed");
        assert!(
            page.len() <= 2 && page.iter().all(|it| after.is_none_or(|at| it.id.as_uuid() > at))
        );
        let Some(last) = page.last() else { break };
        after = Some(last.id.as_uuid());
        found.extend(page.into_iter().filter(own));
    }
    assert_eq!(found, expected);
}
